import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { openHome } from '../cli/command.ts';
import type { Client } from '../support/client.ts';
import { freshNetworkAddress, production, type Service, useProduction, useService } from '../support/harness.ts';

const PASSWORD = production.ADMIN_PASSWORD;
const { stage, service } = await useProduction();
const second = await stage.start({ ...production, PUBLIC_URL: service.url, TRUST_PROXY: '1' });
/** Has another password, one that it has generated. */
const { service: changed } = await useService();
/** Removes the counters of wrong passwords, which only this file enters. */
const clearLimits = () => stage.query("delete from rate_limits where key like 'admin_password%'");
beforeEach(clearLimits);
afterAll(clearLimits);

const verify = (client: Client, password: unknown = PASSWORD, headers: Record<string, string> = {}) =>
  client.post('/api/admin/verify', { password }, headers);
const isUnlocked = async (client: Client) => (await client.get('/api/admin/session')).json.unlocked;
const actions = async () =>
  (await stage.query("select action from audit_log where action like 'admin%' order by id desc limit 3")).map(({ action }) => action);
/** Returns the hash of the session that was opened last. */
const newestHash = async () => (await stage.query('select hash from admin_sessions order by expires_at desc limit 1'))[0].hash;

/** Returns a client for another instance that shares the cookies of `client`. */
function at(other: Service, browser: Client): Client {
  const client = other.client();
  client.cookies = browser.cookies;
  return client;
}

async function unlocked(from: Service = service): Promise<Client> {
  const client = from.client();
  expect((await verify(client)).json).toEqual({ success: true });
  return client;
}

describe('the admin password', () => {
  test('opens a session at all instances with a SameSite=Strict cookie', async () => {
    const client = service.client();
    expect((await client.get('/api/admin/session')).json).toEqual({ unlocked: false, enabled: true, development: false });
    const response = await verify(client);
    expect([response.status, response.json]).toEqual([200, { success: true }]);
    const cookie = response.setCookies.find((line) => line.startsWith('admin=')) ?? '';
    expect(cookie).toMatch(/^admin=[\w-]{43};/);
    for (const flag of ['Path=/', 'HttpOnly', 'SameSite=Strict', 'Max-Age=28800']) expect(cookie).toContain(flag);
    expect(cookie).not.toMatch(/domain=/i);
    expect((await client.get('/api/admin/session')).json).toEqual({ unlocked: true, enabled: true, development: false });
    expect(await isUnlocked(at(second, client))).toBe(true);
    expect(await isUnlocked(service.client())).toBe(false);
    expect((await actions())[0]).toBe('admin_signed_in');
  });

  test.each([
    ['a wrong password', 'a password for the test', 401],
    ['a password with a trailing space', `${PASSWORD} `, 401],
    ['an empty password', '', 401],
    ['null', null, 400],
    ['a list', [PASSWORD], 400],
    ['an object', { toString: PASSWORD }, 400],
    ['a very long password', 'x'.repeat(513), 400],
  ])('%s opens no session', async (_, password, status) => {
    const client = service.client();
    const response = await verify(client, password);
    expect(response.status).toBe(status);
    if (status === 401) expect(response.json).toMatchObject({ error: 'Invalid password', code: 'bad_password', field: 'password' });
    expect(response.setCookies).toEqual([]);
    expect(await isUnlocked(client)).toBe(false);
    if (status === 401) expect((await actions())[0]).toBe('admin_refused');
  });

  test('is rejected from a page of another origin', async () => {
    const response = await verify(service.client(), PASSWORD, { Origin: 'https://evil.example' });
    expect([response.status, response.setCookies]).toEqual([403, []]);
  });

  test('on https sets only __Host- and Secure cookies; secrets are not logged, and the database has only a hash of that of the session', async () => {
    const logging = await stage.start({ ...production, LOG_LEVEL: 'trace', PUBLIC_URL: 'https://auth.example.com' });
    const { setCookies } = await verify(logging.client());
    expect(setCookies.map((line) => line.split('=')[0]).sort()).toEqual(['__Host-admin', '__Host-admin_browser']);
    for (const line of setCookies) expect(line).toMatch(/HttpOnly; Secure; SameSite=Strict/);
    await verify(logging.client(), 'a visitor’s own password, mistyped here');
    const secret = /__Host-admin=([\w-]+)/.exec(setCookies.join())?.[1] ?? '';
    expect(secret).toHaveLength(43);
    // Log lines are written half a second later or when the service stops.
    expect(await logging.stop()).toBe(0);
    const log = logging.output();
    for (const text of [PASSWORD, 'mistyped here', secret]) expect(log).not.toContain(text);
    const rows = JSON.stringify(await stage.query("select encode(hash, 'hex') as hash, encode(hash, 'base64') as b from admin_sessions"));
    expect(rows).not.toContain(Buffer.from(secret, 'base64url').toString('hex'));
    expect(rows).not.toContain(Buffer.from(secret, 'base64url').toString('base64'));
  });

  test('disables the pages when it is not set', async () => {
    const disabled = await stage.start({ NODE_ENV: 'production' });
    const client = disabled.client();
    client.cookies = new Map((await unlocked()).cookies);
    expect((await client.get('/api/admin/session')).json).toEqual({ unlocked: false, enabled: false, development: false });
    for (const password of ['', 'null', 'undefined', PASSWORD]) {
      const response = await verify(client, password);
      expect([response.status, response.json.code]).toEqual([403, 'admin_disabled']);
    }
  });
});

