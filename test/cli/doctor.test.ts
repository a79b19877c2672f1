import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { type Authority, hasOpenssl, openAuthority } from '../certificates.ts';
import { type NameServer, openNameServer } from '../dns.ts';
import { openStage, type Service, type Stage } from '../harness.ts';
import { query } from '../postgres.ts';
import { addSite, type Developer, freshDomain, signInDeveloper } from '../sign-ins.ts';
import { freePort } from '../waiting.ts';
import { type Home, openHome, type Ran } from './command.ts';
import { openTerminal } from './terminal.ts';

type Check = { id: string; name: string; ok: boolean | null; detail: string; fix: string };

const MAIL = 'emailauth.test';
const shop = freshDomain();
const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const dkimKey = publicKey.export({ format: 'der', type: 'spki' }).toString('base64');

let stage: Stage;
let names: NameServer;
let service: Service;
let owner: Developer;
let home: Home;
const servers: (Server | TlsServer)[] = [];
beforeAll(async () => {
  names = await openNameServer();
  stage = await openStage();
  service = await stage.start({
    DNS_SERVERS: names.address,
    DKIM_DOMAIN: MAIL,
    DKIM_SELECTOR: 's1',
    DKIM_KEY: privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
  });
  owner = await signInDeveloper(stage, service);
  home = await openHome(service.url);
  home.env.DNS_SERVERS = names.address;
  home.env.EMAILAUTH_TOKEN = owner.client.cookies.get('sid') ?? '';
});
afterAll(async () => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
  await home.close();
  await names.close();
  await stage.close();
});
beforeEach(() => {
  names.setMailServers(MAIL, [`mx.${MAIL}`]);
  names.setText(MAIL, ['v=spf1 ip4:192.0.2.1 -all']);
  names.setText(`s1._domainkey.${MAIL}`, [`v=DKIM1; k=rsa; p=${dkimKey}`]);
  names.setText(`_dmarc.${MAIL}`, ['v=DMARC1; p=reject']);
});

/** Runs it with --json, which is an answer of the right shape whatever is found. */
async function diagnose(
  args: string[] = [],
  env: Record<string, string> = {},
): Promise<{ ran: Ran; checks: Check[]; of(id: string): Check }> {
  const ran = await home.run(['doctor', ...args, '--json'], { env });
  const { checks }: { checks: Check[] } = ran.json();
  for (const check of checks) {
    expect(Object.keys(check)).toEqual(['id', 'name', 'ok', 'detail', 'fix']);
    expect(check.detail).not.toBe('');
    if (check.ok === false) expect(check.fix).not.toBe('');
  }
  expect(ran.exitCode).toBe(checks.some(({ ok }) => ok === false) ? 10 : 0);
  return { ran, checks, of: (id) => checks.find((check) => check.id === id) as Check };
}

/** A server of its own, as plain HTTP. @returns its origin */
async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  return `http://localhost:${(server.address() as AddressInfo).port}`;
}

