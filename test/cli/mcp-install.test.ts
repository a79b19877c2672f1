import { existsSync } from 'node:fs';
import { chmod, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { parse as parseToml } from 'smol-toml';
import { afterAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { entry } from '../support/program.ts';
import { waitUntil } from '../support/waiting.ts';
import { type Home, openHome } from './command.ts';
import { KEYS, openTerminal } from './terminal.ts';

const host = 'http://127.0.0.1:1';
const homes: Home[] = [];
let home: Home;
beforeEach(async () => {
  home = await openHome(host);
  homes.push(home);
});
afterAll(async () => {
  for (const each of homes) await each.close();
});

/** The file on Linux, its property with the servers, and the assistant's own program. */
const assistants = {
  'claude-code': ['.claude.json', 'mcpServers', 'claude'],
  'claude-desktop': ['.config/Claude/claude_desktop_config.json', 'mcpServers', null],
  cursor: ['.cursor/mcp.json', 'mcpServers', null],
  vscode: ['.config/Code/User/mcp.json', 'servers', 'code'],
  codex: ['.codex/config.toml', 'mcp_servers', 'codex'],
  'gemini-cli': ['.gemini/settings.json', 'mcpServers', 'gemini'],
} as const;
type Id = keyof typeof assistants;
const ids = Object.keys(assistants) as Id[];
const pathOf = (id: Id) => join(home.directory, assistants[id][0]);

/** Puts a program on PATH that records its arguments, and returns the environment with it and a reader of its calls. */
async function putProgram(name: string, exitCode = 0) {
  const [bin, record] = [join(home.directory, 'bin'), join(home.directory, 'calls.jsonl')];
  await mkdir(bin, { recursive: true });
  const code = `require('fs').appendFileSync(${JSON.stringify(record)}, JSON.stringify(process.argv.slice(2)) + '\\n');
console.error('It says why.'); process.exit(${exitCode})`;
  await writeFile(join(bin, name), `#!${process.execPath}\n${code}\n`);
  await chmod(join(bin, name), 0o755);
  const calls = async () => {
    const text = await readFile(record, 'utf8').catch(() => '');
    return text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line));
  };
  return { env: { PATH: `${bin}:${home.env.PATH}` }, calls };
}

describe.each(ids)('%s', (id) => {
  test('has an entry that starts the server, printed by `mcp config` with its path', async () => {
    const { stdout, stderr } = await home.run(['mcp', 'config', id]);
    expect(stderr).toContain(`For ${pathOf(id)}:`);
    const tree = (id === 'codex' ? parseToml(stdout) : JSON.parse(stdout)) as Record<string, Record<string, unknown>>;
    expect((await home.run(['mcp', 'config', id, '--json'])).json()).toEqual({ client: id, path: pathOf(id), config: tree });
    const { command, args } = tree[assistants[id][1]].emailauth as { command: string; args: string[] };
    expect([command.startsWith('/'), args]).toEqual([true, [entry, 'mcp', '--host', host]]);
  });

  test('is installed by its own program, or gets its entry printed', async () => {
    const program = assistants[id][2];
    const { env, calls } = await putProgram(program ?? 'unused');
    const ran = await home.run(['mcp', 'install', id, '--yes', '--json'], { env });
    const result = ran.json();
    expect(ran.exitCode).toBe(0);
    expect(result).toMatchObject({
      client: id,
      scope: 'user',
      action: program ? 'ran' : 'printed',
      path: pathOf(id),
      next: expect.any(Array),
    });
    const [added] = await calls();
    expect(program ? [program, ...added] : null).toEqual(result.command);
    if (program) expect(added.join(' ')).toContain(entry);
    const { config } = (await home.run(['mcp', 'config', id, '--json'])).json();
    expect(result.config).toEqual(config);
  });
});

