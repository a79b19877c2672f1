import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { beforeAll, describe, expect, test } from 'vitest';
import { openAuthenticator, SYNCED, VERIFIED } from '../support/authenticator.ts';
import type { Client } from '../support/client.ts';
import { useService } from '../support/harness.ts';
import { allow, answerOf, begin, continueByLink, exchangeCode, follow, postForm, REDIRECT } from '../support/oidc-client.ts';
import { addWebsite, freshAddress, openLink, requestEmail, signInDeveloper, tokenOf } from '../support/sign-ins.ts';
import { waitUntil } from '../support/waiting.ts';

const RELATED = 'https://login.example.net';
const RP_ID = 'auth.example.com';
const SLOW_CLOCK = 'const now = Date.now; Date.now = () => now() - 301_000;';

const { stage, service } = await useService();
const second = await stage.start({ PUBLIC_URL: service.url, PASSKEY_ORIGINS: RELATED });
/** An instance with an RP ID of its own, and a clock that is 301 seconds slow. */
const elsewhere = await stage.start({
  PASSKEY_RP_ID: RP_ID,
  NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(SLOW_CLOCK)}`,
});
const [shop, market] = [await addWebsite(stage, service), await addWebsite(stage, service)];

const createAuthenticator = (options: { flags?: number; rpId?: string } = {}) => openAuthenticator({ origin: service.url, ...options });
const base64url = (data: Buffer | string) => Buffer.from(data).toString('base64url');

/** Returns a browser in which a page has noted that the device has an authenticator. */
function newBrowser(of = service): Client {
  const client = of.client();
  client.cookies.set('passkey_ready', '1');
  return client;
}

const challengeOf = async (client: Client): Promise<string> => (await client.post('/api/auth/passkey/challenge')).json.challenge;

const bootOf = (html: string) => JSON.parse(/<script type="application\/json" id="boot">(.*?)<\/script>/.exec(html)?.[1] ?? '{}');

/** Signs in by email and returns the options for a passkey that the page of the link has. */
async function offerFor(client: Client, email = freshAddress(), domain = shop) {
  await requestEmail(client, email, `https://${domain}/`);
  const page = await client.get((await stage.mailbox.waitFor(email)).link);
  return { email, ...bootOf(page.text).offer };
}

/** Adds a passkey to an address. */
async function addPasskey({ client = newBrowser(), email = freshAddress(), flags = VERIFIED } = {}) {
  const { options } = await offerFor(client, email);
  const authenticator = createAuthenticator({ flags });
  const response = await client.post('/api/auth/passkey/registration', { credential: authenticator.create(options) });
  if (response.status !== 200) throw new Error(`The registration returned ${response.status}: ${response.text}`);
  expect((await stage.mailbox.waitFor(email)).subject).toBe('A passkey was added');
  return { client, email, authenticator };
}

const signIn = async (client: Client, credential: object, forward_url = `https://${market}/`) =>
  client.post('/api/auth/passkey', { credential, forward_url });

