import { randomBytes } from 'node:crypto';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Authority, hasOpenssl, openAuthority } from '../support/certificates.ts';
import { integratedSite } from '../support/integrated-site.ts';
import { addWebsite, freshDomain } from '../support/sign-ins.ts';
import { type Clinic, openClinic } from './clinic.ts';

let clinic: Clinic;
let stage: Clinic['stage'];
let names: Clinic['names'];
let service: Clinic['service'];
let owner: Clinic['owner'];
let home: Clinic['home'];
let diagnose: Clinic['diagnose'];
let serve: Clinic['serve'];
beforeAll(async () => {
  clinic = await openClinic();
  ({ stage, names, service, owner, home, diagnose, serve } = clinic);
});
afterAll(() => clinic.close());
beforeEach(() => clinic.healMail());

describe('localhost', () => {
  test('accepts http and any port, and skips the callback without --url', async () => {
    const site = await serve((request, response) => integratedSite(service.url, () => site)(request, response));
    const { of } = await diagnose(['localhost', '--url', `${site}/auth/callback`]);
    expect([of('registered').ok, of('tls').ok, of('redirect').ok, of('proof').ok]).toEqual([true, null, null, null]);
    expect([of('callback').ok, of('callback_refusal').ok]).toEqual([true, true]);
    expect((await diagnose(['localhost'])).of('callback')).toMatchObject({ ok: null, fix: expect.stringContaining('--url') });
  });

  test.each([
    [['shop.example', '--url', 'https://evil.example/cb'], 'not on shop.example'],
    [['--url', 'https://shop.example/cb'], 'needs the domain'],
  ])('is a usage error with %j', async (args, words) => {
    const { exitCode, stderr } = await home.run(['doctor', ...args]);
    expect([exitCode, stderr]).toEqual([3, expect.stringContaining(words)]);
  });
});

/** A loopback address that no other program uses. */
const LOOPBACK = '127.0.0.97';

