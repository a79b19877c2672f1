import { beforeAll, describe, expect, test } from 'vitest';
import { useProduction, useService } from '../support/harness.ts';
import { freshDomain, signInDeveloper, visitorToken } from '../support/sign-ins.ts';
import { waitUntil } from '../support/waiting.ts';

const { stage, service } = await useService();
const { service: other } = await useProduction();
const ann = await signInDeveloper(stage, service);
const bob = await signInDeveloper(stage, service);

type Key = { id: string; key: string; keyId: string; isActive: boolean; expiresAt: string | null; lastUsed: string | null };

async function makeKey(owner = ann, environment = 'live', name = 'Deploys'): Promise<Key> {
  const response = await owner.client.post('/api/api-keys', { name, environment });
  if (response.status !== 200) throw new Error(`Making a key answered ${response.status}: ${response.text}`);
  return response.json;
}

const as = (key: string) => ({ Authorization: `Bearer ${key}` });
const me = (key: string, at = service) => at.client().get('/api/user/me', as(key));
const listed = async (id: string, owner = ann): Promise<Key> =>
  (await owner.client.get('/api/api-keys')).json.find((key: Key) => key.id === id);
const send = (key: string, method: string, path: string, body?: unknown) =>
  service.client().send(path, {
    method,
    headers: { 'Content-Type': 'application/json', ...as(key) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });

const untilRejected = (key: string, at = service) =>
  waitUntil('the key is rejected', 60_000, async () => (await me(key, at)).status !== 200);

describe('an API key', () => {
  test('is returned once, stored as a hash, and accepted by every call that needs an account', async () => {
    const made = await makeKey();
    expect(made.key).toMatch(/^ea_live_[\w-]{43}$/);
    expect(made.keyId).toBe(`${made.key.slice(0, 14)}…`);
    expect(await listed(made.id)).toEqual({ ...made, key: undefined, lastUsed: null });
    expect((await ann.client.get('/api/api-keys')).text).not.toContain(made.key);
    const rows = await stage.query('select k::text as row, length(hash) as bytes from api_keys k where id = $1', [made.id]);
    expect(rows[0].bytes).toBe(32);
    expect(String(rows[0].row)).not.toContain(made.key.slice(14));

    expect((await me(made.key)).json.email).toBe(ann.email);
    const added = await send(made.key, 'POST', '/api/websites', { domain: freshDomain() });
    expect(added.status).toBe(200);
    expect((await ann.client.get('/api/websites')).json).toContainEqual(added.json);
    expect((await send(made.key, 'GET', '/api/clients')).status).toBe(200);
    expect(added.setCookies).toEqual([]);
  });

  test('is rejected by calls that need a person', async () => {
    const { id, key } = await makeKey();
    for (const [method, path, body] of [
      ['GET', '/api/api-keys', undefined],
      ['POST', '/api/api-keys', { name: 'x', environment: 'live' }],
      ['POST', `/api/api-keys/${id}/rotate`, {}],
      ['DELETE', `/api/api-keys/${id}`, undefined],
      ['GET', `/api/api-keys/${id}/usage`, undefined],
    ] as const) {
      const response = await send(key, method, path, body);
      expect([path, response.status, response.json.code]).toEqual([path, 403, 'person_needed']);
    }
    expect((await listed(id)).isActive).toBe(true);
  });

  test('of the test environment reads but cannot change anything', async () => {
    const { key, keyId } = await makeKey(ann, 'test');
    expect(keyId).toMatch(/^ea_test_/);
    expect((await me(key)).json.email).toBe(ann.email);
    expect((await send(key, 'GET', '/api/websites')).status).toBe(200);
    const domain = freshDomain();
    const refused = await send(key, 'POST', '/api/websites', { domain });
    expect([refused.status, refused.json.code]).toEqual([403, 'test_key']);
    expect(await stage.query('select 1 from websites where domain = $1', [domain])).toEqual([]);
  });

  test.each(['ea_live_', `ea_live_${'A'.repeat(43)}`, 'ea_live_x y', `ea_prod_${'A'.repeat(43)}`, `ea_live_${'A'.repeat(5000)}`])(
    'is rejected when it does not exist: %j',
    async (key) => {
      const response = await me(key);
      expect([response.status, response.json.code]).toEqual([401, 'bad_api_key']);
    },
  );

  test('is rejected without the Bearer scheme, even with a session cookie', async () => {
    const { key } = await makeKey();
    const response = await ann.client.get('/api/user/me', { Authorization: key });
    expect([response.status, response.json.code]).toEqual([401, 'bad_api_key']);
  });

  test('of another account is not found and not changed', async () => {
    const { id, key } = await makeKey();
    for (const response of [
      await bob.client.post(`/api/api-keys/${id}/rotate`, { graceHours: 0 }),
      await bob.client.delete(`/api/api-keys/${id}`),
      await bob.client.get(`/api/api-keys/${id}/usage`),
    ])
      expect([response.status, response.json.code]).toEqual([404, 'api_key_not_found']);
    expect((await me(key)).status).toBe(200);
    expect((await bob.client.get('/api/api-keys')).json).toEqual([]);
  });

  test('is rejected at every instance soon after its revocation', async () => {
    const { id, key } = await makeKey();
    for (const at of [service, other]) expect((await me(key, at)).status).toBe(200);
    expect((await ann.client.delete(`/api/api-keys/${id}`)).json).toEqual({ success: true });
    await Promise.all([service, other].map((at) => untilRejected(key, at)));
    expect(await listed(id)).toMatchObject({ isActive: false });
    expect((await ann.client.delete(`/api/api-keys/${id}`)).status).toBe(404);
    const trail = await stage.query("select action from audit_log where email = $1 and action like 'api_key%' order by id desc limit 2", [
      ann.email,
    ]);
    expect(trail.map(({ action }) => action)).toEqual(['api_key_revoked', 'api_key_created']);
  });

  test('is refused beyond 50 active keys, also for concurrent requests; a revocation makes room', async () => {
    const eve = await signInDeveloper(stage, service);
    const responses = await Promise.all(
      Array.from({ length: 60 }, () => eve.client.post('/api/api-keys', { name: 'x', environment: 'live' })),
    );
    const made = (await eve.client.get('/api/api-keys')).json as Key[];
    expect(made).toHaveLength(50);
    expect(responses.find(({ status }) => status !== 200)?.json.code).toBe('too_many');
    expect((await eve.client.post(`/api/api-keys/${made[0].id}/rotate`, { graceHours: 24 })).json.code).toBe('too_many');
    expect((await listed(made[0].id, eve)).expiresAt).toBeNull();
    expect((await eve.client.post(`/api/api-keys/${made[0].id}/rotate`, { graceHours: 0 })).status).toBe(200);
    await eve.client.delete(`/api/api-keys/${made[1].id}`);
    expect((await makeKey(eve)).isActive).toBe(true);
  });
});

describe('rotation', () => {
  test('returns a new key once; the old key stays valid for the given hours', async () => {
    const old = await makeKey(ann, 'test', 'Reports');
    const response = await ann.client.post(`/api/api-keys/${old.id}/rotate`, { graceHours: 24 });
    expect(response.json).toMatchObject({ name: 'Reports', environment: 'test', isActive: true, expiresAt: null });
    expect(response.json.key).toMatch(/^ea_test_/);
    for (const key of [old.key, response.json.key]) expect((await me(key)).status).toBe(200);
    const { expiresAt, isActive } = await listed(old.id);
    expect(isActive).toBe(true);
    expect(Math.abs(Date.parse(String(expiresAt)) - Date.now() - 24 * 3_600_000)).toBeLessThan(60_000);
    expect((await ann.client.post(`/api/api-keys/${old.id}/rotate`, {})).status).toBe(404);

    await stage.query("update api_keys set expires_at = now() - interval '1 second' where id = $1", [old.id]);
    await untilRejected(old.key);
    expect((await listed(old.id)).isActive).toBe(false);
    expect((await me(response.json.key)).status).toBe(200);
  });

  test('without a grace period ends the old key', async () => {
    const old = await makeKey();
    expect((await me(old.key)).status).toBe(200);
    expect((await ann.client.post(`/api/api-keys/${old.id}/rotate`, { graceHours: 0 })).status).toBe(200);
    await untilRejected(old.key);
  });

  test('by concurrent requests creates one new key', async () => {
    const old = await makeKey();
    const rotate = () => ann.client.post(`/api/api-keys/${old.id}/rotate`, { graceHours: 1 });
    const statuses = (await Promise.all([rotate(), rotate(), rotate()])).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
  });

  test('accepts only the listed grace periods', async () => {
    const { id } = await makeKey();
    for (const graceHours of [-1, 2, 100_000, '24', null])
      expect((await ann.client.post(`/api/api-keys/${id}/rotate`, { graceHours })).status).toBe(400);
  });
});

describe('usage', () => {
  test('counts calls and refusals of both instances per UTC day for 30 days, oldest first, and has the last use of the key', async () => {
    const { id, key } = await makeKey();
    for (const at of [service, other]) {
      for (let i = 0; i < 5; i++) await me(key, at);
      expect((await at.client().get('/api/api-keys', as(key))).status).toBe(403);
    }
    await send(key, 'POST', '/api/websites', { domain: 'not a domain' });
    await send(key, 'GET', `/api/clients/${id}/logs`);
    let usage = { total: 0, days: [] as { date: string; calls: number; refused: number }[] };
    await waitUntil('14 calls are counted', 30_000, async () => {
      usage = (await ann.client.get(`/api/api-keys/${id}/usage`)).json;
      return usage.total === 14 || `${usage.total} calls`;
    });
    expect(usage.days).toHaveLength(30);
    const today = new Date().toISOString().slice(0, 10);
    expect(usage.days.at(-1)).toEqual({ date: today, calls: 14, refused: 4 });
    expect(usage.days[0]).toEqual({ date: new Date(Date.parse(today) - 29 * 86_400_000).toISOString().slice(0, 10), calls: 0, refused: 0 });
    expect(Math.abs(Date.parse(String((await listed(id)).lastUsed)) - Date.now())).toBeLessThan(60_000);
  });

  test('is written when a process stops', async () => {
    const third = await stage.start();
    const { id, key } = await makeKey();
    await Promise.all(Array.from({ length: 20 }, () => me(key, third)));
    expect(await third.stop()).toBe(0);
    expect((await ann.client.get(`/api/api-keys/${id}/usage`)).json.total).toBe(20);
  });
});

describe('verify-token with a key', () => {
  let shop: string;
  let rival: string;
  beforeAll(async () => {
    [shop, rival] = [freshDomain(), freshDomain()];
    await ann.client.post('/api/websites', { domain: shop });
    await bob.client.post('/api/websites', { domain: rival });
  });
  const verify = (key: string, query: Record<string, string>) =>
    service.client().get(`/api/verify-token?${new URLSearchParams(query)}`, as(key));

  test.each([{}, { domain: 'SHOP' }, { domain: 'RIVAL' }])(
    'of another website’s developer returns other_domain and does not consume the token, with domain %j',
    async (started) => {
      const { key } = await makeKey(bob);
      const token = await visitorToken(stage, service.client(), shop);
      const domain = started.domain && { domain: started.domain === 'SHOP' ? shop : rival };
      for (const response of [
        await verify(key, { token, ...domain }),
        await service.client().post('/api/verify-token', { token, ...domain }, as(key)),
      ])
        expect(response.json).toEqual({ email: null, valid: false, reason: 'other_domain' });
      expect((await service.client().get(`/api/verify-token?token=${token}&domain=${shop}`)).json.valid).toBe(true);
    },
  );

  test('of the website’s developer accepts the token once', async () => {
    const { key } = await makeKey();
    const token = await visitorToken(stage, service.client(), shop);
    expect((await verify(key, { token, domain: rival })).json.reason).toBe('other_domain');
    expect((await verify(key, { token })).json).toMatchObject({ valid: true, domain: shop });
    expect((await verify(key, { token })).json.reason).toBe('used');
    expect((await verify(key, { token: 'nothing' })).json.reason).toBe('unknown');
  });

  test('does not find or consume tokens of the portal', async () => {
    const { key } = await makeKey();
    const { client } = await signInDeveloper(stage, service, ann.email);
    await client.post('/api/auth/domain-auth', { email: ann.email });
    const token = new URL(String((await client.get((await stage.mailbox.waitFor(ann.email)).link)).headers.location)).searchParams.get(
      'token',
    );
    expect((await verify(key, { token: String(token) })).json.reason).toBe('unknown');
    expect((await client.post('/api/auth/token-login', { token })).status).toBe(200);
  });

  test('returns 401 for an unknown or revoked key and 403 for a test key, and does not consume the token', async () => {
    const token = await visitorToken(stage, service.client(), shop);
    expect((await verify(`ea_live_${'A'.repeat(43)}`, { token })).json.code).toBe('bad_api_key');
    const { id, key } = await makeKey();
    await ann.client.delete(`/api/api-keys/${id}`);
    expect((await verify(key, { token })).status).toBe(401);
    expect((await verify((await makeKey(ann, 'test')).key, { token })).json.code).toBe('test_key');
    expect((await service.client().get(`/api/verify-token?token=${token}`)).json.valid).toBe(true);
  });
});
