import { beforeAll, describe, expect, test } from 'vitest';
import type { SignInBoot } from '../../contract/pages.ts';
import { hintCookies } from '../../contract/remembered.ts';
import type { Client, HttpResponse } from '../support/client.ts';
import { useService } from '../support/harness.ts';
import {
  addWebsite,
  authorize,
  codeOf,
  confirmLink,
  freshAddress,
  openLink,
  requestEmail,
  signInDeveloper,
  tokenOf,
} from '../support/sign-ins.ts';

const { stage, service } = await useService();
let domain: string;
beforeAll(async () => {
  domain = await addWebsite(stage, service);
});

const forwardUrl = (path = '/welcome?from=shop') => `https://${domain}${path}`;
const queryOf = (forward_url: string, more: Record<string, string> = {}) =>
  `?${new URLSearchParams({ forward_url, language: 'lt', ...more })}`;
const bootOf = ({ text }: HttpResponse): SignInBoot => JSON.parse(/id="boot">(.*?)<\/script>/s.exec(text)?.[1] ?? '{}');
const wrong = (code: string) => String((Number(code) + 1) % 1_000_000).padStart(6, '0');

/** Opens step 2 as the redirect of the form of step 1 does. */
async function begin(client = service.client(), email = freshAddress(), query = queryOf(forwardUrl())) {
  const response = await client.form(`/auth${query}`, { email });
  expect(response.status).toBe(303);
  const at = String(response.headers.location);
  return { client, email, query, at, page: await client.get(at), mail: await stage.mailbox.waitFor(email) };
}

const stepsOf = async (client: Client, path: string) => bootOf(await client.get(path)).steps;

describe('the form of step 1', () => {
  test('sends the email and leads to step 2 at its own URL', async () => {
    const { email, at, page, mail } = await begin();
    expect(at).toBe(`/auth${queryOf(forwardUrl(), { step: 'code' })}`);
    expect(bootOf(page).language).toBe('lt');
    expect(bootOf(page).steps).toMatchObject({ step: 'code', attempt: { email, status: 'waiting', state: null } });
    expect(bootOf(page).steps?.attempt?.secondsLeft).toBeGreaterThan(500);
    expect(mail.html).toContain('lang="lt"');
  });

  test('shows what was typed and the error of an invalid address, and sends nothing', async () => {
    const client = service.client();
    const response = await client.form(`/auth${queryOf(forwardUrl())}`, { email: 'ann@nowhere' });
    expect(response.status).toBe(400);
    expect(bootOf(response)).toMatchObject({
      steps: { step: 'address', email: 'ann@nowhere', attempt: null },
      failure: { form: 'address', code: 'bad_email', field: 'email' },
    });
    expect([...client.cookies.keys()]).toEqual(['passkey_browser']);
  });

  test('returns the error as JSON to a program that prefers it', async () => {
    const response = await service.client().form(`/auth${queryOf(forwardUrl())}`, { email: 'ann@nowhere' }, { Accept: 'application/json' });
    expect([response.status, response.json.code, response.json.field]).toEqual([400, 'bad_email', 'email']);
  });

  test('returns 429 with Retry-After when the limit of the mailbox is reached', async () => {
    const email = freshAddress();
    await stage.query(
      `insert into rate_limits select kind || ' ' || $1, 100000, now() + interval '1 hour' from unnest(array['mailbox', 'reserve']) kind`,
      [email],
    );
    const response = await service.client().form(`/auth${queryOf(forwardUrl())}`, { email });
    expect(response.status).toBe(429);
    expect(Number(response.headers['retry-after'])).toBeGreaterThan(3000);
    expect(bootOf(response)).toMatchObject({
      steps: { email },
      failure: { code: 'rate_limited', field: 'email', retryAfter: expect.any(Number) },
    });
  });

  test.each([
    ['no Origin and no Referer', { Origin: undefined }],
    ['another Origin', { Origin: 'https://evil.example' }],
    ['the Origin null', { Origin: 'null', Referer: undefined }],
    ['a Referer of another origin', { Origin: undefined, Referer: 'https://evil.example/auth' }],
    ['another Origin and an own Referer', { Origin: 'https://evil.example', 'Sec-Fetch-Site': 'same-origin' }],
    [
      'a foreign Referer and Sec-Fetch-Site of its own',
      { Origin: undefined, Referer: 'https://evil.example/', 'Sec-Fetch-Site': 'same-origin' },
    ],
    ['Sec-Fetch-Site of another site', { Origin: undefined, 'Sec-Fetch-Site': 'cross-site' }],
    ['Sec-Fetch-Site of another subdomain', { Origin: undefined, 'Sec-Fetch-Site': 'same-site' }],
    ['Sec-Fetch-Site of nobody', { Origin: undefined, 'Sec-Fetch-Site': 'none' }],
  ])('is refused with %s', async (_, headers) => {
    const [client, email] = [service.client(), freshAddress()];
    for (const path of ['/auth', '/auth/code', '/auth/resend', '/auth/account', '/auth/forget', '/auth/link', '/auth/browser']) {
      const response = await client.form(path + queryOf(forwardUrl()), { email, code: '123456' }, headers);
      expect([response.status, bootOf(response).error?.code, bootOf(response).language]).toEqual([403, 'foreign_origin', 'lt']);
      expect(response.text).not.toContain(email);
    }
    expect(client.cookies.size).toBe(0);
    expect(await stage.query('select from sign_in_attempts where email = $1', [email])).toEqual([]);
  });

  test.each([
    [
      'an own Origin, whatever else',
      (origin: string) => ({ Origin: origin, Referer: 'https://evil.example/', 'Sec-Fetch-Site': 'cross-site' }),
    ],
    ['the Referer of a text browser, which sends no Origin', (origin: string) => ({ Origin: undefined, Referer: `${origin}/auth` })],
    ['Sec-Fetch-Site without Origin and Referer', () => ({ Origin: undefined, 'Sec-Fetch-Site': 'same-origin' })],
  ])('accepts %s', async (_, headersOf) => {
    const headers = headersOf(service.url);
    expect((await service.client().form(`/auth${queryOf(forwardUrl())}`, { email: freshAddress() }, headers)).status).toBe(303);
  });

  test('contains the address of login_hint when it is one', async () => {
    const at = (login_hint: string) => stepsOf(service.client(), `/auth${queryOf(forwardUrl(), { login_hint })}`);
    expect(await at(' Ann@Mail.example')).toMatchObject({ email: 'ann@mail.example', step: 'address' });
    expect(await at('<b>ann</b>')).toMatchObject({ email: '' });
  });

  test('offers the code of an email that was already sent', async () => {
    const { client, email, query } = await begin();
    expect(await stepsOf(client, `/auth${query}`)).toMatchObject({ step: 'address', email, attempt: { email, status: 'waiting' } });
  });
});

