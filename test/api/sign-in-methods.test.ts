import { beforeAll, describe, expect, test } from 'vitest';
import type { SignInBoot } from '../../contract/pages.ts';
import type { Client, HttpResponse } from '../support/client.ts';
import { useService } from '../support/harness.ts';
import type { ReceivedMail } from '../support/mailbox.ts';
import { addWebsite, confirmLink, freshAddress, openLink, requestEmail, tokenOf, visitorToken } from '../support/sign-ins.ts';

const { stage, service } = await useService();
let shop: string;
beforeAll(async () => {
  shop = await addWebsite(stage, service);
});

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

const bootOf = ({ text }: HttpResponse): SignInBoot => JSON.parse(/id="boot">(.*?)<\/script>/s.exec(text)?.[1] ?? '{}');
const page = (more: Record<string, string>) => `/auth?${new URLSearchParams({ forward_url: `https://${shop}/`, ...more })}`;

describe('max_age', () => {
  test('refuses a remembered account that was proven before, which stays remembered', async () => {
    const { client, email } = await remembered();
    await age(email, 2);
    for (const max_age of [0, 3600, '3600', 2 * 86_400]) {
      const refused = await signInAgain(client, email, { max_age });
      expect([max_age, refused.status, refused.json.code]).toEqual([max_age, 403, 'sign_in_too_old']);
    }
    expect((await signInAgain(client, 'eve@mail.example', { max_age: 60 })).json.code).toBe('bad_key');
    const accepted = await signInAgain(client, email, { max_age: 3 * 86_400 });
    expect(await verify(tokenOf(accepted.json.redirectUrl))).toMatchObject({ valid: true, email, method: 'remembered' });
  });

  test('accepts it after a new email', async () => {
    const { client, email } = await remembered();
    await age(email, 2);
    expect((await signInAgain(client, email, { max_age: 3600 })).status).toBe(403);
    await client.post('/api/auth/domain-auth', { email, forward_url: `https://${shop}/`, max_age: 3600 });
    expect(await verify(tokenOf(await openLink(client, await stage.mailbox.waitFor(email))))).toMatchObject({ method: 'link' });
    expect((await signInAgain(client, email, { max_age: 3600 })).status).toBe(200);
  });

  test('the page offers only the accounts that sign in with a click, and a form fills in the others', async () => {
    const { client, email } = await remembered();
    expect(bootOf(await client.get(page({}))).steps?.oneClick).toBeUndefined();
    expect(bootOf(await client.get(page({ max_age: '3600' }))).steps?.oneClick).toEqual([email]);
    await age(email, 1);
    expect(bootOf(await client.get(page({ max_age: '3600' }))).steps?.oneClick).toEqual([]);
    const filledIn = await client.form(page({ max_age: '3600', language: 'lv' }).replace('/auth', '/auth/account'), { email });
    expect(filledIn.status).toBe(200);
    expect(bootOf(filledIn)).toMatchObject({ language: 'lv', steps: { step: 'address', email, oneClick: [] } });
    expect(bootOf(filledIn).search).toContain('max_age=3600');
  });
});

