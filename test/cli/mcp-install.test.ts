import { chmod, mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { parse as parseToml } from 'smol-toml';
import { afterAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { entry, type Home, openHome } from './command.ts';
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

/** The file on Linux and its property with the servers. */
const files: Record<string, [path: string, key: string]> = {
  'claude-code': ['.claude.json', 'mcpServers'],
  'claude-desktop': ['.config/Claude/claude_desktop_config.json', 'mcpServers'],
  cursor: ['.cursor/mcp.json', 'mcpServers'],
  vscode: ['.config/Code/User/mcp.json', 'servers'],
  codex: ['.codex/config.toml', 'mcp_servers'],
  'gemini-cli': ['.gemini/settings.json', 'mcpServers'],
};
const ids = Object.keys(files);
const pathOf = (id: string) => join(home.directory, files[id][0]);
/** The directory by which an assistant counts as installed. */
const traceOf = (id: string) => (id === 'claude-code' ? join(home.directory, '.claude') : dirname(pathOf(id)));
const textAt = (path: string) => readFile(path, 'utf8');
async function put(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}
const read = (path: string, text: string) =>
  (path.endsWith('.toml') ? parseToml(text) : JSON.parse(text)) as Record<string, Record<string, unknown>>;
const install = (id: string, ...flags: string[]) => home.run(['mcp', 'install', id, ...flags]);

describe.each(ids.map((id) => [id]))('%s', (id) => {
  test('is configured with a server that starts; a second run changes nothing', async () => {
    const path = pathOf(id);
    await mkdir(traceOf(id), { recursive: true });
    const first = await install(id, '--yes', '--json');
    expect(first.exitCode).toBe(0);
    expect(first.json()).toMatchObject({ client: id, scope: 'user', path, action: 'added', next: expect.any(Array) });
    const text = await textAt(path);
    const tree = read(path, text);
    expect(tree).toEqual(first.json().config);
    const { command, args } = tree[files[id][1]].emailauth as { command: string; args: string[] };
    expect([command.startsWith('/'), args]).toEqual([true, [entry, 'mcp', '--host', host]]);
    expect((await stat(path)).mode & 0o777).toBe(0o600);

    const again = await install(id, '--json');
    expect([again.exitCode, again.json().action, await textAt(path)]).toEqual([0, 'unchanged', text]);

    // Desktop programs start it with HOME and a short PATH.
    const client = new Client({ name: 'emailauth-tests', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } });
    await client.connect(new StdioClientTransport({ command, args, env: { HOME: home.directory, PATH: '/nowhere' }, stderr: 'pipe' }));
    onTestFinished(() => client.close());
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('get_status');
    expect((await client.callTool({ name: 'list_frameworks', arguments: {} })).isError).toBeFalsy();
  });

  test('has its entry and its path printed by `mcp config`', async () => {
    const { stdout, stderr } = await home.run(['mcp', 'config', id]);
    expect(stderr).toContain(`For ${pathOf(id)}:`);
    await install(id, '--force');
    const written = await textAt(pathOf(id));
    expect(read(pathOf(id), stdout)).toEqual(read(pathOf(id), written));
    expect((await home.run(['mcp', 'config', id, '--json'])).json()).toEqual({
      client: id,
      path: pathOf(id),
      config: read(pathOf(id), written),
    });
  });
});

test('`mcp config` prints all entries', async () => {
  expect((await home.run(['mcp', 'config', '--json'])).json().map(({ client }: { client: string }) => client)).toEqual(ids);
  const { stdout } = await home.run(['mcp', 'config', '--scope', 'project']);
  expect(stdout).toContain(join(home.directory, '.vscode/mcp.json'));
  expect(stdout).not.toContain('Claude Desktop');
});

test('keeps everything else in a file, its mode and a symlink to it', async () => {
  const [path, real] = [pathOf('gemini-cli'), join(home.directory, 'dotfiles/gemini.json')];
  const text =
    '{\n    // mine\n    "theme": "Dracula", /* dark */\n    "mcpServers": {\n        "git": { "command": "uvx", "env": { "T": "a-secret" } } // git\n    }\n}\n';
  await put(real, text);
  await chmod(real, 0o640);
  await mkdir(dirname(path));
  await symlink(real, path);
  const { exitCode, stderr } = await install('gemini-cli', '--yes');
  expect([exitCode, stderr.includes('a-secret')]).toEqual([0, false]);
  const after = await textAt(real);
  expect(after.split('\n').slice(0, 4)).toEqual(text.split('\n').slice(0, 4));
  expect(after).toContain('"env": { "T": "a-secret" } }, // git\n        "emailauth": {\n            "command"');
  expect((await stat(real)).mode & 0o777).toBe(0o640);
});

test('shows another entry of the same name without its keys, and replaces it only with --yes', async () => {
  const path = pathOf('cursor');
  const text = JSON.stringify({
    mcpServers: { emailauth: { command: 'docker', args: ['run'], env: { EMAILAUTH_TOKEN: 'ea_live_abc123' } } },
  });
  await put(path, text);
  const asked = await install('cursor');
  expect([asked.exitCode, asked.stderr]).toEqual([3, expect.stringContaining('-      "command": "docker"')]);
  expect([asked.stderr.includes('abc123'), await textAt(path)]).toEqual([false, text]);
  expect((await install('cursor', '--yes', '--json')).json().action).toBe('replaced');
  expect(JSON.parse(await textAt(path)).mcpServers.emailauth).toMatchObject({ args: [entry, 'mcp', '--host', host] });
});

test('keeps a key only for the same service and does not print it', async () => {
  const path = pathOf('cursor');
  const headers = { Authorization: 'Bearer of-one-1234', 'X-Key': 'hunter2' };
  await put(path, JSON.stringify({ mcpServers: { emailauth: { url: 'https://one.example.com/mcp', headers, timeout: 5 } } }));
  const same = await install('cursor', '--http', '--yes', '--json', '--host', 'https://one.example.com');
  expect(JSON.parse(await textAt(path)).mcpServers.emailauth).toMatchObject({ headers, timeout: 5 });
  const other = await install('cursor', '--http', '--yes', '--json', '--host', 'https://two.example.com');
  expect(JSON.parse(await textAt(path)).mcpServers.emailauth).toEqual({ url: 'https://two.example.com/mcp', timeout: 5 });
  expect(other.json().next.join(' ')).toContain('was not for this service');
  expect(same.stdout).not.toContain('was not for this service');
  for (const { stdout, stderr } of [same, other]) expect(`${stdout}${stderr}`).not.toMatch(/of-one|hunter2/);
});

test('keeps other environment variables of an entry and prints no keys', async () => {
  const path = pathOf('cursor');
  const env = { EMAILAUTH_TOKEN: 'hunter2', EDITOR: 'ed' };
  await put(path, JSON.stringify({ mcpServers: { emailauth: { command: 'emailauth', args: ['mcp', '--host', host], env } } }));
  const { stdout, stderr } = await home.run(['mcp', 'install', 'cursor', '--yes', '--json'], { env: { XDG_CONFIG_HOME: '/etc/ann' } });
  expect(`${stdout}${stderr}`).not.toContain('hunter2');
  expect(JSON.parse(await textAt(path)).mcpServers.emailauth.env).toEqual({ ...env, XDG_CONFIG_HOME: '/etc/ann' });
});

test.each([
  ['cursor', '{\n  "mcpServers": {\n', 'line 3'],
  ['claude-desktop', '{} // note', 'line 1, column 4'],
  ['vscode', '{"servers": []}', '"servers" is a list instead of an object'],
  ['codex', 'model = \n', 'line 1'],
  ['codex', 'mcp_servers = { a = { command = "b" } }\n', 'edited safely'],
  ['cursor', `${'['.repeat(100_000)}`, 'nested too deeply'],
])('exits with 3 and the position for a file of %s that cannot be edited, and writes nothing', async (id, text, message) => {
  await put(pathOf(id), text);
  const { exitCode, stderr } = await install(id, '--yes');
  expect([exitCode, stderr]).toEqual([3, expect.stringContaining(`${pathOf(id)} cannot be edited: `)]);
  expect(stderr).toContain(message);
  expect(stderr).toContain(`emailauth mcp config ${id}`);
  expect(await textAt(pathOf(id))).toBe(text);
});

test('writes to the project with the service and profile in use, and does not follow symlinks out of it', async () => {
  const cwd = join(home.directory, 'shop');
  await mkdir(cwd);
  const flags = ['--scope', 'project', '--yes', '--host', 'https://auth.example.com', '--profile', 'work', '--read-only'];
  const { exitCode, stdout } = await home.run(['mcp', 'install', 'claude-code', ...flags], { cwd });
  expect([exitCode, stdout]).toEqual([0, expect.stringContaining('The paths are specific to this machine')]);
  const { args } = JSON.parse(await textAt(join(cwd, '.mcp.json'))).mcpServers.emailauth;
  expect(args.slice(1)).toEqual(['mcp', '--host', 'https://auth.example.com', '--profile', 'work', '--read-only']);
  await symlink(join(home.directory, 'elsewhere'), join(cwd, '.cursor'));
  await mkdir(join(home.directory, 'elsewhere'));
  const away = await home.run(['mcp', 'install', 'cursor', '--scope', 'project', '--yes'], { cwd });
  expect([away.exitCode, away.stderr]).toEqual([6, expect.stringContaining('is a symbolic link out of the project')]);
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

test('--http writes the URL, and only the name of the environment variable with the key', async () => {
  const env = { EMAILAUTH_TOKEN: 'ea_live_secret' };
  for (const id of ids.filter((each) => each !== 'claude-desktop')) {
    const anonymous = await home.run(['mcp', 'config', id, '--http']);
    expect([anonymous.stdout.includes(`${host}/mcp`), anonymous.stdout.includes('uthorization')]).toEqual([true, false]);
    expect(anonymous.stderr).toMatch(/It contains no key\..* signs you in by email in the browser/);
    const { stdout, stderr } = await home.run(['mcp', 'install', id, '--http', '--force', '--verbose'], { env });
    const written = await textAt(pathOf(id));
    expect(`${written}${stdout}${stderr}`).not.toContain('ea_live');
    expect(written).toMatch(/EMAILAUTH_TOKEN|input:emailauth-token/);
  }
  for (const args of [
    ['claude-desktop', '--http'],
    ['claude-desktop', '--scope', 'project'],
    ['cursor', '--http', '--read-only'],
  ]) {
    expect((await home.run(['mcp', 'install', ...args])).exitCode).toBe(3);
  }
});

test('exits with 5 without the assistant; --dry-run writes nothing; keeps a custom location of the sign-in', async () => {
  const missing = await home.run(['mcp', 'install', 'cursor', '--yes'], { env: { PATH: '/nowhere' } });
  expect([missing.exitCode, missing.stderr]).toEqual([5, expect.stringMatching(/does not seem to be installed.*\n.*--force/s)]);
  const dry = await install('cursor', '--force', '--dry-run');
  expect([dry.exitCode, dry.stdout]).toEqual([0, expect.stringContaining('+    "emailauth": {')]);
  await expect(stat(dirname(pathOf('cursor')))).rejects.toThrow('ENOENT');
  const { config } = (await home.run(['mcp', 'config', 'cursor', '--json'], { env: { XDG_CONFIG_HOME: '/etc/ann' } })).json();
  expect(config.mcpServers.emailauth.env).toEqual({ XDG_CONFIG_HOME: '/etc/ann' });
});

test('shows the entry and prompts in a terminal, and writes nothing on no', async () => {
  await mkdir(dirname(pathOf('cursor')));
  const refused = openTerminal(home, ['mcp', 'install', 'cursor']);
  await refused.waitFor('Add this to');
  await refused.waitFor('+    "emailauth": {');
  refused.type(KEYS.enter);
  expect(await refused.exited).toBe(2);
  await expect(stat(pathOf('cursor'))).rejects.toThrow('ENOENT');
  const agreed = openTerminal(home, ['mcp', 'install', 'cursor']);
  await agreed.waitFor('Add this to');
  agreed.type('y');
  expect(await agreed.exited).toBe(0);
  await agreed.waitFor('Cursor has the MCP server of Email Auth');
  expect(JSON.parse(await textAt(pathOf('cursor'))).mcpServers.emailauth).toBeDefined();
});

describe('uninstall', () => {
  const uninstall = (id: string, ...flags: string[]) => home.run(['mcp', 'uninstall', id, ...flags]);

  test.each(ids.map((id) => [id]))('removes exactly the entry of %s; a second run changes nothing', async (id) => {
    const path = pathOf(id);
    const text = path.endsWith('.toml') ? '# mine\nmodel = "x"\n' : `{\n  "${files[id][1]}": {\n    "git": { "command": "uvx" }\n  }\n}\n`;
    await put(path, text);
    await install(id, '--force');
    expect(await textAt(path)).not.toBe(text);
    const ran = await uninstall(id, '--yes', '--json');
    expect([ran.exitCode, ran.json()]).toEqual([0, { client: id, scope: 'user', path, action: 'removed' }]);
    expect((await textAt(path)).trimEnd()).toBe(text.trimEnd());
    const again = await uninstall(id, '--json');
    expect([again.exitCode, again.json().action]).toEqual([0, 'unchanged']);
  });

  test('needs a confirmation, and prints no keys; --dry-run writes nothing', async () => {
    const path = pathOf('cursor');
    const text = JSON.stringify({ mcpServers: { emailauth: { command: 'docker', env: { EMAILAUTH_TOKEN: 'ea_live_abc123' } } } });
    await put(path, text);
    const dry = await uninstall('cursor', '--dry-run');
    expect([dry.exitCode, dry.stdout]).toEqual([0, expect.stringContaining('-      "command": "docker"')]);
    const refused = await uninstall('cursor');
    expect([refused.exitCode, refused.stderr]).toEqual([3, expect.stringContaining('Pass --yes')]);
    expect(`${dry.stdout}${refused.stderr}`).not.toContain('abc123');
    expect(await textAt(path)).toBe(text);
  });

  test('does nothing without a file, and exits with 3 for one that cannot be edited', async () => {
    expect((await uninstall('cursor', '--json')).json().action).toBe('unchanged');
    await put(pathOf('cursor'), '{\n  "mcpServers": {\n');
    const { exitCode, stderr } = await uninstall('cursor', '--yes');
    expect([exitCode, stderr]).toEqual([3, expect.stringContaining('cannot be edited')]);
    await expect(stat(pathOf('vscode'))).rejects.toThrow('ENOENT');
  });
});
