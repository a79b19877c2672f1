import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { run } from '../../cli/command-line.ts';
import { RESOURCE_SCOPES } from '../../contract/scopes.ts';
import { entry } from '../support/program.ts';
import { waitUntil } from '../support/waiting.ts';
import { type Home, openHome } from './command.ts';
import { openFakeService } from './fake-service.ts';
import { KEYS, spawnTerminal } from './terminal.ts';

let home: Home;
beforeAll(async () => {
  home = await openHome('http://127.0.0.1:1');
});
afterAll(() => home.close());

/** Returns the environment of a signed-in developer at a server with this response to `me`. */
async function signedInAt(answer: Parameters<typeof openFakeService>[0]) {
  const server = await openFakeService(answer);
  onTestFinished(() => server.close());
  return { server, env: { EMAILAUTH_HOST: server.url, EMAILAUTH_TOKEN: 'ea_live_something' } };
}

test.each([[[]], [['--help']], [['-h']], [['sites']], [['help', 'sites']], [['help', 'sites', 'add']], [['sites', 'add', '-h']]])(
  '%j prints help on stdout',
  async (args) => {
    const { exitCode, stdout, stderr } = await home.run(args);
    expect([exitCode, stderr]).toEqual([0, '']);
    expect(stdout).toContain('Usage: emailauth ');
    expect(stdout).not.toMatch(/(?!\n)\p{Cc}|\bcomplete --/u);
  },
);

test('help as JSON describes every command, and --version prints that of the package', async () => {
  const { commands, exitCodes } = (await home.run(['--help', '--json'])).json();
  expect(commands.length).toBeGreaterThan(20);
  expect(Object.keys(exitCodes)).toEqual(['0', '1', '2', '3', '4', '5', '6', '7', '8', '10']);
  expect((await home.run(['help', 'sites', 'add', '--json'])).json().commands).toMatchObject([{ usage: 'sites add [domain]' }]);
  const { version } = JSON.parse(await readFile(join(import.meta.dirname, '../../package.json'), 'utf8'));
  expect((await home.run(['--version'])).stdout).toBe(version);
  expect((await home.run(['--version', '--json'])).json()).toEqual({ version });
});

test.each([
  ['site list', '"site" is not a command of emailauth.', 'Did you mean `emailauth sites`?'],
  ['sites lst', '"lst" is not a command of emailauth sites.', 'Did you mean `emailauth sites list`?'],
  ['sites lst --help', '"lst" is not a command of emailauth sites.', 'Did you mean `emailauth sites list`?'],
  ['help sites lst', '"lst" is not a command of emailauth sites.', 'Did you mean `emailauth sites list`?'],
  ['help nope', '"nope" is not a command of emailauth.', '`emailauth --help` lists its commands.'],
  ['xyzzy', '"xyzzy" is not a command of emailauth.', '`emailauth --help` lists its commands.'],
  ['whoami --jsn', '--jsn is not a flag of emailauth whoami.', 'Did you mean `--json`?'],
  ['whoami --xyzzy', '--xyzzy is not a flag of emailauth whoami.', '`emailauth whoami --help` lists its flags.'],
  ['sites get', '<domain> is missing: emailauth sites get <domain>', '`emailauth sites get --help` shows its usage.'],
  ['sites list a', 'emailauth sites list takes no arguments; 1 were given.', '`emailauth sites list --help` shows its usage.'],
  ['mcp instal', '"instal" is not a command of emailauth mcp.', '`emailauth mcp --help` lists its commands.'],
  ['open a b', 'emailauth open takes one argument; 2 were given.', '`emailauth open --help` shows its usage.'],
  ['login --email', 'A value is missing: --email <address>', '`emailauth login --help` shows its usage.'],
  ['completion pwsh', '<shell> cannot be "pwsh".', 'It is one of bash, zsh, fish.'],
  ['mcp install cursor --scope team', '--scope cannot be "team".', 'It is one of user, project.'],
  ["keys create x --scopes a'b", `--scopes cannot be "a'b".`, `It is one of ${RESOURCE_SCOPES.join(', ')}.`],
])('exits with 3 and instructions for %s', async (line, message, hint) => {
  const { exitCode, stdout, stderr } = await home.run(line.split(' '));
  expect([exitCode, stdout, stderr]).toEqual([3, '', `${message}\n${hint}`]);
  const asked = await home.run([...line.split(' '), '--json']);
  if (line === 'help sites lst' || !line.includes('--help')) {
    expect([asked.exitCode, asked.stderr, asked.json()]).toEqual([3, '', { error: { code: 'usage', message, hint } }]);
  }
});

