import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from 'vitest';
import { calls } from '../../contract/calls.ts';
import { hintCookies } from '../../contract/remembered.ts';
import { Client } from '../support/client.ts';
import { freshNetworkAddress, production, type Service, useService } from '../support/harness.ts';
import { begin, follow } from '../support/oidc-client.ts';
import { bootOf } from '../support/oidc-driver.ts';
import {
  addWebsite,
  authorize,
  codeOf,
  exchange,
  freshAddress,
  registerWebsite,
  requestEmail,
  signInDeveloper,
} from '../support/sign-ins.ts';
import { waitUntil } from '../support/waiting.ts';

const { stage, service } = await useService();
/** Two with an https PUBLIC_URL, in production mode; one of them is behind a proxy and has a METRICS_TOKEN. */
let direct: Service;
let proxied: Service;
let shop: string;
beforeAll(async () => {
  direct = await stage.start({ ...production, PUBLIC_URL: 'https://login.example' });
  proxied = await stage.start({ ...production, PUBLIC_URL: 'https://auth.example', TRUST_PROXY: '1', METRICS_TOKEN: 'token-of-the-test' });
  shop = await addWebsite(stage, service);
});

const changing = Object.values(calls).filter((route) => route.method !== 'GET' && route.access !== 'any-origin');

describe('a call that changes data', () => {
  // One sign-in for all: the production limits, which apply below, allow an address few.
  let client: Client;
  beforeAll(async () => {
    ({ client } = await signInDeveloper(stage, service));
  });
  const json = { 'Content-Type': 'application/json' };
  const origins: Record<string, string>[] = [
    { Origin: 'null' },
    { Origin: `${service.url}.evil.example` },
    { Origin: 'https://evil.example', 'Sec-Fetch-Site': 'cross-site' },
  ];
  const types = ['multipart/form-data; boundary=x', 'application/xml', 'text/plain; application/json'];
  test.each(changing)('$method $path rejects pages of other origins and other content types', async ({ method, path }) => {
    // Each call gets one of those that the same code rejects.
    const place = changing.findIndex((route) => route.path === path && route.method === method);
    const target = path.replace('{id}', '0198c0de-0000-7000-8000-000000000000');
    for (const headers of [
      { ...json, Origin: 'https://evil.example' },
      { ...json, 'Sec-Fetch-Site': 'cross-site' },
      { ...json, ...origins[place % origins.length] },
    ]) {
      const response = await client.send(target, { method, headers, body: method === 'DELETE' ? undefined : '{}' });
      expect([headers, response.status]).toEqual([headers, 403]);
      expect(response.headers['access-control-allow-origin']).toBeUndefined();
    }
    if (method === 'DELETE') return;
    for (const type of ['text/plain', types[place % types.length]]) {
      const response = await client.send(target, { method, headers: { 'Content-Type': type }, body: '{}' });
      expect([type, response.status]).toEqual([type, 415]);
    }
  });

  test.each<[string, string | Buffer, Record<string, string>, string]>([
    ['compressed', gzipSync('{}'), { 'Content-Encoding': 'gzip' }, 'gzip'],
    ['in UTF-16', Buffer.from('{}', 'utf16le'), { 'Content-Type': 'application/json; charset=utf-16le' }, 'utf-16le'],
  ])('names why it refuses a body that is %s', async (_, body, headers, named) => {
    const sent = { method: 'POST', headers: { 'Content-Type': 'application/json', ...headers }, body };
    const { status, json } = await service.client().send('/api/auth/domain-auth', sent);
    expect([status, json.code, json.error]).toEqual([415, 'unsupported_media_type', expect.stringContaining(named)]);
  });

  test.each(['[]', '[{"email":"x"}]', 'null', '"x"', '1', '{'])('refuses the body %j, which is no JSON object', async (body) => {
    const sent = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body };
    const { status, json } = await service.client().send('/api/auth/domain-auth', sent);
    expect([status, json.code]).toEqual([400, 'bad_json']);
  });

  test('ignores a byte order mark and a Content-Encoding of identity', async () => {
    const headers = { 'Content-Type': 'application/json; charset=UTF-8', 'Content-Encoding': 'identity' };
    const body = `\uFEFF${JSON.stringify({ email: freshAddress(), forward_url: `https://${shop}/` })}`;
    expect((await service.client().send('/api/auth/domain-auth', { method: 'POST', headers, body })).status).toBe(200);
  });

  test('answers HEAD where it answers GET, except for tokens', async () => {
    const { client } = await signInDeveloper(stage, service);
    for (const path of ['/api/languages', '/api/user/me', '/api/websites', `/api/websites/domain/${shop}`]) {
      const [head, get] = [await client.send(path, { method: 'HEAD' }), await client.get(path)];
      expect([path, head.status, head.text, head.headers['content-length']]).toEqual([path, 200, '', get.headers['content-length']]);
    }
    const refused = await client.send('/api/verify-token?token=x', { method: 'HEAD' });
    expect([refused.status, refused.headers.allow]).toEqual([405, 'GET, POST']);
  });

  test('rejects forms of other origins that would start a sign-in or end a session', async () => {
    const { client, email } = await signInDeveloper(stage, service);
    const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
    const victim = freshAddress('victim');
    const requested = await client.send('/api/auth/domain-auth', {
      method: 'POST',
      headers: form,
      body: `email=${victim}&forward_url=https://${shop}/`,
    });
    expect(requested.status).toBe(415);
    const ended = await client.send('/api/auth/logout', { method: 'POST', headers: { ...form, Origin: 'https://evil.example' }, body: '' });
    expect(ended.status).toBe(403);
    expect((await client.get('/api/user/me')).json.email).toBe(email);
    expect(await stage.query('select 1 from outbox where recipient = $1', [victim])).toEqual([]);
  });

  test('accepts our own pages', async () => {
    const { client } = await signInDeveloper(stage, service);
    const own = { Origin: service.url, 'Sec-Fetch-Site': 'same-origin' };
    expect((await client.post('/api/auth/logout', {}, own)).status).toBe(200);
  });
});

