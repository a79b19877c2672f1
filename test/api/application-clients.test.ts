import { createHash, generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { HttpResponse } from '../support/client.ts';
import { addGrant } from '../support/grants.ts';
import { useProduction, useService } from '../support/harness.ts';
import { authorize, type Developer, freshAddress, freshDomain, signInDeveloper } from '../support/sign-ins.ts';

const { stage, service } = await useService();
const { service: other } = await useProduction();
const [ann, bob] = [await signInDeveloper(stage, service), await signInDeveloper(stage, service)];

const REDIRECT = 'https://app.example/callback';
const BASE = { name: 'Notes', redirectUris: [REDIRECT] };
const hashOf = (secret: string) => createHash('sha256').update(secret).digest('hex');

const create = (input: object = {}): Promise<HttpResponse> => ann.client.post('/api/clients', { ...BASE, ...input });
const change = (id: string, input: object = {}): Promise<HttpResponse> =>
  ann.client.put(`/api/clients/${id}`, { ...BASE, isActive: true, ...input });
const rotate = (id: string, input: object = {}, { client } = ann): Promise<HttpResponse> => client.post(`/api/clients/${id}/secret`, input);
const listed = async (id: string) => (await ann.client.get('/api/clients')).json.find((each: { id: string }) => each.id === id);

/** Returns a developer with the same session at the other instance. */
function onOther(developer: Developer): Developer {
  const client = other.client();
  client.cookies = new Map(developer.client.cookies);
  return { ...developer, client };
}

async function added(input: object = {}) {
  const response = await create(input);
  if (response.status !== 200) throw new Error(`Adding an application returned ${response.status}: ${response.text}`);
  return response.json;
}

/** Returns the stored hashes of the client secrets: the present one, and the former one while it is valid. */
async function storedHashes(id: string): Promise<{ present: string | null; former: string | null; hours: number | null }> {
  const [row] = await stage.query(
    `select encode(secret_hash, 'hex') as present, encode(previous_secret_hash, 'hex') as former,
       round(extract(epoch from previous_secret_until - now()) / 3600)::int as hours from applications where id = $1`,
    [id],
  );
  return row as { present: string | null; former: string | null; hours: number | null };
}

const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const PUBLIC = { ...publicKey.export({ format: 'jwk' }), kid: 'one', alg: 'ES256' };

describe('the type of an application', () => {
  test('is a public client without a secret by default', async () => {
    const application = await added();
    expect(application).toMatchObject({
      authentication: 'none',
      jwks: null,
      jwksUri: null,
      logoutUris: [],
      backchannelLogoutUri: null,
      scopes: ['openid', 'email', 'profile', 'offline_access'],
      formerSecretUntil: null,
    });
    expect(application).not.toHaveProperty('clientSecret');
  });

  test('returns the client secret once and stores only its SHA-256', async () => {
    const { clientSecret, id, ...application } = await added({ authentication: 'secret' });
    expect(clientSecret).toMatch(/^ea_secret_[\w-]{43}$/);
    expect(await listed(id)).toEqual({ id, ...application });
    expect((await storedHashes(id)).present).toBe(hashOf(clientSecret));
    const dump = await stage.query('select row_to_json(a)::text as row from applications a where id = $1', [id]);
    expect(JSON.stringify(dump)).not.toContain(clientSecret);
    expect(service.output()).not.toContain(clientSecret);
  });

  test('creates a secret when it becomes confidential, and forgets it when it becomes public', async () => {
    const { id } = await added();
    const { clientSecret } = (await change(id, { authentication: 'secret' })).json;
    expect((await storedHashes(id)).present).toBe(hashOf(clientSecret));
    expect((await change(id, { authentication: 'secret' })).json).not.toHaveProperty('clientSecret');
    expect((await change(id)).json.authentication).toBe('secret');
    expect((await storedHashes(id)).present).toBe(hashOf(clientSecret));
    await change(id, { authentication: 'none' });
    expect(await storedHashes(id)).toEqual({ present: null, former: null, hours: null });
  });

  test('of private_key_jwt has public keys or their address', async () => {
    const { id, jwks } = await added({ authentication: 'private_key_jwt', jwks: { keys: [PUBLIC] } });
    expect(jwks).toEqual({ keys: [PUBLIC] });
    const uri = 'https://app.example/jwks.json';
    expect((await change(id, { jwksUri: uri })).json.field).toBe('jwks');
    expect((await change(id, { jwks: null, jwksUri: uri })).json).toMatchObject({ jwks: null, jwksUri: uri });
  });

  test.each([
    ['without keys', { authentication: 'private_key_jwt' }],
    ['with keys for a public client', { jwks: { keys: [PUBLIC] } }],
    ['with a private key', { authentication: 'private_key_jwt', jwks: { keys: [privateKey.export({ format: 'jwk' })] } }],
    ['with a symmetric key', { authentication: 'private_key_jwt', jwks: { keys: [{ kty: 'oct', k: 'c2VjcmV0' }] } }],
    ['with no keys in the set', { authentication: 'private_key_jwt', jwks: { keys: [] } }],
    ['with an http address of keys', { authentication: 'private_key_jwt', jwksUri: 'http://app.example/jwks' }],
    ['with a private address of keys', { authentication: 'private_key_jwt', jwksUri: 'https://10.0.0.1/jwks' }],
    ['with an unknown authentication', { authentication: 'client_secret_jwt' }],
    ['with an unknown scope', { scopes: ['openid', 'admin'] }],
    ['with no scope', { scopes: [] }],
    ['with a bad logout URI', { logoutUris: ['http://app.example/'] }],
    ['with a bad back-channel logout URI', { backchannelLogoutUri: 'com.example.app:/logout' }],
    ['with a scheme of a native program and a secret', { authentication: 'secret', redirectUris: ['com.example.app:/callback'] }],
    ['with a scheme without a dot', { redirectUris: ['myapp:/callback'] }],
    ['with a scheme of the browser', { redirectUris: ['javascript:alert(1)//a.b'] }],
    ['with a scheme of its own and no path', { redirectUris: ['com.example.app:callback'] }],
  ])('%s is rejected', async (_, input) => {
    const response = await create(input);
    expect([response.status, response.json.code]).toEqual([400, 'bad_request']);
  });

  test('accepts a private-use scheme and keeps settings that a change does not mention', async () => {
    const settings = {
      redirectUris: ['com.example.app:/callback', 'http://127.0.0.1/callback'],
      logoutUris: ['https://app.example/bye', 'com.example.app:/bye'],
      backchannelLogoutUri: 'https://app.example/logout',
      scopes: ['websites:read', 'openid'],
    };
    const application = await added(settings);
    expect(application).toMatchObject({ ...settings, scopes: ['openid', 'websites:read'] });
    const { redirectUris } = settings;
    expect((await change(application.id, { redirectUris })).json).toEqual(application);
    const cleared = await change(application.id, { redirectUris, logoutUris: [], backchannelLogoutUri: null });
    expect(cleared.json).toMatchObject({ logoutUris: [], backchannelLogoutUri: null });
  });

  test('limits the calls authorize and token to public clients and web redirect URIs', async () => {
    const native = await added({ redirectUris: ['com.example.app:/callback', REDIRECT] });
    const confidential = await added({ authentication: 'secret' });
    const attempt = async (clientId: string, uri: string) =>
      (await authorize(service.client(), freshAddress(), { client_id: clientId, redirect_uri: uri })).response;
    expect((await attempt(native.clientId, REDIRECT)).status).toBe(200);
    expect((await attempt(native.clientId, 'com.example.app:/callback')).json.code).toBe('bad_redirect_uri');
    expect((await attempt(confidential.clientId, REDIRECT)).json.code).toBe('unknown_client');
  });
});

describe('a rotation of the client secret', () => {
  test('keeps the former secret for a day and creates a new one', async () => {
    const { id, clientSecret: former } = await added({ authentication: 'secret' });
    const { clientSecret, formerSecretUntil } = (await rotate(id)).json;
    expect(await storedHashes(id)).toEqual({ present: hashOf(clientSecret), former: hashOf(former), hours: 24 });
    expect((await listed(id)).formerSecretUntil).toBe(formerSecretUntil);
    expect(JSON.stringify(await listed(id))).not.toContain(clientSecret);
  });

  test('is refused while the former secret is valid, except without a grace period', async () => {
    const { id } = await added({ authentication: 'secret' });
    const { clientSecret } = (await rotate(id, { graceHours: 1 })).json;
    expect((await rotate(id)).json.code).toBe('secret_rotated');
    expect((await storedHashes(id)).present).toBe(hashOf(clientSecret));
    const last = (await rotate(id, { graceHours: 0 })).json;
    expect(last.formerSecretUntil).toBeNull();
    expect(await storedHashes(id)).toEqual({ present: hashOf(last.clientSecret), former: null, hours: null });
  });

  test('happens once when two instances rotate at the same time', async () => {
    const { id, clientSecret: former } = await added({ authentication: 'secret' });
    const sessions = [ann, onOther(ann)];
    const responses = await Promise.all(sessions.map((developer) => rotate(id, {}, developer)));
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 409]);
    const created = responses.find(({ status }) => status === 200)?.json.clientSecret;
    expect(await storedHashes(id)).toMatchObject({ present: hashOf(created), former: hashOf(former) });
  });

  test('is for the owner of a confidential application', async () => {
    const { id } = await added();
    expect((await rotate(id)).json.code).toBe('no_client_secret');
    expect((await rotate(id, {}, bob)).json.code).toBe('application_not_found');
    expect((await rotate(id, { graceHours: 2 })).status).toBe(400);
    const trail = await stage.query("select 1 from audit_log where email = $1 and action = 'application_secret_rotated'", [ann.email]);
    expect(trail.length).toBeGreaterThan(0);
  });
});