test('does not treat --json as a flag when it is the value of another one', async () => {
  const { exitCode, stdout, stderr } = await home.run(['whoami', '--profile', '--json']);
  expect([exitCode, stdout]).toEqual([3, '']);
  expect(stderr).toContain('"--json" is not a valid profile name');
  expect((await home.run(['--json', 'sites'])).json().error.code).toBe('usage');
});

test('removes control characters of arguments from messages', async () => {
  const { stderr } = await home.run(['si\x1b[2Jtes\u202e']);
  expect(stderr).toMatch(/^"si\[2Jtes" is not a command/);
});

test('prints the help that the build has stored without loading a command, and the same text otherwise', async () => {
  const file = join(home.directory, 'modules.txt');
  const preload = `--import=${join(import.meta.dirname, 'modules.mjs')}`;
  const { stdout } = await home.run(['--help'], { env: { MODULES_FILE: file, NODE_OPTIONS: preload } });
  expect(
    (await readFile(file, 'utf8'))
      .trim()
      .split('\n')
      .filter((path) => path.includes('/dist/')),
  ).toEqual([expect.stringMatching(/\/dist\/cli\/main\.js$/)]);
  for (const args of [['-h'], ['--help', '--no-color'], ['help']]) expect((await home.run(args)).stdout).toBe(stdout);
});

