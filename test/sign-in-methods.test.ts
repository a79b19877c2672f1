import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Client } from './client.ts';
import { openStage, type Service, type Stage } from './harness.ts';
import { addWebsite, freshAddress, openLink, requestEmail, tokenOf, visitorToken } from './sign-ins.ts';

let stage: Stage;
let service: Service;
let shop: string;
beforeAll(async () => {
  stage = await openStage();
  service = await stage.start();
  shop = await addWebsite(stage, service);
});
afterAll(() => stage.close());

const DAY_MS = 86_400_000;
const verify = async (token: string) => (await service.client().get(`/api/verify-token?token=${token}&domain=${shop}`)).json;
const keyIn = (client: Client) => decodeURIComponent(client.cookies.get('auth_key') ?? '');
const signInAgain = (client: Client, email: string, more: Record<string, unknown> = {}) =>
  client.post('/api/auth/validate-key', { email, key: keyIn(client), forward_url: `https://${shop}/`, ...more });

/** Makes the proof of the remembered accounts of an address older, as time does. */
const age = (email: string, days: number) =>
  stage.query(`update remembered_keys set expires_at = expires_at - interval '${days} days' where email = $1`, [email]);

/** Signs a visitor in by email, in a browser that remembers the account. */
async function remembered() {
  const [client, email] = [service.client(), freshAddress()];
  const token = await visitorToken(stage, client, shop, email);
  return { client, email, first: await verify(token) };
}

test('verify-token returns the method and when the address was proven, for a link and a code', async () => {
  const before = Date.now();
  const { first } = await remembered();
  expect(first.method).toBe('link');
  expect(Date.parse(first.at)).toBeGreaterThan(before - 1000);
  const [client, email] = [service.client(), freshAddress()];
  await requestEmail(client, email, `https://${shop}/`);
  const { code } = await stage.mailbox.waitFor(email);
  const entered = await client.post('/api/auth/email-code', { email, code });
  expect(await verify(tokenOf(entered.json.redirectUrl))).toMatchObject({ method: 'code', at: expect.stringMatching(/^\d{4}-.*Z$/) });
});

test('for a remembered account, `at` is the time of the last email, on every further sign-in', async () => {
  const { client, email, first } = await remembered();
  for (const days of [30, 10]) {
    await age(email, days);
    const again = await verify(tokenOf((await signInAgain(client, email)).json.redirectUrl));
    const elapsed = days === 30 ? 30 : 40;
    expect(again).toEqual({ ...first, method: 'remembered', at: new Date(Date.parse(first.at) - elapsed * DAY_MS).toISOString() });
  }
  await requestEmail(client, email, `https://${shop}/`);
  const byEmail = await verify(tokenOf(await openLink(client, await stage.mailbox.waitFor(email))));
  expect(Date.parse(byEmail.at)).toBeGreaterThan(Date.parse(first.at) - DAY_MS);
});

test('a session that a remembered account opens is not a new proof of its address', async () => {
  const { client, email, first } = await remembered();
  await age(email, 300);
  const portal = await signInAgain(client, email, { forward_url: undefined });
  expect((await client.post('/api/auth/token-login', { token: tokenOf(portal.json.redirectUrl) })).status).toBe(200);
  const again = await verify(tokenOf((await signInAgain(client, email)).json.redirectUrl));
  expect(again).toMatchObject({ method: 'remembered', at: new Date(Date.parse(first.at) - 300 * DAY_MS).toISOString() });
});

test('a token of the previous release, which stores no method, has the one that says least', async () => {
  const { client, email } = await remembered();
  const token = await visitorToken(stage, client, shop, freshAddress());
  await stage.query('update tokens set method = default where email <> $1 and used_at is null', [email]);
  expect(await verify(token)).toMatchObject({ valid: true, method: 'remembered' });
});