describe('rejected requests', () => {
  test('are listed newest first, each with what to change', async () => {
    const { id } = await added();
    const errors = [
      ['invalid_redirect_uri', "redirect_uri did not match any of the client's registered redirect_uris"],
      ['invalid_request', 'Authorization Server policy requires PKCE to be used for this request'],
      ['made_up', 'nothing known'],
    ];
    // Ids are sorted as numbers: 100 is newer than 99. The next ids are the last ones before a power of ten, and that power.
    await stage.query(`select setval('audit_log_id_seq', (10 ^ length((coalesce(max(id), 0) + 3)::text) - 2)::bigint) from activity_log`);
    for (const [error, description] of errors)
      await stage.query("insert into sign_in_steps (application_id, action, result) values ($1, 'client_refused', $2)", [
        id,
        `${error}: ${description}`,
      ]);
    const refusals = (await ann.client.get(`/api/clients/${id}/refusals`)).json as { error: string; remedy: string }[];
    expect(refusals.map(({ error }) => error)).toEqual(['made_up', 'invalid_request', 'invalid_redirect_uri']);
    expect(refusals.map(({ remedy }) => remedy)).toEqual([
      expect.stringContaining('documentation'),
      expect.stringContaining('code_challenge_method=S256'),
      expect.stringContaining('registered redirect URIs'),
    ]);
    expect((await bob.client.get(`/api/clients/${id}/refusals`)).json.code).toBe('application_not_found');
  });
});

