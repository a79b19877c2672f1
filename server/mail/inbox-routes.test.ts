import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders, request as openRequest, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import express from 'express';
import pino from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { waitUntil } from '../../test/support/waiting.ts';
import { dataHeaders } from '../platform/http/protection.ts';
import { Inbox } from './inbox.ts';
import { inboxRouter } from './inbox-routes.ts';
import { Mailer } from './mailer.ts';

let dataDir: string;
let inbox: Inbox;
let server: Server;

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'emailauth-inbox-'));
  inbox = new Inbox({ dataDir });
  server = createServer(express().use(inboxRouter({ inbox, headers: dataHeaders(false) })));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await rm(dataDir, { recursive: true, force: true });
});

async function deliver(recipient: string) {
  const settings = {
    smtpUrl: null,
    mailFrom: { name: 'Email Auth', address: 'no-reply@auth.example' },
    dkim: null,
    publicUrl: 'http://localhost:4400',
  };
  const mailer = new Mailer({ ...settings, log: pino({ level: 'silent' }), deliver: (message) => inbox.deliver(message) });
  const mail = { id: crypto.randomUUID(), kind: 'sign_in', recipient, language: 'en', data: { host: 'localhost' } } as const;
  const outcome = await mailer.send(
    mail,
    { link: 'http://localhost:4400/auth/link?t=a123456b', entered: { code: '654321' } },
    performance.now() + 30_000,
  );
  expect(outcome).toBe('sent');
  await mailer.close();
}

type Reply = { status: number; headers: IncomingHttpHeaders; body: string };

function fetchPath(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Reply> {
  const { port } = server.address() as AddressInfo;
  return new Promise((resolve, reject) => {
    const options = { method, host: '127.0.0.1', port, path, headers: { Host: `localhost:${port}`, ...headers } };
    const request = openRequest(options, (response) => {
      let body = '';
      response.on('data', (chunk) => {
        body += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }));
    });
    request.on('error', reject);
    request.end();
  });
}

test('messages.json lists the emails, newest first, and filters by address', async () => {
  await deliver('ann@example.com');
  const delivered = Date.now();
  await waitUntil('another millisecond', 30_000, () => Date.now() > delivered);
  await deliver('bob@example.com');
  const all = JSON.parse((await fetchPath('/dev/inbox/messages.json')).body);
  expect(all.map(({ to }: { to: string }) => to)).toEqual(['bob@example.com', 'ann@example.com']);
  const [mail] = JSON.parse((await fetchPath('/dev/inbox/messages.json?to=Ann@example.com')).body);
  expect(mail).toMatchObject({
    to: 'ann@example.com',
    subject: '654321 is your code for localhost',
    link: 'http://localhost:4400/auth/link?t=a123456b',
    code: '654321',
  });
  expect(mail.text).toContain('654321');
});

