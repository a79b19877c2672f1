import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { WEB_CLIENT_ID } from '../../contract/pkce.ts';
import type { Client, HttpResponse } from '../support/client.ts';
import { type Service, useProduction, useService } from '../support/harness.ts';
import { type Overlap, runOverlapping } from '../support/overlap.ts';
import {
  addWebsite,
  authorize,
  codeOf,
  type Developer,
  freshAddress,
  requestEmail,
  signInDeveloper,
  tokenOf,
} from '../support/sign-ins.ts';

const { stage, service } = await useService();
const { service: second } = await useProduction();
const bob = await signInDeveloper(stage, service);

const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0';
const safari = 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Safari/605.1.15';

const actionsOf = async (email: string) =>
  (await stage.query('select action from audit_log where email = $1 order by id desc', [email])).map(({ action }) => action);
const status = async (client: Client, path = '/api/user/me') => (await client.get(path)).status;

/** Signs in with the given User-Agent. */
async function signInWith(userAgent: string, email: string, at: Service = service): Promise<Developer> {
  const client = at.client();
  const { pkce } = await authorize(client, email, { redirect_uri: `${at.url}/developer` });
  const code = codeOf(await stage.mailbox.waitFor(email));
  const body = { code, code_verifier: pkce.codeVerifier, client_id: WEB_CLIENT_ID };
  const { json } = await client.post('/api/auth/token', body, { 'User-Agent': userAgent });
  return { email, client, authKey: json.authKey, localKey: json.localKey };
}

const devicesOf = async ({ client }: Pick<Developer, 'client'>): Promise<Record<string, unknown>[]> =>
  (await client.get('/api/user/devices')).json;
const keyStatus = async ({ client, email, authKey }: Developer) =>
  (await client.post('/api/auth/validate-key', { email, key: authKey })).status;

