import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { useService } from '../../support/harness.ts';
import { type LogoServer, openLogoServer } from '../../support/logo-server.ts';
import { addWebsite, authorize, type Developer, freshAddress, freshDomain, signInDeveloper } from '../../support/sign-ins.ts';
import { callTool, failing, generations, type McpClient, succeeding } from './clients.ts';

const { stage, service, names } = await useService();
let logos: LogoServer;
let owner: Developer;
/** Clients with the session of the owner, with an API key, and without an account. */
let mine: McpClient;
let byKey: McpClient;
let nobodys: McpClient;
const keyOf = async (name: string): Promise<{ key: string; keyId: string; id: string }> =>
  (await owner.client.post('/api/api-keys', { name, environment: 'live' })).json;

beforeAll(async () => {
  logos = await openLogoServer(names);
  owner = await signInDeveloper(stage, service);
  const open = generations['client 2.x'];
  const { key } = await keyOf('Assistant');
  [mine, byKey, nobodys] = await Promise.all([
    open(service.url, owner.client.cookies.get('sid')),
    open(service.url, key),
    open(service.url),
  ]);
});
afterAll(async () => {
  await Promise.all([mine, byKey, nobodys].map((client) => client?.close()));
  await logos.close();
});

const REDIRECT = 'https://notes.example/callback';

describe('applications', () => {
  test('are created, listed, changed and shown with their sign-ins', async () => {
    const { response: created } = await succeeding(byKey, 'create_application', { name: 'Notes', redirectUris: [REDIRECT] });
    const { clientId } = created;
    expect((await succeeding(mine, 'list_applications')).response.applications).toContainEqual(created);
    const { response: renamed } = await succeeding(mine, 'update_application', { clientId, name: 'More' });
    expect(renamed).toEqual({ ...created, name: 'More' });
    const email = freshAddress();
    expect((await authorize(service.client(), email, { client_id: clientId, redirect_uri: REDIRECT })).response.status).toBe(200);
    const { response, text } = await succeeding(mine, 'get_application', { clientId });
    expect(response.log).toEqual([{ action: 'sign_in_requested', email, createdAt: expect.any(String) }]);
    expect(text).toContain(`sign_in_requested ${email}`);
    const off = await succeeding(mine, 'update_application', { clientId, isActive: false });
    expect([off.response.isActive, off.text]).toEqual([false, expect.stringContaining('switched off')]);
  });

  test('are deleted only with their name in confirmName', async () => {
    const { clientId } = (await succeeding(mine, 'create_application', { name: 'Gone', redirectUris: [REDIRECT] })).response;
    expect(await failing(mine, 'delete_application', { clientId, confirmName: 'gone?' })).toContain('nothing was deleted');
    await succeeding(mine, 'delete_application', { clientId, confirmName: 'Gone' });
    expect(await failing(mine, 'get_application', { clientId })).toContain('list_applications');
  });

  test('of another account are not found, and invalid redirect URIs are rejected', async () => {
    const other = await signInDeveloper(stage, service);
    const { clientId } = (await other.client.post('/api/clients', { name: 'Theirs', redirectUris: [REDIRECT] })).json;
    for (const tool of ['get_application', 'update_application', 'delete_application']) {
      const more = { update_application: { name: 'x' }, delete_application: { confirmName: 'Theirs' } }[tool];
      expect(await failing(mine, tool, { clientId, ...more })).toContain('is not one of your applications');
    }
    expect(await failing(mine, 'create_application', { name: 'x', redirectUris: ['http://evil.example/'] })).toContain('must be https');
    expect(await failing(mine, 'update_application', { clientId })).toContain('nothing to change');
  });
});

describe('API keys', () => {
  test('are listed without their secrets, and no tool creates one', async () => {
    const { key, keyId } = await keyOf('Listed');
    const { response, text } = await succeeding(mine, 'list_api_keys');
    expect(response.keys).toContainEqual(expect.objectContaining({ keyId, name: 'Listed', environment: 'live', isActive: true }));
    expect(`${JSON.stringify(response)}${text}`).not.toContain(key);
    expect(text).toContain('emailauth keys');
    const names = (await mine.listTools()).tools.map(({ name }) => name);
    expect(names.filter((name) => /key/.test(name))).toEqual(['list_api_keys', 'revoke_api_key']);
  });

  test('are revoked only with their name in confirmName', async () => {
    const { keyId } = await keyOf('Leaked');
    expect(await failing(mine, 'revoke_api_key', { keyId, confirmName: 'Other' })).toContain('nothing was revoked');
    await succeeding(mine, 'revoke_api_key', { keyId: keyId.replace('…', ''), confirmName: 'Leaked' });
    expect(await failing(mine, 'revoke_api_key', { keyId, confirmName: 'Leaked' })).toContain('not one of your active API keys');
  });
});

