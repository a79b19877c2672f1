// A stage of its own: its websites run outside of the worker.
import { execFileSync } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Client } from '../../support/client.ts';
import { openStage, type Service, type Stage } from '../../support/harness.ts';
import { freshAddress, openLink, requestEmail } from '../../support/sign-ins.ts';
import { recipes } from './recipes/all.ts';
import { django } from './recipes/python.ts';
import { WORDPRESS_ADMIN } from './recipes/wordpress-starter.ts';
import { makeSite, type RunningSite, type Site } from './site.ts';

/** Making a site takes its time on a slow machine. */
const MAKING = 540_000;

let stage: Stage;
let service: Service;
beforeAll(async () => {
  stage = await openStage();
  service = await stage.start();
});
afterAll(() => stage?.close());

const available = (...ids: string[]) => recipes.filter((recipe) => ids.includes(recipe.id) && recipe.available());

/** Signs in at a site as far as its callback. @returns its response */
async function signIn(visitor: Client, email: string) {
  const browser = service.client();
  const page = new URL(String((await visitor.get('/login')).headers.location));
  await requestEmail(browser, email, page.searchParams.get('forward_url') ?? '');
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

  test('does not sign out on a form of another website', async () => {
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

  test.runIf(recipe.id !== 'wordpress')('accepts the URL of the website with a trailing slash', async () => {
    const slashed = await made.start({ SITE_URL: 'http://localhost:4000/' });
    try {
      const { location } = (await slashed.client().get('/login')).headers;
      expect(new URL(String(location)).searchParams.get('forward_url')).toMatch(/^http:\/\/localhost:4000\/auth\/callback\?/);
    } finally {
      await slashed.close();
    }
  });

  test.runIf(recipe.id === 'wordpress')('rejects an administrator who signs in by email', async () => {
    const visitor = site.client();
    const refused = await signIn(visitor, WORDPRESS_ADMIN);
    expect([refused.status, refused.text.includes('Try again')]).toEqual([403, true]);
    expect((await visitor.get('/account')).headers.location).toMatch(/\/login/);
    expect([...visitor.cookies.keys()]).toEqual(['wordpress_login_state']);
  });

  const inDjango = (code: string) =>
    execFileSync('sh', ['-c', `${django} shell -c "$CODE"`], {
      cwd: made.directory,
      env: {
        ...process.env,
        ...recipe.env,
        CODE: `from django.contrib.auth import get_user_model; users = get_user_model().objects\n${code}`,
      },
      encoding: 'utf8',
    });

  test.runIf(recipe.id === 'django')('rejects staff who sign in by email', async () => {
    const [staff, superuser] = [freshAddress(), freshAddress()];
    inDjango(
      `users.create_user("${staff}", "${staff}", is_staff=True)\nusers.create_user("${superuser}", "${superuser}", is_superuser=True)`,
    );
    for (const email of [staff, superuser]) {
      const visitor = site.client();
      const refused = await signIn(visitor, email);
      expect([refused.status, refused.text.includes('Try again')]).toEqual([403, true]);
      expect((await visitor.get('/account')).headers.location).toMatch(/\/login/);
    }
  });

  test.runIf(recipe.id === 'django')('invalidates the password and sessions of an earlier owner of the user name', async () => {
    const [visitor, squatter, email] = [site.client(), site.client(), freshAddress()];
    const session = inDjango(`from django.contrib.sessions.backends.db import SessionStore
user = users.create_user("${email}", "squatter@mail.example", "known")
session = SessionStore()
session.update({"_auth_user_id": user.pk, "_auth_user_backend": "django.contrib.auth.backends.ModelBackend", "_auth_user_hash": user.get_session_auth_hash()})
session.create()
print(session.session_key)`);
    squatter.cookies.set('sessionid', session.trim());
    expect((await squatter.get('/account')).text).toContain('Signed in as squatter@mail.example');
    await signIn(visitor, email);
    expect((await visitor.get('/account')).text).toContain(`Signed in as ${email}`);
    expect((await squatter.get('/account')).headers.location).toMatch(/\/login/);
    expect(inDjango(`print(users.get(username="${email}").has_usable_password())`).trim()).toBe('False');
  });

  test.runIf(recipe.id === 'wordpress')('invalidates the password and sessions of an earlier owner of the address', async () => {
    const [visitor, squatter, email] = [site.client(), site.client(), freshAddress()];
    const data = (await readdir(made.directory)).find((name) => name.startsWith('data-'));
    const inWordPress = (code: string) =>
      execFileSync('php', ['-r', `require 'wp-config.php'; ${code}`], {
        cwd: made.directory,
        env: { ...process.env, DATA: data, SITE_URL: site.url },
        encoding: 'utf8',
      });
    const cookie = inWordPress(`$id = wp_create_user('squatter', 'known', '${email}');
      echo LOGGED_IN_COOKIE . '=' . wp_generate_auth_cookie($id, time() + 3600, 'logged_in', WP_Session_Tokens::get_instance($id)->create(time() + 3600));`);
    const opens = `$user = wp_authenticate('squatter', 'known'); echo is_wp_error($user) ? 'no' : 'yes';`;
    const [name, value] = cookie.split('=');
    squatter.cookies.set(name, encodeURIComponent(value));
    expect((await squatter.get('/account')).text).toContain(`Signed in as ${email}`);
    expect(inWordPress(opens)).toBe('yes');
    await signIn(visitor, email);
    expect((await visitor.get('/account')).text).toContain(`Signed in as ${email}`);
    expect((await squatter.get('/account')).headers.location).toMatch(/\/login/);
    expect(inWordPress(opens)).toBe('no');
    // From then on the password is the visitor's own.
    inWordPress(`wp_set_password('known', email_exists('${email}'));`);
    await signIn(site.client(), email);
    expect(inWordPress(opens)).toBe('yes');
  });

  test.runIf(recipe.id === 'laravel')('invalidates the password and cookie from before the address was verified', async () => {
    const [visitor, email] = [site.client(), freshAddress()];
    const query = (sql: string) =>
      execFileSync('php', ['-r', `echo (new PDO('sqlite:database/database.sqlite'))->query("${sql}")->fetchColumn();`], {
        cwd: made.directory,
        encoding: 'utf8',
      });
    query(`INSERT INTO users (name, email, password, remember_token) VALUES ('squatter', '${email}', 'known', 'kept')`);
    const passwordOf = () => query(`SELECT password FROM users WHERE email = '${email}'`);
    expect(passwordOf()).toBe('known');
    expect((await signIn(visitor, email)).status).toBe(302);
    const proven = passwordOf();
    expect(proven).not.toBe('known');
    expect(query(`SELECT remember_token FROM users WHERE email = '${email}'`)).not.toBe('kept');
    // From then on the password is the visitor's own.
    await signIn(site.client(), email);
    expect(passwordOf()).toBe(proven);
  });
});
