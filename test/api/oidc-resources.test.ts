// A stage of its own: it rotates the signing keys, with a SECRET_KEY that it knows.
import { randomUUID } from 'node:crypto';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type CallSpec, calls } from '../../contract/calls.ts';
import { IDENTITY_SCOPES, RESOURCE_SCOPES } from '../../contract/scopes.ts';
import { KeyEncryption, ProviderKeys, rotateSigningKeys } from '../../server/oidc/keys.ts';
import { SecretKeys } from '../../server/platform/secrets.ts';
import { openStage, type Service, type Stage } from '../support/harness.ts';
import { begin, continueByLink, exchangeCode, postForm, REDIRECT } from '../support/oidc-client.ts';
import { addWebsite, type Developer, freshAddress, freshDomain, signInDeveloper } from '../support/sign-ins.ts';
import { waitUntil } from '../support/waiting.ts';

const SECRET_KEY = 'a secret key of the tests that is long enough';
const ALL = RESOURCE_SCOPES.join(' ');

let stage: Stage;
let service: Service;
let other: Service;
let developer: Developer;
let clientId: string;
beforeAll(async () => {
  stage = await openStage();
  service = await stage.start({ SECRET_KEY });
  other = await stage.start({ SECRET_KEY, PUBLIC_URL: service.url });
  developer = await signInDeveloper(stage, service);
  clientId = (
    await developer.client.post('/api/clients', {
      name: 'Assistant',
      redirectUris: [REDIRECT],
      scopes: [...IDENTITY_SCOPES, ...RESOURCE_SCOPES],
    })
  ).json.clientId;
});
afterAll(() => stage.close());

type Resource = 'mcp' | 'api';

/** Signs a person in to a client that asks for a resource. @returns the response of the token endpoint */
async function tokensFor(resource: Resource, scope = ALL, email = developer.email) {
  const client = service.client();
  const uri = `${service.url}/${resource}`;
  const begun = await begin(client, {
    clientId,
    scope: `openid offline_access ${scope}`,
    parameters: { resource: uri, prompt: 'consent' },
  });
  const { code } = await continueByLink(stage, client, begun, email);
  const { status, json, text } = await exchangeCode(client, begun, code, { resource: uri });
  if (status !== 200) throw new Error(text);
  return json as { access_token: string; refresh_token: string };
}

const as = (token: string) => ({ Authorization: `Bearer ${token}` });
const get = (path: string, token: string, at = service) => at.client().get(path, as(token));
const callTool = (name: string, input: object, headers: Record<string, string> = {}, at = service) =>
  at
    .client()
    .post(
      '/mcp',
      { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: input } },
      { Accept: 'application/json, text/event-stream', ...headers },
    );
/** Returns the parameters of WWW-Authenticate. */
const challengeIn = (header: unknown) =>
  Object.fromEntries([...String(header).matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name, value]));
const METADATA = '/.well-known/oauth-protected-resource';

describe('metadata of the resources', () => {
  test.each(['mcp', 'api'] as const)('names the authorization server and the scopes of %s, and any page may read it', async (resource) => {
    const { status, headers, json } = await service.client().get(`${METADATA}/${resource}`, { Origin: 'https://inspector.example' });
    expect([status, headers['access-control-allow-origin']]).toEqual([200, '*']);
    expect(json).toMatchObject({
      resource: `${service.url}/${resource}`,
      authorization_servers: [service.url],
      scopes_supported: [...RESOURCE_SCOPES],
      bearer_methods_supported: ['header'],
    });
    expect((await service.client().get(new URL(json.resource_documentation).pathname)).status).toBe(200);
  });
});

