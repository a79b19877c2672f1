import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { eraseAddress } from '../../server/operations/operator-store.ts';
import { openAuthenticator } from '../support/authenticator.ts';
import type { Client } from '../support/client.ts';
import { useService } from '../support/harness.ts';
import { freshAddress, freshDomain, signInDeveloper } from '../support/sign-ins.ts';

const { stage, service } = await useService();

/** Makes the latest proof of an address on all devices older than ten minutes. */
const ageProof = (email: string) =>
  stage.query("update remembered_keys set expires_at = expires_at - interval '11 minutes' where email = $1", [email]);

/** Returns a new credential for options that the account has fetched. */
async function prepareCredential(client: Client) {
  const { status, json } = await client.post('/api/user/passkeys/options');
  expect(status).toBe(200);
  return openAuthenticator({ origin: service.url }).create(json.options);
}

const register = (client: Client, credential: object) => client.post('/api/auth/passkey/registration', { credential });
const createKey = (client: Client, name = 'a key') => client.post('/api/api-keys', { name, environment: 'live' });
const stateOfKeys = async (client: Client) =>
  Object.fromEntries(
    (await client.get('/api/api-keys')).json.map(({ name, isActive }: { name: string; isActive: boolean }) => [name, isActive]),
  );

describe('a permission to add a passkey', () => {
  const endings: [string, (client: Client, email: string) => Promise<{ status: number }>][] = [
    ['a sign-out', (client) => client.post('/api/auth/logout')],
    ['a sign-out everywhere', (client) => client.post('/api/user/sign-out-everywhere')],
    [
      'a sign-out of the device by another one',
      async (_client, email) => {
        const other = await signInDeveloper(stage, service, email);
        const { json } = await other.client.get('/api/user/devices');
        return other.client.delete(`/api/user/devices/${json.find(({ current }: { current: boolean }) => !current).id}`);
      },
    ],
  ];
  test.each(endings)('ends with %s, also after the next sign-in', async (_name, end) => {
    const { client, email } = await signInDeveloper(stage, service);
    const credential = await prepareCredential(client);
    expect((await end(client, email)).status).toBe(200);
    expect((await register(client, credential)).json.code).toBe('passkey_expired');
    const again = await signInDeveloper(stage, service, email);
    expect((await register(client, credential)).json.code).toBe('passkey_expired');
    expect((await again.client.get('/api/user/passkeys')).json.passkeys).toEqual([]);
    expect((await register(again.client, await prepareCredential(again.client))).status).toBe(200);
  });

  test('does not bring an erased address back, which a new sign-in does', async () => {
    const { client, email } = await signInDeveloper(stage, service);
    const credential = await prepareCredential(client);
    const database = new pg.Client(stage.databaseUrl);
    await database.connect();
    await eraseAddress(database, { address: email, deleted: [], heir: null }, { dryRun: false });
    await database.end();
    expect((await register(client, credential)).json.code).toBe('passkey_expired');
    const known = await stage.query(
      'select email from passkeys where email = $1 union select recipient from outbox where recipient = $1 union select email from audit_log where email = $1',
      [email],
    );
    expect(known).toEqual([]);
    const again = await signInDeveloper(stage, service, email);
    expect((await again.client.get('/api/user/me')).json.email).toBe(email);
  });
});

describe('a sign-out everywhere', () => {
  test('ends all API keys and no passkey, unless it names others', async () => {
    const { client, email } = await signInDeveloper(stage, service);
    await createKey(client, 'ended');
    const { key } = (await createKey(client, 'kept')).json;
    await register(client, await prepareCredential(client));
    expect((await stage.mailbox.waitFor(email)).text).toContain('/passkeys');
    const [ended] = (await client.get('/api/api-keys')).json.filter(({ name }: { name: string }) => name === 'ended');
    const first = await client.post('/api/user/sign-out-everywhere', { apiKeys: [ended.id] });
    expect(first.json).toEqual({ success: true, apiKeys: 1, passkeys: 0 });
    const again = await signInDeveloper(stage, service, email);
    expect(await stateOfKeys(again.client)).toEqual({ ended: false, kept: true });
    expect((await again.client.post('/api/user/sign-out-everywhere')).json).toEqual({ success: true, apiKeys: 1, passkeys: 0 });
    await expect.poll(async () => (await service.client().get('/api/websites', { Authorization: `Bearer ${key}` })).status).toBe(401);
    const last = await signInDeveloper(stage, service, email);
    expect((await last.client.get('/api/user/passkeys')).json.passkeys).toHaveLength(1);
    const done = await last.client.post('/api/user/sign-out-everywhere', { passkeys: 'all' });
    expect(done.json).toEqual({ success: true, apiKeys: 0, passkeys: 1 });
  });

  test("ends nothing of another account's", async () => {
    const [ann, bob] = [await signInDeveloper(stage, service), await signInDeveloper(stage, service)];
    const { id } = (await createKey(bob.client)).json;
    expect((await ann.client.post('/api/user/sign-out-everywhere', { apiKeys: [id] })).json.apiKeys).toBe(0);
    expect(await stateOfKeys(bob.client)).toEqual({ 'a key': true });
  });
});

