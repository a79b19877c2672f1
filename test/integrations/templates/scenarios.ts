import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { requestEmail as askForMailInPage, openScene, type Scene } from '../../browser/scene.ts';
import type { Client, HttpResponse } from '../../support/client.ts';
import { freshAddress, openLink, registerWebsite, requestEmail, visitorToken } from '../../support/sign-ins.ts';
import { freePort } from '../../support/waiting.ts';
import { missingPackages } from './debian.ts';
import { type Recipe, titled } from './recipe.ts';
import { loginOf, testReturnPaths } from './return-paths.ts';
import { startsOver, testSafety } from './safety.ts';
import { makeSite, type RunningSite, type Site } from './site.ts';

/** Fetching packages and building take their time on a slow machine. */
const MAKING = 540_000;

const IS_GONE = /max-age=0|expires=Thu, 01.Jan.1970/i;
const IS_SAFE = /HttpOnly.*SameSite=Lax|SameSite=Lax.*HttpOnly/i;
// Cookies of the frameworks: a token against forged forms is not a session, and scripts may read it; WordPress leaves SameSite to the browser, which takes Lax.
const IS_FRAMEWORKS_OWN = /^(?:csrftoken|XSRF-TOKEN)=|^wordpress_(?!login_state).*HttpOnly/i;
const unsafe = (cookies: string[]) => cookies.filter((cookie) => ![IS_GONE, IS_SAFE, IS_FRAMEWORKS_OWN].some((kind) => kind.test(cookie)));