describe('an access token', () => {
  let api: string;
  let mcp: string;
  beforeAll(async () => {
    api = (await tokensFor('api')).access_token;
    mcp = (await tokensFor('mcp')).access_token;
  });

  test('gives access to the account at its own resource, on every instance', async () => {
    const domain = await addWebsite(stage, service);
    await stage.query('update websites set email = $1 where domain = $2', [developer.email, domain]);
    for (const at of [service, other]) {
      const listed = await get('/api/websites', api, at);
      expect([listed.status, listed.json.map((site: { domain: string }) => site.domain)]).toEqual([200, expect.arrayContaining([domain])]);
      expect((await get('/api/user/me', api, at)).json.email).toBe(developer.email);
      const { status, json } = await callTool('list_sites', {}, as(mcp), at);
      expect([status, json.result.isError]).toEqual([200, undefined]);
      expect(json.result.content[0].text).toContain(domain);
    }
  });

  test('is rejected at the other resource with a challenge that names its metadata', async () => {
    const atApi = await get('/api/websites', mcp);
    expect([atApi.status, atApi.json.code]).toEqual([401, 'bad_access_token']);
    expect(challengeIn(atApi.headers['www-authenticate'])).toMatchObject({
      error: 'invalid_token',
      resource_metadata: `${service.url}${METADATA}/api`,
    });
    const atMcp = await callTool('get_status', {}, as(api));
    expect(atMcp.status).toBe(401);
    expect(challengeIn(atMcp.headers['www-authenticate'])).toMatchObject({
      error: 'invalid_token',
      scope: 'websites:read stats:read',
      resource_metadata: `${service.url}${METADATA}/mcp`,
    });
  });

  test('may not do what needs a person, and is not accepted in a cookie', async () => {
    expect((await get('/api/api-keys', api)).json).toMatchObject({ code: 'person_needed', error: 'An access token may not do this.' });
    const client = service.client();
    client.cookies.set('sid', api);
    expect((await client.get('/api/websites')).status).toBe(401);
  });

  test('creates the account of a person who has none', async () => {
    const email = freshAddress('new');
    const { access_token } = await tokensFor('api', ALL, email);
    expect(await stage.query('select from users where email = $1', [email])).toHaveLength(0);
    const domain = freshDomain();
    const created = await service.client().post('/api/websites', { domain }, as(access_token));
    expect([created.status, (await get('/api/user/me', access_token, other)).json.email]).toEqual([200, email]);
    expect(await stage.query('select email from websites where domain = $1', [domain])).toEqual([{ email }]);
  });

  test('ends at once on all instances when its grant is revoked', async () => {
    const { access_token, refresh_token } = await tokensFor('api');
    for (const at of [service, other]) expect((await get('/api/websites', access_token, at)).status).toBe(200);
    expect((await postForm(service.client(), '/oauth/revoke', { token: refresh_token, client_id: clientId })).status).toBe(200);
    for (const at of [service, other]) {
      const refused = await get('/api/websites', access_token, at);
      expect([refused.status, refused.json.code]).toEqual([401, 'bad_access_token']);
    }
  });

  test('signed by a former key stays valid after a rotation, which a running instance takes over', { timeout: 180_000 }, async () => {
    const pool = new pg.Pool({ connectionString: stage.databaseUrl });
    await rotateSigningKeys(pool, new KeyEncryption(new SecretKeys(Buffer.from(SECRET_KEY))), {});
    // Not earlier: of two keys, the one with the later time signs.
    await pool.query('update oidc_keys set signs_from = now() where signs_until is null and algorithm is not null');
    await pool.end();
    const kidOf = (jwt: string) => JSON.parse(Buffer.from(jwt.split('.')[0], 'base64url').toString()).kid;
    let fresh = await tokensFor('api');
    await waitUntil('a new token is signed by the new key', 90_000, async () => {
      const fields = {
        grant_type: 'refresh_token',
        client_id: clientId,
        refresh_token: fresh.refresh_token,
        resource: `${service.url}/api`,
      };
      const { status, json, text } = await postForm(service.client(), '/oauth/token', fields);
      if (status !== 200) throw new Error(text);
      fresh = json as typeof fresh;
      return kidOf(fresh.access_token) !== kidOf(api);
    });
    const published = (await other.client().get('/oauth/jwks')).json.keys.map(({ kid }: { kid: string }) => kid);
    expect(published).toEqual(expect.arrayContaining([kidOf(api)]));
    await waitUntil(
      'the other instance accepts the new key',
      60_000,
      async () => (await get('/api/websites', fresh.access_token, other)).status === 200,
    );
    for (const at of [service, other]) expect((await get('/api/websites', api, at)).status).toBe(200);
  });

  test.each<[string, (payload: Record<string, unknown>) => Record<string, unknown>, { typ?: string; foreign?: boolean }]>([
    ['of another issuer', (payload) => ({ ...payload, iss: 'https://evil.example' }), {}],
    ['for another audience', (payload) => ({ ...payload, aud: 'https://evil.example/api' }), {}],
    ['without an audience', ({ aud: _, ...payload }) => payload, {}],
    ['that has expired', (payload) => ({ ...payload, exp: Math.floor(Date.now() / 1000) - 5 }), {}],
    ['without expiry', ({ exp: _, ...payload }) => payload, {}],
    ['of a grant that does not exist', (payload) => ({ ...payload, grant: Buffer.alloc(32, 1).toString('base64url') }), {}],
    ['that is bound to a key', (payload) => ({ ...payload, cnf: { jkt: 'x' } }), {}],
    ['that is an ID token', (payload) => payload, { typ: 'JWT' }],
    ['signed by another key', (payload) => payload, { foreign: true }],
  ])('%s is rejected', async (_, change, { typ = 'at+jwt', foreign = false }) => {
    const pool = new pg.Pool({ connectionString: stage.databaseUrl });
    const log = { warn: () => {}, info: () => {} };
    const [own] = await new ProviderKeys({ core: pool, secretKeys: new SecretKeys(Buffer.from(SECRET_KEY)), log }).signingKeys();
    await pool.end();
    const { privateKey } = await generateKeyPair('ES256', { extractable: true });
    const payload = JSON.parse(Buffer.from(api.split('.')[1], 'base64url').toString());
    const sign = (claims: Record<string, unknown>, key: object, header: string) =>
      new SignJWT(claims).setProtectedHeader({ alg: 'ES256', typ: header, kid: own.kid }).sign(key as never);
    expect((await get('/api/websites', await sign(payload, own, 'at+jwt'))).status).toBe(200);
    const forged = await sign(change(payload), foreign ? await exportJWK(privateKey) : own, typ);
    const { status, json } = await get('/api/websites', forged);
    expect([status, json.code]).toEqual([401, 'bad_access_token']);
  });

  test.each(['eyJhbGciOiJub25lIn0.e30.', 'eyJ', `eyJ${'a'.repeat(9000)}.a.a`, 'eyJhbGciOiJub25lIn0.e30.AA'])(
    'that is malformed (%#) is rejected and never taken for an anonymous call',
    async (token) => {
      const { status, json } = await get('/api/websites', token);
      expect([status, json.code]).toEqual([401, 'bad_access_token']);
      expect(json.error).not.toContain('DPoP');
      expect((await callTool('get_status', {}, as(token))).status).toBe(401);
    },
  );

  test('in the scheme DPoP is rejected, since proofs are not verified here', async () => {
    const { status, json } = await service.client().get('/api/websites', { Authorization: `DPoP ${api}` });
    expect([status, json]).toEqual([
      401,
      expect.objectContaining({ code: 'bad_access_token', hint: 'Request a bearer token for this resource.' }),
    ]);
  });
});

