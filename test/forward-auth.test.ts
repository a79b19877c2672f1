import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Client, type HttpResponse } from './client.ts';
import { openStage, type Service, type Stage } from './harness.ts';
import { hasProxy, startProxy } from './proxies.ts';
import { freshAddress, freshDomain, openLink, registerWebsite, requestEmail, signInDeveloper } from './sign-ins.ts';
import { freePort } from './waiting.ts';

let stage: Stage;
let service: Service;
beforeAll(async () => {
  stage = await openStage();
  service = await stage.start();
});
afterAll(() => stage.close());

const PAGE = { Accept: 'text/html,application/xhtml+xml' };

/** What a proxy asks for a browser that navigates, with the browser's cookies of the app. */
const check = (browser: Client, url: string, policy = '', headers: Record<string, string> = PAGE) =>
  browser.get(`/api/forward-auth${policy}`, { 'X-Original-URL': url, 'X-Original-Method': 'GET', ...headers });

const forwardUrlOf = ({ headers }: HttpResponse) => new URL(headers.location ?? '').searchParams.get('forward_url') ?? '';

/** Requests the email of a sign-in to which the proxy redirected, and opens its link in the same browser. @returns the callback's URL */
async function signInAt(forwardUrl: string, email = freshAddress(), browser = service.client()): Promise<string> {
  await requestEmail(browser, email, forwardUrl);
  return openLink(browser, await stage.mailbox.waitFor(email));
}

describe('the check of a request', () => {
  test('leads a page to the sign-in page, uses the token once, and reports the address from then on', async () => {
    const domain = await registerWebsite(service.client());
    const page = `https://notes.${domain}/a?b=1`;
    const browser = service.client();
    const first = await check(browser, page);
    expect(first.status).toBe(302);
    expect(first.headers.location).toMatch(`${service.url}/auth?forward_url=`);
    expect(first.setCookies.join()).toMatch(/^__Host-emailauth_browser=[^;]+; Max-Age=3600; Path=\/; HttpOnly; Secure; SameSite=Lax$/);
    const email = freshAddress();
    const callback = await signInAt(forwardUrlOf(first), email);
    const back = await check(browser, callback);
    expect([back.status, back.headers.location]).toEqual([302, page]);
    const allowed = await check(browser, page);
    expect([allowed.status, allowed.headers['remote-email'], allowed.headers['remote-user']]).toEqual([200, email, email]);
    expect((await check(service.client(), callback)).status).toBe(403);
    expect((await service.client().get(`/api/verify-token?token=${new URL(callback).searchParams.get('token')}`)).json.reason).toBe('used');
    const reload = await check(browser, callback);
    expect([reload.status, reload.headers.location, reload.setCookies]).toEqual([302, page, []]);
  });

  test('returns 401 without a redirect for a request that is no navigation', async () => {
    const domain = await registerWebsite(service.client());
    const script = await check(service.client(), `https://${domain}/data`, '', { Accept: '*/*' });
    expect([script.status, script.json.code, script.headers.location]).toEqual([401, 'sign_in_needed', undefined]);
    const post = await check(service.client(), `https://${domain}/`, '', { ...PAGE, 'X-Original-Method': 'POST' });
    expect(post.status).toBe(401);
  });

  test('allows only the addresses and domains of `allow`, and refuses a list that it cannot read', async () => {
    const domain = await registerWebsite(service.client());
    const page = `https://${domain}/`;
    const browser = service.client();
    const email = freshAddress();
    const callback = await signInAt(forwardUrlOf(await check(browser, page)), email);
    await check(browser, callback);
    for (const allow of [email, email.toUpperCase(), `other.example,${email}`, 'mail.example', `x@y.example&allow=${email}`]) {
      expect([allow, (await check(browser, page, `?allow=${allow}`)).status]).toEqual([allow, 200]);
    }
    for (const allow of ['other.example', 'sub.mail.example', `x${email}`]) {
      const refused = await check(browser, page, `?allow=${allow}`);
      expect([allow, refused.status, refused.headers['remote-email']]).toEqual([allow, 403, undefined]);
      expect(refused.text).toContain(`signed in as ${email}`);
    }
    for (const query of ['?allow=', '?allow=example', '?allow=not%20a%20domain', '?max_age=1', '?max_age=x', '?max_age=99999999']) {
      expect([query, (await check(browser, page, query)).status]).toEqual([query, 400]);
    }
  });

  test('refuses a callback that did not begin in this browser, without using its token', async () => {
    const domain = await registerWebsite(service.client());
    const attacker = service.client();
    const callback = await signInAt(forwardUrlOf(await check(attacker, `https://${domain}/`)));
    const victim = service.client();
    await check(victim, `https://${domain}/`);
    const refused = await check(victim, callback);
    expect([refused.status, refused.setCookies]).toEqual([403, []]);
    expect(refused.text).toContain('began in another browser');
    expect((await check(victim, callback.replace(/state=[^&]*/, 'state=x'))).status).toBe(403);
    expect((await check(attacker, callback)).setCookies.join()).toContain('__Host-emailauth_session=');
  });

  test('accepts a session only at its own host, and only while the website is registered unchanged', async () => {
    const owner = await signInDeveloper(stage, service);
    const { id, domain } = (await owner.client.post('/api/websites', { domain: freshDomain() })).json;
    const page = `https://a.${domain}/`;
    const browser = service.client();
    await check(browser, await signInAt(forwardUrlOf(await check(browser, page))));
    expect((await check(browser, page)).status).toBe(200);
    expect((await check(browser, `https://b.${domain}/`)).status).toBe(302);
    await owner.client.delete(`/api/websites/${id}`);
    await registerWebsite(service.client(), domain);
    // This instance may have cached the former registration.
    const other = await stage.start();
    const elsewhere = other.client();
    elsewhere.cookies = browser.cookies;
    expect((await check(elsewhere, page)).status).toBe(302);
    await other.stop();
    const refused = await check(browser, `https://${freshDomain()}/`);
    expect([refused.status, refused.text]).toEqual([403, expect.stringContaining('is not registered')]);
  });

  test('ends the session at /_emailauth/sign-out', async () => {
    const domain = await registerWebsite(service.client());
    const page = `https://${domain}/`;
    const browser = service.client();
    await check(browser, await signInAt(forwardUrlOf(await check(browser, page))));
    const out = await check(browser, `${page}_emailauth/sign-out`);
    expect([out.status, out.headers.location]).toEqual([302, page]);
    expect((await check(browser, page)).status).toBe(302);
  });

  test.each([
    '',
    'notes.example',
    'ftp://notes.example/',
    'https://user@notes.example/',
    'https://notes.example:8443/',
    'http://notes.example/',
  ])('refuses the original URL %j', async (url) => {
    const response = await check(service.client(), url);
    expect(response.status).toBeGreaterThanOrEqual(400);
    expect(response.status).toBeLessThan(500);
    expect(response.headers.location).toBeUndefined();
  });
});

