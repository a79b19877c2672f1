import { randomBytes } from 'node:crypto';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { createServer as createTcpServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { query } from '../support/postgres.ts';
import { freePort } from '../support/waiting.ts';
import { type Check, type Clinic, MAIL_DOMAIN as MAIL, openClinic } from './clinic.ts';
import { type Home, openHome } from './command.ts';
import { openTerminal } from './terminal.ts';

let clinic: Clinic;
let stage: Clinic['stage'];
let names: Clinic['names'];
let service: Clinic['service'];
let owner: Clinic['owner'];
let home: Clinic['home'];
let dkimKey: Clinic['dkimKey'];
let diagnose: Clinic['diagnose'];
let serve: Clinic['serve'];
beforeAll(async () => {
  clinic = await openClinic();
  ({ stage, names, service, owner, home, dkimKey, diagnose, serve } = clinic);
});
afterAll(() => clinic.close());
beforeEach(() => clinic.healMail());

test('a correct set-up passes every check, as text and as JSON', async () => {
  const { checks } = await diagnose();
  expect(checks.map(({ id, ok }) => [id, ok])).toEqual([
    ['service', true],
    ['credentials', true],
    ['clock', true],
    ['mail_domain', true],
    ['spf', true],
    ['dkim', true],
    ['dmarc', true],
  ]);
  const { stdout, stderr, exitCode } = await home.run(['doctor']);
  expect([exitCode, stderr]).toEqual([0, '']);
  expect(stdout).toContain(`PASS  Sign-in: ${owner.email} is signed in, by EMAILAUTH_TOKEN`);
  expect(stdout).toMatch(/Nothing is wrong\.$/);
});

describe('mail', () => {
  test('without records fails, each check with the record to add', async () => {
    names.setMailServers(MAIL, []);
    names.setText(MAIL, ['other']);
    names.setText(`s1._domainkey.${MAIL}`, []);
    names.setText(`_dmarc.${MAIL}`, []);
    const { of } = await diagnose();
    expect(of('mail_domain')).toMatchObject({ ok: false, detail: expect.stringContaining('no') });
    expect(of('spf')).toMatchObject({ ok: false, fix: expect.stringContaining(`at ${MAIL}: v=spf1 `) });
    expect(of('dkim')).toMatchObject({ ok: false, fix: `Add a TXT record at s1._domainkey.${MAIL}: v=DKIM1; k=rsa; p=${dkimKey}` });
    expect(of('dmarc')).toMatchObject({ ok: false, fix: expect.stringContaining(`at _dmarc.${MAIL}: v=DMARC1; p=none`) });
  });

  test('with wrong records fails, and DNS responses cannot move the cursor', async () => {
    names.setMailServers(MAIL, ['']);
    names.setText(MAIL, ['v=spf1 a\u001b[2Jb\nPASS -all']);
    names.setText(`s1._domainkey.${MAIL}`, ['v=DKIM1; p=']);
    names.setText(`_dmarc.${MAIL}`, ['v=DMARC1; p=none', 'v=DMARC1; p=none']);
    const { of } = await diagnose();
    expect(of('mail_domain')).toMatchObject({ ok: false, detail: expect.stringContaining('RFC 7505'), fix: 'Remove that MX record.' });
    expect(of('spf')).toMatchObject({ ok: false, detail: expect.stringContaining('"a [2Jb PASS"') });
    expect(of('dkim')).toMatchObject({ ok: false, detail: expect.stringContaining('is not the one that the service signs with') });
    expect(of('dmarc')).toMatchObject({ ok: false, detail: expect.stringContaining('2 DMARC records') });
  });

  test('passes with advice for p=none; accepts an address in place of a domain', async () => {
    names.setText(`_dmarc.${MAIL}`, ['v=DMARC1; p=none']);
    names.setMailServers(MAIL, []);
    names.setAddresses(MAIL, ['192.0.2.1']);
    const { of } = await diagnose();
    names.setAddresses(MAIL, []);
    expect(of('dmarc')).toMatchObject({ ok: true, fix: expect.stringContaining('quarantine') });
    expect(of('mail_domain')).toMatchObject({ ok: true, detail: expect.stringContaining('an address') });
  });

  test('is skipped when the name server does not respond; an invalid one is a usage error', async () => {
    const { of } = await diagnose([], { DNS_SERVERS: '127.0.0.1:9' });
    for (const id of ['mail_domain', 'spf', 'dkim', 'dmarc'])
      expect(of(id)).toMatchObject({ ok: null, detail: expect.stringContaining('name server') });
    const { exitCode, stderr } = await home.run(['doctor'], { env: { DNS_SERVERS: 'dns.example' } });
    expect([exitCode, stderr]).toEqual([3, expect.stringContaining('DNS_SERVERS')]);
  });

  test('is skipped with the reason for the built-in inbox and an unsigned sender', async () => {
    const [local, unsigned] = await Promise.all([stage.start({ SMTP_URL: '', MAIL_FROM: '' }), stage.start()]);
    const inbox = await diagnose([], { EMAILAUTH_HOST: local.url });
    for (const id of ['mail_domain', 'spf', 'dkim', 'dmarc'])
      expect(inbox.of(id)).toMatchObject({ ok: null, detail: expect.stringContaining('inbox') });
    const { of } = await diagnose([], { EMAILAUTH_HOST: unsigned.url });
    expect(of('dkim')).toMatchObject({ ok: null, detail: expect.stringContaining('does not sign') });
    expect(of('spf').ok).toBe(true);
    await Promise.all([local.stop(), unsigned.stop()]);
  });
});

describe('credentials', () => {
  let other: Home;
  beforeAll(async () => {
    other = await openHome(service.url);
    await mkdir(join(other.directory, '.config/emailauth'), { recursive: true });
  });
  afterAll(() => other.close());

  const inFile = async (text: unknown, mode = 0o600) => {
    const path = join(other.directory, '.config/emailauth/credentials.json');
    await writeFile(path, typeof text === 'string' ? text : JSON.stringify({ default: { [service.url]: text } }));
    await chmod(path, mode);
    const ran = await other.run(['doctor', '--json']);
    return { path, ran, check: ran.json().checks[1] as Check };
  };
  const stored = (changes: Partial<Record<'token' | 'expiresAt', string>> = {}) => ({
    email: owner.email,
    token: owner.client.cookies.get('sid') ?? '',
    expiresAt: '2999-01-01T00:00:00.000Z',
    ...changes,
  });

  test('are skipped when not signed in', async () => {
    expect((await inFile('{}')).check).toMatchObject({ ok: null, fix: 'Run `emailauth login`.' });
  });

  test('are reported with their expiry', async () => {
    expect((await inFile(stored())).check).toMatchObject({ ok: true, detail: `${owner.email} is signed in, until 2999-01-01.` });
  });

  test.each([
    ['over by the file', { expiresAt: '2020-01-01T00:00:00.000Z' }],
    ['ended by the service', { token: randomBytes(32).toString('base64url') }],
  ])('with %s fail and refer to login', async (_, changes) => {
    const credential = stored(changes);
    const { check, ran } = await inFile(credential);
    expect(check).toMatchObject({ ok: false, detail: expect.stringContaining('has ended'), fix: 'Run `emailauth login`.' });
    expect(ran.exitCode).toBe(10);
    expect(ran.stdout + ran.stderr).not.toContain(credential.token);
  });

  test('fail in a file that others may read, with the chmod command', async () => {
    const { check, path } = await inFile(stored(), 0o644);
    expect(check).toMatchObject({ ok: false, detail: expect.stringContaining('mode 644'), fix: `chmod 600 ${path}` });
  });

  test('fail in a corrupt file, while the other checks continue', async () => {
    const { check, ran } = await inFile('{');
    expect(check).toMatchObject({ ok: false, detail: expect.stringContaining('credentials.json') });
    expect(ran.json().checks).toHaveLength(7);
  });
});

describe('the service', () => {
  /** Starts a proxy of the service that changes its response. */
  const behind = (change: (about: Record<string, unknown>) => object) =>
    serve(async (request, response) => {
      const received = await fetch(`${service.url}${request.url}`, { headers: { Authorization: request.headers.authorization ?? '' } });
      const body = (await received.json()) as Record<string, unknown>;
      response.writeHead(received.status).end(JSON.stringify(request.url === '/api/about' ? change(body) : body));
    });

  test.each<[string, () => string | Promise<string>, RegExp, RegExp]>([
    ['no process listens', async () => `http://localhost:${await freePort()}`, /refuses the connection/, /emailauth start/],
    ['no such name', () => 'https://nobody.invalid', /no address|name server/, /spelling|--host/],
    ['another web server', () => serve((_, response) => response.writeHead(200).end('<html>')), /not as an Email Auth service/, /--host/],
    ['another web server, 404', () => serve((_, response) => response.writeHead(404).end()), /not as an Email Auth service/, /--host/],
    [
      'a service that writes to the terminal',
      () => behind((about) => ({ ...about, version: '0.1.0\u001b[2J' })),
      /not as an Email Auth service/,
      /--host/,
    ],
    ['another service', () => serve((_, response) => response.end('{"name":"other"}')), /not as an Email Auth service/, /--host/],
    ['a proxy without it', () => serve((_, response) => response.writeHead(502).end('bad gateway')), /answers 502/, /proxy/],
    ['a redirect', () => serve((_, response) => response.writeHead(301, { Location: service.url }).end()), /redirects/, /--host/],
    ['no HTTP', openChatter, /does not speak HTTP/, /--host/],
    ['no TLS', async () => (await serve(() => {})).replace('http:', 'https:'), /does not speak TLS/, /TLS 1\.2/],
    ['another major version', () => behind((about) => ({ ...about, version: '7.1.0' })), /has version 7\.1\.0/, /Install version 7/],
  ])('with %s fails with the reason', async (_, host, detail, fix) => {
    const { of } = await diagnose([], { EMAILAUTH_HOST: await host() });
    expect(of('service')).toMatchObject({ ok: false, detail: expect.stringMatching(detail), fix: expect.stringMatching(fix) });
  });

  test('with a clock that is three minutes off fails', async () => {
    const host = await behind((about) => ({ ...about, time: new Date(Date.now() - 180_000).toISOString() }));
    const { of } = await diagnose([], { EMAILAUTH_HOST: host });
    expect(of('clock')).toMatchObject({ ok: false, detail: expect.stringContaining('3 min ahead'), fix: expect.stringContaining('ntp') });
  });

  test('times out after 10 s, together with the check of the website', async () => {
    const silent = await serve(() => {});
    const { of } = await diagnose(['localhost', '--url', `${silent}/cb`], { EMAILAUTH_HOST: silent });
    for (const id of ['service', 'callback']) expect(of(id)).toMatchObject({ ok: false, detail: expect.stringContaining('in time') });
  });
});

/** Starts a server that does not speak HTTP. */
async function openChatter(): Promise<string> {
  const server = createTcpServer((socket) => socket.on('error', () => {}).end('220 mail.example ESMTP\r\n'));
  return `http://localhost:${await clinic.listen(server)}`;
}

test('shows its progress in a terminal and exits on Ctrl-C', async () => {
  const silent = await serve(() => {});
  const terminal = openTerminal(home, ['doctor', 'localhost', '--url', `${silent}/cb`]);
  await terminal.waitFor(`Checking ${service.url} and localhost…`);
  terminal.type('\x03');
  expect(await terminal.exited).toBe(2);
  await terminal.close();
});

test('reports a service without its database as not ready', async () => {
  const name = new URL(stage.databaseUrl).pathname.slice(1);
  await query(inject('clusterUrl'), `alter database ${name} with allow_connections false`);
  await query(inject('clusterUrl'), 'select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [name]);
  const { of } = await diagnose(['shop.example']);
  await query(inject('clusterUrl'), `alter database ${name} with allow_connections true`);
  expect(of('service')).toMatchObject({
    ok: false,
    detail: expect.stringMatching(/not ready: .*database/),
    fix: expect.stringContaining('log'),
  });
  expect([of('credentials').ok, of('registered').ok, of('proof').ok]).toEqual([null, null, null]);
});