describe('step 2', () => {
  test('shows only the attempt of its own browser and target', async () => {
    const { client, email, at } = await begin();
    for (const [browser, path] of [
      [service.client(), at],
      [client, `/auth${queryOf(forwardUrl('/other'), { step: 'code' })}`],
      [client, '/auth?step=code'],
    ] as const) {
      const response = await browser.get(path);
      expect(bootOf(response).steps).toMatchObject({ step: 'address', attempt: null, attemptMissing: true });
      expect(response.text).not.toContain(email);
    }
  });

  test('takes the code and continues at the forward_url of the attempt, whatever the URL of the form says', async () => {
    const { client, email, query, mail } = await begin();
    const failed = await client.form(`/auth/code${query}`, { email, code: wrong(mail.code) });
    expect(failed.status).toBe(400);
    expect(bootOf(failed)).toMatchObject({ steps: { step: 'code', attempt: { email } }, failure: { form: 'code', code: 'bad_code' } });
    const response = await client.form('/auth/code?forward_url=https://evil.example/', { email, code: ` ${mail.code} ` });
    expect(response.status).toBe(200);
    const url = bootOf(response).leaving?.url ?? '';
    expect(url).toMatch(new RegExp(`^https://${domain}/welcome\\?from=shop&token=`));
    expect(response.headers.refresh).toBe(`0; url=${url}`);
    expect(response.headers['cache-control']).toBe('no-store');
    expect((await client.get(`/api/verify-token?token=${tokenOf(url)}&domain=${domain}`)).json).toMatchObject({ valid: true, email });
  });

  test('encodes other characters of the forward_url as a browser does', async () => {
    const { client, email, query, mail } = await begin(service.client(), freshAddress(), queryOf(forwardUrl('/sveiki/ačiū?q=ž')));
    const response = await client.form(`/auth/code${query}`, { email, code: mail.code });
    expect(response.headers.refresh).toMatch(/^0; url=https:\/\/[^/]+\/sveiki\/a%C4%8Di%C5%AB\?q=%C5%BE&token=[\w-]+$/);
  });

  test('says that a code was entered wrongly too often', async () => {
    const { client, email, query, at, mail } = await begin();
    for (let tries = 0; tries < 5; tries++) await client.form(`/auth/code${query}`, { email, code: wrong(mail.code) });
    expect(await stepsOf(client, at)).toMatchObject({ step: 'code', attempt: { status: 'code_spent' } });
    await client.get(mail.link);
    expect(await stepsOf(client, at)).toMatchObject({ attempt: { status: 'opened' } });
  });

  test('sends another email', async () => {
    const { client, email, query, at, mail } = await begin();
    const first = (await stepsOf(client, at))?.attempt?.id;
    const response = await client.form(`/auth/resend${query}`, { email });
    expect([response.status, response.headers.location]).toEqual([303, at]);
    const second = await stage.mailbox.waitFor(email);
    expect(second.code).not.toBe(mail.code);
    expect((await stepsOf(client, at))?.attempt?.id).not.toBe(first);
    expect((await client.form(`/auth/code${query}`, { email, code: second.code })).status).toBe(200);
  });

  test('says whether the link was opened in this browser or in another one', async () => {
    const here = await begin();
    await openLink(here.client, here.mail);
    expect(await stepsOf(here.client, here.at)).toMatchObject({ step: 'code', attempt: { email: here.email, status: 'opened' } });
    const elsewhere = await begin();
    expect((await confirmLink(service.client(), elsewhere.mail, elsewhere.email)).status).toBe(200);
    expect(await stepsOf(elsewhere.client, elsewhere.at)).toMatchObject({
      attempt: { email: elsewhere.email, status: 'opened_elsewhere' },
    });
    expect((await elsewhere.client.get(`/api/auth/attempt?email=${elsewhere.email}`)).json).toEqual({ status: 'opened_elsewhere' });
  });

  test.each(['code', 'resend', 'account', 'forget'])('the address of the form %s leads to its page', async (form) => {
    const response = await service.client().get(`/auth/${form}${queryOf(forwardUrl())}`);
    const step = form === 'code' || form === 'resend' ? { step: 'code' } : {};
    expect([response.status, response.headers.location]).toEqual([303, `/auth${queryOf(forwardUrl(), step as Record<string, string>)}`]);
  });
});

