import type { ServerResponse } from 'node:http';
import { afterAll, afterEach, expect, test } from 'vitest';
import { type Home, openHome } from '../../cli/command.ts';
import { type FakeService, openFakeService } from '../../cli/fake-service.ts';
import { waitUntil } from '../../support/waiting.ts';
import { closeRaw, openRaw, openRawHere, request, startIn, toolCall } from './stdio.ts';

const open: { close(): Promise<unknown> }[] = [];
const newHome = async (host = 'http://127.0.0.1:1'): Promise<Home> => {
  const home = await openHome(host);
  open.push(home);
  return home;
};
const newServer = async (...response: Parameters<typeof openFakeService>): Promise<FakeService> => {
  const server = await openFakeService(...response);
  open.push(server);
  return server;
};
afterEach(closeRaw);
afterAll(async () => {
  for (const each of open) await each.close();
});

test('returns an error for an invalid message and processes the next one', async () => {
  const raw = await openRawHere(startIn(await newHome()));
  await raw.response(0);
  const lines = [
    'garbage',
    '{"jsonrpc":"2.0","id":7',
    '\u0000\ufffd',
    '"text"',
    '[]',
    'null',
    '{"id":8}',
    '{"jsonrpc":"1.0","id":"nine","method":"ping"}',
  ];
  for (const line of ['', '   ', ...lines]) raw.send(line);
  raw.send(request(1, 'ping'));
  expect((await raw.response(1)).result).toEqual({});
  const errors = raw.messages().filter(({ error }) => error);
  expect(errors.map(({ id, error }) => [id, error.code])).toEqual([
    [null, -32700],
    [null, -32700],
    [null, -32700],
    [null, -32600],
    [null, -32600],
    [null, -32600],
    [8, -32600],
    ['nine', -32600],
  ]);
});

test('accepts lines in pieces, several at once and with CRLF, and rejects lines that are too long', async () => {
  const raw = await openRawHere(startIn(await newHome()));
  await raw.response(0);
  raw.send(`${request(1, 'ping')}\r\n${request(2, 'ping')}\n${'x'.repeat(9 * 1024 * 1024)}`);
  raw.send(request(3, 'ping'));
  for (const id of [1, 2, 3]) expect((await raw.response(id)).result).toEqual({});
  expect(raw.messages().filter(({ error }) => error)).toEqual([
    { jsonrpc: '2.0', id: null, error: { code: -32700, message: expect.stringContaining('longer than') } },
  ]);
});

test('many calls at once are made at once, and no warning follows', async () => {
  const calls = 12;
  const all: ServerResponse[] = [];
  const server = await newServer((_, response) => {
    all.push(response);
    if (all.length < calls) return;
    for (const each of all) if (!each.headersSent) each.writeHead(200, { 'Content-Type': 'application/json' }).end('{"odd":true}');
  });
  const raw = await openRaw(startIn(await newHome(), [], { EMAILAUTH_HOST: server.url }));
  for (let id = 1; id <= calls; id++) raw.send(toolCall(id, 'get_status'));
  for (let id = 1; id <= calls; id++) expect((await raw.response(id)).result).toMatchObject({ isError: true });
  raw.leave();
  await raw.exited;
  expect(raw.stderr()).not.toContain('Warning');
});

test.each([[[]], [['--json', '--verbose']]])('writes only JSON-RPC to stdout with %j, even after errors', async (args) => {
  const server = await newServer((_, response) => response.writeHead(200, { 'Content-Type': 'application/json' }).end('{"odd":true}'));
  // Warnings of Node.js and of packages.
  const env = { EMAILAUTH_HOST: server.url, NODE_OPTIONS: '--trace-warnings --pending-deprecation' };
  const raw = await openRaw(startIn(await newHome(), args, env));
  raw.send(toolCall(1, 'get_status'));
  raw.send(toolCall(2, 'no_such_tool'));
  raw.send(toolCall(3, 'get_site', { domain: 7 }));
  raw.send(request(4, 'no/such/method'));
  expect((await raw.response(1)).result).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining('does not understand') }],
  });
  for (const id of [2, 3, 4]) await raw.response(id);
  raw.leave();
  expect(await raw.exited).toEqual([0, null]);
  expect(raw.messages().every(({ jsonrpc }) => jsonrpc === '2.0')).toBe(true);
  if (args.includes('--verbose')) expect(raw.stderr()).toContain('GET /api/about 200');
});

test('writes errors at the start to stderr, even with --json', async () => {
  const { exitCode, stdout, stderr } = await (await newHome('ftp://nowhere')).run(['mcp', '--json']);
  expect([exitCode, stdout, stderr]).toEqual([3, '', expect.stringContaining('EMAILAUTH_HOST is not the address of a service')]);
});

test('completes pending requests and exits when stdin ends', async () => {
  const waiting: (() => void)[] = [];
  const server = await newServer((_, response) => {
    waiting.push(() =>
      response.writeHead(401, { 'Content-Type': 'application/json' }).end('{"error":"Sign in.","code":"sign_in_needed","hint":""}'),
    );
  });
  const raw = await openRawHere(startIn(await newHome(server.url)));
  raw.send(toolCall(1, 'list_sites'));
  await waitUntil('the call is under way', 30_000, () => waiting.length > 0);
  raw.leave();
  for (const response of waiting) response();
  expect(await raw.exited).toEqual([0, null]);
  expect(raw.messages().find(({ id }) => id === 1)?.result.content[0].text).toContain('start_login');
});

test.each(['SIGTERM', 'SIGINT'] as const)('exits with 0 on %s, even during a call', async (name) => {
  const server = await newServer(() => {});
  const raw = await openRaw(startIn(await newHome(server.url)));
  raw.send(toolCall(1, 'list_sites'));
  await waitUntil('the call is under way', 30_000, () => server.count() > 0);
  raw.signal(name);
  expect(await raw.exited).toEqual([0, null]);
  expect(raw.messages().map(({ id }) => id)).toEqual([0]);
});

test('exits when stdin is closed from the start', async () => {
  const { exitCode, stdout, stderr } = await (await newHome()).run(['mcp']);
  expect([exitCode, stdout, stderr]).toEqual([0, '', '']);
});