test('/metrics without a token serves only programs on this machine that use a loopback name', async () => {
  const metrics = async (headers: Record<string, string>) => (await service.client().get('/metrics', headers)).status;
  expect(await metrics({})).toBe(200);
  expect(await metrics({ Host: '127.0.0.1:9090' })).toBe(200);
  // What a browser sends after DNS rebinding.
  expect(await metrics({ Host: 'evil.example' })).toBe(404);
  expect(await metrics({ Host: `localhost.evil.example:${service.port}` })).toBe(404);
  expect(await metrics({ 'X-Forwarded-For': '127.0.0.1' })).toBe(404);
  expect(await metrics({ Forwarded: 'for=127.0.0.1' })).toBe(404);
});

test('/metrics behind a proxy requires METRICS_TOKEN, which is logged once at the start', {
  timeout: 120_000,
}, async () => {
  // Like nginx by default: adds no header and passes a loopback name in Host.
  const throughProxy = async (to: number, headers = {}) => {
    const proxy = createServer((socket) => void socket.pipe(connect(to, '127.0.0.1')).pipe(socket)).listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    const response = await new Client(`http://127.0.0.1:${(proxy.address() as AddressInfo).port}`).get('/metrics', headers);
    proxy.close();
    return response;
  };
  for (const { port } of [direct, proxied]) expect((await throughProxy(port)).status).toBe(404);
  const response = await throughProxy(proxied.port, { Authorization: 'Bearer token-of-the-test' });
  expect([response.status, response.text]).toEqual([200, expect.stringContaining('emailauth_http_answers_total')]);
  await waitUntil('the line is written', 30_000, () => direct.output().includes('METRICS_TOKEN'));
  expect(direct.output().match(/METRICS_TOKEN/g)).toHaveLength(1);
});

test('TRUST_PROXY disables metrics without a token and the development endpoints in local mode', async () => {
  const relayed = await stage.start({ TRUST_PROXY: '1' });
  expect((await relayed.client().get('/metrics')).status).toBe(404);
  const { client } = await signInDeveloper(stage, relayed);
  expect((await client.post('/api/dev/admin-session', { enable: true })).status).toBe(404);
  expect((await client.get('/api/admin/session')).json.development).toBe(false);
});