test('shows a message as sandboxed HTML, as text and as source', async () => {
  await deliver('ann@example.com');
  const [{ id }] = await inbox.list();
  const page = await fetchPath(`/dev/inbox/messages/${id}`);
  expect(page.body).toContain(`src="/dev/inbox/messages/${id}/html" sandbox="allow-popups allow-popups-to-escape-sandbox"`);
  expect(page.headers['content-security-policy']).toContain("script-src 'self'");
  const html = await fetchPath(`/dev/inbox/messages/${id}/html`);
  expect(html.headers['content-security-policy']).toMatch(/^sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'/);
  expect(html.body).toContain('<base target="_blank">');
  expect((await fetchPath(`/dev/inbox/messages/${id}?view=text`)).body).toContain(
    'target="_blank" rel="noreferrer">http://localhost:4400/auth/link',
  );
  expect((await fetchPath(`/dev/inbox/messages/${id}?view=raw`)).body).toContain('Auto-Submitted: auto-generated');
});

test('finds messages by address, subject and text, keeps the search while one is read, and opens the newest', async () => {
  await deliver('ann@example.com');
  await deliver('bob@example.com');
  const [{ id }] = await inbox.list('ANN@');
  const { body } = await fetchPath('/dev/inbox?q=Ann@example');
  expect(body).toContain('1 email found');
  expect(body).toContain(`href="/dev/inbox/messages/${id}?q=Ann%40example"`);
  expect(body).not.toContain('bob@example.com');
  expect((await fetchPath('/dev/inbox?q=654321')).body).toContain('2 emails found');
  expect((await fetchPath(`/dev/inbox?q=${encodeURIComponent('<b>"')}`)).body).toContain('No email contains “&lt;b&gt;&quot;”.');
  expect((await fetchPath(`/dev/inbox/messages/${id}?q=ann`)).body).toContain('?view=raw&amp;q=ann"');
  const newest = async (path: string) => (await fetchPath(path)).headers.location;
  expect(await newest('/dev/inbox/newest?q=ann')).toBe(`/dev/inbox/messages/${id}?q=ann`);
  expect(await newest('/dev/inbox/newest?q=nobody')).toBe('/dev/inbox?q=nobody');
});

test('deletes what was found, or all, for a form of its own page only', async () => {
  await deliver('ann@example.com');
  await deliver('bob@example.com');
  const { port } = server.address() as AddressInfo;
  const recipients = async () => (await inbox.list()).map(({ to }) => to).sort();
  const foreign: Record<string, string>[] = [
    {},
    { Origin: 'http://evil.example' },
    { Origin: 'http://localhost:1' },
    { 'Sec-Fetch-Site': 'same-site' },
  ];
  for (const headers of foreign) {
    expect((await fetchPath('/dev/inbox/delete', headers, 'POST')).status).toBe(403);
  }
  expect(await recipients()).toEqual(['ann@example.com', 'bob@example.com']);
  const own = { Origin: `http://localhost:${port}` };
  expect((await fetchPath('/dev/inbox/delete?q=bob', own, 'POST')).headers.location).toBe('/dev/inbox');
  expect(await recipients()).toEqual(['ann@example.com']);
  await fetchPath('/dev/inbox/delete', own, 'POST');
  expect(await recipients()).toEqual([]);
  expect((await fetchPath('/dev/inbox')).body).toContain('No email yet.');
});

test('a hostile message cannot inject HTML into the page', async () => {
  await inbox.deliver(
    Buffer.from(
      'From: <x@y.example>\r\nTo: "<b>" <a@b.example>\r\nSubject: <script>alert(1)</script>\r\n\r\n<script>alert(2)</script> http://x/"onclick=\r\n',
    ),
  );
  const [{ id }] = await inbox.list();
  for (const path of [
    '/dev/inbox',
    `/dev/inbox/messages/${id}`,
    `/dev/inbox/messages/${id}?view=text`,
    `/dev/inbox/messages/${id}?view=raw`,
  ]) {
    const { body } = await fetchPath(path);
    expect(body).not.toContain('<script>');
    expect(body).not.toContain('"onclick');
  }
});

test.each<Record<string, string>>([
  { Host: 'evil.example' },
  { Host: 'localhost.evil.example' },
  { 'X-Forwarded-For': '203.0.113.9' },
  { Forwarded: 'for=203.0.113.9' },
])('a request with %j gets 404', async (headers) => {
  await deliver('ann@example.com');
  for (const path of ['/dev/inbox', '/dev/inbox/messages.json', '/dev/inbox/events', '/dev/inbox/inbox.js']) {
    expect((await fetchPath(path, headers)).status).toBe(404);
  }
});

test.each(['..%2f..%2fetc%2fpasswd', 'x', '0000000000000-00000000-0000-0000-0000-000000000000'])(
  'the message %s does not exist',
  async (id) => {
    expect((await fetchPath(`/dev/inbox/messages/${id}`)).status).toBe(404);
    expect((await fetchPath(`/dev/inbox/messages/${id}/html`)).status).toBe(404);
  },
);

test('reports a message that another process delivered, and deletes old messages', async () => {
  let calls = 0;
  const stop = await inbox.watch(() => {
    calls++;
  });
  const elsewhere = new Inbox({ dataDir });
  for (let n = 0; n < 230; n++) await elsewhere.deliver(Buffer.from(`To: a@b.example\r\nSubject: ${n}\r\n\r\nx\r\n`));
  await expect.poll(() => calls, { timeout: 30_000 }).toBeGreaterThan(0);
  stop();
  expect((await inbox.list()).length).toBe(200);
  expect((await readdir(join(dataDir, 'inbox'))).length).toBeLessThan(225);
  expect((await stat(join(dataDir, 'inbox'))).mode & 0o777).toBe(0o700);
});