describe('a website that accepts only a passkey', () => {
  const requiredFor = async (client: Client, email = freshAddress()) => {
    const begun = await client.post('/api/auth/domain-auth', { email, forward_url: `https://${shop}/`, require: 'passkey' });
    expect(begun.status).toBe(200);
    return { email, ...bootOf((await client.get((await stage.mailbox.waitFor(email)).link)).text).addPasskey };
  };

  test('signs in with the passkey that is created after an email, once', async () => {
    const client = service.client();
    const { email, options, forwardUrl } = await requiredFor(client);
    const authenticator = createAuthenticator();
    const credential = authenticator.create(options);
    const created = await client.post('/api/auth/passkey/registration', { credential, forward_url: forwardUrl });
    const token = tokenOf(created.json.redirectUrl);
    const verified = await client.get(`/api/verify-token?token=${token}&domain=${shop}`);
    expect(verified.json).toMatchObject({ email, valid: true, method: 'passkey' });
    const actions = await stage.query(
      "select action, method, domain from audit_log where email = $1 and (action = 'passkey_added' or action = 'signed_in' and method = 'p') order by id",
      [email],
    );
    expect(actions).toEqual([
      { action: 'passkey_added', method: null, domain: null },
      { action: 'signed_in', method: 'p', domain: shop },
    ]);
    const twice = await client.post('/api/auth/passkey/registration', { credential, forward_url: forwardUrl });
    expect(twice.json.code).toBe('passkey_expired');
    expect(await stage.query('select 1 from tokens where email = $1', [email])).toHaveLength(1);
    const again = await client.post('/api/auth/passkey', {
      credential: authenticator.get(await challengeOf(client)),
      forward_url: forwardUrl,
      require: 'passkey',
      max_age: 0,
    });
    expect(again.status).toBe(200);
  });

  test('issues no token for options of another browser, nor for a passkey without verification of the person', async () => {
    const [client, other] = [service.client(), service.client()];
    const { email, options, forwardUrl } = await requiredFor(client);
    const credential = createAuthenticator().create(options);
    const stolen = await other.post('/api/auth/passkey/registration', { credential, forward_url: forwardUrl });
    expect(stolen.json.code).toBe('passkey_expired');
    const unverified = createAuthenticator({ flags: 0x01 }).create(options);
    const refused = await client.post('/api/auth/passkey/registration', { credential: unverified, forward_url: forwardUrl });
    expect(refused.json.code).toBe('bad_passkey');
    expect(await stage.query('select 1 from tokens where email = $1', [email])).toEqual([]);
  });
});