test('no response except verify-token has CORS headers', async () => {
  const { client } = await signInDeveloper(stage, service);
  for (const { path, access } of Object.values(calls)) {
    if (access === 'any-origin') continue;
    for (const method of ['GET', 'OPTIONS']) {
      const response = await client.send(path.replace(/\{\w+\}/, 'en'), {
        method,
        headers: { Origin: 'https://evil.example', 'Access-Control-Request-Method': 'POST' },
      });
      expect(response.headers['access-control-allow-origin']).toBeUndefined();
      expect(response.headers['access-control-allow-credentials']).toBeUndefined();
    }
  }
});

describe('response headers', () => {
  test.each(['/auth', '/', '/developer', '/auth/callback?code=x&state=y', '/auth/link?t=x', '/no-such-page'])(
    'of the page %s protect it',
    async (path) => {
      const { headers } = await service.client().get(path);
      const csp = String(headers['content-security-policy']);
      expect(csp).toContain("default-src 'none'");
      expect(csp).toContain("frame-ancestors 'none'");
      expect(csp).toContain("base-uri 'none'");
      expect(csp).not.toMatch(/unsafe-|\*/);
      expect(headers['x-content-type-options']).toBe('nosniff');
      expect(['same-origin', 'no-referrer']).toContain(headers['referrer-policy']);
      expect(headers['x-powered-by']).toBeUndefined();
      expect(headers['strict-transport-security']).toBeUndefined();
    },
  );

  test('name every inline script of a page in the content security policy', async () => {
    for (const path of ['/auth', '/']) {
      const { headers, text } = await service.client().get(path);
      for (const [, attributes, script] of text.matchAll(/<script([^>]*)>([\s\S]*?)<\/script>/g)) {
        if (/src=|application\/json/.test(attributes)) continue;
        expect(String(headers['content-security-policy'])).toContain(`'sha256-${createHash('sha256').update(script).digest('base64')}'`);
      }
      expect(text).not.toMatch(/<[^>]+ (?:style|on\w+)=/);
    }
  });

  test('prevent storing of responses with secrets and a Referer to the website', async () => {
    const [client, email] = [service.client(), freshAddress()];
    const requested = await requestEmail(client, email, `https://${shop}/`);
    expect(requested.headers['cache-control']).toBe('no-store');
    const mail = await stage.mailbox.waitFor(email);
    const page = await service.client().get(mail.link);
    expect([page.headers['cache-control'], page.headers['referrer-policy']]).toEqual([
      'no-store',
      expect.stringMatching(/^(same-origin|no-referrer)$/),
    ]);
    const redirect = await client.get(mail.link);
    expect([redirect.status, redirect.headers['cache-control'], redirect.headers['referrer-policy']]).toEqual([
      303,
      'no-store',
      'no-referrer',
    ]);
  });
});

