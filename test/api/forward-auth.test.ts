import { describe, expect, onTestFinished, test } from 'vitest';
import type { Client } from '../support/client.ts';
import { check, forwardUrlOf, naming, PAGE, signInAtApp } from '../support/forward-auth.ts';
import { type Service, useProduction, useService } from '../support/harness.ts';
import { freshAddress, freshDomain, registerWebsite, signInDeveloper } from '../support/sign-ins.ts';
import { waitUntil } from '../support/waiting.ts';

const { stage, service } = await useService();
/** Another instance on the same database. */
const { service: other } = await useProduction();

const signInAt = (forwardUrl: string, email?: string, browser?: Client) =>
  signInAtApp(stage, { forwardUrl, email, browser: browser ?? service.client() });

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
    const post = await check(service.client(), `https://${domain}/`, '', { ...PAGE, 'X-Forwarded-Method': 'POST' });
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
    for (const query of [
      '?allow=',
      '?allow=example',
      '?allow=not%20a%20domain',
      '?max_age=1',
      '?max_age=x',
      '?max_age=99999999',
      '?alow=example.com',
      '?require=passkey',
    ]) {
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
    const elsewhere = other.client();
    elsewhere.cookies = browser.cookies;
    expect((await check(elsewhere, page)).status).toBe(302);
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

  test('applies max_age at each use of a session, by the clock of the database', async () => {
    const domain = await registerWebsite(service.client());
    const page = `https://${domain}/`;
    const browser = service.client();
    const callback = await signInAt(forwardUrlOf(await check(browser, page)), freshAddress(), browser);
    expect((await check(browser, callback, '?max_age=2000000')).setCookies.join()).toMatch(
      /^__Host-emailauth_session=[^;]+; Max-Age=2000000; /,
    );
    const status = async (instance: Service, policy: string, headers = PAGE) =>
      (await check(Object.assign(instance.client(), { cookies: new Map(browser.cookies) }), page, policy, headers)).status;
    expect(await status(service, '?max_age=60')).toBe(200);

    // An instance whose own clock is 65 minutes ahead, and for which that of the database is 10 minutes ahead.
    await stage.query(
      `create schema ahead; create function ahead.now() returns timestamptz stable return pg_catalog.now() + interval '10 minutes'`,
    );
    onTestFinished(async () => void (await stage.query('drop schema ahead cascade')));
    const databaseUrl = new URL(stage.databaseUrl);
    databaseUrl.searchParams.set('options', '-c search_path=ahead,public,pg_catalog');
    const shift = 'const now = Date.now; Date.now = () => now() + 65 * 60_000;';
    const ahead = await stage.start({
      PUBLIC_URL: service.url,
      DATABASE_URL: databaseUrl.href.replaceAll('+', '%20'),
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(shift)}`,
    });
    expect(await status(ahead, '?max_age=60')).toBe(302);
    expect(await status(ahead, '?max_age=60', { Accept: '*/*' })).toBe(401);
    expect(await status(ahead, '?max_age=3600')).toBe(200);
  });

  test('ends sessions when the person signs out everywhere, and when the website erases the visitor', async () => {
    const owner = await signInDeveloper(stage, service);
    const { id, domain } = (await owner.client.post('/api/websites', { domain: freshDomain() })).json;
    const page = `https://${domain}/`;
    const signIn = async (email: string, browser = service.client()) => {
      await check(browser, await signInAt(forwardUrlOf(await check(browser, page)), email, browser));
      expect((await check(browser, page)).headers['remote-email']).toBe(email);
      return browser;
    };
    const person = await signInDeveloper(stage, service);
    const [signedOut, erased, unchanged] = [await signIn(person.email), await signIn(freshAddress('erased')), await signIn(freshAddress())];
    expect((await person.client.post('/api/user/sign-out-everywhere')).status).toBe(200);
    const { 'remote-email': email } = (await check(erased, page)).headers;
    expect((await owner.client.post(`/api/websites/${id}/visitors/erase`, { email })).status).toBe(200);
    // Another instance has cached nothing, which lasts up to 30 s.
    const statuses = [signedOut, erased, unchanged].map(async ({ cookies }) => {
      return (await check(Object.assign(other.client(), { cookies: new Map(cookies) }), page)).status;
    });
    expect(await Promise.all(statuses)).toEqual([302, 302, 200]);
    signedOut.cookies.clear();
    const { cookies } = await signIn(person.email, signedOut);
    expect((await check(Object.assign(other.client(), { cookies }), page)).status).toBe(200);
  });

  test('accepts a session at the host in the path only, whatever headers name, and logs one of another host', async () => {
    const [own, foreign] = [await registerWebsite(service.client()), await registerWebsite(service.client())];
    const browser = service.client();
    await check(browser, await signInAt(forwardUrlOf(await check(browser, `https://${foreign}/`))));
    expect((await check(browser, `https://${foreign}/`)).status).toBe(200);
    const refused = await check(browser, `https://${own}/a`, '', {
      ...PAGE,
      ...naming(foreign),
      'X-Forwarded-Uri': '/a',
      'X-Forwarded-Method': 'GET',
    });
    expect([refused.status, refused.headers['remote-email']]).toEqual([302, undefined]);
    expect(forwardUrlOf(refused)).toMatch(`https://${own}/_emailauth/callback?state=`);
    const lines = () =>
      service
        .output()
        .split('\n')
        .filter((line) => line.includes(own) && line.includes(foreign));
    await waitUntil('the line is written', 30_000, () => lines().length > 0);
    expect(lines()).toEqual([expect.stringContaining('refused a session of another host')]);
  });

  test('accepts a callback at the host of its sign-in only', async () => {
    const domain = await registerWebsite(service.client());
    const browser = service.client();
    const callback = new URL(await signInAt(forwardUrlOf(await check(browser, `https://${domain}/`))));
    await check(browser, `https://www.${domain}/`);
    const elsewhere = await check(browser, `https://www.${domain}${callback.pathname}${callback.search}`);
    expect([elsewhere.status, elsewhere.setCookies]).toEqual([403, []]);
    expect((await check(browser, callback.href)).setCookies.join()).toContain('__Host-emailauth_session=');
  });

  test('returns to / where the original path is not one of the app', async () => {
    const domain = await registerWebsite(service.client());
    const browser = service.client();
    for (const target of [
      '//evil.example/',
      '/\\evil.example',
      '/a/../b',
      '/%2e%2e//evil.example',
      '/a#b',
      '/a%00',
      `/${'a'.repeat(5000)}`,
    ]) {
      const headers = { ...PAGE, 'X-Forwarded-Uri': target };
      const callback = await signInAt(forwardUrlOf(await check(browser, `https://${domain}/`, '', headers)));
      expect([target, (await check(browser, callback)).headers.location]).toEqual([target, `https://${domain}/`]);
      browser.cookies.clear();
    }
  });

  test('gives a path beyond ASCII back percent-encoded', async () => {
    const domain = await registerWebsite(service.client());
    const browser = service.client();
    const headers = { ...PAGE, 'X-Forwarded-Uri': Buffer.from('/žalia?q=ā').toString('latin1') };
    const callback = await signInAt(forwardUrlOf(await check(browser, `https://${domain}/`, '', headers)));
    expect((await check(browser, callback)).headers.location).toBe(`https://${domain}/%C5%BEalia?q=%C4%81`);
  });

  test.each(['', '/', '/nginx', '/nginx/', '/notes.example/more', '/notes.example:8443', '/%ff', '/%', '/$host', '/192.0.2.1'])(
    'of /api/forward-auth%s names the form that is needed',
    async (path) => {
      const headers = { ...PAGE, ...naming('notes.example'), 'X-Forwarded-Uri': '/', 'X-Forwarded-Method': 'GET' };
      const { status, json, headers: received } = await service.client().get(`/api/forward-auth${path}`, headers);
      expect([status, json.code, received.location]).toEqual([400, 'bad_request', undefined]);
      expect(json.error).toContain('/api/forward-auth/notes.example.com');
      expect(json.error).toContain('/api/forward-auth/nginx/notes.example.com');
    },
  );

  test.each(['', 'https://notes.example/', '*', 'notes.example:443'])('refuses the original path %j', async (target) => {
    const refused = await check(service.client(), 'https://notes.example/', '', { ...PAGE, 'X-Forwarded-Uri': target });
    expect([refused.status, refused.json.error]).toEqual([400, expect.stringContaining('X-Forwarded-Uri')]);
  });

  test('refuses a loopback host in production', async () => {
    const refused = await check(other.client(), 'http://localhost:4000/');
    expect([refused.status, refused.json.error]).toEqual([400, expect.stringContaining('has to name the host')]);
  });
});