describe('devices', () => {
  test('are one entry for each browser, the current one first, labeled by browser', async () => {
    const email = freshAddress('dev');
    const one = await signInWith(firefox, email);
    const two = await signInWith(safari, email, second);
    const listed = await devicesOf(two);
    expect(listed).toEqual([
      {
        id: two.localKey,
        label: 'Safari on macOS',
        current: true,
        signedIn: true,
        createdAt: expect.any(String),
        lastSeen: expect.any(String),
      },
      {
        id: one.localKey,
        label: 'Firefox on Linux',
        current: false,
        signedIn: true,
        createdAt: expect.any(String),
        lastSeen: expect.any(String),
      },
    ]);
    for (const { createdAt, lastSeen } of listed) {
      expect(Math.abs(Date.parse(String(createdAt)) - Date.now())).toBeLessThan(60_000);
      expect(Math.abs(Date.parse(String(lastSeen)) - Date.now())).toBeLessThan(60_000);
    }
    expect((await devicesOf(one)).map(({ id, current }) => [id, current])).toEqual([
      [one.localKey, true],
      [two.localKey, false],
    ]);
    // The sid as a bearer token identifies the same device.
    const sid = one.client.cookies.get('sid');
    const program = second.client();
    const byToken = await program.get('/api/user/devices', { Authorization: `Bearer ${sid}` });
    expect(byToken.json.find(({ current }: { current: boolean }) => current).id).toBe(one.localKey);
    expect(JSON.stringify(listed)).not.toContain(createHash('sha256').update(String(sid)).digest('base64url'));
  });

  test('include a visitor’s browser that remembers the account; signing it out revokes its key', async () => {
    const email = freshAddress('dev');
    const shop = await addWebsite(stage, service);
    const developer = await signInWith(firefox, email);
    const visitor = service.client();
    await requestEmail(visitor, email, `https://${shop}/`);
    const { link } = await stage.mailbox.waitFor(email);
    expect((await visitor.get(link, { 'User-Agent': 'emailauth/1.0' })).status).toBe(303);
    const [, remembered] = await devicesOf(developer);
    expect(remembered).toMatchObject({ label: 'Email Auth CLI', current: false, signedIn: false });
    const key = decodeURIComponent(visitor.cookies.get('auth_key') ?? '');
    const back = { email, key, forward_url: `https://${shop}/` };
    expect((await visitor.post('/api/auth/validate-key', back)).status).toBe(200);
    expect((await developer.client.delete(`/api/user/devices/${remembered.id}`)).json).toEqual({ success: true });
    expect((await visitor.post('/api/auth/validate-key', back)).status).toBe(401);
    expect(await devicesOf(developer)).toHaveLength(1);
    // The row stays so that rate limits still recognize the browser.
    expect((await stage.query('select 1 from remembered_keys where email = $1', [email])).length).toBe(2);
  });

  test.each([
    ['an idle session and a valid key', "update sessions set seen_at = now() - interval '7 days' where user_id = $1", false],
    ['an expired session and a valid key', 'update sessions set expires_at = now() where user_id = $1', false],
    ['an expired key and a valid session', 'update remembered_keys set expires_at = now() where email = $2', true],
    ['an idle key and a valid session', "update remembered_keys set used_at = now() - interval '90 days' where email = $2", true],
  ])('are listed as long as a session or key is valid: %s', async (_what, sql, signedIn) => {
    const email = freshAddress('dev');
    const [old, asking] = [await signInWith(firefox, email), await signInWith(safari, email)];
    const [{ id }] = await stage.query('select id from users where email = $1', [email]);
    const device = createHash('sha256')
      .update(String(old.client.cookies.get('device')))
      .digest();
    await stage.query(`${sql.replace('$1', `'${id}'`).replace('$2', `'${email}'`)} and device = $1`, [device]);
    const listed = (await devicesOf(asking)).find((one) => one.id === old.localKey);
    expect(listed).toMatchObject({ signedIn, label: 'Firefox on Linux' });
    await stage.query('update sessions set expires_at = now() where device = $1', [device]);
    await stage.query('update remembered_keys set expires_at = now() where device = $1', [device]);
    expect((await devicesOf(asking)).map((one) => one.id)).toEqual([asking.localKey]);
  });

  test('do not include tokens of applications', async () => {
    const developer = await signInWith(firefox, freshAddress('dev'));
    await stage.query(
      `insert into sessions (hash, user_id, device, client_id, expires_at)
       select sha256('x'), id, sha256('y'), 'app_1', now() + interval '1 day' from users where email = $1`,
      [developer.email],
    );
    expect(await devicesOf(developer)).toHaveLength(1);
  });

  test('lose session and key at both instances when they are signed out, and other devices do not', async () => {
    const email = freshAddress('dev');
    const [one, two] = [await signInWith(firefox, email), await signInWith(safari, email)];
    const copy = second.client();
    copy.cookies = new Map(one.client.cookies);
    expect(await status(copy)).toBe(200);
    expect((await two.client.delete(`/api/user/devices/${one.localKey}`)).json).toEqual({ success: true });
    expect(await status(one.client)).toBe(401);
    expect(await status(copy)).toBe(401);
    expect(await keyStatus(one)).toBe(401);
    expect(await status(two.client)).toBe(200);
    expect(await keyStatus(two)).toBe(200);
    expect((await devicesOf(two)).map(({ id }) => id)).toEqual([two.localKey]);
    expect((await actionsOf(email))[0]).toBe('signed_in');
    expect((await actionsOf(email)).filter((action) => action === 'device_signed_out')).toHaveLength(1);
    const again = await two.client.delete(`/api/user/devices/${one.localKey}`);
    expect([again.status, again.json.code]).toEqual([404, 'device_not_found']);
  });

  test('of another account in the same browser are not changed', async () => {
    const [shared, elsewhere] = [await signInWith(firefox, freshAddress('dev')), await signInWith(safari, freshAddress('dev'))];
    // The second account also signs in with the first account's browser.
    const { pkce } = await authorize(shared.client, elsewhere.email);
    const code = codeOf(await stage.mailbox.waitFor(elsewhere.email));
    await shared.client.post('/api/auth/token', { code, code_verifier: pkce.codeVerifier, client_id: WEB_CLIENT_ID });
    expect((await elsewhere.client.delete(`/api/user/devices/${shared.localKey}`)).status).toBe(200);
    expect(await status(shared.client)).toBe(401);
    expect(await keyStatus(shared)).toBe(200);
  });

  test('of another user return 404 and are not changed', async () => {
    const victim = await signInWith(firefox, freshAddress('dev'));
    const response = await bob.client.delete(`/api/user/devices/${victim.localKey}`);
    expect([response.status, response.json.code]).toEqual([404, 'device_not_found']);
    expect(await status(victim.client)).toBe(200);
    expect(await keyStatus(victim)).toBe(200);
    expect(await actionsOf(bob.email)).not.toContain('device_signed_out');
    for (const id of ['x', `${victim.localKey}x`, '%27%20or%201%3D1', '_'.repeat(21), '%00'.repeat(22)]) {
      expect([id, (await bob.client.delete(`/api/user/devices/${id}`)).status]).toEqual([id, 400]);
    }
  });

  test('are all signed out by signing out everywhere, which also deletes the cookies', async () => {
    const email = freshAddress('dev');
    const [one, two] = [await signInWith(firefox, email), await signInWith(safari, email, second)];
    const kept = new Map(two.client.cookies);
    // A portal token that is not used yet.
    const { json } = await one.client.post('/api/auth/validate-key', { email, key: one.authKey });
    const bystander = await signInWith(firefox, freshAddress('dev'));
    const response = await two.client.post('/api/user/sign-out-everywhere');
    expect(response.json).toEqual({ success: true, apiKeys: 0, passkeys: 0 });
    expect(two.client.cookies.has('sid')).toBe(false);
    expect(two.client.cookies.has('auth_key')).toBe(false);
    two.client.cookies = kept;
    expect(await status(two.client)).toBe(401);
    expect(await status(one.client)).toBe(401);
    expect([await keyStatus(one), await keyStatus(two)]).toEqual([401, 401]);
    expect((await one.client.post('/api/auth/token-login', { token: tokenOf(json.redirectUrl), confirm: true })).status).toBe(401);
    expect((await actionsOf(email))[0]).toBe('signed_out_everywhere');
    expect(await status(bystander.client)).toBe(200);
    expect(await keyStatus(bystander)).toBe(200);
  });

  describe('signing out everywhere during a sign-in at another instance', () => {
    const enter = ({ client, email, authKey }: Developer) => client.post('/api/auth/validate-key', { email, key: authKey });

    /** Signs out everywhere while a browser at another instance signs in by `signIn`, which waits for the lock. */
    async function signOutDuring(
      signIn: (attacker: Developer) => Promise<HttpResponse>,
      lock: (email: string) => Overlap['lock'],
    ): Promise<{ attacker: Developer; response: HttpResponse }> {
      const { attacker, responses } = await runOverlapping(stage, async () => {
        const email = freshAddress('dev');
        const [attacker, owner] = [await signInWith(firefox, email, second), await signInWith(safari, email)];
        // `runOverlapping` repeats what got 503, in the same order.
        for (const { client } of [attacker, owner]) client.retriesUnavailable = false;
        const signOut = () => owner.client.post('/api/user/sign-out-everywhere');
        return { attacker, lock: lock(email), first: () => signIn(attacker), second: signOut };
      });
      expect(responses[1].status).toBe(200);
      return { attacker, response: responses[0] };
    }

    test('by a remembered account issues no token then or later', async () => {
      const { attacker, response } = await signOutDuring(enter, () => ['lock table tokens in share row exclusive mode']);
      expect(response.status).toBe(401);
      expect(await keyStatus(attacker)).toBe(401);
    });

    test('by a portal token ends the session that it opened', async () => {
      const openSession = async (attacker: Developer) => {
        const token = tokenOf((await enter(attacker)).json.redirectUrl);
        return attacker.client.post('/api/auth/token-login', { token, confirm: true });
      };
      const { attacker, response } = await signOutDuring(openSession, (email) => [
        'select from users where email = $1 for update',
        [email],
      ]);
      expect(response.status).toBe(200);
      expect(await status(attacker.client)).toBe(401);
      expect(await keyStatus(attacker)).toBe(401);
    });
  });
});