describe('a sign-in with a passkey', () => {
  test('issues the token of the website, and remembers the account in the browser', async () => {
    const { client, email, authenticator } = await addPasskey();
    const response = await signIn(client, authenticator.get(await challengeOf(client)));
    const token = tokenOf(response.json.redirectUrl);
    const verified = await client.get(`/api/verify-token?token=${token}&domain=${market}`);
    expect(verified.json).toMatchObject({ email, valid: true, domain: market, method: 'passkey' });
    const key = client.cookies.get('auth_key');
    const again = await client.post('/api/auth/validate-key', { email, key, forward_url: `https://${shop}/` });
    expect(again.status).toBe(200);
    const rows = await stage.query("select domain from audit_log where email = $1 and action = 'signed_in' and method = 'p'", [email]);
    expect(rows).toEqual([{ domain: market }]);
  });

  test('needs no request for the challenge: it is in the page', async () => {
    const { client, authenticator } = await addPasskey();
    const { passkey } = bootOf((await client.get(`/auth?forward_url=https://${market}/`)).text);
    expect(passkey.known).toBe(true);
    expect((await signIn(client, authenticator.get(passkey.challenge))).status).toBe(200);
  });

  test('accepts one of two concurrent registrations of an address without passkeys', async () => {
    const held = new pg.Client(stage.databaseUrl);
    await held.connect();
    for (let accepted = 0; accepted < 2; ) {
      const [one, other, email] = [newBrowser(), newBrowser(), freshAddress()];
      for (const client of [one, other]) client.retriesUnavailable = false;
      const credentials = [];
      for (const client of [one, other]) credentials.push(createAuthenticator().create((await offerFor(client, email)).options));
      const add = (client: Client, credential: object) => client.post('/api/auth/passkey/registration', { credential });
      // Both wait for this lock, and continue at the same time.
      await held.query('begin; lock table passkeys in share mode');
      let isOver = false;
      const adding = Promise.all([add(one, credentials[0]), add(other, credentials[1])]).finally(() => {
        isOver = true;
      });
      await waitUntil('both wait', 30_000, async () => {
        const [{ count }] = await stage.query(
          "select count(*)::integer as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
        );
        return isOver || count === 2 || `${count} wait`;
      });
      await held.query('commit');
      const results = (await adding).map(({ status, json }) => json.code ?? status).sort();
      // On a busy machine, one may have waited for too long.
      if (results.includes('unavailable')) continue;
      accepted += 1;
      expect(results).toEqual([200, 'passkey_expired']);
      expect(await stage.query('select 1 from passkeys where email = $1', [email])).toHaveLength(1);
    }
    await held.end();
  });

  test('rejects a challenge that was used: of 50 concurrent requests to two instances all but one', async () => {
    const { client, email, authenticator } = await addPasskey();
    const there = Object.assign(second.client(), { cookies: client.cookies });
    for (const browser of [client, there]) browser.retriesUnavailable = false;
    let hasTimedOut = false;
    for (let round = 1; round <= 2; round++) {
      const credential = authenticator.get(await challengeOf(client));
      const responses = await Promise.all(Array.from({ length: 50 }, (_, n) => signIn(n % 2 ? client : there, credential)));
      // On a busy machine, the request that used the challenge may time out, before or after it signed in.
      hasTimedOut ||= responses.some(({ status }) => status === 503);
      const refused = responses.filter(({ status }) => status !== 200 && status !== 503);
      expect(new Set(refused.map(({ json }) => json.code))).toEqual(new Set(['passkey_expired']));
      const signedIn = "select 1 from audit_log where email = $1 and method = 'p'";
      const { length } = await stage.query(signedIn, [email]);
      expect(length).toBeLessThanOrEqual(round);
      if (!hasTimedOut) expect(length).toBe(round);
    }
  });

  test('rejects the challenge of another browser, and one without its cookie', async () => {
    const { client, authenticator } = await addPasskey();
    const other = newBrowser();
    await challengeOf(other);
    const credential = authenticator.get(await challengeOf(client));
    for (const browser of [other, service.client()]) expect((await signIn(browser, credential)).json.code).toBe('passkey_expired');
    expect((await signIn(client, credential)).status).toBe(200);
  });

  test('rejects a forged challenge and one of a registration', async () => {
    const { client, authenticator } = await addPasskey();
    const { options } = await offerFor(newBrowser());
    const signed = Buffer.from(await challengeOf(client), 'base64url').toString();
    const later = JSON.parse(Buffer.from(signed.split('.')[0], 'base64url').toString());
    const body = base64url(JSON.stringify({ ...later, until: later.until + 1000 }));
    for (const challenge of [options.challenge, base64url(randomBytes(32)), base64url(`${body}.${signed.split('.')[1]}`)])
      expect((await signIn(client, authenticator.get(challenge))).json.code).toBe('passkey_expired');
  });

  test('rejects another origin, an unverified user, another user handle and another key', async () => {
    const { client, authenticator } = await addPasskey();
    const stranger = await addPasskey();
    const attempts: [string, () => Promise<object>][] = [
      ['another origin', async () => withState(authenticator, { origin: 'https://evil.example' }, await challengeOf(client))],
      ['no user verification', async () => withState(authenticator, { flags: 0x01 }, await challengeOf(client))],
      ['no user presence', async () => withState(authenticator, { flags: 0x00 }, await challengeOf(client))],
      ['another user handle', async () => authenticator.get(await challengeOf(client), stranger.authenticator.state.userHandle)],
      [
        'another key',
        async () => ({
          ...stranger.authenticator.get(await challengeOf(client), authenticator.state.userHandle),
          id: authenticator.id,
          rawId: authenticator.id,
        }),
      ],
    ];
    for (const [what, credential] of attempts) expect((await signIn(client, await credential())).json.code, what).toBe('bad_passkey');
    expect((await signIn(client, authenticator.get(await challengeOf(client)))).status).toBe(200);
  });

  test('rejects a copy whose counter is not higher, and writes it to the audit log', async () => {
    const { client, email, authenticator } = await addPasskey();
    authenticator.state.counter = 41;
    expect((await signIn(client, authenticator.get(await challengeOf(client)))).status).toBe(200);
    authenticator.state.counter = 41;
    expect((await signIn(client, authenticator.get(await challengeOf(client)))).json.code).toBe('bad_passkey');
    expect(await stage.query("select 1 from audit_log where email = $1 and action = 'passkey_cloned'", [email])).toHaveLength(1);
  });

  test('accepts a passkey whose counter stays zero', async () => {
    const { client, authenticator } = await addPasskey();
    for (let count = 0; count < 2; count++) {
      authenticator.state.counter = -1;
      expect((await signIn(client, authenticator.get(await challengeOf(client)))).status).toBe(200);
    }
  });

  test('rejects a removed passkey as unknown', async () => {
    const { client, email, authenticator } = await addPasskey();
    const challenge = await challengeOf(client);
    const owner = await signInDeveloper(stage, service, email);
    const { passkeys } = (await owner.client.get('/api/user/passkeys')).json;
    expect((await owner.client.delete(`/api/user/passkeys/${passkeys[0].id}`)).json.passkeys).toEqual([]);
    expect((await signIn(client, authenticator.get(challenge))).json.code).toBe('unknown_passkey');
  });

  test('never leads to a website that is not registered', async () => {
    const { client, authenticator } = await addPasskey();
    const response = await signIn(client, authenticator.get(await challengeOf(client)), 'https://nobody-registered.example/');
    expect(response.status).toBe(401);
    expect(await stage.query("select 1 from tokens where domain = 'nobody-registered.example'")).toEqual([]);
  });

  test('rejects a challenge after five minutes', async () => {
    const { client, authenticator } = await addPasskey();
    const there = elsewhere.client();
    there.cookies = client.cookies;
    const credential = authenticator.get(await challengeOf(there));
    expect((await signIn(client, credential)).json.code).toBe('passkey_expired');
  });
});

