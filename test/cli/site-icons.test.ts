import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MAX_ICON_BYTES } from '../../contract/limits.ts';
import { useService } from '../support/harness.ts';
import { jpeg, plainPng, png, pngOfBytes } from '../support/images.ts';
import { type Developer, freshDomain, signInDeveloper } from '../support/sign-ins.ts';
import { waitUntil } from '../support/waiting.ts';
import { type Home, openHome } from './command.ts';
import { KEYS, openTerminal } from './terminal.ts';

const { stage, service } = await useService();
let home: Home;
let ann: Developer;
beforeAll(async () => {
  home = await openHome(service.url);
  ann = await signInDeveloper(stage, service);
  home.env.EMAILAUTH_TOKEN = ann.client.cookies.get('sid') as string;
  const files: Record<string, Buffer> = {
    'logo.png': await png(800, 800),
    'photo.jpeg': await jpeg(),
    'picture.of.a.logo': await png(),
    'large.png': pngOfBytes(MAX_ICON_BYTES),
    'too-large.png': pngOfBytes(6 * 1024 * 1024),
    'letter.png': Buffer.from('%PDF-1.7\n%%EOF'),
    'huge.png': plainPng(14_000, 14_000),
    'empty.png': Buffer.alloc(0),
  };
  for (const [name, bytes] of Object.entries(files)) await writeFile(join(home.directory, name), bytes);
  await mkdir(join(home.directory, 'folder.png'));
});
afterAll(async () => {
  await home?.close();
});

type Site = { domain: string; iconUrl: string | null };
const siteOf = async (domain: string) => ((await ann.client.get('/api/websites')).json as Site[]).find((site) => site.domain === domain);
const added = async (): Promise<string> => (await ann.client.post('/api/websites', { domain: freshDomain() })).json.domain;

test('uploads an icon with a new website, by its content and not its name', async () => {
  for (const [file, type] of [
    ['logo.png', 'image/png'],
    ['photo.jpeg', 'image/jpeg'],
    ['picture.of.a.logo', 'image/png'],
  ]) {
    const domain = freshDomain();
    const ran = await home.run(['sites', 'add', domain, '--icon', file, '--json']);
    expect([file, ran.exitCode]).toEqual([file, 0]);
    expect(ran.json().iconUrl).toMatch(/^http:\/\/localhost:\d+\/objects\/uploads\/[0-9a-f-]{36}$/);
    const icon = await service.client().get(ran.json().iconUrl);
    expect([icon.status, icon.headers['content-type']]).toEqual([200, type]);
    expect((await siteOf(domain))?.iconUrl).toBe(new URL(ran.json().iconUrl).pathname);
    // No progress bar without a terminal.
    expect(ran.stderr).not.toContain('%');
  }
});

test('update replaces and removes the icon', async () => {
  const domain = await added();
  const given = await home.run(['sites', 'update', domain, '--icon', 'logo.png', '--json']);
  expect([given.exitCode, given.json().domain]).toEqual([0, domain]);
  const other = await home.run(['sites', 'update', domain, '--icon', 'photo.jpeg', '--json']);
  expect(other.json().iconUrl).not.toBe(given.json().iconUrl);
  const none = await home.run(['sites', 'update', domain, '--no-icon', '--json']);
  expect([none.exitCode, none.json().iconUrl]).toEqual([0, null]);
  expect((await siteOf(domain))?.iconUrl).toBe(null);
});

describe('rejected before a website is created', () => {
  test.each([
    ['letter.png', 'not a JPG or PNG'],
    ['too-large.png', '6.0 MB'],
    ['huge.png', 'too many pixels'],
    ['empty.png', 'not a JPG or PNG'],
    ['missing.png', 'does not exist'],
    ['folder.png', 'is not a file'],
    ['', 'is not a file'],
    ['/dev/zero', 'is not a file'],
  ])('exits with 3 for %j', async (file, sentence) => {
    const domain = file === '' ? await added() : freshDomain();
    const args = file === '' ? ['sites', 'update', domain, '--icon='] : ['sites', 'add', domain, '--icon', file];
    const ran = await home.run(args);
    expect([file, ran.exitCode, ran.stdout]).toEqual([file, 3, '']);
    expect(ran.stderr).toContain(sentence);
    expect((await siteOf(domain))?.iconUrl ?? null).toBe(null);
    expect(await siteOf(domain)).toEqual(file === '' ? expect.anything() : undefined);
  });
});

