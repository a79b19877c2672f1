import { describe, expect, test } from 'vitest';
import { hintCookies } from '../../contract/remembered.ts';
import type { Client } from '../support/client.ts';
import { useProduction, useService } from '../support/harness.ts';
import { addWebsite, freshAddress, openLink, requestEmail, signInDeveloper, tokenOf } from '../support/sign-ins.ts';

const { stage, service } = await useService();
const { service: second } = await useProduction();
const shop = await addWebsite(stage, service);

const me = (client: Client) => client.get('/api/user/me');

/** Returns a client for the second instance that shares the cookies of `client`. */
function atSecond(client: Client): Client {
  const copy = second.client();
  copy.cookies = client.cookies;
  return copy;
}

async function portalToken(client: Client, email: string): Promise<string> {
  await requestEmail(client, email);
  return tokenOf(await openLink(client, await stage.mailbox.waitFor(email)));
}

describe('token login', () => {
  test('signs in without confirmation in the browser that requested the email, only once', async () => {
    const [client, email] = [service.client(), freshAddress()];
    const token = await portalToken(client, email);
    expect((await client.post('/api/auth/token-login', { token })).json).toEqual({ success: true, email });
    expect((await me(client)).json.email).toBe(email);
    expect((await service.client().post('/api/auth/token-login', { token, confirm: true })).status).toBe(401);
  });

  test('requires confirmation in another browser', async () => {
    const [client, other, email] = [service.client(), service.client(), freshAddress()];
    const token = await portalToken(client, email);
    const requested = await other.post('/api/auth/token-login', { token });
    expect([requested.status, requested.json.code]).toEqual([409, 'confirmation_needed']);
    expect((await me(other)).status).toBe(401);
    expect((await other.post('/api/auth/token-login', { token, confirm: true })).json).toEqual({ success: true, email });
    expect((await me(other)).json.email).toBe(email);
  });

  test('requires confirmation before it replaces a signed-in user', async () => {
    const { client, email } = await signInDeveloper(stage, service);
    const next = freshAddress();
    const token = await portalToken(client, next);
    expect((await client.post('/api/auth/token-login', { token })).status).toBe(409);
    expect((await me(client)).json.email).toBe(email);
    expect((await client.post('/api/auth/token-login', { token, confirm: true })).status).toBe(200);
    expect((await me(client)).json.email).toBe(next);
  });

  test('returns 401 for an unknown, used or expired token', async () => {
    const [client, email] = [service.client(), freshAddress()];
    const token = await portalToken(client, email);
    await stage.query("update tokens set expires_at = now() - interval '1 second' where email = $1", [email]);
    for (const tried of [token, 'A'.repeat(43), 'nothing']) {
      const response = await client.post('/api/auth/token-login', { token: tried, confirm: true });
      expect([response.status, response.json.code]).toEqual([401, 'bad_token']);
    }
  });
});

describe('logout', () => {
  test('ends the session and the key of the device at all instances', async () => {
    const { client, email, authKey } = await signInDeveloper(stage, service);
    const copy = atSecond(service.client());
    copy.cookies = new Map(client.cookies);
    expect((await me(copy)).json.email).toBe(email);
    expect((await client.post('/api/auth/logout')).json).toEqual({ success: true });
    expect((await me(copy)).status).toBe(401);
    expect((await copy.post('/api/auth/validate-key', { email, key: authKey })).status).toBe(401);
    expect(client.cookies.has('sid')).toBe(false);
  });

  test('succeeds without a session', async () => {
    expect((await service.client().post('/api/auth/logout')).json).toEqual({ success: true });
  });

  test('does not change other devices', async () => {
    const first = await signInDeveloper(stage, service);
    const other = await signInDeveloper(stage, service, first.email);
    await first.client.post('/api/auth/logout');
    expect((await me(other.client)).json.email).toBe(first.email);
  });
});