test.each([
  ['hwk', VERIFIED],
  ['swk', SYNCED],
])('a passkey of a client of OpenID Connect is %s, and enough for prompt=login', async (method, flags) => {
  const { client, email, authenticator } = await addPasskey({ flags });
  const developer = await signInDeveloper(stage, service);
  const application = { name: 'Notes', redirectUris: [REDIRECT] };
  const { id, clientId } = (await developer.client.post('/api/clients', application)).json;
  const begun = await begin(client, { clientId, parameters: { prompt: 'login' } });
  const { challenge } = bootOf(begun.page.text).passkey;
  const response = await client.post('/api/auth/passkey', { credential: authenticator.get(challenge), interaction: begun.uid });
  const continued = await follow(client, await client.get(response.json.redirectUrl));
  const { code } = answerOf(await allow(client, continued));
  const { id_token } = (await exchangeCode(client, begun, code)).json;
  const claims = JSON.parse(Buffer.from(id_token.split('.')[1], 'base64url').toString());
  expect(claims).toMatchObject({ email, amr: [method, 'user'] });
  await waitUntil('the log has the exchange, which is added after the response, and the sign-in before it', 60_000, async () => {
    const log = (await developer.client.get(`/api/clients/${id}/logs`)).json as { action: string }[];
    const actions = log.map(({ action }) => action).join(', ');
    return actions === 'code_exchanged, signed_in_passkey' || actions;
  });
  expect(
    await stage.query("select client_id from audit_log where email = $1 and action = 'application_signed_in' and method = 'p'", [email]),
  ).toEqual([{ client_id: clientId }]);
});