describe('scopes', () => {
  test('every call of an account has a scope, and no other call has one', () => {
    for (const [name, { access, scope }] of Object.entries<CallSpec>(calls)) {
      expect([name, scope !== undefined]).toEqual([name, access === 'account']);
    }
  });

  test('a call outside of the scopes of an access token or API key is refused, and names what is missing', async () => {
    const reading = (await tokensFor('api', 'websites:read')).access_token;
    const created = await developer.client.post('/api/api-keys', { name: 'Statistics', environment: 'live', scopes: ['stats:read'] });
    expect(created.json).toMatchObject({ scopes: ['stats:read'] });
    const granted = { [reading]: 'websites:read', [created.json.key]: 'stats:read' };
    for (const [credential, scope] of Object.entries(granted)) {
      for (const { method, path, ...endpoint } of Object.values<CallSpec>(calls)) {
        if (!endpoint.scope || method !== 'GET') continue;
        const response = await get(path.replace('{id}', randomUUID()).replace('{domain}', freshDomain()), credential);
        if (endpoint.scope === scope) {
          expect([path, response.json.code]).not.toEqual([path, 'insufficient_scope']);
          continue;
        }
        expect([path, response.status, response.json]).toEqual([
          path,
          403,
          expect.objectContaining({ code: 'insufficient_scope', scope: endpoint.scope, error: expect.stringContaining(endpoint.scope) }),
        ]);
        expect(challengeIn(response.headers['www-authenticate'])).toMatchObject({ error: 'insufficient_scope', scope: endpoint.scope });
      }
      const write = await service.client().post('/api/websites', { domain: freshDomain() }, as(credential));
      expect([write.status, write.json.scope]).toEqual([403, 'websites:write']);
    }
  });

  test('an API key keeps its scopes when it is rotated, has all without a choice, and never none', async () => {
    const create = (scopes: unknown) => developer.client.post('/api/api-keys', { name: 'Key', environment: 'live', scopes });
    const { id } = (await create(['websites:write', 'websites:read', 'websites:read'])).json;
    const rotated = (await developer.client.post(`/api/api-keys/${id}/rotate`, {})).json;
    expect(rotated.scopes).toEqual(['websites:read', 'websites:write']);
    expect((await create(undefined)).json.scopes).toBeNull();
    for (const scopes of [[], ['admin'], 'websites:read']) expect((await create(scopes)).status).toBe(400);
  });
});