describe('connections', () => {
  const connections = async ({ client }: Developer) => (await client.get('/api/user/connections')).json as Record<string, unknown>[];
  const left = async ({ grant, token }: { grant: Buffer; token: Buffer }) =>
    (await stage.query('select kind from oidc_records where id = any($1::bytea[]) order by kind', [[grant, token]])).map(
      ({ kind }) => kind,
    );

  test('are listed with client, scopes and times, and are those of the signed-in person', async () => {
    expect(await connections(bob)).toEqual([]);
    const application = await added({ name: 'Diary' });
    const origin = `https://${freshDomain()}`;
    await addGrant(stage, { email: bob.email, clientId: origin });
    await addGrant(stage, { email: bob.email, clientId: application.clientId, scope: 'openid email profile' });
    await addGrant(stage, { email: ann.email, clientId: application.clientId });
    expect(await connections(bob)).toEqual([
      {
        id: expect.stringMatching(/^[0-9a-f]{32}$/),
        clientId: application.clientId,
        name: 'Diary',
        hosts: [],
        kind: 'application',
        scopes: ['openid', 'email', 'profile'],
        createdAt: expect.any(String),
        lastUsed: expect.any(String),
      },
      expect.objectContaining({ clientId: origin, name: new URL(origin).hostname, hosts: [], kind: 'website' }),
    ]);
  });

  test('are revoked with all grants and tokens of the client, on every instance', async () => {
    const eve = await signInDeveloper(stage, service);
    const clientId = (await added()).clientId;
    const mine = [await addGrant(stage, { email: eve.email, clientId }), await addGrant(stage, { email: eve.email, clientId })];
    const foreign = await addGrant(stage, { email: ann.email, clientId });
    const [{ id }] = await connections(eve);
    expect((await ann.client.delete(`/api/user/connections/${'0'.repeat(32)}`)).json.code).toBe('connection_not_found');
    expect((await onOther(eve).client.delete(`/api/user/connections/${id}`)).json).toEqual({ success: true });
    expect(await connections(eve)).toEqual([]);
    for (const each of mine) expect(await left(each)).toEqual([]);
    expect(await left(foreign)).toEqual(['Grant', 'RefreshToken']);
    expect((await eve.client.delete(`/api/user/connections/${id}`)).json.code).toBe('connection_not_found');
    const [newest] = (await eve.client.get('/api/audit-logs')).json;
    expect(newest.action).toBe('connection_revoked');
  });

  test('end when the application is switched off or deleted', async () => {
    const [one, two] = [await added(), await added()];
    const grants = [await addGrant(stage, { email: bob.email, ...one }), await addGrant(stage, { email: bob.email, ...two })];
    await change(one.id, { isActive: false });
    await ann.client.delete(`/api/clients/${two.id}`);
    for (const each of grants) expect(await left(each)).toEqual([]);
  });

  test('are not open to an API key', async () => {
    const { key } = (await ann.client.post('/api/api-keys', { name: 'Script', environment: 'live' })).json;
    const response = await service.client().get('/api/user/connections', { Authorization: `Bearer ${key}` });
    expect(response.json.code).toBe('person_needed');
  });
});