describe('a remembered account', () => {
  test('signs in by a form, with the key of the cookie', async () => {
    const { client, email, query, mail } = await begin();
    await openLink(client, mail);
    const response = await client.form(`/auth/account${query}`, { email });
    const url = bootOf(response).leaving?.url ?? '';
    expect((await client.get(`/api/verify-token?token=${tokenOf(url)}`)).json).toMatchObject({ valid: true, email });
  });

  test('needs an email when it has no key or its key has ended', async () => {
    const { client, email, query, mail } = await begin();
    await openLink(client, mail);
    await stage.query('delete from remembered_keys where email = $1', [email]);
    const refused = await client.form(`/auth/account${query}`, { email });
    expect(refused.status).toBe(401);
    expect(bootOf(refused)).toMatchObject({ steps: { step: 'address', email }, failure: { form: 'account', code: 'bad_key' } });
    const unknown = await client.form(`/auth/account${query}`, { email });
    expect([unknown.status, bootOf(unknown).failure?.code]).toEqual([400, 'no_saved_login']);
  });

  test('is removed by a form', async () => {
    const { client, email, query, mail } = await begin();
    await openLink(client, mail);
    const response = await client.form(`/auth/forget${query}`, { email });
    expect([response.status, response.headers.location]).toEqual([303, `/auth${query}`]);
    for (const name of Object.values(hintCookies)) expect(client.cookies.has(name)).toBe(false);
  });
});

describe('a link in another browser', () => {
  test('signs in after the address was given by a form', async () => {
    const { email, mail } = await begin();
    const other = service.client();
    const path = mail.link.slice(service.url.length);
    const refused = await other.form(path, { email: 'eve@mail.example' });
    expect(refused.status).toBe(400);
    expect(bootOf(refused)).toMatchObject({
      link: { state: 'open' },
      failure: { form: 'link', code: 'bad_link', typed: 'eve@mail.example' },
    });
    expect(refused.text).not.toContain(email);
    const response = await other.form(path, { email });
    expect(tokenOf(bootOf(response).leaving?.url ?? '')).not.toBe('');
  });
});

