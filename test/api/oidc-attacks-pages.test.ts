import { beforeAll, describe, expect, test } from 'vitest';
import type { Client } from '../support/client.ts';
import { freshNetworkAddress, useProduction, useService } from '../support/harness.ts';
import {
  addApplication,
  authorizationRequest,
  type Changes,
  completeSignIn,
  decide,
  type OidcClient,
  postForm,
  requestInteractionEmail,
  type Step,
  signInAt,
  visit,
  visitUrl,
  websiteClient,
} from '../support/oidc-driver.ts';
import { addWebsite, confirmLink, type Developer, freshAddress, signInDeveloper } from '../support/sign-ins.ts';

/** In production mode, whose limits a test reaches. */
const { stage, service } = await useProduction();
/** Another instance on the same database. */
const { service: other } = await useService();
let developer: Developer;
let shop: OidcClient;
let app: OidcClient;
beforeAll(async () => {
  developer = await signInDeveloper(stage, service);
  shop = websiteClient(await addWebsite(stage, service));
  app = await addApplication(developer);
});

/** Opens an authorization request in a browser. */
async function begin(browser: Client, client = shop, changes: Changes = {}): Promise<Step> {
  const reached = await visit(browser, (await authorizationRequest(client, changes)).url);
  expect(reached.authorization?.step).toBe('sign_in');
  return reached;
}

/** Asserts that nobody is signed in at the provider in a browser. */
async function expectSignedOut(browser: Client, client = shop) {
  const { callback } = await visit(browser, (await authorizationRequest(client, { prompt: 'none' })).url);
  expect(callback?.searchParams.get('error')).toBe('login_required');
}

describe('a link', () => {
  test('that an attacker requested signs nobody in where the victim opens it, on any instance (login CSRF)', async () => {
    const attacker = service.client();
    const victim = other.client();
    const begun = await begin(attacker);
    const email = freshAddress('attacker');
    await requestInteractionEmail(attacker, begun.interaction, email);
    const mail = await stage.mailbox.waitFor(email);
    for (let opening = 0; opening < 2; opening++) {
      const opened = await visitUrl(victim, mail.link);
      expect(opened.callback).toBeNull();
      expect(opened.boot.link).toMatchObject({ state: 'other_browser' });
    }
    const confirmed = await confirmLink(victim, mail, email);
    expect(confirmed.json.redirectUrl).toBeUndefined();
    await expectSignedOut(victim);
    // Nothing was consumed: the code continues in the window where the sign-in began.
    const entered = await attacker.post('/api/auth/email-code', { email, code: mail.code });
    const reached = await visitUrl(attacker, entered.json.redirectUrl);
    expect(reached.callback?.searchParams.get('code')).toEqual(expect.any(String));
  });

  test("that the victim opens never continues an attacker's request for the victim's address", async () => {
    const attacker = service.client();
    const victim = other.client();
    const begun = await begin(attacker);
    const email = freshAddress('victim');
    await requestInteractionEmail(attacker, begun.interaction, email);
    const { link } = await stage.mailbox.waitFor(email);
    expect((await visitUrl(victim, link)).callback).toBeNull();
    expect((await visit(attacker, begun.at)).authorization?.step).toBe('sign_in');
    await expectSignedOut(attacker);
    const resumed = await visit(attacker, `/oauth/authorize/${begun.interaction}`);
    expect(resumed.callback).toBeNull();
  });
});