describe('max_age and require', () => {
  const both = { max_age: '60', require: 'passkey' };

  test('are kept by the steps, their forms and an ended link', async () => {
    const [client, email] = [service.client(), freshAddress()];
    expect(bootOf(await client.get(page(both))).steps?.query).toContain('max_age=60&require=passkey');
    const sent = await client.form(page(both), { email });
    expect([sent.status, sent.headers.location]).toEqual([303, expect.stringContaining('max_age=60&require=passkey')]);
    expect(bootOf(await client.get(String(sent.headers.location))).steps).toMatchObject({ step: 'code', passkeyOnly: true });
    const forgotten = await client.form(page(both).replace('/auth', '/auth/forget'), { email });
    expect(forgotten.headers.location).toContain('max_age=60&require=passkey');
    const mail = await stage.mailbox.waitFor(email);
    await stage.query('update sign_in_attempts set expires_at = now() where email = $1', [email]);
    const { link } = bootOf(await client.get(mail.link));
    expect(link).toMatchObject({ state: 'expired', again: expect.stringContaining('max_age=60&require=passkey') });
    expect(bootOf(await client.get((link as { again: string }).again)).steps).toMatchObject({ passkeyOnly: true });
  });

  test('are kept for a browser whose request for an email was refused', async () => {
    const [client, email] = [service.client(), freshAddress()];
    const begun = service.client();
    await requestEmail(begun, email, `https://${shop}/`);
    const mail = await stage.mailbox.waitFor(email);
    await stage.query(
      `insert into rate_limits select kind || ' ' || $1, 100000, now() + interval '1 hour' from unnest(array['mailbox', 'reserve']) kind
       on conflict (key) do update set hits = excluded.hits`,
      [email],
    );
    expect((await client.form(page(both), { email })).status).toBe(429);
    expect(bootOf(await client.get(mail.link)).confirmBrowser?.back).toContain('max_age=60&require=passkey');
  });

  test.each([
    ['max_age', { max_age: '-1' }],
    ['max_age', { max_age: '1.5' }],
    ['max_age', { max_age: '' }],
    ['max_age', { max_age: '34560001' }],
    ['max_age', { max_age: 'a day' }],
    ['require', { require: 'password' }],
    ['require', { require: '' }],
  ])('an unusable %s is an error of the page, of its forms and of the API: %j', async (name, more) => {
    const [client, email] = [service.client(), freshAddress()];
    const expected = { target: { kind: 'unsupported', reason: name, back: `https://${shop}` } };
    const shown = await client.get(page(more));
    expect(bootOf(shown)).toMatchObject(expected);
    expect(shown.text).toContain(`a wrong value of ${name}`);
    const posted = await client.form(page(more), { email });
    expect([posted.status, bootOf(posted)]).toEqual([400, expect.objectContaining({ target: expect.objectContaining(expected.target) })]);
    for (const call of ['domain-auth', 'validate-key']) {
      const refused = await client.post(`/api/auth/${call}`, { email, key: 'x', forward_url: `https://${shop}/`, ...more });
      expect([refused.status, refused.json.code, refused.json.field]).toEqual([400, 'bad_request', name]);
    }
    expect(await stage.query('select 1 from sign_in_attempts where email = $1', [email])).toEqual([]);
  });

  test('given twice are errors too', async () => {
    const twice = await service.client().get(`${page({ max_age: '1' })}&max_age=2`);
    expect(bootOf(twice).target).toMatchObject({ kind: 'unsupported', reason: 'max_age' });
  });
});

test('an email opens the portal, whatever its request requires', async () => {
  const [client, email] = [service.client(), freshAddress()];
  expect((await client.post('/api/auth/domain-auth', { email, require: 'passkey' })).status).toBe(200);
  const portal = await openLink(client, await stage.mailbox.waitFor(email));
  expect((await client.post('/api/auth/token-login', { token: tokenOf(portal) })).status).toBe(200);
});

test('require=passkey refuses a remembered account, and an email issues no token', async () => {
  const { client, email } = await remembered();
  const refused = await signInAgain(client, email, { require: 'passkey' });
  expect([refused.status, refused.json.code]).toEqual([403, 'passkey_required']);
  const tokens = async () => (await stage.query('select 1 from tokens where email = $1', [email])).length;
  const before = await tokens();
  const codeForm = page({ require: 'passkey' }).replace('/auth', '/auth/code');
  const ways: Record<string, (browser: Client, mail: ReceivedMail) => Promise<SignInBoot['addPasskey']>> = {
    link: async (browser, { link }) => bootOf(await browser.get(link)).addPasskey,
    code: async (browser, { code }) => (await browser.post('/api/auth/email-code', { email, code })).json.addPasskey,
    form: async (browser, { code }) => bootOf(await browser.form(codeForm, { email, code })).addPasskey,
    'another browser': async (browser, mail) => (await confirmLink(browser, mail, email)).json.addPasskey,
  };
  for (const [way, open] of Object.entries(ways)) {
    const browser = way === 'another browser' ? service.client() : client;
    const begun = await client.post('/api/auth/domain-auth', { email, forward_url: `https://${shop}/`, require: 'passkey' });
    expect(begun.status).toBe(200);
    const mail = await stage.mailbox.waitFor(email);
    const shown = await open(browser, mail);
    expect([way, shown]).toEqual([way, expect.objectContaining({ email, forwardUrl: `https://${shop}/`, options: expect.anything() })]);
    expect(shown?.again).toContain('require=passkey');
    expect((await browser.get(mail.link)).status).toBe(200);
  }
  expect(await tokens()).toBe(before);
  const actions = await stage.query("select action from audit_log where email = $1 and action in ('address_proven', 'signed_in')", [email]);
  expect(actions.map(({ action }) => action).sort()).toEqual([...Array(4).fill('address_proven'), 'signed_in']);
});