describe('rate limits of the admin password', () => {
  const wrong = (from: Service, address?: string) => verify(from.client(address), 'wrong');

  test('allow five tries in 15 minutes per client address at all instances together, despite a forged X-Forwarded-For', async () => {
    const address = freshNetworkAddress();
    const responses = [];
    for (let i = 1; i <= 6; i++) {
      const forged = { 'X-Forwarded-For': `198.51.100.${i}, ${address}`, Forwarded: `for=198.51.100.${i}` };
      responses.push(await verify((i % 2 ? service : second).client(), 'wrong', forged));
    }
    expect(responses.map(({ status }) => status)).toEqual([401, 401, 401, 401, 401, 429]);
    const wait = Number(responses[5].headers['retry-after']);
    expect(wait).toBeGreaterThan(600);
    expect(wait).toBeLessThanOrEqual(900);
    expect((await verify(service.client(address))).status).toBe(429);
    await stage.query("update rate_limits set resets_at = now() where key like 'admin_password %'");
    expect((await verify(service.client(address))).status).toBe(200);
  });

  test('do not count a correct password', async () => {
    const address = freshNetworkAddress();
    for (let i = 0; i < 8; i++) expect((await verify(service.client(address))).status).toBe(200);
    for (let i = 0; i < 5; i++) expect((await wrong(service, address)).status).toBe(401);
  });

  test('count concurrent tries before they are compared', async () => {
    const address = freshNetworkAddress();
    const responses = await Promise.all(Array.from({ length: 20 }, (_, i) => wrong(i % 2 ? service : second, address)));
    const statuses = responses.map(({ status }) => status);
    expect(statuses.filter((status) => status === 401)).toHaveLength(5);
  });

  /** Sends fifty wrong passwords from ten networks. */
  const spendTotal = async () => {
    for (let i = 0; i < 50; i++) expect((await wrong(service, `198.51.100.${i % 10}`)).status).toBe(401);
  };
  const right = (client: Client, address: string) => verify(client, PASSWORD, { 'X-Forwarded-For': address });

  test('allow the first try of a new network and of a known browser after wrong passwords from ten networks', async () => {
    const known = await unlocked();
    await known.post('/api/admin/logout');
    await spendTotal();
    expect((await right(service.client(), '203.0.113.2')).status).toBe(200);
    expect((await right(known, '203.0.113.3')).status).toBe(200);
    expect((await right(known, '203.0.113.3')).status).toBe(200);
  });

  test('allow each network (IPv6: /48) one try in 15 minutes after fifty wrong passwords in an hour, despite a forged browser cookie', async () => {
    const known = await unlocked();
    await spendTotal();
    for (const address of ['203.0.113.1', '2001:db8:7:1::1']) expect((await wrong(service, address)).status).toBe(401);
    for (const address of ['203.0.113.1', '2001:db8:7:1::1', '2001:db8:7:2::1']) {
      const refused = await wrong(service, address);
      expect([refused.status, refused.json.code]).toEqual([429, 'rate_limited']);
      expect(Number(refused.headers['retry-after'])).toBeLessThanOrEqual(900);
      expect((await right(service.client(), address)).status).toBe(429);
    }
    const mark = known.cookies.get('admin_browser');
    for (const forged of [`${'A'.repeat(43)}.${'A'.repeat(43)}`, 'x', '.', `${mark}x`]) {
      known.cookies = new Map([['admin_browser', forged]]);
      expect((await right(known, '203.0.113.1')).status).toBe(429);
      await stage.query("delete from rate_limits where key like 'admin_password %'");
    }
    await stage.query("update rate_limits set resets_at = now() where key like 'admin_password_total %'");
    expect((await right(service.client(), '203.0.113.1')).status).toBe(200);
  });

  test('allow one of the concurrent first tries of each of twenty networks at two instances, above the total limit', async () => {
    await spendTotal();
    const statuses: number[] = [];
    // Five networks at a time, with three tries at once each: a busy machine responds to sixty at once with 503.
    for (let first = 0; first < 20; first += 5) {
      const tries = Array.from({ length: 15 }, (_, i) => wrong(i % 2 ? service : second, `203.0.113.${first + (i % 5)}`));
      statuses.push(...(await Promise.all(tries)).map(({ status }) => status));
    }
    expect(statuses.filter((status) => status === 401)).toHaveLength(20);
  });

  test('are reset at every instance by `emailauth admin unlock`', async () => {
    const home = await openHome(service.url);
    const env = { DATABASE_URL: stage.databaseUrl };
    const address = freshNetworkAddress();
    const [client, other] = [service.client(address), second.client(address)];
    for (let i = 0; i < 6; i++) await wrong(i % 2 ? service : second, address);
    expect([(await verify(client)).status, (await verify(other)).status]).toEqual([429, 429]);
    const ran = await home.run(['admin', 'unlock'], { env });
    expect([ran.exitCode, ran.stdout]).toEqual([
      0,
      'Cleared 2 counters of wrong admin passwords. The admin password can be entered at /iladmin, on every instance.',
    ]);
    expect((await actions())[0]).toBe('admin_unlocked');
    expect([(await verify(client)).status, (await verify(other)).status]).toEqual([200, 200]);
    await clearLimits();
    expect((await home.run(['admin', 'unlock', '--json'], { env })).json()).toEqual({ cleared: 0 });
    await home.close();
  });

  test('allow a known browser five tries of its own, from any number of addresses', async () => {
    const known = await unlocked();
    const statuses = [];
    for (let i = 1; i <= 6; i++) statuses.push((await verify(known, 'wrong', { 'X-Forwarded-For': `198.51.100.${i}` })).status);
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429]);
  });
});

