import { createHash } from 'node:crypto';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasOpenssl, openAuthority } from '../support/certificates.ts';
import type { Client, HttpResponse } from '../support/client.ts';
import { freshNetworkAddress, useProduction, useService } from '../support/harness.ts';
import { answerOf, begin, continueByLink, exchangeCode, postForm, REDIRECT, signIn } from '../support/oidc-client.ts';
import { bootOf } from '../support/oidc-driver.ts';
import { addWebsite, type Developer, freshAddress, signInDeveloper } from '../support/sign-ins.ts';
import { waitUntil } from '../support/waiting.ts';

const { stage, service } = await useService();
/** Another instance with the same database, whose limits a test reaches. */
const { service: other } = await useProduction();
let owner: Developer;
beforeAll(async () => {
  owner = await signInDeveloper(stage, service);
});

const basic = (id: string, secret: string) => ({ Authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}` });

async function addApplication(input: object = {}) {
  const application = { name: 'Notes', redirectUris: [REDIRECT], ...input };
  const response = await owner.client.post('/api/clients', application);
  if (response.status !== 200) throw new Error(`Adding an application returned ${response.status}: ${response.text}`);
  return response.json as { id: string; clientId: string; clientSecret: string };
}

/** Sends a token request that only succeeds or fails by the authentication of the client. */
const authenticate = (client: Client, fields: Record<string, string>, headers: Record<string, string> = {}): Promise<HttpResponse> =>
  postForm(client, '/oauth/introspect', { token: 'none', ...fields }, headers);

const isAccepted = ({ status, json }: HttpResponse) => status === 200 && json.active === false;
/** Returns the step of the page of an authorization request, or its error. */
const stepOf = (page: HttpResponse) => bootOf(page).authorization?.error ?? bootOf(page).authorization?.step;

describe('a confidential application', () => {
  test('authenticates with its secret in the header or in the body, and with no other', async () => {
    const { clientId, clientSecret } = await addApplication({ authentication: 'secret' });
    const client = service.client();
    expect(isAccepted(await authenticate(client, {}, basic(clientId, clientSecret)))).toBe(true);
    expect(isAccepted(await authenticate(client, { client_id: clientId, client_secret: clientSecret }))).toBe(true);
    const hash = createHash('sha256').update(clientSecret).digest('hex');
    for (const wrong of [`${clientSecret}x`, hash, ' ', `${hash} ${hash}`]) {
      const response = await authenticate(client, { client_id: clientId, client_secret: wrong });
      expect([response.status, response.json.error]).toEqual([401, 'invalid_client']);
    }
    expect((await authenticate(client, { client_id: clientId })).json.error).toBe('invalid_client');
  });

  test('exchanges a code only with its secret', async () => {
    const { clientId, clientSecret } = await addApplication({ authentication: 'secret' });
    const client = service.client();
    const begun = await begin(client, { clientId });
    const { code } = await continueByLink(stage, client, begun, freshAddress());
    expect((await exchangeCode(client, begun, code)).json.error).toBe('invalid_client');
    expect((await exchangeCode(client, begun, code, { client_secret: `${clientSecret}x` })).json.error).toBe('invalid_client');
    expect((await exchangeCode(client, begun, code, { client_secret: clientSecret })).status).toBe(200);
    const again = await begin(client, { clientId });
    expect(again.page.headers.location ?? JSON.stringify(bootOf(again.page).authorization)).toContain('code=');
  });

  test('may sign people in without PKCE only when its owner permits that', async () => {
    const parameters = { code_challenge: '', code_challenge_method: '' };
    const client = service.client();
    const strict = await addApplication({ authentication: 'secret' });
    const refused = await begin(client, { clientId: strict.clientId, parameters });
    expect(answerOf(refused.response)).toMatchObject({ error: 'invalid_request', code: '' });

    const { clientId, clientSecret } = await addApplication({ authentication: 'secret', pkceRequired: false });
    const begun = await begin(client, { clientId, parameters });
    const { code } = await continueByLink(stage, client, begun, freshAddress());
    // A client that sends a verifier had sent a challenge, which someone has removed from its request (RFC 9700 §4.8.2).
    expect((await exchangeCode(client, begun, code, { client_secret: clientSecret })).json.error).toBe('invalid_grant');
    const again = await begin(client, { clientId, parameters });
    const exchanged = await exchangeCode(client, again, answerOf(again.page).code, { client_secret: clientSecret, code_verifier: '' });
    expect(exchanged.status).toBe(200);

    const forPublic = { name: 'Notes', redirectUris: [REDIRECT], pkceRequired: false };
    expect((await owner.client.post('/api/clients', forPublic)).json).toMatchObject({ code: 'bad_request', field: 'pkceRequired' });
  });

  test('may use the former secret after a rotation, on every instance, until it is ended', async () => {
    const { id, clientId, clientSecret: former } = await addApplication({ authentication: 'secret' });
    const rotate = async (graceHours: number) => (await owner.client.post(`/api/clients/${id}/secret`, { graceHours })).json.clientSecret;
    const present = await rotate(24);
    for (const instance of [service, other])
      for (const secret of [former, present])
        expect(isAccepted(await authenticate(instance.client(), {}, basic(clientId, secret)))).toBe(true);
    await stage.query("update applications set previous_secret_until = now() - interval '1 second' where id = $1", [id]);
    expect((await authenticate(other.client(), {}, basic(clientId, former))).status).toBe(401);
    const last = await rotate(0);
    expect((await authenticate(other.client(), {}, basic(clientId, present))).status).toBe(401);
    expect(isAccepted(await authenticate(other.client(), {}, basic(clientId, last)))).toBe(true);
  });

  test('is never refused with its former secret while it is rotated', async () => {
    const { id, clientId, clientSecret } = await addApplication({ authentication: 'secret' });
    const rotation = owner.client.post(`/api/clients/${id}/secret`, {});
    const requests = Array.from({ length: 20 }, (_, i) =>
      authenticate((i % 2 ? other : service).client(), {}, basic(clientId, clientSecret)),
    );
    expect((await Promise.all(requests)).every(isAccepted)).toBe(true);
    expect((await rotation).status).toBe(200);
  });

  test('signs client assertions with a registered key, and with no other', async () => {
    const [own, foreign] = [await generateKeyPair('ES256'), await generateKeyPair('ES256')];
    const jwk: JWK = { ...(await exportJWK(own.publicKey)), kid: 'one', alg: 'ES256', use: 'sig' };
    const { clientId } = await addApplication({ authentication: 'private_key_jwt', jwks: { keys: [jwk] } });
    const assertion = (key: typeof own.privateKey) =>
      new SignJWT({ jti: crypto.randomUUID() })
        .setProtectedHeader({ alg: 'ES256', kid: 'one' })
        .setIssuer(clientId)
        .setSubject(clientId)
        .setAudience(service.url)
        .setIssuedAt()
        .setExpirationTime('1m')
        .sign(key);
    const send = async (key: typeof own.privateKey) =>
      authenticate(service.client(), {
        client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
        client_assertion: await assertion(key),
      });
    expect(isAccepted(await send(own.privateKey))).toBe(true);
    expect((await send(foreign.privateKey)).json.error).toBe('invalid_client');
  });
});

describe('an application', () => {
  test('stops at once on every instance when it is switched off or deleted', async () => {
    for (const stop of ['off', 'delete']) {
      const { id, clientId, clientSecret } = await addApplication({ authentication: 'secret' });
      expect(isAccepted(await authenticate(other.client(), {}, basic(clientId, clientSecret)))).toBe(true);
      if (stop === 'delete') await owner.client.delete(`/api/clients/${id}`);
      else await owner.client.put(`/api/clients/${id}`, { name: 'Notes', redirectUris: [REDIRECT], isActive: false });
      expect((await authenticate(other.client(), {}, basic(clientId, clientSecret))).json.error).toBe('invalid_client');
      const { page } = await begin(other.client(), { clientId });
      expect([page.status, stepOf(page)]).toEqual([400, 'invalid_client']);
    }
  });

  test('may redirect to any port of its loopback URIs and to its own scheme, and nowhere else', async () => {
    const redirectUris = ['http://127.0.0.1/callback', 'com.example.app:/callback', REDIRECT];
    const { clientId } = await addApplication({ redirectUris });
    for (const redirectUri of ['http://127.0.0.1:49152/callback', 'com.example.app:/callback', REDIRECT])
      expect(stepOf((await begin(service.client(), { clientId, redirectUri })).page)).toBe('sign_in');
    for (const redirectUri of [
      'http://127.0.0.1:49152/other',
      'http://localhost:49152/callback',
      `${REDIRECT}/`,
      `${REDIRECT}?x`,
      'com.example.app:/x',
    ])
      expect(stepOf((await begin(service.client(), { clientId, redirectUri })).page)).toBe('invalid_redirect_uri');
  });

  test('shows its owner why a request was rejected and what to change', async () => {
    const { id, clientId } = await addApplication({ authentication: 'secret' });
    await begin(service.client(), { clientId, redirectUri: `${REDIRECT}/` });
    await authenticate(service.client(), {}, basic(clientId, 'wrong'));
    const refusals = async () => (await owner.client.get(`/api/clients/${id}/refusals`)).json as { error: string; remedy: string }[];
    await waitUntil('both requests are recorded', 30_000, async () => (await refusals()).length === 2);
    expect((await refusals()).map(({ error, remedy }) => [error, remedy]).sort()).toEqual([
      ['invalid_client', expect.stringContaining('newest client secret')],
      ['invalid_redirect_uri', expect.stringContaining('registered redirect URIs')],
    ]);
  });

  test('may request only the scopes that its owner allows', async () => {
    const { clientId } = await addApplication({ scopes: ['openid', 'email', 'websites:read'] });
    const denied = await begin(service.client(), { clientId, scope: 'openid profile' });
    expect(new URL(denied.page.headers.location ?? '').searchParams.get('error')).toBe('invalid_scope');
    const parameters = { resource: `${service.url}/api` };
    const { tokens } = await signIn(stage, service.client(), { clientId, scope: 'openid websites:read stats:read', parameters });
    expect(tokens.scope?.split(' ') ?? []).not.toContain('stats:read');
  });
});

describe('a registered website', () => {
  test('is a public client at once, with every redirect URI on its host, without a question', async () => {
    const domain = await addWebsite(stage, service);
    const clientId = `https://shop.${domain}`;
    const redirectUri = `${clientId}/deep/callback?from=here`;
    const { tokens, begun } = await signIn(stage, service.client(), { clientId, redirectUri });
    expect(bootOf(begun.page).target).toMatchObject({ kind: 'application', host: `shop.${domain}` });
    expect(tokens.id_token).toBeTruthy();
    await stage.query('delete from websites where domain = $1', [domain]);
    expect(stepOf((await begin(other.client(), { clientId, redirectUri })).page)).toBe('invalid_client');
  });

  test('may not redirect to another host, scheme, port or a disguised address', async () => {
    const domain = await addWebsite(stage, service);
    const clientId = `https://${domain}`;
    for (const redirectUri of [
      `https://evil.${domain}/`,
      `http://${domain}/`,
      `https://${domain}:8443/`,
      `https://${domain}.evil.example/`,
      `https://${domain}@evil.example/`,
      `https://${domain}\\@evil.example/`,
      `https://${domain}/#x`,
      `com.example.app:/callback`,
    ])
      expect(stepOf((await begin(service.client(), { clientId, redirectUri })).page)).toBe('invalid_redirect_uri');
  });

  test('on this machine is a client in local mode', async () => {
    const clientId = 'http://localhost:5173';
    expect(stepOf((await begin(service.client(), { clientId, redirectUri: `${clientId}/auth/callback` })).page)).toBe('sign_in');
    expect(stepOf((await begin(service.client(), { clientId, redirectUri: 'http://localhost:5174/' })).page)).toBe('invalid_redirect_uri');
  });

  test('has to be registered under exactly its origin', async () => {
    const domain = await addWebsite(stage, service);
    for (const clientId of [
      `https://not-${domain}`,
      `http://${domain}`,
      `https://${domain}:444`,
      `https://${domain}/`,
      `https://${domain}.`,
    ])
      expect(stepOf((await begin(service.client(), { clientId, redirectUri: `https://${domain}/` })).page)).toBe('invalid_client');
  });
});