if (!hasOpenssl) console.warn('No openssl command: what doctor says of https sites is not tested.');
describe.skipIf(!hasOpenssl)('a website', () => {
  const shop = freshDomain();
  let authority: Authority;
  let site: TlsServer;
  let port: number;
  let url: string;
  let good: { key: string; cert: string };
  let respond: RequestListener;
  let visits: { url: string; headers: Record<string, unknown> }[];

  let origin: string;
  /** Like the templates: rejects a callback without the state of this browser, and a token that is not valid. */
  const template: RequestListener = (request, response) => integratedSite(service.url, () => origin)(request, response);

  beforeAll(async () => {
    authority = await openAuthority();
    good = await authority.issue(shop, 60);
    site = createTlsServer(good, (request, response) => {
      visits.push({ url: request.url ?? '', headers: request.headers });
      respond(request, response);
    });
    port = await clinic.listen(site);
    url = `https://${shop}:${port}/auth/callback`;
    origin = new URL(url).origin;
    home.env.NODE_EXTRA_CA_CERTS = authority.file;
    const added = await owner.client.post('/api/websites', { domain: shop });
    names.setText(added.json.proof.record, [added.json.proof.value]);
    expect((await owner.client.post('/api/websites/prove', { domain: shop })).status).toBe(200);
  });
  afterAll(() => authority.close());
  beforeEach(() => {
    names.setAddresses(shop, ['127.0.0.1']);
    site.setSecureContext(good);
    origin = new URL(url).origin;
    respond = template;
    visits = [];
  });

  test('that is set up correctly passes what is visible from outside without receiving credentials, and names the rest', async () => {
    const { checks } = await diagnose([shop, '--url', url]);
    expect(checks.slice(7).map(({ id, ok }) => [id, ok])).toEqual([
      ['registered', true],
      ['proof', true],
      ['tls', true],
      // The website is not on port 443.
      ['redirect', null],
      ['callback', true],
      ['callback_refusal', true],
      ['login', true],
      ['login_cookie', true],
      ['state', null],
      ['other_website', null],
      ['replay', null],
      ['session', null],
    ]);
    for (const { fix } of checks.slice(-4)) expect(fix).toContain('emailauth try');
    expect(visits.map((visit) => visit.url)).toEqual([
      '/auth/callback',
      '/login',
      '/login',
      expect.stringMatching(/^\/auth\/callback\?token=[\w-]{43}$/),
      '/account',
      '/login',
      expect.stringMatching(/^\/auth\/callback\?state=\w+&token=[\w-]{43}$/),
      '/account',
      '/login',
    ]);
    for (const { headers } of visits) {
      expect(
        Object.keys(headers)
          .filter((name) => name !== 'cookie')
          .sort(),
      ).toEqual(['accept', 'connection', 'host', 'user-agent']);
      expect(headers.cookie ?? '').toMatch(/^(?:login_state=\w+)?$/);
    }
    const { exitCode, stdout } = await home.run(['doctor', shop, '--url', url]);
    expect(exitCode).toBe(0);
    expect(stdout).toContain('PASS  Callback: ');
    expect(stdout.replace(/\s+/g, ' ')).toMatch(
      /No check failed\. 5 checks were not made: http to https, State of the sign-in, Token of another website, Repeated callback, Session and logout\.$/,
    );
  });

  test.each<[string, number | 'other', RegExp, RegExp]>([
    ['that ends in 5 days', 5, /expires in (4|5) days/, /Renew/],
    ['that has ended', -3, /has expired/, /Renew/],
    ['for another name', 'other', /for other names\. It is for other\.example/, /names this host/],
  ])('with a certificate %s fails', async (_, days, detail, fix) => {
    site.setSecureContext(days === 'other' ? await authority.issue('other.example', 60) : await authority.issue(shop, days));
    const { of } = await diagnose([shop, '--url', url]);
    expect(of('tls')).toMatchObject({ ok: false, detail: expect.stringMatching(detail), fix: expect.stringMatching(fix) });
    expect(of('callback').ok).toBe(days === 5);
  });

  test('with an untrusted certificate fails', async () => {
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
    ['breaks off', 'callback', (_, response) => response.destroy(), /closed the connection/, /website is running/],
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
    respond = listener;
    const { of, ran } = await diagnose([shop, '--url', url]);
    expect(of(id)).toMatchObject({ ok: false, detail: expect.stringMatching(detail), fix: expect.stringMatching(fix) });
    expect(ran.exitCode).toBe(10);
  });

  test('that checks the state and never verifies the token fails', async () => {
    respond = integratedSite(service.url, () => origin, { verifies: false });
    const { of, ran } = await diagnose([shop, '--url', url]);
    expect(of('callback')).toMatchObject({ ok: true });
    expect(of('callback_refusal')).toMatchObject({
      ok: false,
      detail: 'A made-up token with a valid state opens /account: the callback does not verify the token.',
      fix: expect.stringContaining('/api/verify-token'),
    });
    expect(ran.exitCode).toBe(10);
  });

  test('without a login that leads to the service is not said to refuse a token', async () => {
    respond = (request, response) => response.writeHead(request.url?.startsWith('/auth/callback') ? 400 : 404).end();
    const { of, ran } = await diagnose([shop, '--url', url]);
    expect(of('callback_refusal')).toMatchObject({ ok: null, fix: expect.stringMatching(/--login-path.*emailauth try/) });
    expect([of('login').ok, of('login_cookie').ok, ran.exitCode]).toEqual([null, null, 0]);
  });

  test('whose login leads elsewhere, or sends no state, fails', async () => {
    const login =
      (location: string): RequestListener =>
      (request, response) =>
        request.url === '/login' ? response.writeHead(302, { Location: location }).end() : response.writeHead(400).end();
    const forward = (to: string, of = service.url) => `${of}/auth?${new URLSearchParams({ forward_url: to })}`;
    for (const [location, detail] of [
      [forward(url, 'https://auth.example'), /leads to https:\/\/auth\.example/],
      [forward('https://other.example/auth/callback?state=1'), /come back to https:\/\/other\.example/],
      [forward(url), /no state/],
    ] as const) {
      respond = login(location);
      expect((await diagnose([shop, '--url', url])).of('login')).toMatchObject({ ok: false, detail: expect.stringMatching(detail) });
    }
  });

  test('that is down, or has no DNS record, fails', async () => {
    const down = await diagnose([shop, '--url', `https://${shop}:9/auth/callback`]);
    expect([down.of('tls').detail, down.of('callback').detail]).toEqual(Array(2).fill(expect.stringContaining('refuses the connection')));
    names.setAddresses(shop, []);
    const { of } = await diagnose([shop]);
    for (const id of ['tls', 'callback'])
      expect(of(id)).toMatchObject({ ok: false, detail: expect.stringContaining('no address'), fix: expect.stringContaining('A or AAAA') });
    expect([of('redirect').ok, of('callback_refusal').ok]).toEqual([null, null]);
  });

  test('on the default ports is checked for its redirect to https, its callback, and the file of its proof', async ({ skip }) => {
    const domain = freshDomain();
    const secure = createTlsServer(await authority.issue(domain, 60), (request, response) => respond(request, response));
    const plain = createServer((_, response) => response.writeHead(301, { Location: `https://${domain}/` }).end());
    try {
      await clinic.listen(secure, LOOPBACK, 443);
      await clinic.listen(plain, LOOPBACK, 80);
    } catch (error) {
      console.warn(`What doctor says at ports 80 and 443 is not tested: ${error}`);
      return skip();
    }
    names.setAddresses(domain, [LOOPBACK]);
    const { proof } = (await owner.client.post('/api/websites', { domain })).json;
    origin = `https://${domain}`;
    respond = (request, response) =>
      request.url === '/.well-known/emailauth.json' ? response.end(proof.fileBody) : template(request, response);
    const { of } = await diagnose([domain]);
    expect([of('tls').ok, of('redirect').ok, of('callback').ok, of('callback_refusal').ok]).toEqual([true, true, true, true]);
    expect(of('proof')).toMatchObject({ ok: false, detail: expect.stringContaining('The file') });
    plain.removeAllListeners('request').on('request', (_, response) => response.end('hello'));
    expect((await diagnose([domain])).of('redirect')).toMatchObject({ ok: false, fix: expect.stringContaining('301') });
  });

  test('that is not registered fails with the command to register it', async () => {
    const { of } = await diagnose(['nobody.example']);
    expect(of('registered')).toMatchObject({ ok: false, fix: 'emailauth register nobody.example' });
    expect(of('proof').ok).toBeNull();
    expect((await diagnose(['app.nobody.co.uk'])).of('registered').fix).toBe('emailauth register nobody.co.uk');
  });

  test("that is somebody else's passes with advice", async () => {
    const { of } = await diagnose([await addWebsite(stage, service)]);
    expect(of('registered')).toMatchObject({ ok: true, fix: expect.stringContaining('not among your websites') });
  });

  test('that is used as EMAILAUTH_HOST fails by its certificate', async () => {
    const { of } = await diagnose([], { EMAILAUTH_HOST: `https://localhost:${port}` });
    expect(of('service')).toMatchObject({
      ok: false,
      detail: expect.stringContaining('for other names'),
      fix: expect.stringContaining('certificate'),
    });
    expect(visits).toEqual([]);
  });

  test('that is not verified is reported; an unchecked or different proof fails', async () => {
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