describe('a remembered account', () => {
  async function remembered(): Promise<{ client: Client; email: string; key: string }> {
    const [client, email] = [service.client(), freshAddress()];
    await requestEmail(client, email, `https://${shop}/`);
    await openLink(client, await stage.mailbox.waitFor(email));
    return { client, email, key: decodeURIComponent(client.cookies.get(hintCookies.key) ?? '') };
  }
  const quickLogin = (client: Client, email: string, key: string, forward_url: string | undefined = `https://${shop}/back`) =>
    client.post('/api/auth/validate-key', { email, key, forward_url });

  test('gets a token for the website at any instance', async () => {
    const { client, email, key } = await remembered();
    expect(decodeURIComponent(client.cookies.get(hintCookies.account) ?? '')).toBe(email);
    const response = await quickLogin(atSecond(client), email, key);
    expect(response.status).toBe(200);
    expect(response.json.redirectUrl.startsWith(`https://${shop}/back?token=`)).toBe(true);
    const result = await service.client().get(`/api/verify-token?token=${tokenOf(response.json.redirectUrl)}&domain=${shop}`);
    expect(result.json).toMatchObject({ email, valid: true, domain: shop, method: 'remembered' });
  });

  test('is rejected without the device cookie and for another address', async () => {
    const { client, email, key } = await remembered();
    const attacker = service.client();
    expect((await quickLogin(attacker, email, key)).status).toBe(401);
    for (const [name, value] of client.cookies) if (name !== 'device') attacker.cookies.set(name, value);
    expect((await quickLogin(attacker, email, key)).status).toBe(401);
    expect((await quickLogin(client, freshAddress(), key)).status).toBe(401);
    expect((await quickLogin(client, email, `${key.slice(0, -1)}${key.endsWith('A') ? 'B' : 'A'}`)).status).toBe(401);
    expect((await quickLogin(client, email, key)).status).toBe(200);
  });

  test('gets tokens for registered websites only', async () => {
    const { client, email, key } = await remembered();
    expect((await quickLogin(client, email, key, 'https://nobody-registered.example/')).status).toBeGreaterThanOrEqual(400);
    expect((await quickLogin(client, email, key, 'javascript:alert(1)')).status).toBe(400);
  });

  test('gets a new key after a day; the old key is valid for 60 s more, and its later use revokes both', async () => {
    const { client, email, key } = await remembered();
    expect((await quickLogin(client, email, key)).json.key).toBeUndefined();
    await stage.query("update remembered_keys set rotated_at = now() - interval '25 hours' where email = $1", [email]);
    const { key: next } = (await quickLogin(client, email, key)).json;
    expect(next).toMatch(/^[\w-]{22}\.[\w-]{43}$/);
    expect(next).not.toBe(key);
    expect((await quickLogin(client, email, key)).status).toBe(200);
    expect((await quickLogin(client, email, next)).status).toBe(200);
    await stage.query("update remembered_keys set rotated_at = now() - interval '61 seconds' where email = $1", [email]);
    expect((await quickLogin(client, email, key)).status).toBe(401);
    expect((await quickLogin(client, email, next)).status).toBe(401);
  });

  test('keeps its new key when a second tab sends the old one', async () => {
    const { client, email, key } = await remembered();
    const held = () => decodeURIComponent(client.cookies.get(hintCookies.key) ?? '');
    await stage.query("update remembered_keys set rotated_at = now() - interval '25 hours' where email = $1", [email]);
    const { key: next } = (await quickLogin(client, email, key)).json;
    expect(held()).toBe(next);
    expect((await quickLogin(client, email, key)).status).toBe(200);
    expect(held()).toBe(next);
    await stage.query("update remembered_keys set rotated_at = now() - interval '61 seconds' where email = $1", [email]);
    expect((await quickLogin(client, email, held())).status).toBe(200);
  });

  test.each([
    ['idle for 90 days', "used_at = now() - interval '90 days'"],
    ['400 days old', 'expires_at = now()'],
  ])('ends when %s', async (_when, change) => {
    const { client, email, key } = await remembered();
    await stage.query(`update remembered_keys set ${change} where email = $1`, [email]);
    expect((await quickLogin(client, email, key)).status).toBe(401);
  });
});

test.each([
  ['idle for 7 days', "seen_at = now() - interval '7 days'"],
  ['30 days old', 'expires_at = now()'],
])('a session ends when %s', async (_when, change) => {
  const { client, email } = await signInDeveloper(stage, service);
  await stage.query(`update sessions set ${change} where user_id = (select id from users where email = $1)`, [email]);
  expect((await me(client)).status).toBe(401);
});

test('the cookies that scripts can read do not sign anyone in', async () => {
  const { client } = await signInDeveloper(stage, service);
  const reader = service.client();
  for (const [name, value] of client.cookies) if (Object.values(hintCookies).includes(name as never)) reader.cookies.set(name, value);
  expect(reader.cookies.size).toBeGreaterThan(0);
  expect((await me(reader)).status).toBe(401);
  expect((await reader.get('/api/websites')).status).toBe(401);
});