/** What every template must do, tried at sites made of them. */
export function describeSites(recipes: readonly Recipe[], { returnPaths = false } = {}) {
  let scene: Scene;
  beforeAll(async () => {
    scene = await openScene();
  });
  afterAll(() => scene?.close());

  describe.each(recipes.filter((recipe) => !recipe.available()))('a site made from the template $id', ({ id }) => {
    test('runs on this machine', ({ skip }) => skip(`It needs ${missingPackages(id)}.`));
  });

  describe.each(titled(recipes).filter((recipe) => recipe.available()))('a site made from the template $title', (recipe) => {
    let made: Site;
    let site: RunningSite;
    beforeAll(async () => {
      made = await makeSite(recipe, scene.service.url);
      site = await made.start();
    }, MAKING);
    afterAll(async () => {
      await site?.close();
      await made?.remove();
    });
    afterEach(({ task }) => {
      if (task.result?.state === 'fail') console.error(`${recipe.id} wrote:\n${site.output()}`);
    });

    /** Asks for a sign-in at the site. @returns the address that it gave the visitor along */
    async function begin(visitor: Client): Promise<string> {
      const response = await visitor.get('/login');
      expect([302, 303]).toContain(response.status);
      expect(unsafe(response.setCookies)).toEqual([]);
      const page = new URL(String(response.headers.location));
      expect([page.origin, page.pathname, page.searchParams.get('language')]).toEqual([scene.service.url, '/auth', 'en']);
      return page.searchParams.get('forward_url') ?? '';
    }

    /** From the site to the mailed link. @returns the address of the callback, with its token */
    async function comeBack(visitor: Client, email: string): Promise<string> {
      const browser = scene.service.client();
      await requestEmail(browser, email, await begin(visitor));
      return openLink(browser, await scene.stage.mailbox.waitFor(email));
    }

    // Variants differ in their syntax, so that one of each framework is enough.
    test.skipIf(recipe.variant)('signs a visitor in and out in a browser', async () => {
      const [context, email] = [await scene.newBrowser(), freshAddress()];
      const page = await context.newPage();
      await page.goto(site.url);
      await page.getByRole('link', { name: 'Login with Email' }).click();
      await page.waitForURL(`${scene.service.url}/auth?*`);
      await askForMailInPage(page, email);
      await page.goto((await scene.stage.mailbox.waitFor(email)).link);
      await page.waitForURL(`${site.url}/account`);
      await page.getByText(greeting(recipe, email)).waitFor();
      await page.reload();
      await page.getByText(greeting(recipe, email)).waitFor();
      await page.getByRole('button', { name: 'Log out' }).click();
      await page.waitForURL(`${site.url}/`);
      await page.goto(`${site.url}/account`);
      await page.waitForURL(`${scene.service.url}/auth?*`);
      await context.close();
    });

    test('starts a new session that scripts and other websites cannot use, and removes the token from the URL', async () => {
      const [visitor, email] = [site.client(), freshAddress()];
      expect(loginOf(await visitor.get('/account'))).toMatch(/\/login/);
      const callback = await comeBack(visitor, email);
      const before = new Map(visitor.cookies);
      const response = await visitor.get(callback);
      expect([302, 303]).toContain(response.status);
      expect(new URL(String(response.headers.location), site.url).href).toBe(`${site.url}/account`);
      expect(response.setCookies.filter((cookie) => /HttpOnly/i.test(cookie) && !IS_GONE.test(cookie))).not.toEqual([]);
      expect(unsafe(response.setCookies)).toEqual([]);
      // The session is a new one: nothing that was known before the sign-in opens the page.
      const eavesdropper = site.client();
      eavesdropper.cookies = before;
      expect((await eavesdropper.get('/account')).text).not.toContain(greeting(recipe, email));

      const account = await visitor.get('/account');
      expect(account.status).toBe(200);
      expect(textOf(account)).toContain(greeting(recipe, email));
    });

    test.each(['/account', '/account/', '//account', '/%61ccount', '/account.html', '/ACCOUNT'])(
      'does not show the account at %j without a session',
      async (path) => {
        const response = await site.client().get(path);
        expect(response.text).not.toContain('Log out');
      },
    );

    test('rejects a repeated callback in the same and in another browser', async () => {
      const [visitor, email] = [site.client(), freshAddress()];
      const callback = await comeBack(visitor, email);
      const before = new Map(visitor.cookies);
      await visitor.get(callback);
      expect(startsOver(await visitor.get(callback))).toBe(true);
      const replay = site.client();
      replay.cookies = before;
      const again = await replay.get(callback);
      // A session on the server has no state any more.
      expect((again.status === 400 && again.text.includes('Try again')) || startsOver(again)).toBe(true);
      expect(loginOf(await replay.get('/account'))).toMatch(/\/login/);
    });

    test('rejects a state of another browser without using up the token', async () => {
      const [visitor, attacker, email] = [site.client(), site.client(), freshAddress()];
      const callback = await comeBack(visitor, email);
      const state = new URL(await begin(attacker)).searchParams.get('state');
      const forged = [
        callback.replace(/state=[^&]+/, 'state=forged'),
        callback.replace(/state=[^&]+/, `state=${state}`),
        callback.replace(/state=[^&]+/, 'state='),
        callback.replace(/state=[^&]+&/, ''),
      ];
      for (const address of forged) expect((await visitor.get(address)).status).toBe(400);
      expect((await attacker.get(callback)).status).toBe(400);
      expect((await site.client().get(callback.replace(/state=[^&]+/, 'state='))).status).toBe(400);
      expect((await visitor.get(callback)).headers.location).toMatch(/\/account$/);
    });

    test('rejects a token of another website, where it stays valid', async () => {
      const visitor = site.client();
      const domain = await registerWebsite(scene.service.client());
      const token = await visitorToken(scene.stage, scene.service.client(), domain);
      const refused = await visitor.get(`${await begin(visitor)}&token=${token}`);
      expect(refused.status).toBe(400);
      expect(loginOf(await visitor.get('/account'))).toMatch(/\/login/);
      expect((await scene.service.client().get(`/api/verify-token?token=${token}&domain=${domain}`)).json).toMatchObject({
        valid: true,
        domain,
      });
    });

    test.each(['', '?token=a', '?state=a', '?state=&token=a'])('rejects a callback with %j', async (query) =>
      expect((await site.client().get(`/auth/callback${query}`)).status).toBe(400),
    );

    test.each(['?state=a&state=b&token=c&token=d', '?state[]=a&token[]=b', '?state=%00&token=%00'])(
      'rejects a callback with %j, or starts over',
      async (query) => {
        const response = await site.client().get(`/auth/callback${query}`);
        expect(response.status === 400 || startsOver(response)).toBe(true);
      },
    );

    testSafety(recipe, () => ({ stage: scene.stage, service: scene.service, made, site }));

    if (returnPaths) testReturnPaths(recipe, () => ({ stage: scene.stage, service: scene.service, site }));

    test('returns 503 while the service is down, and recovers', async () => {
      const away = await made.start({ EMAILAUTH_URL: `http://localhost:${await freePort()}` });
      try {
        const visitor = away.client();
        const { searchParams } = new URL(String((await visitor.get('/login')).headers.location));
        const response = await visitor.get(`${searchParams.get('forward_url')}&token=abc`);
        expect([response.status, response.text.includes('Try again')]).toEqual([503, true]);
        expect((await visitor.get('/')).status).toBe(200);
      } finally {
        await away.close();
      }
    });
  });
}

/** Returns the text of a page; React parts it by comments. */
const textOf = ({ text }: HttpResponse) => text.replaceAll('<!-- -->', '');

/** What the protected page says; the static one is the same for everybody who may see it. */
const greeting = ({ id }: Recipe, email: string) => (id === 'static' ? 'Only signed-in visitors' : `Signed in as ${email}`);