describe('a client of OpenID Connect that requests a passkey by acr_values', () => {
  let clientId: string;
  beforeAll(async () => {
    const developer = await signInDeveloper(stage, service);
    clientId = (await developer.client.post('/api/clients', { name: 'Bank', redirectUris: [REDIRECT] })).json.clientId;
  });

  const requestWith = (client: Client, acr_values: string, more: Record<string, string> = {}) =>
    begin(client, { clientId, parameters: { acr_values, ...more } });
  type Begun = Awaited<ReturnType<typeof begin>>;
  /** Returns the claims of the ID token of a request whose sign-in is complete. */
  async function claimsAt(client: Client, begun: Begun, redirectUrl: string) {
    const continued = await follow(client, await client.get(redirectUrl));
    const { code } = answerOf(await allow(client, continued));
    const { id_token } = (await exchangeCode(client, begun, code)).json;
    return JSON.parse(Buffer.from(id_token.split('.')[1], 'base64url').toString());
  }

  test('finds the classes in the metadata', async () => {
    const metadata = (await service.client().get('/.well-known/openid-configuration')).json;
    expect(metadata.acr_values_supported).toEqual(['urn:emailauth:acr:email', 'phr', 'phrh']);
  });

  test.each([
    ['phrh', 'hwk', VERIFIED],
    ['phr', 'swk', SYNCED],
  ])('receives the class %s with %s, also when the person was signed in by email before', async (acr, method, flags) => {
    const { client, email, authenticator } = await addPasskey({ flags });
    const before = await begin(client, { clientId });
    expect((await exchangeCode(client, before, (await continueByLink(stage, client, before, email)).code)).status).toBe(200);
    const silent = await requestWith(client, 'phr', { prompt: 'none' });
    expect(answerOf(silent.page).error).toBe('login_required');
    const begun = await requestWith(client, 'urn:example:unknown phr phrh');
    expect(bootOf(begun.page.text).steps).toMatchObject({ passkeyOnly: true, oneClick: [] });
    const again = await client.post('/api/auth/validate-key', { email, key: client.cookies.get('auth_key'), interaction: begun.uid });
    expect(again.json.code).toBe('passkey_required');
    const credential = authenticator.get(bootOf(begun.page.text).passkey.challenge);
    const { redirectUrl } = (await client.post('/api/auth/passkey', { credential, interaction: begun.uid })).json;
    expect(await claimsAt(client, begun, redirectUrl)).toMatchObject({ email, acr, amr: [method, 'user'] });
    // The session of this browser has the class: the next request needs no other sign-in.
    const next = await requestWith(client, 'phr', { prompt: 'none' });
    expect(answerOf(next.page)).toMatchObject({ error: null, code: expect.stringMatching(/./) });
  });

  test('makes a person without a passkey add one after the email, which signs in', async () => {
    const client = service.client();
    const email = freshAddress();
    const begun = await requestWith(client, 'phr');
    await client.post('/api/auth/domain-auth', { email, interaction: begun.uid });
    const { options, interaction, again } = bootOf((await client.get((await stage.mailbox.waitFor(email)).link)).text).addPasskey;
    expect([interaction, new URL(again).pathname]).toEqual([begun.uid, `/oauth/interaction/${begun.uid}`]);
    expect(await stage.query('select 1 from tokens where email = $1', [email])).toEqual([]);
    const credential = createAuthenticator().create(options);
    const created = await client.post('/api/auth/passkey/registration', { credential, interaction });
    expect(await claimsAt(client, begun, created.json.redirectUrl)).toMatchObject({ email, acr: 'phrh', amr: ['hwk', 'user'] });
    const actions = await stage.query('select action, method, client_id from audit_log where email = $1 order by id', [email]);
    expect(actions).toEqual(
      expect.arrayContaining([
        { action: 'address_proven', method: 'l', client_id: clientId },
        { action: 'passkey_added', method: null, client_id: null },
        { action: 'application_signed_in', method: 'p', client_id: clientId },
      ]),
    );
    expect(actions.filter(({ action }) => action === 'application_signed_in')).toHaveLength(1);
  });

  test('shows the application on the page that asks for the passkey after a code, also without a script', async () => {
    const client = service.client();
    const email = freshAddress();
    const { uid } = await requestWith(client, 'phr');
    const post = (path: string, fields: Record<string, string>) =>
      postForm(client, `/oauth/interaction/${uid}${path}`, fields, { Origin: service.url, Accept: 'text/html' });
    expect((await post('', { email })).status).toBe(303);
    const page = await post('/code', { email, code: (await stage.mailbox.waitFor(email)).code });
    expect(bootOf(page.text)).toMatchObject({ target: { kind: 'application', name: 'Bank' }, addPasskey: { email, interaction: uid } });
  });

  test('is signed in by email for unknown classes, and for a list that accepts the email too', async () => {
    for (const acr_values of ['urn:example:unknown', 'phr urn:emailauth:acr:email']) {
      const client = service.client();
      const begun = await requestWith(client, acr_values);
      const { code } = await continueByLink(stage, client, begun, freshAddress());
      const { id_token } = (await exchangeCode(client, begun, code)).json;
      const claims = JSON.parse(Buffer.from(id_token.split('.')[1], 'base64url').toString());
      expect(claims).toMatchObject({ acr: 'urn:emailauth:acr:email', amr: ['otp'] });
    }
  });
});

/** Returns a credential of an authenticator that behaves differently once. */
function withState(authenticator: ReturnType<typeof createAuthenticator>, change: { origin?: string; flags?: number }, challenge: string) {
  const { state } = authenticator;
  const before = { ...state };
  Object.assign(state, change);
  const credential = authenticator.get(challenge);
  Object.assign(state, { origin: before.origin, flags: before.flags });
  return credential;
}

