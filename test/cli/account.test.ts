import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { useService } from '../support/harness.ts';
import { type LogoServer, openLogoServer } from '../support/logo-server.ts';
import { addWebsite, freshDomain, signInDeveloper } from '../support/sign-ins.ts';
import { type Home, openHome } from './command.ts';
import { signInHome } from './sign-in.ts';
import { openTerminal } from './terminal.ts';

const { stage, service, names } = await useService();
let logos: LogoServer;
beforeAll(async () => {
  logos = await openLogoServer(names);
});
afterAll(async () => {
  await logos.close();
});

/** Returns a home directory in which a new account is signed in. */
async function signedIn(use: (home: Home, email: string) => Promise<void>): Promise<void> {
  const home = await openHome(service.url);
  try {
    await use(home, await signInHome(home, stage));
  } finally {
    await home.close();
  }
}

describe('devices', () => {
  test('list prints this device and others, and revoke signs another one out', () =>
    signedIn(async (home, email) => {
      const browser = await signInDeveloper(stage, service, email);
      const devices = (await home.run(['devices', 'list', '--json'])).json();
      expect(Object.keys(devices[0])).toEqual(['id', 'label', 'current', 'signedIn', 'createdAt', 'lastSeen']);
      expect(devices.map(({ current }: { current: boolean }) => current)).toEqual([true, false]);
      const { stdout } = await home.run(['devices', 'list']);
      expect(stdout).toMatch(/this one +\d{4}-\d\d-\d\d +[0-9a-f]{32}$/m);
      const [, { id, label }] = devices;
      expect((await home.run(['devices', 'revoke', id])).exitCode).toBe(3);
      const ran = await home.run(['devices', 'revoke', id, '--yes', '--json']);
      expect([ran.exitCode, ran.json()]).toEqual([0, { revoked: [{ id, label }] }]);
      expect((await browser.client.get('/api/user/me')).status).toBe(401);
      expect((await home.run(['whoami'])).exitCode).toBe(0);
      const again = await home.run(['devices', 'revoke', id, '--yes', '--json']);
      expect([again.exitCode, again.json().error.code]).toEqual([5, 'device_not_found']);
    }));

  test('revoke --all signs out everywhere, and forgets the sign-in of this machine', () =>
    signedIn(async (home, email) => {
      const browser = await signInDeveloper(stage, service, email);
      const ran = await home.run(['devices', 'revoke', '--all', '--yes', '--json']);
      expect([ran.exitCode, ran.json().revoked.length]).toEqual([0, 2]);
      expect((await browser.client.get('/api/user/me')).status).toBe(401);
      const after = await home.run(['whoami', '--json']);
      expect([after.exitCode, after.json().error.message]).toEqual([4, expect.stringContaining('You are not signed in')]);
    }));

  test('revoke needs either a device or --all', () =>
    signedIn(async (home) => {
      for (const args of [[], ['x', '--all']]) expect((await home.run(['devices', 'revoke', ...args])).exitCode).toBe(3);
    }));
});

describe('branding', () => {
  test('set changes what is given, and get prints it with the websites that use it and a preview', () =>
    signedIn(async (home, email) => {
      const owner = await signInDeveloper(stage, service, email);
      const domain = freshDomain();
      await owner.client.post('/api/websites', { domain });
      const none = await home.run(['branding', 'get', '--json']);
      expect(none.json()).toMatchObject({ fromName: '', logoUrl: '', websites: [] });
      await stage.query('update websites set proven_at = now() where domain = $1', [domain]);
      await home.run(['branding', 'set', '--logo-url', logos.url('/logo.png')]);
      const ran = await home.run(['branding', 'set', '--from-name', 'Bread & Butter', '--json']);
      expect([ran.exitCode, ran.json()]).toEqual([
        0,
        expect.objectContaining({ fromName: 'Bread & Butter', logoUrl: logos.url('/logo.png'), websites: [domain] }),
      ]);
      const { pathname, search } = new URL(ran.json().previewUrl);
      expect((await owner.client.get(`${pathname}${search}`)).text).toContain('Bread &amp; Butter');
      const { stdout } = await home.run(['branding', 'set', '--no-from-name', '--no-logo-url']);
      expect(stdout).toMatch(/from +the name of the service\n.*logo +none\n/);
    }));

  test('set exits with 3 without a change and for an invalid value', () =>
    signedIn(async (home) => {
      expect((await home.run(['branding', 'set'])).exitCode).toBe(3);
      const bad = await home.run(['branding', 'set', '--logo-url', 'http://shop.example/logo.png', '--json']);
      expect([bad.exitCode, bad.json().error.message]).toEqual([3, expect.stringContaining('https://')]);
    }));
});

describe('account', () => {
  test('set changes name and organization, and get prints them with the statistics', () =>
    signedIn(async (home, email) => {
      const set = await home.run(['account', 'set', '--name', 'Ada', '--organization', 'Engines', '--json']);
      expect([set.exitCode, set.json()]).toEqual([
        0,
        expect.objectContaining({ email, name: 'Ada', organisation: 'Engines', plan: 'Free' }),
      ]);
      const { overview, ...settings } = (await home.run(['account', 'get', '--json'])).json();
      expect(settings).toEqual(set.json());
      expect(Object.keys(overview)).toEqual(['totalLogins', 'activeApplications', 'apiRequests', 'uptimePercent']);
      expect((await home.run(['account', 'get'])).stdout).toMatch(/name +Ada\n +organization +Engines/);
      expect((await home.run(['account', 'set', '--name', '', '--json'])).json()).toMatchObject({ name: '', organisation: 'Engines' });
      expect((await home.run(['account', 'set'])).exitCode).toBe(3);
    }));

  test('log prints the newest actions, as many as --limit', () =>
    signedIn(async (home) => {
      await home.run(['account', 'set', '--name', 'Ada']);
      const [newest, ...older] = (await home.run(['account', 'log', '--json', '--limit', '1'])).json();
      expect([newest.action, older]).toEqual(['profile_changed', []]);
      expect((await home.run(['account', 'log'])).stdout).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d +profile_changed/m);
      expect((await home.run(['account', 'log', '--limit', '101'])).exitCode).toBe(3);
    }));
});

test('a table that is wider than the terminal becomes one block for each row, without split words', () =>
  signedIn(async (home, email) => {
    const owner = await signInDeveloper(stage, service, email);
    const domain = freshDomain();
    await owner.client.post('/api/websites', { domain });
    const terminal = openTerminal(home, ['sites', 'list'], { columns: 40 });
    expect(await terminal.exited).toBe(0);
    expect(terminal.text()).toMatch(new RegExp(`${domain}\\n  VERIFIED +no\\n  SIGN-INS \\(30D\\) +0\\n  SINCE +\\d{4}-`));
    await terminal.close();
    const narrow = openTerminal(home, ['sites', 'add', await addWebsite(stage, service)], { columns: 40 });
    expect(await narrow.exited).toBe(6);
    // A command that wraps continues with a whole word.
    for (const word of ['registered', 'already.', 'emailauth', 'verify']) expect(narrow.text()).toContain(word);
    await narrow.close();
  }));
