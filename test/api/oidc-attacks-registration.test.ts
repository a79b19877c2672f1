import { describe, expect, test } from 'vitest';
import { freshNetworkAddress, useProduction, useService } from '../support/harness.ts';
import { expectOauthError, postForm } from '../support/oidc-driver.ts';

const REDIRECT = 'https://program.example/callback';

const { service: local } = await useService();
/** Its limits are those that a test reaches. */
const { service: limited } = await useProduction();

describe('dynamic registration', () => {
  test('is limited per network', async () => {
    const network = freshNetworkAddress();
    const register = () =>
      limited.client(network).post('/oauth/register', { redirect_uris: [REDIRECT], token_endpoint_auth_method: 'none' });
    const statuses: number[] = [];
    for (let n = 0; n < 100 && !statuses.includes(429); n++) statuses.push((await register()).status);
    expect(statuses).toContain(429);
    const refused = await register();
    expect([refused.status, Number(refused.headers['retry-after']) > 0]).toEqual([429, true]);
  });

  test.each([
    ['a script', { redirect_uris: ['javascript:alert(1)'] }],
    ['data', { redirect_uris: ['data:text/html,x'] }],
    ['a fragment', { redirect_uris: [`${REDIRECT}#x`] }],
    ['http to another machine', { redirect_uris: ['http://program.example/callback'] }],
    ['user info', { redirect_uris: ['https://user@program.example/'] }],
    ['a wildcard', { redirect_uris: ['https://*.program.example/'] }],
    ['no redirect URI', { redirect_uris: [] }],
    ['a text instead of a list', { redirect_uris: REDIRECT }],
    ['the implicit flow', { redirect_uris: [REDIRECT], response_types: ['token'], grant_types: ['implicit'] }],
    ['client credentials', { redirect_uris: [REDIRECT], grant_types: ['client_credentials'] }],
    ['an unsigned ID token', { redirect_uris: [REDIRECT], id_token_signed_response_alg: 'none' }],
  ])('of %s as metadata is refused', async (_, changes) => {
    const { status, json } = await local.client().post('/oauth/register', { token_endpoint_auth_method: 'none', ...changes });
    expect([status, json.error]).toEqual([400, expect.stringMatching(/^invalid_(client_metadata|redirect_uri)$/)]);
  });

  test('neither chooses its client_id nor reads or changes other clients', async () => {
    const chosen = await local
      .client()
      .post('/oauth/register', { client_id: 'app_chosen', client_secret: 'chosen', redirect_uris: [REDIRECT] });
    expect(JSON.stringify(chosen.json)).not.toContain('chosen');
    const { client_id: id } = (
      await local.client().post('/oauth/register', { redirect_uris: [REDIRECT], token_endpoint_auth_method: 'none' })
    ).json;
    expect(id).toEqual(expect.any(String));
    for (const method of ['GET', 'PUT', 'DELETE'])
      expect((await local.client().send(`/oauth/register/${id}`, { method })).status).toBeGreaterThanOrEqual(400);
    const response = await postForm(
      local.client(),
      '/oauth/token',
      { clientId: id, redirectUri: REDIRECT },
      { grant_type: 'client_credentials' },
    );
    expect(response.status).toBe(400);
    expectOauthError(response, response.json.error);
  });
});