describe('with an https PUBLIC_URL', () => {
  /** Returns a client with a network address of its own, since limits count those of the other files too. */
  const open = () => proxied.client(freshNetworkAddress());
  let domain: string;
  beforeAll(async () => {
    domain = await registerWebsite(open());
  });

  const cookieNamed = (lines: string[], name: string) => lines.find((line) => line.startsWith(`${name}=`)) ?? '';

  test('cookies are __Host-, Secure, HttpOnly and Lax, and hint cookies are Secure and Lax', async () => {
    const [client, email] = [open(), freshAddress()];
    const requested = await requestEmail(client, email, `https://${domain}/`);
    const attempt = cookieNamed(requested.setCookies, '__Host-attempt');
    expect(attempt).toMatch(/; Max-Age=600\b/);
    const mail = await stage.mailbox.waitFor(email);
    expect(mail.link.startsWith('https://auth.example/auth/link?t=')).toBe(true);
    const opened = await client.get(mail.link);
    expect(opened.status).toBe(303);
    const { setCookies } = await signInDeveloperHere();
    for (const line of [attempt, cookieNamed(setCookies, '__Host-sid'), cookieNamed(setCookies, '__Host-device')]) {
      expect(line).toMatch(/; HttpOnly/);
      expect(line).toMatch(/; Secure/);
      expect(line).toMatch(/; SameSite=Lax/);
      expect(line).toMatch(/; Path=\//);
      expect(line).not.toMatch(/Domain=/i);
    }
    for (const name of [hintCookies.account, hintCookies.key, hintCookies.remembered]) {
      const line = cookieNamed(opened.setCookies, name);
      expect(line).toMatch(/; Secure/);
      expect(line).toMatch(/; SameSite=Lax/);
      expect(line).toMatch(/; Max-Age=315360000/);
      expect(line).not.toMatch(/HttpOnly/);
    }
    expect([...requested.setCookies, ...setCookies].filter((line) => /^(attempt|sid|device)=/.test(line))).toEqual([]);
  });

  test('every response has an HSTS header', async () => {
    for (const path of ['/auth', '/api/languages', '/no-such-page']) {
      expect((await open().get(path)).headers['strict-transport-security']).toMatch(/max-age=\d{7,}/);
    }
  });

  test.each(['/dev/inbox', '/demo'])('%s returns 404 in production', async (path) => {
    expect((await open().get(path)).status).toBe(404);
  });

  test('loopback and http forward_urls are rejected in production', async () => {
    for (const forward_url of ['http://localhost:4000/', 'https://localhost/', `http://${domain}/`, `https://${domain}:8443/`]) {
      const response = await open().post('/api/auth/domain-auth', { email: freshAddress(), forward_url });
      expect([forward_url, response.status]).toEqual([forward_url, 400]);
    }
    const localhost = await open().get('/api/websites/domain/localhost');
    expect(localhost.status).toBe(404);
  });

  test('/mcp is served under its own name on any port, and under loopback names for a proxy', async () => {
    const ask = async (host: string, more: Record<string, string> = {}) =>
      (
        await open().send('/mcp', {
          method: 'POST',
          headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', Host: host, ...more },
          body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
        })
      ).status;
    for (const host of ['auth.example', 'AUTH.example', 'auth.example:8443', 'localhost:4400'])
      expect([host, await ask(host)]).toEqual([host, 200]);
    for (const host of ['www.auth.example', 'auth.example.evil.example', '192.0.2.1', 'auth.example:x']) {
      expect([host, await ask(host, { 'X-Forwarded-Host': 'auth.example' })]).toEqual([host, 403]);
    }
    expect(await ask('auth.example', { Origin: 'https://auth.example' })).toBe(200);
    expect(await ask('auth.example', { Origin: 'http://auth.example' })).toBe(200);
  });

  // The last test, since it stops the service: log lines are written half a second later or when it stops.
  test('OpenID Connect sets its cookies with prefixes, links to no other address, and logs no warning about the address', async () => {
    const client = open();
    const { response } = await begin(client, { clientId: `https://${domain}`, redirectUri: `https://${domain}/callback` });
    expect(response.headers.location).toMatch(/^\/oauth\/interaction\//);
    const cookies = response.setCookies.join('\n');
    expect(cookies).toMatch(/^__Secure-oidc_interaction=[^;]+; path=\/oauth\/interaction\/[^;]+;.*samesite=lax; secure; httponly/m);
    expect(cookies).toMatch(/^__Secure-oidc_resume=[^;]+; path=\/oauth\/authorize\/[^;]+;.*samesite=lax; secure; httponly/m);
    const page = await follow(client, response);
    expect(bootOf(page).authorization.step).toBe('sign_in');
    const metadata = (await client.get('/.well-known/openid-configuration')).json;
    expect(metadata).toMatchObject({ issuer: 'https://auth.example', token_endpoint: 'https://auth.example/oauth/token' });
    await proxied.stop();
    expect(proxied.output()).not.toMatch(/oidc-provider|METRICS_TOKEN/);
  });

  async function signInDeveloperHere() {
    const client = open();
    const { email, pkce } = await authorize(client, freshAddress(), { redirect_uri: 'https://auth.example/developer' });
    return exchange(client, codeOf(await stage.mailbox.waitFor(email)), pkce.codeVerifier);
  }
});