test('the server starts by its entry alone', async () => {
  const { config } = (await home.run(['mcp', 'config', 'claude-desktop', '--json'])).json();
  const { command, args } = config.mcpServers.emailauth;
  // Desktop programs start it with HOME and a short PATH.
  const client = new Client({ name: 'emailauth-tests', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } });
  await client.connect(new StdioClientTransport({ command, args, env: { HOME: home.directory, PATH: '/nowhere' }, stderr: 'pipe' }));
  onTestFinished(() => client.close());
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain('get_status');
  expect((await client.callTool({ name: 'list_frameworks', arguments: {} })).isError).toBeFalsy();
});

test('`mcp config` prints all entries', async () => {
  expect((await home.run(['mcp', 'config', '--json'])).json().map(({ client }: { client: string }) => client)).toEqual(ids);
  const { stdout } = await home.run(['mcp', 'config', '--scope', 'project']);
  expect(stdout).toContain(join(home.directory, '.vscode/mcp.json'));
  expect(stdout).not.toContain('Claude Desktop');
});

test('runs nothing before a confirmation', async () => {
  const { env, calls } = await putProgram('claude');
  const asked = await home.run(['mcp', 'install', 'claude-code'], { env });
  expect([asked.exitCode, asked.stderr]).toEqual([3, expect.stringMatching(/claude mcp add --scope user -- emailauth .*Pass --yes/s)]);
  const declining = openTerminal({ ...home, env: { ...home.env, ...env } }, ['mcp', 'install', 'claude-code']);
  await declining.waitFor('Run this?');
  declining.type(KEYS.enter);
  expect(await declining.exited).toBe(2);
  expect(await calls()).toEqual([]);
  const agreeing = openTerminal({ ...home, env: { ...home.env, ...env } }, ['mcp', 'install', 'claude-code']);
  await agreeing.waitFor('Run this?');
  agreeing.type('y');
  expect(await agreeing.exited).toBe(0);
  await agreeing.waitFor('Claude Code has the MCP server of Email Auth');
  expect(await calls()).toHaveLength(1);
});

test('an interruption stops the program, and is not taken for its failure', async () => {
  const { env } = await putProgram('codex');
  const started = join(home.directory, 'started');
  const code = `require('fs').writeFileSync(${JSON.stringify(started)}, ''); setInterval(() => {}, 1000)`;
  await writeFile(join(home.directory, 'bin/codex'), `#!${process.execPath}\n${code}\n`);
  const running = home.start(['mcp', 'install', 'codex', '--yes', '--json'], { env });
  await waitUntil('the program runs', 60_000, () => existsSync(started));
  running.interrupt();
  const { exitCode, json } = await running.ended;
  expect([exitCode, json().error]).toMatchObject([2, { code: 'cancelled', message: 'Cancelled; `codex` was stopped.' }]);
});

test('reports what the program says when it fails, and how to remove an older server', async () => {
  const { env } = await putProgram('codex', 1);
  const { exitCode, json } = await home.run(['mcp', 'install', 'codex', '--yes', '--json'], { env });
  expect([exitCode, json().error]).toEqual([
    1,
    { code: 'client_failed', message: expect.stringContaining('It says why.'), hint: expect.stringContaining('mcp uninstall codex') },
  ]);
});

test('prints the entry where the program is not installed, or has no command for the scope', async () => {
  const missing = await home.run(['mcp', 'install', 'gemini-cli', '--yes'], { env: { PATH: '/nowhere' } });
  expect([missing.exitCode, missing.stderr]).toEqual([0, expect.stringContaining('`gemini` is not installed here.')]);
  expect(missing.stdout).toContain(`Add this to ${pathOf('gemini-cli')}:`);
  const { env, calls } = await putProgram('codex');
  const project = await home.run(['mcp', 'install', 'codex', '--scope', 'project'], { env });
  expect([project.exitCode, project.stdout]).toEqual([0, expect.stringContaining(join(home.directory, '.codex/config.toml'))]);
  expect([project.stdout.includes('[mcp_servers.emailauth]'), await calls()]).toEqual([true, []]);
});

