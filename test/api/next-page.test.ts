import { beforeAll, describe, expect, test } from 'vitest';
import type { SignInBoot } from '../../contract/pages.ts';
import type { Client, HttpResponse } from '../support/client.ts';
import { useService } from '../support/harness.ts';
import { addApplication, authorizationRequest, requestInteractionEmail, visit, visitUrl, websiteClient } from '../support/oidc-driver.ts';
import { addWebsite, authorize, confirmLink, freshAddress, signInDeveloper, tokenOf } from '../support/sign-ins.ts';

const { stage, service } = await useService();
let domain: string;
beforeAll(async () => {
  domain = await addWebsite(stage, service);
});

const forwardUrl = () => `https://${domain}/welcome`;
const pageUrl = (more: Record<string, string> = {}) =>
  `/auth?${new URLSearchParams({ forward_url: forwardUrl(), language: 'en', ...more })}`;
const wrong = (code: string) => String((Number(code) + 1) % 1_000_000).padStart(6, '0');
const bootOf = ({ text }: HttpResponse): SignInBoot => JSON.parse(/id="boot">(.*?)<\/script>/s.exec(text)?.[1] ?? '{}');

/** Makes a call as the script of the page at `page` does. */
const act = (client: Client, page: string, name: string, input: Record<string, unknown>) =>
  client.post(`/api/auth/${name}`, input, { Prefer: `page="${page}"` });

/** Begins a sign-in at the website, and returns its second step. */
async function begin(client = service.client(), email = freshAddress()) {
  const response = await act(client, pageUrl(), 'domain-auth', { email, forward_url: forwardUrl(), language: 'en' });
  return { client, email, response, mail: await stage.mailbox.waitFor(email) };
}

/** Returns what a page and the response to a call have in common: all but what is made for each response, and what the script has. */
function comparable({ texts: _t, accounts: _a, passkey: _p, ...page }: Partial<SignInBoot>) {
  return page;
}

describe('a call that prefers the next page', () => {
  test('has it beside its own response: the one that the browser would load', async () => {
    const { client, email, response } = await begin();
    const { page, ...own } = response.json;
    expect(own).toEqual({ sent: true, expiresIn: 600 });
    expect(page).toMatchObject({ path: '/auth', steps: { step: 'code', attempt: { email, status: 'waiting' } } });
    expect(new URLSearchParams(page.search).get('step')).toBe('code');
    const loaded = comparable(bootOf(await client.get(page.path + page.search)));
    const secondsLeft = expect.any(Number);
    expect(comparable(page)).toEqual({ ...loaded, steps: { ...loaded.steps, attempt: { ...loaded.steps?.attempt, secondsLeft } } });
  });

  test('has it with an error too', async () => {
    const { client, email, mail } = await begin();
    const invalid = await act(client, pageUrl(), 'domain-auth', { email: 'ann@nowhere', forward_url: forwardUrl() });
    expect(invalid.status).toBe(400);
    expect(invalid.json).toMatchObject({ code: 'bad_email', page: { steps: { step: 'address', email: 'ann@nowhere' } } });
    const refused = await act(client, pageUrl({ step: 'code' }), 'email-code', { email, code: wrong(mail.code) });
    expect(refused.status).toBe(400);
    expect(refused.json).toMatchObject({
      code: 'bad_code',
      triesLeft: expect.any(Number),
      page: { steps: { step: 'code', attempt: { email } }, failure: { form: 'code', code: 'bad_code' } },
    });
    for (let tries = refused.json.triesLeft; tries > 0; tries--)
      await act(client, pageUrl({ step: 'code' }), 'email-code', { email, code: wrong(mail.code) });
    const spent = await act(client, pageUrl({ step: 'code' }), 'email-code', { email, code: mail.code });
    expect(spent.json.page.steps.attempt.status).toBe('code_spent');
  });

  test('is about its own address, whatever other tabs of the browser send at the same time', async () => {
    const client = service.client();
    await begin(client);
    const emails = Array.from({ length: 6 }, () => freshAddress());
    const responses = await Promise.all(
      emails.map((email) => act(client, pageUrl(), 'domain-auth', { email, forward_url: forwardUrl(), language: 'en' })),
    );
    expect(responses.map(({ json }) => json.page.steps.attempt.email)).toEqual(emails);
  });

  test('is not there for a call of another origin, or with a body in another format', async () => {
    const { client, email } = await begin();
    const input = { email, forward_url: forwardUrl() };
    const foreign = await client.post('/api/auth/domain-auth', input, { Prefer: `page="${pageUrl()}"`, Origin: 'https://evil.example' });
    expect([foreign.status, foreign.json.page, foreign.setCookies]).toEqual([403, undefined, []]);
    const headers = { Prefer: `page="${pageUrl()}"`, 'Content-Type': 'text/plain' };
    const text = await client.send('/api/auth/domain-auth', { method: 'POST', body: JSON.stringify(input), headers });
    expect([text.status, text.json.page, text.setCookies]).toEqual([415, undefined, []]);
  });

  test('has the URL at which the sign-in goes on', async () => {
    const { client, email, mail } = await begin();
    const { json } = await act(client, pageUrl({ step: 'code' }), 'email-code', { email, code: mail.code });
    expect(json.leave).toBe(json.redirectUrl);
    expect(tokenOf(json.leave)).toHaveLength(43);
    expect(json.page).toBeUndefined();
  });

  test('has the offer of a passkey, where the browser can create one', async () => {
    const { client, email, mail } = await begin();
    client.cookies.set('passkey_ready', '1');
    const { json } = await act(client, pageUrl({ step: 'code' }), 'email-code', { email, code: mail.code });
    expect(json.page).toMatchObject({
      target: { kind: 'site', host: domain },
      offer: { email, url: json.redirectUrl, options: json.passkey },
    });
    expect(json.page.steps).toBeUndefined();
  });

  test('has nothing more after the code of an attempt with PKCE, which the page exchanges', async () => {
    const client = service.client();
    const { email, pkce } = await authorize(client);
    const { code } = await stage.mailbox.waitFor(email);
    const { json } = await act(client, '/auth?language=en&step=code', 'email-code', { email, code, state: pkce.state });
    expect(Object.keys(json)).toEqual(['code']);
  });

  test('says of a wrong code with a state only that it is wrong: the script of the page has the verifier', async () => {
    const client = service.client();
    const { email, pkce } = await authorize(client);
    const { code } = await stage.mailbox.waitFor(email);
    const failureWith = async (state?: string) =>
      (await act(client, '/auth?language=en&step=code', 'email-code', { email, code: wrong(code), state })).json.page.failure.code;
    expect([await failureWith(pkce.state), await failureWith()]).toEqual(['bad_code', 'needs_script']);
  });

  test('is the same call without the preference', async () => {
    const { client, email, mail } = await begin();
    const plain = await client.post('/api/auth/domain-auth', { email, forward_url: forwardUrl() });
    expect(Object.keys(plain.json)).toEqual(['sent', 'expiresIn']);
    expect(plain.headers.vary).toContain('Prefer');
    const refused = await client.post('/api/auth/email-code', { email, code: wrong(mail.code) });
    expect(refused.json.page).toBeUndefined();
    expect(refused.headers.vary).toContain('Prefer');
  });

  test.each([
    ['without an address', 'page'],
    ['for another page', 'page="/dashboard"'],
    ['for another host', 'page="//elsewhere.example/auth"'],
    ['for another origin', 'page="https://elsewhere.example/auth"'],
    ['for a path that is not normal', 'page="/auth/../admin"'],
    ['for a longer address than a page has', `page="/auth?${'a'.repeat(9000)}"`],
    ['that is another one', 'respond-async'],
  ])('gets no page for a preference %s', async (_, preference) => {
    const input = { email: freshAddress(), forward_url: forwardUrl() };
    const response = await service.client().post('/api/auth/domain-auth', input, { Prefer: preference });
    expect([response.status, Object.keys(response.json)]).toEqual([200, ['sent', 'expiresIn']]);
  });

  test('reads the preference among others (RFC 7240 §2)', async () => {
    const input = { email: freshAddress(), forward_url: forwardUrl() };
    const headers = { Prefer: `respond-async, wait=10, Page = "${pageUrl()}"` };
    expect((await service.client().post('/api/auth/domain-auth', input, headers)).json.page.steps.step).toBe('code');
  });
});

