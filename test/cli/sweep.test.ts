import { mkdir, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { waitUntil } from '../support/waiting.ts';
import { type Home, openHome, type Ran } from './command.ts';
import { type FakeService, openFakeService } from './fake-service.ts';

/** A command as `emailauth --help --json` describes it. */
type Row = { usage: string; needs?: 'service' | 'sign-in'; examples: string[]; json?: string };

// Vitest collects tests before hooks run.
const home: Home = await openHome('http://127.0.0.1:1');
const rows: Row[] = (await home.run(['--help', '--json'])).json().commands;
const commandsWithService = rows.filter(({ needs, json }) => needs || json);
const asking = rows.filter(({ needs }) => needs);

const nameOf = ({ usage }: Row) => usage.replace(/ [<[].*/, '');

/** Returns the words of the longest example, with a value for each shell variable. */
function wordsOf({ examples }: Row): string[] {
  const plain = examples
    .map((example) => example.replace(/ [|>] ?.*$/, '').replaceAll(/"\$\w+"/g, 'eyJ0'))
    .filter((line) => !/[<$"]|--host/.test(line));
  const lines = plain.map((line) => line.split(' '));
  const positional = (line: string[]) => line.filter((word, i) => !word.startsWith('-') && !/^--\w/.test(line[i - 1] ?? '')).length;
  return lines.sort((a, b) => positional(b) - positional(a) || b.length - a.length)[0];
}

/** Runs a command as a script does, with all arguments and --json, and asserts that it prints one JSON value. */
async function run(
  row: Row,
  env: Record<string, string>,
  words = wordsOf(row),
): Promise<Ran & { error?: { message: string; hint: string } }> {
  const ran = await home.run(['--json', ...words], {
    // There is no database at this URL.
    env: { EMAILAUTH_ADMIN_PASSWORD: 'a password', DATABASE_URL: 'postgres://127.0.0.1:1/none', ...env },
    cwd: join(home.directory, 'project'),
  });
  const { error } = ran.json();
  expect([ran.exitCode, error?.code]).not.toEqual([1, 'fault']);
  return { ...ran, error };
}

const ranAlone = new Map<Row, ReturnType<typeof run>>();
/** Returns the result of a command with all arguments, and without a service or a sign-in. Runs it once. */
function runAlone(row: Row): ReturnType<typeof run> {
  const ran = ranAlone.get(row) ?? run(row, {});
  ranAlone.set(row, ran);
  return ran;
}

const token = { EMAILAUTH_TOKEN: 'ea_live_something' };
const page = '<!doctype html><title>Bad gateway</title><p>Sorry';
const servers: FakeService[] = [];
async function serve(...listener: Parameters<typeof openFakeService>): Promise<Record<string, string>> {
  const server = await openFakeService(...listener);
  servers.push(server);
  return { ...token, EMAILAUTH_HOST: server.url };
}

/** Begins a response that never ends. */
function trickle(response: ServerResponse): void {
  const timer = setInterval(() => response.write(' '), 500);
  response.on('close', () => clearInterval(timer));
  response.write('[');
}

/** Calls a tool of `emailauth mcp`. @returns its output */
async function callTool(env: Record<string, string>): Promise<string> {
  const messages = [
    {
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
    },
    { method: 'notifications/initialized' },
    { id: 2, method: 'tools/call', params: { name: 'list_sites', arguments: {} } },
  ];
  const stdin = new PassThrough();
  const running = home.start(['mcp'], { input: stdin, env });
  for (const message of messages) stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  await waitUntil('the tool responds', 120_000, () => running.stdout().includes('"id":2') || running.stdout());
  stdin.end();
  await running.ended;
  return running.stdout();
}

let silent: Promise<Ran>[];
/** Commands at a service whose response never ends. */
let endless: Promise<Ran>[];
let endlessTool: Promise<string>;
beforeAll(async () => {
  await mkdir(join(home.directory, 'project'));
  await writeFile(
    join(home.directory, 'project/logo.png'),
    Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=', 'base64'),
  );
  // They run into the time-out while the other tests run.
  const env = await serve(() => {});
  silent = asking.map((row) => run(row, env));
  const trickling = await serve((_, response) => trickle(response));
  endless = [['sites', 'list'], ['tail']].map((words) => home.run([...words, '--json'], { env: trickling }));
  endlessTool = callTool(trickling);
  for (const each of [...silent, ...endless, endlessTool]) each.catch(() => {});
});
afterAll(async () => {
  await Promise.all(servers.map((server) => server.close()));
  await home.close();
});

test('has a table of commands', () => {
  expect(rows.length).toBeGreaterThan(20);
  expect(asking.length).toBeGreaterThan(10);
});

describe.each(commandsWithService.map((row) => [nameOf(row), row] as const))('%s', (name, row) => {
  test('prints one JSON value without a prompt, a service or a sign-in', async () => {
    const { exitCode, error } = await runAlone(row);
    if (exitCode !== 0 && exitCode !== 10) expect(error).toMatchObject({ message: expect.any(String), hint: expect.any(String) });
    else expect(error).toBeUndefined();
  });

  test('succeeds or names what is missing without arguments', async () => {
    const { exitCode, error } = await run(row, {}, name.split(' '));
    if (row.usage.includes('<')) expect([exitCode, error?.message]).toEqual([3, expect.stringContaining('is missing')]);
    else expect([0, 1, 3, 4, 6, 8, 10]).toContain(exitCode);
  });

  test('rejects an unknown flag', async () => {
    expect(await run(row, {}, ['--xyzzy', ...wordsOf(row)])).toMatchObject({ exitCode: 3, error: { code: 'usage' } });
  });
});

test.each(rows.filter(({ needs }) => needs === 'sign-in').map((row) => [nameOf(row), row] as const))(
  '%s without a sign-in, or with one that has ended: 4',
  async (_, row) => {
    const unauthenticated = await runAlone(row);
    expect([unauthenticated.exitCode, unauthenticated.error?.hint]).toEqual([4, expect.stringContaining('emailauth login')]);
    const env = await serve((_, response) => {
      response.writeHead(401, { 'Content-Type': 'application/json' });
      response.end(JSON.stringify({ error: 'Sign in first.', code: 'sign_in_needed', hint: '' }));
    });
    const ended = await run(row, env);
    expect([ended.exitCode, ended.error?.hint]).toEqual([4, expect.stringContaining('emailauth login')]);
  },
);

describe.each(asking.map((row) => [nameOf(row), row] as const))('%s', (_, row) => {
  test('exits with 8 when nothing listens', async () => {
    const { exitCode, error } = await run(row, token);
    expect([exitCode, error?.message]).toEqual([8, 'The service at http://127.0.0.1:1 cannot be reached.']);
  });

  test('exits with 1 and a message at a server that returns 500 with a page', async () => {
    const env = await serve((_, response) => response.writeHead(500, { 'Content-Type': 'text/html' }).end(page));
    const { exitCode, error } = await run(row, env);
    expect([exitCode, error?.message]).toEqual([1, 'The service answered 500.']);
    expect(error?.hint).not.toBe('');
  });

  test('exits with 1 and a message at a server that is not Email Auth', async () => {
    const env = await serve((_, response) => response.writeHead(200, { 'Content-Type': 'text/html' }).end(page));
    const { exitCode, error } = await run(row, env);
    expect([exitCode, error?.message]).toEqual([1, 'The server at this address is not Email Auth.']);
  });

  test('exits with 7 and the time to wait after too many requests', async () => {
    const env = await serve((_, response) => {
      response.writeHead(429, { 'Content-Type': 'application/json', 'Retry-After': '30' });
      response.end(JSON.stringify({ error: 'Too many requests.', code: 'rate_limited', hint: '' }));
    });
    const { exitCode, error } = await run(row, env);
    expect([exitCode, error?.hint]).toEqual([7, 'Try again in 30 seconds.']);
  });
});

test('times out when a service never responds', async () => {
  for (const [i, ran] of (await Promise.all(silent)).entries()) expect([nameOf(asking[i]), ran.exitCode]).toEqual([nameOf(asking[i]), 8]);
});

test('times out when a response never ends, also that to an MCP tool', async () => {
  for (const ran of await Promise.all(endless))
    expect([ran.exitCode, ran.json().error.message]).toEqual([8, expect.stringMatching(/ did not respond within 30 s\.$/)]);
  expect(await endlessTool).toContain('did not respond within 30 s');
});