test('prints the link of Cursor where nothing can be opened', async () => {
  const { stdout } = await home.run(['mcp', 'install', 'cursor']);
  const [link] = /cursor:\S+/.exec(stdout) ?? [];
  const config = JSON.parse(Buffer.from(new URL(link ?? '').searchParams.get('config') ?? '', 'base64').toString());
  expect(config).toMatchObject({ args: [entry, 'mcp', '--host', host] });
  expect(stdout).toContain(`Or add this to ${pathOf('cursor')}:`);
});

test('names the service and profile in use', async () => {
  const flags = ['--host', 'https://auth.example.com', '--profile', 'work', '--read-only', '--json'];
  const { config, next } = (await home.run(['mcp', 'install', 'cursor', '--scope', 'project', ...flags])).json();
  expect(config.mcpServers.emailauth.args.slice(1)).toEqual([
    'mcp',
    '--host',
    'https://auth.example.com',
    '--profile',
    'work',
    '--read-only',
  ]);
  expect(next.join(' ')).toContain('The paths are specific to this machine');
});

test('writes the command name in a project if it is on PATH, except through npx', async () => {
  const [bin, passing] = [join(home.directory, 'bin'), join(home.directory, 'node_modules/.bin')];
  for (const directory of [bin, passing]) {
    await mkdir(directory, { recursive: true });
    await symlink(entry, join(directory, 'emailauth'));
  }
  const commandWith = async (directory: string) => {
    const env = { PATH: `${directory}:${home.env.PATH}` };
    const { config } = (await home.run(['mcp', 'config', 'vscode', '--scope', 'project', '--json'], { env })).json();
    return config.servers.emailauth;
  };
  expect(await commandWith(bin)).toMatchObject({ command: 'emailauth', args: ['mcp', '--host', host] });
  expect((await commandWith(passing)).command).toMatch(/^\/.*node/);
});

test('keeps a custom location of the sign-in', async () => {
  const { config } = (await home.run(['mcp', 'config', 'cursor', '--json'], { env: { XDG_CONFIG_HOME: '/etc/ann' } })).json();
  expect(config.mcpServers.emailauth.env).toEqual({ XDG_CONFIG_HOME: '/etc/ann' });
});

test('--http gives the address, and only the name of the environment variable with the key', async () => {
  const env = { EMAILAUTH_TOKEN: 'ea_live_secret' };
  for (const id of ids.filter((each) => each !== 'claude-desktop')) {
    const anonymous = await home.run(['mcp', 'config', id, '--http']);
    expect([anonymous.stdout.includes(`${host}/mcp`), anonymous.stdout.includes('uthorization')]).toEqual([true, false]);
    expect(anonymous.stderr).toMatch(/It contains no key\..* signs you in by email in the browser/);
    const { stdout, stderr } = await home.run(['mcp', 'install', id, '--http', '--yes', '--verbose'], {
      env: { ...env, PATH: '/nowhere' },
    });
    expect(`${stdout}${stderr}`).not.toContain('ea_live');
    expect(stdout).toContain('EMAILAUTH_TOKEN');
  }
  for (const args of [
    ['claude-desktop', '--http'],
    ['claude-desktop', '--scope', 'project'],
    ['cursor', '--http', '--read-only'],
  ]) {
    expect((await home.run(['mcp', 'install', ...args])).exitCode).toBe(3);
  }
});

test.each([
  ['claude-code', 'user', 'claude mcp remove --scope user emailauth'],
  ['codex', 'user', 'codex mcp remove emailauth'],
  ['gemini-cli', 'project', 'gemini mcp remove --scope project emailauth'],
  ['vscode', 'user', 'Delete "emailauth" in "servers" of /'],
  ['cursor', 'project', 'Delete "emailauth" in "mcpServers" of /'],
])('`mcp uninstall %s --scope %s` prints %s', async (id, scope, text) => {
  const { env, calls } = await putProgram(assistants[id as Id][2] ?? 'unused');
  const { exitCode, stdout } = await home.run(['mcp', 'uninstall', id, '--scope', scope], { env });
  expect([exitCode, stdout]).toEqual([0, expect.stringContaining(text)]);
  expect(await calls()).toEqual([]);
});
