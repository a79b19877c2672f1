import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Client } from '../client.ts';
import { openStage, type Service, type Stage } from '../harness.ts';
import { askForMail, freshAddress, openLink } from '../sign-ins.ts';
import { recipes } from './recipes/all.ts';
import { django } from './recipes/python.ts';
import { WORDPRESS_ADMIN } from './recipes/wordpress-starter.ts';
import { makeSite, type RunningSite, type Site } from './site.ts';

/** Making a site takes its time on a slow machine. */
const MAKING = 240_000;

let stage: Stage;
let service: Service;
beforeAll(async () => {
  stage = await openStage();
  service = await stage.start();
});
afterAll(() => stage?.close());

const available = (...ids: string[]) => recipes.filter((recipe) => ids.includes(recipe.id) && recipe.available());

/** Signs in at a site as far as its callback. @returns what that answers */
async function signIn(visitor: Client, email: string) {
  const browser = service.client();
  const page = new URL(String((await visitor.get('/login')).headers.location));
  await askForMail(browser, email, page.searchParams.get('forward_url') ?? '');
  return visitor.get(await openLink(browser, await stage.mailbox.waitFor(email)));
}

describe.each(available('django', 'laravel', 'rails', 'wordpress'))('a site made from the template $id', (recipe) => {
  let made: Site;
  let site: RunningSite;
  beforeAll(async () => {
    made = await makeSite(recipe, service.url);
    site = await made.start();
  }, MAKING);
  afterAll(async () => {
    await site?.close();
    await made?.remove();
  });

  test('signs nobody out by a form of another site', async () => {
    const [visitor, email] = [site.client(), freshAddress()];
    await signIn(visitor, email);
    const forged = await visitor.send('/logout', {
      method: 'POST',
      body: 'a=b',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    });
    expect(forged.status).toBeGreaterThanOrEqual(400);
    expect((await visitor.get('/account')).text).toContain(`Signed in as ${email}`);
  });

  test.runIf(recipe.id === 'wordpress')('lets no administrator in by a mailbox', async () => {
    const visitor = site.client();
    const refused = await signIn(visitor, WORDPRESS_ADMIN);
    expect([refused.status, refused.text.includes('Try again')]).toEqual([403, true]);
    expect((await visitor.get('/account')).headers.location).toMatch(/\/login/);
    expect([...visitor.cookies.keys()]).toEqual(['wordpress_login_state']);
  });

  test.runIf(recipe.id === 'django')('lets no staff in by a mailbox', async () => {
    const [visitor, email] = [site.client(), freshAddress()];
    const make = `from django.contrib.auth import get_user_model; get_user_model().objects.create_superuser("${email}", "${email}", "x")`;
    execFileSync('sh', ['-c', `${django} shell -c "$MAKE"`], {
      cwd: made.directory,
      env: { ...process.env, ...recipe.env, MAKE: make },
    });
    const refused = await signIn(visitor, email);
    expect([refused.status, refused.text.includes('Try again')]).toEqual([403, true]);
    expect((await visitor.get('/account')).headers.location).toMatch(/\/login/);
  });

  test.runIf(recipe.id === 'laravel')('closes an account to the password that somebody set before the address was proven', async () => {
    const [visitor, email] = [site.client(), freshAddress()];
    const query = (sql: string) =>
      execFileSync('php', ['-r', `echo (new PDO('sqlite:database/database.sqlite'))->query("${sql}")->fetchColumn();`], {
        cwd: made.directory,
        encoding: 'utf8',
      });
    query(`INSERT INTO users (name, email, password) VALUES ('squatter', '${email}', 'known')`);
    const passwordOf = () => query(`SELECT password FROM users WHERE email = '${email}'`);
    expect(passwordOf()).toBe('known');
    expect((await signIn(visitor, email)).status).toBe(302);
    const proven = passwordOf();
    expect(proven).not.toBe('known');
    // From then on the password is the visitor's own.
    await signIn(site.client(), email);
    expect(passwordOf()).toBe(proven);
  });
});

describe.each(available('flask', 'fastapi', 'go', 'php', 'sinatra'))('on https, the template $id', (recipe) => {
  test('sets cookies that plain http never carries', { timeout: MAKING }, async () => {
    const made = await makeSite(recipe, service.url);
    const site = await made.start({ SITE_URL: 'https://shop.example' });
    try {
      const { setCookies } = await site.client().get('/login', { 'X-Forwarded-Proto': 'https' });
      expect(setCookies).not.toEqual([]);
      for (const cookie of setCookies) expect(cookie).toMatch(/; ?secure/i);
    } finally {
      await site.close();
      await made.remove();
    }
  });
});