describe('an admin session', () => {
  test('is replaced at every sign-in', async () => {
    const client = await unlocked();
    const before = service.client();
    before.cookies = new Map(client.cookies);
    await verify(client);
    expect(client.cookies.get('admin')).not.toBe(before.cookies.get('admin'));
    expect([await isUnlocked(before), await isUnlocked(client)]).toEqual([false, true]);
  });

  test.each([
    ["seen_at = now() - interval '31 minutes'", false],
    ["seen_at = now() - interval '29 minutes'", true],
    ['expires_at = now()', false],
  ])('with %s: valid is %s, by the clock of the database', async (change, open) => {
    const client = await unlocked();
    await stage.query(`update admin_sessions set ${change} where hash = $1`, [await newestHash()]);
    expect(await isUnlocked(client)).toBe(open);
  });

  test('ends 8 hours after it began; use extends only the idle time of 30 minutes', async () => {
    const client = await unlocked();
    const hash = await newestHash();
    await stage.query("update admin_sessions set seen_at = now() - interval '20 minutes' where hash = $1", [hash]);
    await client.get('/api/admin/session');
    const [row] = await stage.query(
      'select extract(epoch from now() - seen_at)::int as idle, extract(epoch from expires_at - now())::int as left from admin_sessions where hash = $1',
      [hash],
    );
    expect(Number(row.idle)).toBeLessThan(600);
    expect(Number(row.left)).toBeGreaterThan(8 * 3600 - 600);
    expect(Number(row.left)).toBeLessThanOrEqual(8 * 3600);
  });

  test('ends at all instances at logout, and its row is deleted', async () => {
    const client = await unlocked();
    const hash = await newestHash();
    const copy = second.client();
    copy.cookies = new Map(client.cookies);
    expect(await isUnlocked(copy)).toBe(true);
    expect((await client.post('/api/admin/logout')).json).toEqual({ success: true });
    expect(client.cookies.has('admin')).toBe(false);
    expect(await isUnlocked(copy)).toBe(false);
    expect(await stage.query('select 1 from admin_sessions where hash = $1', [hash])).toEqual([]);
    expect((await actions())[0]).toBe('admin_signed_out');
    expect((await client.post('/api/admin/logout')).status).toBe(200);
  });

  test('ends when the password changes', async () => {
    const client = await unlocked();
    expect(await isUnlocked(at(changed, client))).toBe(false);
    expect((await verify(at(changed, client))).status).toBe(401);
    expect(await isUnlocked(client)).toBe(true);
  });

  test.each([
    ['an empty cookie', ''],
    ['a short cookie', 'x'],
    ['a forged cookie', 'A'.repeat(43)],
    ['a cookie with a NUL', `${'A'.repeat(42)}%00`],
    ['a very long cookie', 'A'.repeat(5000)],
  ])('is not replaced by %s', async (_, secret) => {
    const client = service.client();
    client.cookies.set('admin', secret);
    expect((await client.get('/api/admin/session')).json.unlocked).toBe(false);
  });
});
