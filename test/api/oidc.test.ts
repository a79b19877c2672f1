import { createHash } from 'node:crypto';
import { createLocalJWKSet, jwtVerify } from 'jose';
import { beforeAll, expect, test } from 'vitest';
import { useService } from '../support/harness.ts';
import { begin, continueByLink, exchangeCode, REDIRECT, signIn } from '../support/oidc-client.ts';
import { bootOf } from '../support/oidc-driver.ts';
import { type Developer, freshAddress, signInDeveloper } from '../support/sign-ins.ts';

const { stage, service } = await useService();
let developer: Developer;
let clientId: string;
beforeAll(async () => {
  developer = await signInDeveloper(stage, service);
  clientId = (await developer.client.post('/api/clients', { name: 'Notes', redirectUris: [REDIRECT] })).json.clientId;
});

test('publishes metadata of the issuer PUBLIC_URL, whatever the Host of the request is', async () => {
  const openid = await service
    .client()
    .get('/.well-known/openid-configuration', { Host: 'evil.example', 'X-Forwarded-Host': 'evil.example' });
  expect(openid.json).toMatchObject({
    issuer: service.url,
    authorization_endpoint: `${service.url}/oauth/authorize`,
    token_endpoint: `${service.url}/oauth/token`,
    jwks_uri: `${service.url}/oauth/jwks`,
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
  });
  expect(openid.text).not.toContain('evil');
  expect((await service.client().get('/.well-known/oauth-authorization-server')).json).toEqual(openid.json);
});

test('signs a visitor in to an application by link, with consent, and issues tokens', async () => {
  const client = service.client();
  const email = freshAddress();
  const begun = await begin(client, { clientId, scope: 'openid email' });
  expect(bootOf(begun.page)).toMatchObject({
    target: { kind: 'application', name: 'Notes', host: 'app.example' },
    authorization: { step: 'sign_in', email: null, chooseAccount: false },
  });
  const { code, iss } = await continueByLink(stage, client, begun, email);
  expect(iss).toBe(service.url);
  const tokens = (await exchangeCode(client, begun, code)).json;
  const jwks = createLocalJWKSet((await client.get('/oauth/jwks')).json);
  const { payload } = await jwtVerify(tokens.id_token, jwks, { issuer: service.url, audience: clientId });
  expect(payload).toMatchObject({ email, email_verified: true, nonce: begun.nonce, amr: ['otp'] });
  expect(payload.sub).not.toContain('@');
  const userinfo = await service.client().get('/oauth/userinfo', { Authorization: `Bearer ${tokens.access_token}` });
  expect(userinfo.json).toEqual({ sub: payload.sub, email, email_verified: true });
});

test('stores no id, secret or address of a session cookie in readable form', async () => {
  const client = service.client();
  const { code, tokens } = await signIn(stage, client, { clientId });
  const secrets = [code, tokens.access_token, client.cookies.get('oidc_session') ?? 'none'];
  const rows = await stage.query('select payload::text, encode(id, $1) as id from oidc_records', ['hex']);
  const stored = rows.map((row) => `${row.payload} ${row.id}`).join('\n');
  for (const secret of secrets) {
    expect(stored).not.toContain(secret);
    expect(stored).toContain(createHash('sha256').update(secret).digest('hex'));
  }
});

test('writes nothing of oidc-provider to the log', () => {
  expect(service.output()).not.toMatch(/oidc-provider|Unsupported runtime/);
});