const register = (client: Client, metadata: object): Promise<HttpResponse> => client.post('/oauth/register', metadata);

describe('dynamic registration', () => {
  const loopback = 'http://127.0.0.1/callback';

  test('registers a public client that signs a person in with any port of the loopback', async () => {
    const registered = await register(service.client(), {
      client_name: `An ‮assistant ${'x'.repeat(100)}`,
      redirect_uris: [loopback],
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      scope: 'openid email unknown:scope',
    });
    expect([registered.status, registered.json]).toEqual([
      201,
      expect.objectContaining({ scope: 'openid email', redirect_uris: [loopback] }),
    ]);
    const { client_id: clientId, client_name: name } = registered.json;
    expect(clientId).toMatch(/^dcr_[\w-]{22}$/);
    expect([name.length <= 60, /\p{Cf}/u.test(name), registered.json.registration_access_token]).toEqual([true, false, undefined]);
    const { tokens } = await signIn(stage, service.client(), { clientId, redirectUri: 'http://127.0.0.1:50000/callback' });
    expect(tokens.access_token).toBeTruthy();
  });

  test('stores only the hash of a client secret', async () => {
    const { json } = await register(service.client(), { redirect_uris: ['https://assistant.example/callback'], client_name: 'Assistant' });
    expect(json.client_secret).toMatch(/^[\w-]{20,}$/);
    expect(isAccepted(await authenticate(other.client(), {}, basic(json.client_id, json.client_secret)))).toBe(true);
    const stored = JSON.stringify(await stage.query('select * from oidc_records where client_id = $1', [json.client_id]));
    expect(stored).toContain('client_secret');
    expect(stored).not.toContain(json.client_secret);
    const hash = createHash('sha256').update(json.client_secret).digest('hex');
    expect((await authenticate(other.client(), {}, basic(json.client_id, hash))).status).toBe(401);
  });

  test.each([
    ['javascript:alert(1)'],
    ['data:text/html,x'],
    ['mailto:ann@example.com'],
    ['http://assistant.example/callback'],
    ['https://user@assistant.example/callback'],
    ['https://10.0.0.1/callback'],
    ['https://assistant.example/callback#x'],
    [`https://assistant.example/${'x'.repeat(1100)}`],
  ])('rejects the redirect URI %s', async (uri) => {
    const response = await register(service.client(), { redirect_uris: [uri], token_endpoint_auth_method: 'none' });
    expect([response.status, response.json.error]).toEqual([400, 'invalid_redirect_uri']);
  });

  test('accepts a scheme of the program, as assistants register them', async () => {
    const redirectUri = 'cursor://anysphere.cursor-mcp/oauth/callback';
    const { json } = await register(service.client(), { redirect_uris: [redirectUri], token_endpoint_auth_method: 'none' });
    expect(stepOf((await begin(service.client(), { clientId: json.client_id, redirectUri })).page)).toBe('sign_in');
  });

  test('keeps a client while a person is connected, and forgets it 30 days after that', async () => {
    const { json } = await register(service.client(), { redirect_uris: [loopback], token_endpoint_auth_method: 'none' });
    const clientId: string = json.client_id;
    const daysLeft = async () => {
      const [row] = await stage.query(
        "select round(extract(epoch from expires_at - now()) / 86400)::int as days from oidc_records where kind = 'Client' and client_id = $1",
        [clientId],
      );
      return row.days;
    };
    const age = (days: number) =>
      stage.query("update oidc_records set expires_at = expires_at - make_interval(days => $2) where kind = 'Client' and client_id = $1", [
        clientId,
        days,
      ]);
    expect(await daysLeft()).toBe(30);
    await age(10);
    expect(stepOf((await begin(service.client(), { clientId, redirectUri: loopback })).page)).toBe('sign_in');
    expect(await daysLeft()).toBe(20);
    await signIn(stage, service.client(), { clientId, redirectUri: loopback });
    await begin(service.client(), { clientId, redirectUri: loopback });
    expect(await daysLeft()).toBe(30);
    await age(31);
    expect(stepOf((await begin(service.client(), { clientId, redirectUri: loopback })).page)).toBe('invalid_client');
  });

  test('is limited for each network', async () => {
    const network = freshNetworkAddress();
    const send = (address: string) => register(other.client(address), { redirect_uris: [loopback], token_endpoint_auth_method: 'none' });
    for (let i = 0; i < 20; i++) expect((await send(network)).status).toBe(201);
    const refused = await send(network);
    expect([refused.status, refused.json.error, Number(refused.headers['retry-after']) > 0]).toEqual([
      429,
      'temporarily_unavailable',
      true,
    ]);
    expect((await send(freshNetworkAddress())).status).toBe(201);
  });
});