describe('an interaction', () => {
  test('belongs to its browser: its page, its continuation and its decision are refused in another one', async () => {
    const attacker = service.client();
    const victim = service.client();
    const begun = await begin(attacker, app);
    expect((await visit(victim, begun.at)).authorization?.step).toBe('expired');
    const resumed = await visit(victim, `/oauth/authorize/${begun.interaction}`);
    expect([resumed.callback, resumed.response.status]).toEqual([null, 400]);
    expect((await decide(victim, begun.interaction)).json.redirectUrl).toBeUndefined();
  });

  test("cannot be finished in a victim's browser with the token of an attacker's own sign-in", async () => {
    const attacker = service.client();
    const begun = await begin(attacker);
    const email = freshAddress('attacker');
    await requestInteractionEmail(attacker, begun.interaction, email);
    const { link } = await stage.mailbox.waitFor(email);
    const opened = await attacker.get(link.slice(new URL(link).origin.length));
    const continuation = new URL(String(opened.headers.location), service.url);
    expect(continuation.searchParams.get('token')).toEqual(expect.any(String));

    const victim = service.client();
    const own = await begin(victim);
    for (const uid of [own.interaction, begun.interaction]) {
      const reached = await visit(victim, `/oauth/interaction/${uid}${continuation.search}`);
      expect([reached.callback, reached.response.status < 500]).toEqual([null, true]);
    }
    await expectSignedOut(victim);
    // The victim's own sign-in still works.
    const callback = await completeSignIn(stage, victim, await visit(victim, own.at), freshAddress());
    expect(callback.searchParams.has('code')).toBe(true);
  });

  test('cannot skip the sign-in or the consent', async () => {
    const browser = service.client();
    const begun = await begin(browser, app);
    for (const decision of ['allow', 'deny', 'other_account'] as const) {
      const { json } = await decide(browser, begun.interaction, decision);
      const reached = json.redirectUrl ? await visitUrl(browser, json.redirectUrl) : null;
      expect(reached?.callback?.searchParams.has('code') ?? false).toBe(false);
    }
    const again = service.client();
    const signedIn = await begin(again, app);
    const email = freshAddress();
    await requestInteractionEmail(again, signedIn.interaction, email);
    const consent = await visitUrl(again, (await stage.mailbox.waitFor(email)).link);
    expect(consent.authorization?.step).toBe('consent');
    expect((await visit(again, `/oauth/authorize/${consent.interaction}`)).callback?.searchParams.has('code') ?? false).toBe(false);
  });

  test('gets a new session at sign-in, so that a planted cookie signs nobody in (session fixation)', async () => {
    const attacker = service.client();
    await begin(attacker);
    const victim = service.client();
    for (const [name, value] of attacker.cookies) if (!name.includes(';')) victim.cookies.set(name, value);
    victim.cookies.set('oidc_session', attacker.cookies.get('oidc_session') ?? 'planted-session-id-of-the-attacker-00000000');
    const planted = victim.cookies.get('oidc_session');
    await signInAt(stage, service, shop, { browser: victim });
    expect(victim.cookies.get('oidc_session')).not.toBe(planted);
    attacker.cookies.set('oidc_session', String(planted));
    await expectSignedOut(attacker);
  });
});

describe('a decision', () => {
  test('by a page of another origin is refused', async () => {
    const browser = service.client();
    const begun = await begin(browser, app);
    const email = freshAddress();
    await requestInteractionEmail(browser, begun.interaction, email);
    const { interaction } = await visitUrl(browser, (await stage.mailbox.waitFor(email)).link);
    const path = `/oauth/interaction/${interaction}/decision`;
    const json = { 'Content-Type': 'application/json' };
    for (const headers of [
      { ...json, Origin: 'https://evil.example' },
      { ...json, Origin: 'null' },
      { ...json, 'Sec-Fetch-Site': 'cross-site' },
      { ...json, 'Sec-Fetch-Site': 'same-site' },
      { 'Content-Type': 'text/plain', Origin: 'https://evil.example' },
      { 'Content-Type': 'application/x-www-form-urlencoded', Origin: 'https://evil.example' },
    ]) {
      const response = await browser.send(path, { method: 'POST', headers, body: '{"decision":"allow"}' });
      expect([headers, response.status, response.json.redirectUrl]).toEqual([
        headers,
        expect.toSatisfy((code) => code >= 400 && code < 500),
        undefined,
      ]);
    }
    expect((await browser.get(`${path}?decision=allow`)).status).toBeGreaterThanOrEqual(400);
    const allowed = await visitUrl(browser, (await decide(browser, interaction)).json.redirectUrl);
    expect(allowed.callback?.searchParams.has('code')).toBe(true);
  });
});