test.each([['sites list --help'], ['sites list']])('loads only the modules that %s needs', async (line) => {
  const file = join(home.directory, 'modules.txt');
  const preload = `--import=${join(import.meta.dirname, 'modules.mjs')}`;
  await home.run(line.split(' '), { env: { MODULES_FILE: file, NODE_OPTIONS: preload } });
  const loaded = (await readFile(file, 'utf8')).split('\n');
  expect(loaded.some((path) => path.endsWith('/dist/cli/main.js'))).toBe(true);
  expect(loaded.filter((path) => /\/node_modules\/|dist\/(?!cli\/)/.test(path))).toEqual([]);
  const sources = await sourcesOf(loaded.filter((path) => /\/dist\/cli\/.*\.js$/.test(path)));
  const heavy = ['ink', 'react', '@clack/prompts', 'diff', 'open', 'tldts', '@modelcontextprotocol/server'];
  const forHelp = line.includes('--') ? ['zod', 'conf'] : [];
  for (const name of [...heavy, ...forHelp]) expect(sources.filter((path) => path.includes(`/node_modules/${name}/`))).toEqual([]);
  expect(sources.filter((path) => /^\.\.\/\.\.\/(?:server|mcp)\//.test(path))).toEqual([]);
  expect(sources.some((path) => path.includes('/node_modules/commander/'))).toBe(true);
});

/** Returns the modules that the chunks of the bundle consist of, from their source maps. */
async function sourcesOf(urls: string[]): Promise<string[]> {
  const maps = urls.map(
    async (url) => JSON.parse(await readFile(`${fileURLToPath(url)}.map`, 'utf8').catch(() => '{"sources":[]}')).sources,
  );
  return (await Promise.all(maps)).flat();
}

const LONG = 'a'.repeat(500_000);

const user = (email: string) => ({ id: '1', email, name: null });

test('exits silently when the reader closes the pipe, and writes everything to a slow reader', async () => {
  const { env } = await signedInAt((_, response) => response.end(JSON.stringify(user(LONG))));
  const bash = (script: string) =>
    new Promise<string>((resolve) => {
      const child = spawn('bash', ['-c', script, process.execPath, entry], { env: { ...home.env, ...env }, cwd: home.directory });
      let written = '';
      for (const stream of [child.stdout, child.stderr]) {
        stream.on('data', (chunk) => {
          written += chunk;
        });
      }
      child.on('close', () => resolve(written));
    });
  expect(await bash('"$0" "$1" whoami | head -c 3; echo " $PIPESTATUS"')).toBe('aaa 0\n');
  // The reader starts once the writer has its response.
  const slow = await bash('mkfifo gate; "$0" "$1" whoami --verbose 2> >(read -r; echo > gate) | { read -r < gate; wc -c; }');
  expect(Number(slow)).toBeGreaterThan(LONG.length);
  const full = await bash('"$0" "$1" whoami > /dev/full; echo $?');
  expect(full).toMatch(/^The result could not be written: ENOSPC.*\n1\n$/);
});

test('prints one line and exits with 2 on Ctrl-C in a terminal', async () => {
  const { server, env } = await signedInAt(() => {});
  const terminal = spawnTerminal(home, ['whoami'], { env });
  onTestFinished(() => terminal.close());
  await waitUntil('the service is asked', 30_000, () => server.count() > 0);
  terminal.type(KEYS.interrupt);
  expect(await terminal.exited).toBe(2);
  expect(terminal.text().trimEnd()).toBe('^C\nCancelled.');
});

test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('reports %s as JSON with --json', async (signal) => {
  const { server, env } = await signedInAt(() => {});
  const child = spawn(process.execPath, [entry, 'whoami', '--json'], { env: { ...home.env, ...env } });
  let stdout = '';
  child.stdout.on('data', (chunk) => {
    stdout += chunk;
  });
  const closed = new Promise((resolve) => child.on('close', resolve));
  await waitUntil('the service is asked', 30_000, () => server.count() > 0);
  child.kill(signal);
  expect(await closed).toBe(2);
  expect(JSON.parse(stdout)).toEqual({ error: { code: 'cancelled', message: 'Cancelled.', hint: '' } });
});

test('ignores a connection that breaks after the response', async () => {
  const { env } = await signedInAt((request, response) => {
    response.end(JSON.stringify(user('you@example.com')), () => request.socket.resetAndDestroy());
  });
  expect((await home.run(['whoami', '--json'], { env })).json().email).toBe('you@example.com');
});

test('prints an internal error in one line, with a stack only for --verbose', async () => {
  // Every command reads it.
  const env = Object.defineProperty({ ...home.env }, 'EMAILAUTH_HOST', {
    get: () => {
      throw new TypeError('a defect');
    },
  });
  const fails = async (...args: string[]) => {
    const [stdout, stderr] = [new PassThrough(), new PassThrough()];
    const { signal } = new AbortController();
    const exitCode = await run(['whoami', ...args], { env, cwd: home.directory, stdin: Readable.from([]), stdout, stderr, signal });
    return { exitCode, stdout: await text(stdout.end()), stderr: await text(stderr.end()) };
  };
  const { exitCode, stdout, stderr } = await fails();
  expect([exitCode, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(/^Internal error of emailauth: .*\nRun it again with --verbose/);
  expect(stderr).not.toContain('    at ');
  expect((await fails('--verbose')).stderr).toContain('    at ');
  expect(JSON.parse((await fails('--json')).stdout).error.code).toBe('fault');
});

test('removes control sequences from responses of the service', async () => {
  const hostile = 'ann\x1b]0;owned\x07\x1b[2J\x9b5m\u202e@mail.example';
  const answers = await signedInAt((_, response) => response.end(JSON.stringify(user(hostile))));
  const refuses = await signedInAt((_, response) => response.writeHead(400).end(JSON.stringify({ error: hostile, hint: hostile })));
  const control = /(?!\n)[\p{Cc}\p{Bidi_Control}]/u;
  for (const { env } of [answers, refuses]) {
    for (const args of [['whoami'], ['whoami', '--json'], ['whoami', '--verbose']]) {
      const { stdout, stderr } = await home.run(args, { env });
      expect(stdout + stderr).not.toMatch(control);
      expect(stdout + stderr).toContain('@mail.example');
    }
  }
  expect((await home.run(['whoami', '--json'], { env: answers.env })).json().email).toBe(hostile);
});