describe('devices', () => {
  test('are listed and signed out one at a time, with their label in confirmLabel', async () => {
    const before = (await succeeding(mine, 'list_devices')).response.devices.map(({ id }: { id: string }) => id);
    const browser = await signInDeveloper(stage, service, owner.email);
    const { devices } = (await succeeding(mine, 'list_devices')).response;
    const { id, label } = devices.find((device: { id: string }) => !before.includes(device.id));
    expect(await failing(mine, 'sign_out_device', { deviceId: id, confirmLabel: 'no' })).toContain('nothing was ended');
    await succeeding(mine, 'sign_out_device', { deviceId: id, confirmLabel: label });
    expect((await browser.client.get('/api/user/me')).status).toBe(401);
    expect(await failing(mine, 'sign_out_device', { deviceId: id, confirmLabel: label })).toContain('list_devices');
    expect((await owner.client.get('/api/user/me')).status).toBe(200);
  });
});

describe('the account', () => {
  test('is changed in what is given, and shown with its actions and a preview of the branding', async () => {
    await succeeding(mine, 'update_account', { name: 'Ada', logoUrl: logos.url('/logo.png') });
    const { response } = await succeeding(mine, 'update_account', { organization: 'Engines', fromName: 'Bread' });
    expect(response).toMatchObject({ email: owner.email, name: 'Ada', organization: 'Engines' });
    expect(response.branding).toMatchObject({ fromName: 'Bread', logoUrl: logos.url('/logo.png') });
    const preview = new URL(response.branding.previewUrl);
    expect((await owner.client.get(`${preview.pathname}${preview.search}`)).text).toContain('Bread');
    const { response: shown, text } = await succeeding(byKey, 'get_account');
    expect(shown).toMatchObject(response);
    expect(shown.activity.slice(0, 2).map(({ action }: { action: string }) => action)).toEqual([
      'organisation_changed',
      'branding_changed',
    ]);
    expect(text).toContain('organization Engines');
    expect((await succeeding(mine, 'update_account', { fromName: '' })).response.branding.fromName).toBe('');
  });

  test('is not changed by invalid or missing values', async () => {
    expect(await failing(mine, 'update_account', {})).toContain('nothing to change');
    expect(await failing(mine, 'update_account', { logoUrl: 'http://shop.example/x.png' })).toContain('https://');
    expect(await failing(mine, 'update_account', { fromName: 'a@b' })).toContain('A name without @');
  });
});

describe('prove_domain', () => {
  test('returns what to publish, for an own website and for one of another account', async () => {
    const domain = freshDomain();
    const { proof } = (await owner.client.post('/api/websites', { domain })).json;
    const { response, text } = await succeeding(byKey, 'prove_domain', { domain });
    expect(response).toMatchObject({ domain, verified: false, proof: { record: proof.record } });
    expect(text).toContain(response.proof.value);
    const foreign = await addWebsite(stage, service);
    expect((await succeeding(mine, 'prove_domain', { domain: foreign })).response).toMatchObject({ domain: foreign, verified: false });
  });

  test('returns a verified website as verified', async () => {
    const domain = freshDomain();
    await owner.client.post('/api/websites', { domain });
    await stage.query('update websites set proven_at = now() where domain = $1', [domain]);
    expect((await succeeding(mine, 'prove_domain', { domain })).response).toMatchObject({ domain, verified: true });
  });
});

test('the tools for a person explain that an API key is not enough, and ask an anonymous caller to sign in', async () => {
  for (const [name, input] of [
    ['list_api_keys', {}],
    ['revoke_api_key', { keyId: 'ea_live_x', confirmName: 'x' }],
    ['list_devices', {}],
    ['sign_out_device', { deviceId: 'x', confirmLabel: 'x' }],
    ['update_account', { name: 'x' }],
  ] as const) {
    expect(await failing(byKey, name, input)).toContain('An API key may not do this.');
    await expect(callTool(nobodys, name, input)).rejects.toThrow(/Authorization: Bearer|Unauthorized/);
  }
});