describe('pages of the provider', () => {
  test('cannot be framed (clickjacking), cached or sniffed, and send no referrer', async () => {
    const browser = service.client();
    const begun = await begin(browser, app);
    const email = freshAddress();
    await requestInteractionEmail(browser, begun.interaction, email);
    const consent = await visitUrl(browser, (await stage.mailbox.waitFor(email)).link);
    const pages = [
      await visit(service.client(), begun.at),
      begun,
      consent,
      await visit(browser, '/oauth/device'),
      await visit(browser, '/oauth/logout'),
      await visit(browser, '/oauth/authorize?client_id=unknown'),
    ];
    for (const { at, response } of pages) {
      expect([at, response.headers['content-security-policy']]).toEqual([at, expect.stringContaining("frame-ancestors 'none'")]);
      expect(response.headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'cache-control': expect.stringContaining('no-store') });
      expect(response.headers['access-control-allow-origin']).toBeUndefined();
      expect(response.headers['referrer-policy']).toMatch(/no-referrer|same-origin/);
    }
  });

  test('show hostile names and parameters as text', async () => {
    const name = '"><script>alert(1)</script>\'<img src=x onerror=alert(1)>{{7*7}}</script>';
    const hostile = await addApplication(developer, { name: name.slice(0, 80) });
    const browser = service.client();
    const begun = await begin(browser, hostile, { login_hint: name, state: name.slice(0, 40), ui_locales: '<b>' });
    const email = freshAddress();
    await requestInteractionEmail(browser, begun.interaction, email);
    const mail = await stage.mailbox.waitFor(email);
    const consent = await visitUrl(browser, mail.link);
    const failed = await visit(browser, `/oauth/authorize?${new URLSearchParams({ client_id: name, error: name, redirect_uri: name })}`);
    for (const { response } of [begun, consent, failed]) expect(response.text).not.toMatch(/<script>alert|<img src=x/);
    expect(mail.html).not.toMatch(/<script>alert|<img src=x/);
    expect(mail.headers.filter(({ key }) => key === 'bcc')).toEqual([]);
    for (const line of ['Notes\r\nBcc: evil@mail.example', 'N\u202eetos', 'a\u2028b', 'x\0y']) {
      const response = await developer.client.post('/api/clients', { name: line, redirectUris: ['https://app.example/'] });
      if (response.status !== 400) expect(response.json.name).not.toMatch(/[\r\n\0\u202e\u2028]/);
    }
  });
});

describe('the device flow', () => {
  const start = async (via: Client, client: OidcClient) =>
    (await postForm(via, '/oauth/device/authorize', client, { scope: 'openid email' })).json;

  test('limits the guesses of user codes of a network', async () => {
    const network = freshNetworkAddress();
    const statuses: number[] = [];
    for (let guess = 0; guess < 60 && !statuses.includes(429); guess++) {
      const browser = service.client(network);
      const page = await visit(browser, '/oauth/device');
      const { form } = page.authorization as Extract<Step['authorization'], { step: 'device_code' }>;
      const { status } = await postForm(browser, form.action.replace(/^https?:\/\/[^/]+/, ''), null, {
        ...form.fields,
        user_code: `BCDF-${String(guess).padStart(4, 'B')}`,
      });
      statuses.push(status);
    }
    expect(statuses).toContain(429);
  });

  test('asks the person to compare the code, also when the link contains it, and refuses other pages', async () => {
    const device = await start(service.client(), app);
    expect(device.user_code.replace(/[^A-Z0-9]/gi, '').length).toBeGreaterThanOrEqual(8);
    const browser = service.client();
    const opened = await visitUrl(browser, device.verification_uri_complete);
    // Its form submits the code, not the confirmation.
    const fields = Object.fromEntries(
      [...opened.response.text.matchAll(/name="(\w+)" value="([^"]*)"/g)].map(([, name, value]) => [name, value]),
    );
    expect(Object.keys(fields).sort()).toEqual(['user_code', 'xsrf']);
    const { text } = await postForm(browser, '/oauth/device', null, fields);
    expect(text).toContain('"step":"device_confirm"');
    const forged = await postForm(service.client(), '/oauth/device', null, { user_code: device.user_code, confirm: 'yes', xsrf: 'x' });
    expect(forged.headers.location ?? '').not.toContain('/oauth/interaction/');
    const polled = await postForm(service.client(), '/oauth/token', app, {
      grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
      device_code: device.device_code,
    });
    expect([polled.status, polled.json.error]).toEqual([400, 'authorization_pending']);
    const rival = await addApplication(developer);
    const stolen = await postForm(service.client(), '/oauth/token', rival, {
      grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
      device_code: device.device_code,
    });
    expect([stolen.status, stolen.json.error]).toEqual([400, 'invalid_grant']);
  });
});