test('a sound service: every check passes, for people and for programs', async () => {
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
  test('that nobody set up fails, each check with the record to add', async () => {
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

  test('that is set up wrongly fails, and what the name server says cannot move the cursor', async () => {
    names.setMailServers(MAIL, ['']);
    names.setText(MAIL, ['v=spf1 a\u001b[2Jb\nPASS -all']);
    names.setText(`s1._domainkey.${MAIL}`, ['v=DKIM1; p=']);
    names.setText(`_dmarc.${MAIL}`, ['v=DMARC1; p=none', 'v=DMARC1; p=none']);
    const { of } = await diagnose();
    expect(of('mail_domain')).toMatchObject({ ok: false, detail: expect.stringContaining('RFC 7505'), fix: 'Remove that MX record.' });
    expect(of('spf')).toMatchObject({ ok: false, detail: expect.stringContaining('"a [2Jb PASS"') });
    expect(of('dkim')).toMatchObject({ ok: false, detail: expect.stringContaining('revoked') });
    expect(of('dmarc')).toMatchObject({ ok: false, detail: expect.stringContaining('2 DMARC records') });
  });

  test('p=none passes with advice; an address is enough for a domain', async () => {
    names.setText(`_dmarc.${MAIL}`, ['v=DMARC1; p=none']);
    names.setMailServers(MAIL, []);
    names.setAddresses(MAIL, ['192.0.2.1']);
    const { of } = await diagnose();
    names.setAddresses(MAIL, []);
    expect(of('dmarc')).toMatchObject({ ok: true, fix: expect.stringContaining('quarantine') });
    expect(of('mail_domain')).toMatchObject({ ok: true, detail: expect.stringContaining('an address') });
  });

  test('a name server that does not answer tells nothing, and one that cannot be is a usage error', async () => {
    const { of } = await diagnose([], { DNS_SERVERS: '127.0.0.1:9' });
    for (const id of ['mail_domain', 'spf', 'dkim', 'dmarc'])
      expect(of(id)).toMatchObject({ ok: null, detail: expect.stringContaining('name server') });
    const { exitCode, stderr } = await home.run(['doctor'], { env: { DNS_SERVERS: 'dns.example' } });
    expect([exitCode, stderr]).toEqual([3, expect.stringContaining('DNS_SERVERS')]);
  });

  test('the built-in inbox and an unsigned sender are skipped with the reason', async () => {
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

  test('nobody is signed in: skipped', async () => {
    expect((await inFile('{}')).check).toMatchObject({ ok: null, fix: 'Run `emailauth login`.' });
  });

  test('stored: until when', async () => {
    expect((await inFile(stored())).check).toMatchObject({ ok: true, detail: `${owner.email} is signed in, until 2999-01-01.` });
  });

  test.each([
    ['over by the file', { expiresAt: '2020-01-01T00:00:00.000Z' }],
    ['ended by the service', { token: randomBytes(32).toString('base64url') }],
  ])('%s: fails with login', async (_, changes) => {
    const credential = stored(changes);
    const { check, ran } = await inFile(credential);
    expect(check).toMatchObject({ ok: false, detail: expect.stringContaining('has ended'), fix: 'Run `emailauth login`.' });
    expect(ran.exitCode).toBe(10);
    expect(ran.stdout + ran.stderr).not.toContain(credential.token);
  });

  test('a file that others may read: fails with chmod', async () => {
    const { check, path } = await inFile(stored(), 0o644);
    expect(check).toMatchObject({ ok: false, detail: expect.stringContaining('mode 644'), fix: `chmod 600 ${path}` });
  });

  test('a broken file: fails, and the other checks go on', async () => {
    const { check, ran } = await inFile('{');
    expect(check).toMatchObject({ ok: false, detail: expect.stringContaining('credentials.json') });
    expect(ran.json().checks).toHaveLength(7);
  });
});

describe('the service', () => {
  /** The service, but for what is changed in its answer. */
  const behind = (change: (about: Record<string, unknown>) => object) =>
    serve(async (request, response) => {
      const answer = await fetch(`${service.url}${request.url}`, { headers: { Authorization: request.headers.authorization ?? '' } });
      const body = (await answer.json()) as Record<string, unknown>;
      response.writeHead(answer.status).end(JSON.stringify(request.url === '/api/about' ? change(body) : body));
    });

  test.each<[string, () => string | Promise<string>, RegExp, RegExp]>([
    ['nobody listens', async () => `http://localhost:${await freePort()}`, /refuses the connection/, /emailauth start/],
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
    ['another major version', () => behind((about) => ({ ...about, version: '7.1.0' })), /has version 7\.1\.0/, /npx emailauth@7/],
  ])('%s: says so', async (_, host, detail, fix) => {
    const { of } = await diagnose([], { EMAILAUTH_HOST: await host() });
    expect(of('service')).toMatchObject({ ok: false, detail: expect.stringMatching(detail), fix: expect.stringMatching(fix) });
  });

  test('a clock three minutes off fails', async () => {
    const host = await behind((about) => ({ ...about, time: new Date(Date.now() - 180_000).toISOString() }));
    const { of } = await diagnose([], { EMAILAUTH_HOST: host });
    expect(of('clock')).toMatchObject({ ok: false, detail: expect.stringContaining('3 min ahead'), fix: expect.stringContaining('ntp') });
  });

  test('whoever keeps it waiting is left after 10 s, the service and the site at once', async () => {
    const silent = await serve(() => {});
    const { of } = await diagnose(['localhost', '--url', `${silent}/cb`], { EMAILAUTH_HOST: silent });
    for (const id of ['service', 'callback']) expect(of(id)).toMatchObject({ ok: false, detail: expect.stringContaining('in time') });
  });
});

/** Something that is no web server. */
async function openChatter(): Promise<string> {
  const server = createTcpServer((socket) => socket.on('error', () => {}).end('220 mail.example ESMTP\r\n')).listen(0, '127.0.0.1');
  servers.push(server as Server);
  Object.assign(server, { closeAllConnections: () => {} });
  await once(server, 'listening');
  return `http://localhost:${(server.address() as AddressInfo).port}`;
}

describe('localhost', () => {
  test('http and any port; without --url its callback is skipped', async () => {
    const site = await serve((_, response) => response.writeHead(400).end());
    const { of } = await diagnose(['localhost', '--url', `${site}/auth/callback`]);
    expect([of('registered').ok, of('tls').ok, of('redirect').ok, of('proof').ok]).toEqual([true, null, null, null]);
    expect([of('callback').ok, of('callback_refusal').ok]).toEqual([true, true]);
    expect((await diagnose(['localhost'])).of('callback')).toMatchObject({ ok: null, fix: expect.stringContaining('--url') });
  });

  test.each([
    [['shop.example', '--url', 'https://evil.example/cb'], 'not on shop.example'],
    [['--url', 'https://shop.example/cb'], 'needs the domain'],
  ])('%j: a usage error', async (args, words) => {
    const { exitCode, stderr } = await home.run(['doctor', ...args]);
    expect([exitCode, stderr]).toEqual([3, expect.stringContaining(words)]);
  });
});

/** An address of the loopback at which nobody else listens. */
const LOOPBACK = '127.0.0.97';

/** @returns null when this user may not, or somebody else does */
async function listenAt<Kind extends Server | TlsServer>(server: Kind, port: number): Promise<Kind | null> {
  try {
    await once(server.listen(port, LOOPBACK), 'listening');
    servers.push(server);
    return server;
  } catch {
    return null;
  }
}

if (!hasOpenssl) console.warn('No openssl command: what doctor says of https sites is not tested.');
describe.skipIf(!hasOpenssl)('a site', () => {
  let authority: Authority;
  let site: TlsServer;
  let url: string;
  let good: { key: string; cert: string };
  let answer: RequestListener;
  let visits: { url: string; headers: Record<string, unknown> }[];

  /** As our templates do: without the state that this browser was given, nothing. */
  const template: RequestListener = (request, response) =>
    request.url?.startsWith('/auth/callback') ? response.writeHead(400).end() : response.writeHead(404).end();

  beforeAll(async () => {
    authority = await openAuthority();
    good = await authority.issue(shop, 60);
    site = createTlsServer(good, (request, response) => {
      visits.push({ url: request.url ?? '', headers: request.headers });
      answer(request, response);
    }).listen(0, '127.0.0.1');
    servers.push(site);
    await once(site, 'listening');
    url = `https://${shop}:${(site.address() as AddressInfo).port}/auth/callback`;
    home.env.NODE_EXTRA_CA_CERTS = authority.file;
    const added = await owner.client.post('/api/websites', { domain: shop });
    names.setText(added.json.proof.record, [added.json.proof.value]);
    expect((await owner.client.post('/api/websites/prove', { domain: shop })).status).toBe(200);
  });
  afterAll(() => authority.close());
  beforeEach(() => {
    names.setAddresses(shop, ['127.0.0.1']);
    site.setSecureContext(good);
    answer = template;
    visits = [];
  });

  test('that is sound passes every check, gets nothing of ours, and its answer is the same for people', async () => {
    const { checks } = await diagnose([shop, '--url', url]);
    expect(checks.slice(7).map(({ id, ok }) => [id, ok])).toEqual([
      ['registered', true],
      ['proof', true],
      ['tls', true],
      // It is not on port 443.
      ['redirect', null],
      ['callback', true],
      ['callback_refusal', true],
    ]);
    expect(visits.map((visit) => visit.url)).toEqual(['/auth/callback', expect.stringMatching(/^\/auth\/callback\?token=[\w-]{43}$/)]);
    for (const { headers } of visits) expect(Object.keys(headers).sort()).toEqual(['accept', 'connection', 'host', 'user-agent']);
    const { exitCode, stdout } = await home.run(['doctor', shop, '--url', url]);
    expect(exitCode).toBe(0);
    expect(stdout).toContain('PASS  Callback: ');
  });

  test.each<[string, number | 'other', RegExp, RegExp]>([
    ['that ends in 5 days', 5, /ends in (4|5) days/, /Renew/],
    ['that has ended', -3, /has expired/, /Renew/],
    ['for another name', 'other', /for other names\. It is for other\.example/, /names this host/],
  ])('with a certificate %s fails', async (_, days, detail, fix) => {
    site.setSecureContext(days === 'other' ? await authority.issue('other.example', 60) : await authority.issue(shop, days));
    const { of } = await diagnose([shop, '--url', url]);
    expect(of('tls')).toMatchObject({ ok: false, detail: expect.stringMatching(detail), fix: expect.stringMatching(fix) });
    expect(of('callback').ok).toBe(days === 5);
  });

  test('with a certificate that nobody trusts fails', async () => {
    const { of } = await diagnose([shop, '--url', url], { NODE_EXTRA_CA_CERTS: '' });
    expect(of('tls')).toMatchObject({
      ok: false,
      detail: expect.stringContaining('cannot be trusted'),
      fix: expect.stringContaining('chain'),
    });
    expect(visits).toEqual([]);
  });

  test.each<[string, string, RequestListener, RegExp, RegExp]>([
    ['has no callback', 'callback', (_, response) => response.writeHead(404).end(), /There is nothing/, /emailauth init/],
    [
      'redirects elsewhere',
      'callback',
      (_, response) => response.writeHead(302, { Location: 'https://evil.example/' }).end(),
      /another host/,
      /forward_url/,
    ],
    ['breaks off', 'callback', (_, response) => response.destroy(), /closed the connection/, /site runs/],
    [
      'takes any token',
      'callback_refusal',
      (request, response) =>
        request.url?.includes('token=')
          ? response.writeHead(303, { Location: '/account', 'Set-Cookie': 'session=x; HttpOnly' }).end()
          : response.writeHead(400).end(),
      /303 and the cookie session: it may have/,
      /verify-token/,
    ],
  ])('that %s fails', async (_, id, listener, detail, fix) => {
    answer = listener;
    const { of, ran } = await diagnose([shop, '--url', url]);
    expect(of(id)).toMatchObject({ ok: false, detail: expect.stringMatching(detail), fix: expect.stringMatching(fix) });
    expect(ran.exitCode).toBe(10);
  });

  test('that is down, or has no name, fails', async () => {
    const down = await diagnose([shop, '--url', `https://${shop}:9/auth/callback`]);
    expect([down.of('tls').detail, down.of('callback').detail]).toEqual(Array(2).fill(expect.stringContaining('refuses the connection')));
    names.setAddresses(shop, []);
    const { of } = await diagnose([shop]);
    for (const id of ['tls', 'callback'])
      expect(of(id)).toMatchObject({ ok: false, detail: expect.stringContaining('no address'), fix: expect.stringContaining('A or AAAA') });
    expect([of('redirect').ok, of('callback_refusal').ok]).toEqual([null, null]);
  });

  test('at the ports that visitors use: its redirect to https, its callback, and the file of its proof', async ({ skip }) => {
    const domain = freshDomain();
    const [listening, plain] = await Promise.all([
      listenAt(
        createTlsServer(await authority.issue(domain, 60), (request, response) => answer(request, response)),
        443,
      ),
      listenAt(
        createServer((_, response) => response.writeHead(301, { Location: `https://${domain}/` }).end()),
        80,
      ),
    ]);
    if (!listening || !plain) {
      console.warn('Ports 80 and 443 of the loopback cannot be listened at: what doctor says of them is not tested.');
      return skip();
    }
    names.setAddresses(domain, [LOOPBACK]);
    const { proof } = (await owner.client.post('/api/websites', { domain })).json;
    answer = (request, response) =>
      request.url === '/.well-known/emailauth.json' ? response.end(proof.fileBody) : template(request, response);
    const { of } = await diagnose([domain]);
    expect([of('tls').ok, of('redirect').ok, of('callback').ok, of('callback_refusal').ok]).toEqual([true, true, true, true]);
    expect(of('proof')).toMatchObject({ ok: false, detail: expect.stringContaining('The file') });
    plain.removeAllListeners('request').on('request', (_, response) => response.end('hello'));
    expect((await diagnose([domain])).of('redirect')).toMatchObject({ ok: false, fix: expect.stringContaining('301') });
  });

  test('that nobody registered fails with the command that does it', async () => {
    const { of } = await diagnose(['nobody.example']);
    expect(of('registered')).toMatchObject({ ok: false, fix: 'emailauth register nobody.example' });
    expect(of('proof').ok).toBeNull();
    expect((await diagnose(['app.nobody.co.uk'])).of('registered').fix).toBe('emailauth register nobody.co.uk');
  });

  test("that is somebody else's passes with advice", async () => {
    const { of } = await diagnose([await addSite(stage, service)]);
    expect(of('registered')).toMatchObject({ ok: true, fix: expect.stringContaining('not among your websites') });
  });

  test('that is said to be the service fails by its certificate', async () => {
    const { of } = await diagnose([], { EMAILAUTH_HOST: `https://localhost:${(site.address() as AddressInfo).port}` });
    expect(of('service')).toMatchObject({
      ok: false,
      detail: expect.stringContaining('for other names'),
      fix: expect.stringContaining('certificate'),
    });
    expect(visits).toEqual([]);
  });

  test('that is not proved is told so; a proof that was never checked, or is another one, fails', async () => {
    const domain = freshDomain();
    const { proof } = (await owner.client.post('/api/websites', { domain })).json;
    const look = async (env = {}) => (await diagnose([domain], env)).of('proof');
    expect(await look()).toMatchObject({ ok: null, fix: `emailauth sites verify ${domain}` });
    names.setText(proof.record, [randomBytes(16).toString('hex')]);
    expect(await look()).toMatchObject({
      ok: false,
      detail: expect.stringContaining('not yours'),
      fix: expect.stringContaining(proof.value),
    });
    names.setText(proof.record, [`"${proof.value}"`]);
    expect(await look()).toMatchObject({
      ok: false,
      detail: expect.stringContaining('not checked'),
      fix: `emailauth sites verify ${domain}`,
    });
    expect(await look({ EMAILAUTH_TOKEN: '' })).toMatchObject({ ok: null, fix: 'Run `emailauth login`.' });
  });
});

test('in a terminal it says at once what it looks at, and Ctrl-C leaves it', async () => {
  const silent = await serve(() => {});
  const terminal = openTerminal(home, ['doctor', 'localhost', '--url', `${silent}/cb`]);
  await terminal.waitFor(`Looking at ${service.url} and localhost…`);
  terminal.type('\x03');
  expect(await terminal.exited).toBe(2);
  await terminal.close();
});

test('a service without its database is not ready', async () => {
  const name = new URL(stage.databaseUrl).pathname.slice(1);
  await query(inject('clusterUrl'), `alter database ${name} with allow_connections false`);
  await query(inject('clusterUrl'), 'select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [name]);
  const { of } = await diagnose([shop]);
  await query(inject('clusterUrl'), `alter database ${name} with allow_connections true`);
  expect(of('service')).toMatchObject({
    ok: false,
    detail: expect.stringMatching(/not ready: .*database/),
    fix: expect.stringContaining('log'),
  });
  expect([of('credentials').ok, of('registered').ok, of('proof').ok]).toEqual([null, null, null]);
});