describe('a browser whose request was refused', () => {
  /** Refuses a browser by the limit of a mailbox, to which an email was sent before at someone else's request. */
  async function refuse(request: (client: Client, email: string) => Promise<unknown>, refusedEmail?: string) {
    const { email, mail } = await begin();
    const refused = refusedEmail ?? email;
    await stage.query(
      `insert into rate_limits select kind || ' ' || $1, 100000, now() + interval '1 hour' from unnest(array['mailbox', 'reserve']) kind
       on conflict (key) do update set hits = excluded.hits`,
      [refused],
    );
    const client = service.client();
    await request(client, refused);
    const link = mail.link.slice(service.url.length);
    return { client, email, link, confirm: link.replace('/auth/link', '/auth/browser') };
  }
  const byForm = (client: Client, email: string) => client.form(`/auth${queryOf(forwardUrl())}`, { email });

  test('confirms itself by a form on the page of the link, and returns to the page of the request', async () => {
    const { client, email, link, confirm } = await refuse(byForm);
    const page = await client.get(link);
    const back = `/auth${queryOf(forwardUrl())}`;
    expect(bootOf(page)).toMatchObject({ language: 'lt', link: { state: 'open' }, confirmBrowser: { email, back } });
    expect(page.headers['cache-control']).toBe('no-store');
    expect(page.text.replaceAll('&amp;', '&')).toContain(`<form method="post" action="${confirm}"`);
    const wrongAddress = await client.form(confirm, { email: 'eve@mail.example' });
    expect(wrongAddress.status).toBe(400);
    expect(bootOf(wrongAddress)).toMatchObject({
      path: '/auth/link',
      failure: { form: 'browser', code: 'bad_link', typed: 'eve@mail.example' },
    });
    const response = await client.form(confirm, { email });
    expect([response.status, response.headers.location]).toEqual([303, back]);
    expect(bootOf(await client.get(link)).confirmBrowser).toBeUndefined();
    expect((await byForm(client, email)).status).toBe(303);
    expect((await service.client().form(`/auth${queryOf(forwardUrl())}`, { email })).status).toBe(429);
  });

  test.each([
    [
      'of the API',
      (client: Client, email: string) => client.post('/api/auth/domain-auth', { email, forward_url: forwardUrl() }),
      (): string => `/auth${queryOf(forwardUrl(), { language: 'en' })}`,
    ],
    ['to the portal', (client: Client, email: string) => authorize(client, email), (): string => '/auth?language=en'],
  ])('is remembered for a request %s', async (_, request, back) => {
    const { client, email, link } = await refuse(request);
    expect(bootOf(await client.get(link)).confirmBrowser).toEqual({ email, back: back() });
    expect((await client.post('/api/auth/confirm-browser', { t: new URLSearchParams(link.split('?')[1]).get('t'), email })).status).toBe(
      200,
    );
    expect(client.cookies.has('refusal')).toBe(false);
  });

  test('is sent to the page of the link by its form and by the address of the form', async () => {
    const { client, link, confirm } = await refuse(byForm);
    expect((await client.get(confirm)).headers.location).toBe(link);
    const skipped = await client.form(confirm, { skip: '1' });
    expect([skipped.status, skipped.headers.location]).toEqual([303, link]);
    expect(bootOf(await client.get(link)).confirmBrowser).toBeUndefined();
  });

  test('confirms itself by the link of the portal too', async () => {
    const { email } = await authorize(service.client());
    const mail = await stage.mailbox.waitFor(email);
    const { client } = await refuse(byForm, email);
    const path = mail.link.slice(service.url.length);
    expect(bootOf(await client.get(path)).confirmBrowser?.email).toBe(email);
    const response = await client.form(path.replace('/auth/callback', '/auth/browser'), { email });
    expect([response.status, response.headers.location]).toEqual([303, `/auth${queryOf(forwardUrl())}`]);
  });

  test.each(['', 'e30', 'bnVsbA', 'not JSON', Buffer.from('{"email":"A@b.example"}').toString('base64url')])(
    'ignores the cookie %o',
    async (cookie) => {
      const { mail } = await begin();
      const client = service.client();
      client.cookies.set('refusal', cookie);
      const page = await client.get(mail.link.slice(service.url.length));
      expect([page.status, bootOf(page).confirmBrowser]).toEqual([200, undefined]);
    },
  );
});