describe('a registration of a passkey', () => {
  test('is possible once with the options of a sign-in, in the same browser', async () => {
    const client = newBrowser();
    const { options } = await offerFor(client);
    const other = newBrowser();
    await challengeOf(other);
    const register = (browser: Client) =>
      browser.post('/api/auth/passkey/registration', { credential: createAuthenticator().create(options) });
    expect((await register(other)).json.code).toBe('passkey_expired');
    expect((await register(client)).status).toBe(200);
    expect((await register(client)).json.code).toBe('passkey_expired');
  });

  test('rejects the challenge of a sign-in: it needs options of its own', async () => {
    const client = newBrowser();
    const options = { challenge: await challengeOf(client), user: { id: base64url(randomBytes(32)) } };
    const response = await client.post('/api/auth/passkey/registration', { credential: createAuthenticator().create(options) });
    expect(response.json.code).toBe('passkey_expired');
  });

  test('gives all passkeys of an address one user handle, and names the others in its options', async () => {
    const { email, authenticator } = await addPasskey();
    const { options } = await offerFor(newBrowser(), email);
    expect(options.user.id).toBe(authenticator.state.userHandle);
    expect(options.excludeCredentials.map(({ id }: { id: string }) => id)).toEqual([authenticator.id]);
  });

  test('is not offered in a browser that has a passkey of the address, declined one, or has no authenticator', async () => {
    const { client, email } = await addPasskey();
    const declined = newBrowser();
    declined.cookies.set('passkey_later', '1');
    for (const browser of [client, declined, service.client()]) {
      await requestEmail(browser, email, `https://${shop}/`);
      expect(await openLink(browser, await stage.mailbox.waitFor(email))).toContain(`https://${shop}/`);
    }
  });
});