describe.each(['nginx', 'caddy'] as const)('an app behind %s', (name) => {
  if (!hasProxy(name)) console.warn(`\n!! The test with ${name} is skipped: on Debian, apt-get install nginx-core caddy\n`);
  test.skipIf(!hasProxy(name))('gets requests of signed-in visitors only, with their address', async () => {
    const { app, requests } = await startApp();
    const port = await freePort();
    const origin = `http://localhost:${port}`;
    const end = await startProxy(name, 'guide/forward-auth.md', port, {
      'allow=example.com,guest@other.example': 'allow=mail.example',
      '127.0.0.1:3000': `127.0.0.1:${service.port}`,
      '127.0.0.1:8080': `127.0.0.1:${(app.address() as AddressInfo).port}`,
      'notes.example.com {': `${origin} {\n\tbind 127.0.0.1`,
    });
    try {
      const browser = new Client(origin);
      const page = await browser.get('/report?year=1', { ...PAGE, 'Remote-Email': 'boss@mail.example' });
      expect(page.status).toBe(302);
      const email = freshAddress();
      const callback = new URL(await signInAt(forwardUrlOf(page), email));
      const back = await browser.get(callback.pathname + callback.search, PAGE);
      expect([back.status, back.headers.location]).toEqual([302, `${origin}/report?year=1`]);
      expect((await browser.get('/report?year=1', { ...PAGE, 'Remote-Email': 'boss@mail.example' })).text).toBe(`hello ${email}`);
      const posted = await browser.send('/', { method: 'POST', body: 'a=1', headers: { 'Content-Type': 'text/plain' } });
      expect(posted.text).toBe(`hello ${email}`);
      const script = await new Client(origin).get('/data', { Accept: 'application/json' });
      expect([script.status, script.headers.location]).toEqual([401, undefined]);
      expect((await browser.get('/_emailauth/sign-out', PAGE)).status).toBe(302);
      expect((await browser.get('/report', PAGE)).status).toBe(302);

      const stranger = new Client(origin);
      const outside = 'stranger@elsewhere.example';
      const other = new URL(await signInAt(forwardUrlOf(await stranger.get('/', PAGE)), outside));
      await stranger.get(other.pathname + other.search, PAGE);
      expect((await stranger.get('/', PAGE)).status).toBe(403);
      expect(requests).toEqual(['GET /report?year=1', 'POST /']);
    } finally {
      await end();
      app.close();
    }
  });
});

/** Starts the app, which greets the address that its proxy names. */
async function startApp(): Promise<{ app: Server; requests: string[] }> {
  const requests: string[] = [];
  const app = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    response.end(`hello ${request.headers['remote-email']}`);
  }).listen(0, '127.0.0.1');
  await once(app, 'listening');
  return { app, requests };
}