describe('/mcp', () => {
  test('answers an anonymous call of a tool for accounts with 401 and where to sign in, and serves the other tools', async () => {
    const open = await callTool('get_status', {});
    expect([open.status, open.headers['www-authenticate']]).toEqual([200, undefined]);
    const refused = await callTool('list_sites', {});
    expect([refused.status, refused.json.result.isError]).toEqual([401, true]);
    expect(challengeIn(refused.headers['www-authenticate'])).toEqual({
      realm: 'emailauth',
      scope: 'websites:read stats:read',
      resource_metadata: `${service.url}${METADATA}/mcp`,
    });
  });

  test('answers a call that needs another scope with 403 and all scopes to request', async () => {
    const { access_token } = await tokensFor('mcp', 'websites:read');
    expect((await callTool('list_sites', {}, as(access_token))).status).toBe(200);
    const domain = await addWebsite(stage, service);
    const refused = await callTool('prove_domain', { domain }, as(access_token));
    expect([refused.status, refused.json.result.isError]).toEqual([403, true]);
    expect(challengeIn(refused.headers['www-authenticate'])).toMatchObject({
      error: 'insufficient_scope',
      error_description: expect.stringContaining('websites:write'),
      scope: 'websites:read websites:write',
    });
  });

  test('answers an API key without a scope in the text of the tool, since OAuth would not help it', async () => {
    const { key } = (await developer.client.post('/api/api-keys', { name: 'Key', environment: 'live', scopes: ['stats:read'] })).json;
    const { status, json } = await callTool('list_sites', {}, as(key));
    expect([status, json.result.isError, json.result.content[0].text]).toEqual([200, true, expect.stringContaining('websites:read')]);
  });
});
