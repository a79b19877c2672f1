import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Client } from './client.ts';
import { openStage, type Service, type Stage } from './harness.ts';
import { askForMail, freshAddress, openLink, registerSite, visitorToken } from './sign-ins.ts';
import { recipes, startTemplateApp, type TemplateApp } from './template-apps.ts';
import { freePort } from './waiting.ts';

const IS_GONE = /max-age=0|expires=Thu, 01.Jan.1970/i;
const IS_SAFE = /HttpOnly.*SameSite=Lax|SameSite=Lax.*HttpOnly/i;
// A framework's own: a token against forged forms is no session, and scripts may read it; WordPress leaves SameSite to the browser, which takes Lax.
const IS_FRAMEWORKS_OWN = /^(?:csrftoken|XSRF-TOKEN)=|^wordpress_(?!login_state).*HttpOnly/i;
const safeByItself = (cookies: string[]) => cookies.filter((cookie) => !IS_GONE.test(cookie) && !IS_FRAMEWORKS_OWN.test(cookie));

/** A page's hidden fields, as its form would send them. */
function hiddenFields(page: string): string {
  const inputs = page.match(/<input[^>]*type="hidden"[^>]*>/g) ?? [];
  const attribute = (input: string, name: string) => new RegExp(`\\b${name}="([^"]*)"`).exec(input)?.[1] ?? '';
  return new URLSearchParams(inputs.map((input) => [attribute(input, 'name'), attribute(input, 'value')])).toString();
}

let stage: Stage;
let service: Service;
beforeAll(async () => {
  stage = await openStage();
  service = await stage.start();
});
afterAll(() => stage.close());

describe.each(recipes.filter((recipe) => recipe.available()))('a site made from the template $id', (recipe) => {
  let site: TemplateApp;
  beforeAll(async () => {
    site = await startTemplateApp(recipe, service.url);
  });
  afterAll(() => site?.close());

  /** Asks for a sign-in at the site. @returns the address that it gave the visitor along */
  async function begin(visitor: Client): Promise<string> {
    const answer = await visitor.get('/login');
    expect([302, 303]).toContain(answer.status);
    for (const cookie of safeByItself(answer.setCookies)) expect(cookie).toMatch(IS_SAFE);
    const page = new URL(String(answer.headers.location));
    expect([page.origin, page.pathname, page.searchParams.get('language')]).toEqual([service.url, '/auth', 'en']);
    return page.searchParams.get('forward_url') ?? '';
  }

  /** From the site to the mailed link. @returns the address of the callback, with its token */
  async function comeBack(visitor: Client, email: string): Promise<string> {
    const browser = service.client();
    await askForMail(browser, email, await begin(visitor));
    return openLink(browser, await stage.mailbox.waitFor(email));
  }

  test('signs a visitor in, knows them at the next page, and signs them out', async () => {
    const [visitor, email] = [site.client(), freshAddress()];
    expect((await visitor.get('/account')).headers.location).toMatch(/\/login/);
    const callback = await comeBack(visitor, email);
    const before = new Map(visitor.cookies);
    const answer = await visitor.get(callback);
    expect([302, 303]).toContain(answer.status);
    expect(new URL(String(answer.headers.location), site.url).href).toBe(`${site.url}/account`);
    expect(answer.setCookies.filter((cookie) => /HttpOnly/i.test(cookie) && !IS_GONE.test(cookie)).length).toBeGreaterThan(0);
    for (const cookie of safeByItself(answer.setCookies)) expect(cookie).toMatch(IS_SAFE);
    // The session is a new one: nothing that was known before the sign-in opens the page.
    const eavesdropper = site.client();
    eavesdropper.cookies = before;
    expect((await eavesdropper.get('/account')).text).not.toContain('Signed in');

    const account = await visitor.get('/account');
    expect(account.status).toBe(200);
    // The static page is the same for everybody who may see it.
    expect(account.text).toContain(recipe.id === 'static' ? 'Only visitors who are signed in' : `Signed in as ${email}`);
    const form = { method: 'POST', body: hiddenFields(account.text), headers: { 'Content-Type': 'application/x-www-form-urlencoded' } };
    expect((await visitor.send('/logout', form)).headers.location).toMatch(/\/$/);
    expect((await visitor.get('/account')).headers.location).toMatch(/\/login/);
  });

  test('refuses the same callback again, in this browser and in another', async () => {
    const [visitor, email] = [site.client(), freshAddress()];
    const callback = await comeBack(visitor, email);
    const before = new Map(visitor.cookies);
    await visitor.get(callback);
    expect((await visitor.get(callback)).status).toBe(400);
    const replay = site.client();
    replay.cookies = before;
    const again = await replay.get(callback);
    expect([again.status, again.text.includes('Try again')]).toEqual([400, true]);
    expect((await replay.get('/account')).headers.location).toMatch(/\/login/);
  });

  test('refuses a state that is not this browser’s, and uses nothing up', async () => {
    const [visitor, stranger, email] = [site.client(), site.client(), freshAddress()];
    const callback = await comeBack(visitor, email);
    const state = new URL(await begin(stranger)).searchParams.get('state');
    const forged = [
      callback.replace(/state=[^&]+/, 'state=forged'),
      callback.replace(/state=[^&]+/, `state=${state}`),
      callback.replace(/state=[^&]+/, 'state='),
      callback.replace(/state=[^&]+&/, ''),
    ];
    for (const address of forged) expect((await visitor.get(address)).status).toBe(400);
    expect((await stranger.get(callback)).status).toBe(400);
    expect((await site.client().get(callback.replace(/state=[^&]+/, 'state='))).status).toBe(400);
    expect((await visitor.get(callback)).headers.location).toMatch(/\/account$/);
  });

  test('refuses a token for another site, which stays good there', async () => {
    const visitor = site.client();
    const domain = await registerSite(service.client());
    const token = await visitorToken(stage, service.client(), domain);
    const refused = await visitor.get(`${await begin(visitor)}&token=${token}`);
    expect(refused.status).toBe(400);
    expect((await visitor.get('/account')).headers.location).toMatch(/\/login/);
    expect((await service.client().get(`/api/verify-token?token=${token}&domain=${domain}`)).json).toMatchObject({ valid: true, domain });
  });

  test.each(['', '?token=a', '?state=a', '?state=a&state=b&token=c&token=d', '?state[]=a&token[]=b', '?state=%00&token=%00'])(
    'refuses a callback with %j',
    async (query) => expect((await site.client().get(`/auth/callback${query}`)).status).toBe(400),
  );

  test('says 503 while the service is away, and lives on', async () => {
    const away = await startTemplateApp({ ...recipe, env: { EMAILAUTH_URL: `http://localhost:${await freePort()}` } }, service.url);
    try {
      const visitor = away.client();
      const { searchParams } = new URL(String((await visitor.get('/login')).headers.location));
      const answer = await visitor.get(`${searchParams.get('forward_url')}&token=abc`);
      expect([answer.status, answer.text.includes('Try again')]).toEqual([503, true]);
      expect((await visitor.get('/')).status).toBe(200);
    } finally {
      await away.close();
    }
  });
});