test('what gives lasting access needs a proof of the address within ten minutes', async () => {
  const { client, email } = await signInDeveloper(stage, service);
  const { id } = (await createKey(client)).json;
  const site = (await client.post('/api/websites', { domain: freshDomain() })).json;
  await stage.query('update websites set proven_at = now() where id = $1', [site.id]);
  const members = `/api/websites/${site.id}/members`;
  const guest = freshAddress('guest');
  expect((await client.post(members, { email: guest, role: 'member' })).status).toBe(200);
  await ageProof(email);
  const refused = [
    await createKey(client),
    await client.post(`/api/api-keys/${id}/rotate`, {}),
    await client.post(members, { email: freshAddress(), role: 'owner' }),
    await client.put(`${members}/${guest}`, { role: 'owner' }),
    await client.post('/api/user/passkeys/options'),
  ];
  for (const { status, json } of refused) {
    expect([status, json.code]).toEqual([403, 'proof_needed']);
    expect(json.hint).toContain('emailauth login');
  }
  expect((await client.post(members, { email: freshAddress(), role: 'member' })).status).toBe(200);
  const again = await signInDeveloper(stage, service, email);
  expect((await createKey(again.client, 'another')).status).toBe(200);
  expect((await again.client.put(`${members}/${guest}`, { role: 'owner' })).json.role).toBe('owner');
});

describe('a website that someone else registered with an address', () => {
  test('does not count against what the address may add, and is given back', async () => {
    const email = freshAddress('owner');
    await stage.query(
      `insert into websites (id, domain, email, registered_by_others)
       select gen_random_uuid(), 'n' || n || '-' || $2, $1, true from generate_series(1, 100) n`,
      [email, freshDomain()],
    );
    const { client } = await signInDeveloper(stage, service, email);
    const own = await client.post('/api/websites', { domain: freshDomain() });
    expect([own.status, own.json.registeredByOthers]).toEqual([200, false]);
    const [first] = (await client.get('/api/websites')).json.filter((site: { registeredByOthers: boolean }) => site.registeredByOthers);
    const other = await signInDeveloper(stage, service);
    expect((await other.client.post(`/api/websites/${first.id}/give-back`)).status).toBe(404);
    expect((await client.post(`/api/websites/${own.json.id}/give-back`)).json.code).toBe('not_given_back');
    expect((await client.post(`/api/websites/${first.id}/give-back`)).status).toBe(200);
    expect((await service.client().get(`/api/websites/domain/${first.domain}`)).status).toBe(404);
  });

  test('is marked by a registration without a sign-in, and stays marked after the sign-in of its address', async () => {
    const [email, domain] = [freshAddress('owner'), freshDomain()];
    expect((await service.client().post('/api/websites/register', { domain, email })).status).toBe(200);
    expect((await stage.mailbox.waitFor(email)).text).toContain(domain);
    const { client } = await signInDeveloper(stage, service, email);
    expect((await client.get('/api/websites')).json).toMatchObject([
      { domain, registeredByOthers: true, onProbation: false },
      { domain: 'localhost' },
    ]);
  });

  test('shows neither icon nor color on the sign-in page until its domain is verified', async () => {
    const { client } = await signInDeveloper(stage, service);
    const { id, domain } = (await client.post('/api/websites', { domain: freshDomain() })).json;
    await stage.query('insert into uploads (id, expires_at, stored_at) values ($1, now(), now())', [id]);
    await stage.query("update websites set icon = $1, accent = '#123456' where id = $1", [id]);
    const page = async () => (await service.client().get(`/auth?forward_url=https%3A%2F%2F${domain}%2F`)).text;
    const publicIcon = async () => (await service.client().get(`/api/websites/domain/${domain}`)).json.iconUrl;
    for (const text of [id, '123456']) expect(await page()).not.toContain(text);
    expect(await publicIcon()).toBeNull();
    await stage.query('update websites set proven_at = now() where id = $1', [id]);
    for (const text of [id, '123456']) expect(await page()).toContain(text);
    expect(await publicIcon()).toContain(id);
  });
});