describe('the passkeys of an account', () => {
  test('are listed, renamed and removed by their owner only', async () => {
    const { email } = await addPasskey();
    const owner = await signInDeveloper(stage, service, email);
    const stranger = await signInDeveloper(stage, service);
    const { rpId, passkeys } = (await owner.client.get('/api/user/passkeys')).json;
    expect([rpId, passkeys.length]).toEqual(['localhost', 1]);
    const path = `/api/user/passkeys/${passkeys[0].id}`;
    expect((await stranger.client.put(path, { name: 'Mine' })).status).toBe(404);
    expect((await stranger.client.delete(path)).status).toBe(404);
    expect((await owner.client.put(path, { name: 'Blue laptop' })).json.name).toBe('Blue laptop');
    expect((await owner.client.delete(path)).json.passkeys).toEqual([]);
    expect((await owner.client.delete(path)).status).toBe(404);
    const actions = await stage.query("select action from audit_log where email = $1 and action like 'passkey%' order by id", [email]);
    expect(actions.map(({ action }) => action)).toEqual(['passkey_added', 'passkey_renamed', 'passkey_removed']);
  });

  /** Makes the latest proof of an address on all devices older. */
  const ageProof = (email: string, minutes: number) =>
    stage.query('update remembered_keys set expires_at = expires_at - make_interval(mins => $2) where email = $1', [email, minutes]);
  const optionsFor = (client: Client) => client.post('/api/user/passkeys/options');

  test('get another one in a browser that proved the address lately, and an email tells the address', async () => {
    const { email, client } = await signInDeveloper(stage, service);
    await ageProof(email, 9);
    const { options } = (await optionsFor(client)).json;
    const credential = createAuthenticator().create(options);
    const other = service.client();
    await challengeOf(other);
    expect((await other.post('/api/auth/passkey/registration', { credential })).json.code).toBe('passkey_expired');
    expect((await client.post('/api/auth/passkey/registration', { credential, language: 'lt' })).status).toBe(200);
    const notice = await stage.mailbox.waitFor(email);
    expect(notice.subject).toBe('Pridėtas prieigos raktas');
    expect(notice.text).toContain(`${service.url}/passkeys?language=lt`);
    expect((await optionsFor(client)).json.options.excludeCredentials).toHaveLength(1);
  });

  test('get no other one by a session whose address was proven too long ago, on another device, or never', async () => {
    const { email, client } = await signInDeveloper(stage, service);
    const program = service.client();
    program.cookies.set('sid', client.cookies.get('sid') ?? '');
    expect((await optionsFor(program)).json.code).toBe('proof_needed');
    await ageProof(email, 11);
    expect((await optionsFor(client)).json).toMatchObject({ code: 'proof_needed' });
    // One click of a remembered account opens a session, and proves nothing.
    const again = await client.post('/api/auth/validate-key', { email, key: client.cookies.get('auth_key') });
    expect((await client.post('/api/auth/token-login', { token: tokenOf(again.json.redirectUrl) })).status).toBe(200);
    expect((await optionsFor(client)).json.code).toBe('proof_needed');
    expect((await optionsFor(service.client())).json.code).toBe('sign_in_needed');
  });

  test('get another one after a sign-in with one of them', async () => {
    const { client, email, authenticator } = await addPasskey();
    const signedIn = await client.post('/api/auth/passkey', { credential: authenticator.get(await challengeOf(client)) });
    await ageProof(email, 11);
    expect((await client.post('/api/auth/token-login', { token: tokenOf(signedIn.json.redirectUrl) })).status).toBe(200);
    expect((await optionsFor(client)).status).toBe(200);
  });

  test('are at most 20', async () => {
    const { client, email } = await addPasskey();
    await stage.query(
      `insert into passkeys (id, credential_id, email, user_handle, public_key, counter, device_type, backed_up, transports, aaguid, name)
       select gen_random_uuid(), credential_id || n, email, user_handle, public_key, counter, device_type, backed_up, transports, aaguid, name
       from passkeys, generate_series(2, 19) n where email = $1`,
      [email],
    );
    const owner = await signInDeveloper(stage, service, email);
    expect((await optionsFor(owner.client)).status).toBe(200);
    await addPasskey({ client: newBrowser(), email });
    expect((await optionsFor(owner.client)).json).toMatchObject({ code: 'too_many', error: expect.stringContaining('20 passkeys') });
    expect((await optionsFor(client)).json.code).toBe('sign_in_needed');
  });

  test('lead to a sign-in page that offers neither the session nor an account whose address was proven too long ago', async () => {
    const { email, client } = await signInDeveloper(stage, service);
    const stepsOf = async (query: string) => bootOf((await client.get(`/auth${query}`)).text).steps;
    expect((await stepsOf('')).step).toBe('signed_in');
    expect(await stepsOf('?max_age=600')).toMatchObject({ step: 'address', oneClick: [email], query: '?max_age=600&language=en' });
    await ageProof(email, 11);
    expect(await stepsOf('?max_age=600')).toMatchObject({ step: 'address', oneClick: [] });
  });
});

test('an operator with several hosts has one passkey for all: each host lists the others, and they use its RP ID', async () => {
  const listed = await second.client().get('/.well-known/webauthn');
  expect([listed.status, listed.headers['content-type'], listed.json]).toEqual([
    200,
    expect.stringMatching(/^application\/json/),
    { origins: [service.url, RELATED] },
  ]);
  expect((await service.client().get('/.well-known/webauthn')).status).toBe(404);

  const client = newBrowser(elsewhere);
  const email = freshAddress();
  const { options } = await offerFor(client, email);
  expect(options.rp.id).toBe(RP_ID);
  const authenticator = openAuthenticator({ origin: elsewhere.url, rpId: RP_ID });
  expect((await client.post('/api/auth/passkey/registration', { credential: authenticator.create(options) })).status).toBe(200);
  const { challenge, rpId } = (await client.post('/api/auth/passkey/challenge')).json;
  expect(rpId).toBe(RP_ID);
  expect((await signIn(client, authenticator.get(challenge))).status).toBe(200);
  // A signature for another origin is no signature for this one, and neither is one for another RP ID.
  authenticator.state.origin = service.url;
  expect((await signIn(client, authenticator.get(await challengeOf(client)))).json.code).toBe('bad_passkey');
  const here = service.client();
  expect((await signIn(here, authenticator.get(await challengeOf(here)))).json.code).toBe('bad_passkey');
});