describe('the next page tells a stranger nothing', () => {
  test('about an address, or the attempt of another browser', async () => {
    const { email, mail } = await begin();
    const stranger = service.client();
    const known = await act(stranger, pageUrl({ step: 'code' }), 'email-code', { email, code: '000000' });
    const unknown = await act(service.client(), pageUrl({ step: 'code' }), 'email-code', { email: freshAddress(), code: '000000' });
    const withoutAddress = ({ json }: HttpResponse) => {
      const { page, ...own } = json;
      return { ...own, page: { ...comparable(page), steps: { ...page.steps, email: '' } } };
    };
    expect(withoutAddress(known)).toEqual(withoutAddress(unknown));
    expect(known.json.page.steps.attempt).toBeNull();
    const link = new URL(mail.link);
    const confirmed = await act(stranger, link.pathname + link.search, 'confirm-link', {
      t: link.searchParams.get('t'),
      email: freshAddress(),
    });
    expect(confirmed.json).toMatchObject({ code: 'bad_link', page: { link: { state: 'open' }, failure: { form: 'link' } } });
    expect(JSON.stringify(confirmed.json)).not.toContain(email);
    expect((await confirmLink(stranger, mail, email)).status).toBe(200);
  });

  test('about an authorization request, whose login_hint only its own browser gets', async () => {
    const browser = service.client();
    const hint = freshAddress('hint');
    const request = await authorizationRequest(websiteClient(domain), { login_hint: hint });
    const begun = await visit(browser, request.url);
    const interaction = begun.interaction;
    const page = `/oauth/interaction/${interaction}`;
    expect(begun.boot.steps?.email).toBe(hint);
    const stranger = await act(service.client(), page, 'domain-auth', { email: 'ann@nowhere', interaction });
    expect(stranger.json.page).toMatchObject({ target: { kind: 'application' }, steps: { email: 'ann@nowhere' } });
    const sent = await act(service.client(), page, 'domain-auth', { email: freshAddress(), interaction });
    expect(JSON.stringify(sent.json)).not.toContain(hint);
  });

  test('about a consent, which nobody else may answer', async () => {
    const [browser, email] = [service.client(), freshAddress()];
    const application = await addApplication(await signInDeveloper(stage, service));
    const begun = await visit(browser, (await authorizationRequest(application)).url);
    const { interaction } = begun;
    await requestInteractionEmail(browser, interaction, email);
    const asked = await visitUrl(browser, (await stage.mailbox.waitFor(email)).link);
    expect(asked.authorization?.step).toBe('consent');
    const page = `/oauth/interaction/${asked.interaction}`;
    const stranger = await act(service.client(), page, 'domain-auth', { email: freshAddress(), interaction: asked.interaction });
    expect([stranger.status, stranger.json.code, stranger.json.page.authorization]).toEqual([
      404,
      'interaction_ended',
      { step: 'expired' },
    ]);
  });
});