describe.skipIf(!hasOpenssl)('a client ID metadata document', () => {
  /** What the website of the client responds with, and how often it was asked. */
  let respond: (path: string) => { status?: number; headers?: Record<string, string>; body: string };
  let requests = 0;
  let origin: string;
  let close: () => Promise<void>;
  beforeAll(async () => {
    const authority = await openAuthority();
    const server = createHttpsServer(await authority.issue('localhost', 1), (request, response) => {
      requests++;
      const { status = 200, headers = {}, body } = respond(request.url ?? '/');
      response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(body);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    origin = `https://localhost:${(server.address() as AddressInfo).port}`;
    close = async () => {
      server.closeAllConnections();
      server.close();
      await authority.close();
    };
  });
  afterAll(() => close?.());

  const redirectUri = 'http://127.0.0.1:49000/callback';
  const documentOf = (clientId: string, changes: object = {}) =>
    JSON.stringify({
      client_id: clientId,
      client_name: 'Assistant',
      redirect_uris: ['http://127.0.0.1/callback'],
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code', 'refresh_token'],
      ...changes,
    });

  test('signs a person in, and is fetched once while it is fresh', async () => {
    const clientId = `${origin}/client.json`;
    respond = () => ({ body: documentOf(clientId), headers: { 'Cache-Control': 'max-age=600' } });
    const before = requests;
    const { begun, tokens } = await signIn(stage, service.client(), { clientId, redirectUri });
    expect(bootOf(begun.page).target).toMatchObject({ name: 'Assistant', host: '127.0.0.1' });
    expect(tokens.access_token).toBeTruthy();
    await begin(service.client(), { clientId, redirectUri });
    expect(requests - before).toBe(1);
  });

  test('is published in the metadata of the service', async () => {
    const { json } = await service.client().get('/.well-known/oauth-authorization-server');
    expect(json).toMatchObject({
      client_id_metadata_document_supported: true,
      registration_endpoint: `${service.url}/oauth/register`,
      token_endpoint_auth_methods_supported: expect.arrayContaining([
        'none',
        'client_secret_basic',
        'client_secret_post',
        'private_key_jwt',
      ]),
    });
  });

  test.each<[string, (clientId: string) => ReturnType<typeof respond>]>([
    ['of another client_id', () => ({ body: documentOf('https://localhost/other.json') })],
    ['with a secret', (clientId) => ({ body: documentOf(clientId, { token_endpoint_auth_method: 'client_secret_post' }) })],
    ['with a bad redirect URI', (clientId) => ({ body: documentOf(clientId, { redirect_uris: ['http://evil.example/'] }) })],
    ['that is too large', (clientId) => ({ body: documentOf(clientId, { client_name: 'x'.repeat(6000) }) })],
    ['behind a redirect', () => ({ status: 302, headers: { Location: '/elsewhere.json' }, body: '' })],
    ['that is not JSON', () => ({ body: '<html>' })],
    ['that is missing', () => ({ status: 404, body: '{}' })],
  ])('%s is rejected', async (name, response) => {
    const clientId = `${origin}/${encodeURIComponent(name)}.json`;
    respond = () => response(clientId);
    const { page } = await begin(service.client(), { clientId, redirectUri });
    expect([page.status, ['invalid_client', 'invalid_client_metadata', 'invalid_redirect_uri']]).toEqual([
      400,
      expect.arrayContaining([stepOf(page)]),
    ]);
  });

  test('is never fetched from a private address in production', async () => {
    const before = requests;
    respond = () => ({ body: '{}' });
    for (const clientId of [
      `${origin}/client.json`,
      origin.replace('localhost', '127.0.0.1').concat('/c.json'),
      'https://[::1]/c.json',
      'https://169.254.169.254/latest',
    ]) {
      const { page } = await begin(other.client(), { clientId, redirectUri });
      expect([page.status, stepOf(page)]).toEqual([400, 'invalid_client']);
    }
    expect(requests).toBe(before);
  });
});