test('shows the upload progress in a terminal and clears it, unless --quiet', async () => {
  const domain = await added();
  const terminal = openTerminal(home, ['sites', 'update', domain, '--icon', 'large.png']);
  expect(await terminal.exited).toBe(0);
  const percents = [...terminal.bytes().matchAll(/(\d+) %/g)].map(([, percent]) => Number(percent));
  expect(percents.length).toBeGreaterThan(10);
  expect(percents).toEqual([...percents].sort((a, b) => a - b));
  expect(percents.at(-1)).toBe(100);
  expect(terminal.text()).not.toContain('%');
  await terminal.close();
  const quiet = openTerminal(home, ['sites', 'update', domain, '--icon', 'logo.png', '--quiet']);
  expect(await quiet.exited).toBe(0);
  expect(quiet.bytes()).not.toContain(' %');
  await quiet.close();
});

test('the upload progress stays on one line of a narrow terminal', async () => {
  const name = `${'書'.repeat(30)}.png`;
  await writeFile(join(home.directory, name), pngOfBytes(MAX_ICON_BYTES));
  const terminal = openTerminal(home, ['sites', 'update', await added(), '--icon', name], { columns: 40 });
  expect(await terminal.exited).toBe(0);
  expect(terminal.bytes()).toContain('書…');
  expect(terminal.text()).not.toContain('書');
  await terminal.close();
});

describe('a malicious service', () => {
  let elsewhere: Server;
  let hostile: Server;
  let asked: string[] = [];
  let host: string;
  /** The uploads that the service does not read. */
  const uploads: IncomingMessage[] = [];
  const NASTY = 'shop.example\x1b]0;owned\x07\x9b31m\r\u202e';
  const SITE = {
    id: '0198c0de-0000-7000-8000-000000000000',
    verified: false,
    iconUrl: null,
    onProbation: false,
    registeredByOthers: false,
    role: 'owner',
    linkedAddress: NASTY,
    createdAt: '2026-01-01T00:00:00.000Z',
  };
  const open = async (server: Server) => {
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };
  beforeAll(async () => {
    asked = [];
    elsewhere = createServer((request, response) => {
      asked.push(`elsewhere ${request.url}`);
      response.end();
    });
    const other = await open(elsewhere);
    hostile = createServer((request, response) => {
      const call = `${request.method} ${request.url}`;
      asked.push(call);
      const proof = { record: NASTY, value: NASTY, fileUrl: NASTY, fileBody: NASTY };
      if (call === 'GET /api/websites') response.end(JSON.stringify([{ ...SITE, domain: 'shop.example', displayDomain: NASTY, proof }]));
      else if (call === 'GET /api/websites/stats') response.end('[]');
      else if (call === 'POST /api/objects/upload') response.end(JSON.stringify({ uploadURL: `${other}/take/it?signature=1` }));
      else if (request.headers['content-type'] === 'image/jpeg') Readable.from(endless()).pipe(response);
      else if (request.method === 'PUT') uploads.push(request);
      else response.writeHead(422).end(JSON.stringify({ error: NASTY, code: 'not_proven', hint: NASTY }));
    });
    host = await open(hostile);
  });
  afterAll(() => {
    for (const server of [elsewhere, hostile]) {
      server.closeAllConnections();
      server.close();
    }
  });

  test('cannot control the terminal', async () => {
    for (const args of [['list'], ['get', 'shop.example'], ['verify', 'shop.example'], ['verify', 'shop.example', '--json']]) {
      const { stdout, stderr } = await home.run(['sites', ...args, '--host', host]);
      expect(stdout).toContain('shop.example');
      expect((stdout + stderr).replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u202e]/u);
    }
  });

  test('cannot fill the memory with its response to an upload', async () => {
    const ran = await home.run(['sites', 'add', 'new.example', '--icon', 'photo.jpeg', '--host', host]);
    expect([ran.exitCode, ran.stderr]).toEqual([1, expect.stringContaining('a response that this program does not understand')]);
  });

  test('cannot redirect an upload; Ctrl-C ends a stuck upload with 2', async () => {
    const terminal = openTerminal(home, ['sites', 'add', 'new.example', '--icon', 'large.png', '--host', host]);
    // The progress is that of the connection: large.png does not fit into its buffers.
    await terminal.waitFor(/ [1-9]\d? %/);
    await waitUntil('the upload has begun', 30_000, () => uploads.length > 0);
    uploads[0].resume();
    await terminal.waitFor('100 %');
    terminal.type(KEYS.interrupt);
    expect(await terminal.exited).toBe(2);
    expect(terminal.text()).toContain('Cancelled');
    expect(asked).toContain('PUT /take/it?signature=1');
    expect(asked.filter((call) => call.startsWith('elsewhere') || call === 'POST /api/websites')).toEqual([]);
    await terminal.close();
  });
});

function* endless(): Generator<string> {
  for (;;) yield ' '.repeat(16_384);
}