describe('the portal', () => {
  test('signs in without a script, by the link or the code', async () => {
    const byLink = await begin(service.client(), freshAddress('dev'), '?language=en');
    const location = await openLink(byLink.client, byLink.mail);
    expect(location).toMatch(/\/developer\?token=/);
    expect((await byLink.client.post('/api/auth/token-login', { token: tokenOf(location) })).json).toMatchObject({ email: byLink.email });
    const byCode = await begin(service.client(), freshAddress('dev'), '?language=en');
    const response = await byCode.client.form('/auth/code?language=en', { email: byCode.email, code: byCode.mail.code });
    expect([response.status, response.headers.location]).toEqual([303, expect.stringMatching(`^${service.url}/developer\\?token=`)]);
  });

  test('shows step 2 of an attempt that a script began, whose code needs the script', async () => {
    const client = service.client();
    const { email, pkce } = await authorize(client);
    expect(await stepsOf(client, '/auth?step=code')).toMatchObject({ step: 'code', attempt: { email, state: pkce.state } });
    const { code } = await stage.mailbox.waitFor(email);
    const response = await client.form('/auth/code', { email, code });
    expect([response.status, bootOf(response).failure?.code]).toEqual([400, 'needs_script']);
    expect((await client.post('/api/auth/email-code', { email, code, state: pkce.state })).status).toBe(200);
  });

  test('tells a signed-in visitor who they are, unless they want another address', async () => {
    const { client, email } = await signInDeveloper(stage, service);
    expect(await stepsOf(client, '/auth?language=en')).toMatchObject({ step: 'signed_in', signedInAs: email });
    expect(await stepsOf(client, '/auth?step=address')).toMatchObject({ step: 'address', signedInAs: null });
    expect(await stepsOf(client, `/auth${queryOf(forwardUrl())}`)).toMatchObject({ step: 'address', signedInAs: null });
  });

  test('its link says in another browser what happened', async () => {
    const client = service.client();
    const { email, pkce } = await authorize(client);
    const mail = await stage.mailbox.waitFor(email);
    const path = mail.link.slice(service.url.length);
    expect(bootOf(await client.get(path)).link).toBeUndefined();
    const other = service.client();
    const foreign = await other.get(path);
    expect(bootOf(foreign).link?.state).toBe('other_browser');
    expect(foreign.text).not.toContain(email);
    const exchange = { code: codeOf(mail), code_verifier: pkce.codeVerifier, client_id: 'emailauth_demo_client' };
    expect((await client.post('/api/auth/token', exchange)).status).toBe(200);
    expect(bootOf(await other.get(path)).link?.state).toBe('used');
    for (const none of ['', '?code=nothing&state=x', '?state=x'])
      for (const callback of ['/auth/callback', '/legacy-auth'])
        expect(bootOf(await other.get(callback + none)).link?.state).toBe('invalid');
  });
});

describe('a page that cannot sign in', () => {
  const targetOf = async (query: string) => bootOf(await service.client().get(`/auth${query}`)).target;

  test.each([
    ['https://nobody.example/a?b#c', 'https://nobody.example', 'nobody.example'],
    ['https://app.bücher.example/', 'https://app.xn--bcher-kva.example', 'bücher.example'],
  ])('has the way back from %s, and the domain that its owner can register', async (url, back, domain) => {
    expect(await targetOf(queryOf(url))).toMatchObject({ reason: 'not_registered', back, domain });
  });

  test.each([
    ['http://nobody.example/', 'not_https'],
    ['https://nobody.example:8443/', 'not_https'],
    ['https://Nobody.example/', 'not_plain'],
    ['https://user@nobody.example/', 'not_plain'],
    ['javascript:alert(1)', 'not_plain'],
    ['nobody.example', 'not_absolute'],
    ['https://nobody.example/a b', 'characters'],
    ['https://nobody.example/?token=x', 'has_token'],
    ['https://co.uk/', 'not_domain'],
    ['https://192.0.2.1/', 'not_domain'],
    [`https://nobody.example/${'a'.repeat(2048)}`, 'too_long'],
  ])('names the rule that %s breaks, and no way back', async (url, rule) => {
    expect(await targetOf(queryOf(url))).toMatchObject({ reason: 'bad_forward_url', rule, back: null });
  });

  test('names a forward_url that is given twice', async () => {
    expect(await targetOf(`${queryOf(forwardUrl())}&forward_url=x`)).toMatchObject({ rule: 'repeated' });
  });
});

test('an empty forward_url signs in to the portal, at each step and form', async () => {
  const query = queryOf('');
  expect(bootOf(await service.client().get(`/auth${query}`))).toMatchObject({ target: { kind: 'portal' }, steps: { step: 'address' } });
  const { client, email, at, page, mail } = await begin(service.client(), freshAddress(), query);
  expect(at).toBe('/auth?language=lt&step=code');
  expect(bootOf(page)).toMatchObject({ target: { kind: 'portal' }, steps: { step: 'code', attempt: { email } } });
  const response = await client.form(`/auth/code${query}`, { email, code: mail.code });
  expect([response.status, new URL(String(response.headers.location), service.url).pathname]).toEqual([303, '/developer']);
});

test('an email that was requested by the API is shown at step 2 too', async () => {
  const [client, email] = [service.client(), freshAddress()];
  await requestEmail(client, email, forwardUrl(), 'lt');
  expect(await stepsOf(client, `/auth${queryOf(forwardUrl(), { step: 'code' })}`)).toMatchObject({ step: 'code', attempt: { email } });
});
