import { afterAll, describe, expect, test } from 'vitest';
import type { Client } from '../support/client.ts';
import {
  addressAt,
  bootOf,
  delegatedDomain,
  loadIssuer,
  makeToken,
  newTokenKey,
  openEmailIssuer,
  type TokenInput,
} from '../support/email-issuer.ts';
import { production, useService } from '../support/harness.ts';
import { readMetrics } from '../support/metrics-text.ts';
import { allow, answerOf, begin, exchangeCode, follow, REDIRECT } from '../support/oidc-client.ts';
import { addWebsite, requestEmail, signInDeveloper, tokenOf } from '../support/sign-ins.ts';

const { stage, service: off, names } = await useService();
const issuer = await openEmailIssuer();
afterAll(() => issuer.close());
const service = await stage.start({ EVP: 'on', DNS_SERVERS: names.address });
const shop = await addWebsite(stage, service);
await loadIssuer(service, names, issuer, `https://${shop}/`);

/** A token of Chrome's origin trials. */
function trialToken(): string {
  const payload = Buffer.from(JSON.stringify({ origin: service.url, feature: 'EmailVerificationProtocol', expiry: 1893456000 }));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(payload.length);
  return Buffer.concat([Buffer.from([3]), Buffer.alloc(64), length, payload]).toString('base64');
}
const TRIAL_TOKEN = trialToken();
const second = await stage.start({
  EVP: '',
  DNS_SERVERS: names.address,
  PUBLIC_URL: service.url,
  EVP_ORIGIN_TRIAL_TOKEN: TRIAL_TOKEN,
});

/** Opens the sign-in page of the shop. @returns its nonce, undefined without one */
async function openPage(client: Client, path = `/auth?forward_url=https://${shop}/`): Promise<string> {
  return bootOf((await client.get(path)).text).verification?.nonce;
}

/** Returns what a browser shows for an address whose domain the issuer is responsible for. */
async function tokenFor(client: Client, email: string, changes: Partial<TokenInput> = {}): Promise<string> {
  const nonce = changes.nonce ?? (await openPage(client));
  const browserKey = await newTokenKey('Ed25519');
  return makeToken({ issuer: issuer.origin, email, origin: service.url, issuerKey: issuer.key, browserKey, ...changes, nonce });
}

const signIn = (client: Client, email: string, token: string, destination: object = { forward_url: `https://${shop}/` }) =>
  client.post('/api/auth/verified-email', { email, token, ...destination });

const mailsTo = (email: string) => stage.query("select 1 from audit_log where email = $1 and action = 'sign_in_requested'", [email]);
const signInsOf = (email: string) =>
  stage.query("select domain from audit_log where email = $1 and action = 'signed_in' and method = 'v'", [email]);

const countOf = async (result: string, of = service) => (await readMetrics(of)).sum('emailauth_email_verifications_total', { result });

describe('an address that its mail provider has verified', () => {
  test('is signed in without an email, with the same token as by a link, and remembered in the browser', async () => {
    const client = service.client();
    const email = addressAt(delegatedDomain(names, issuer.record));
    const before = await countOf('verified');
    const response = await signIn(client, email, await tokenFor(client, email));
    const token = tokenOf(response.json.redirectUrl);
    const verified = await client.get(`/api/verify-token?token=${token}&domain=${shop}`);
    expect(verified.json).toMatchObject({ email, valid: true, domain: shop, method: 'verified_email' });
    const key = client.cookies.get('auth_key');
    expect((await client.post('/api/auth/validate-key', { email, key, forward_url: `https://${shop}/` })).status).toBe(200);
    expect(await signInsOf(email)).toEqual([{ domain: shop }]);
    expect(await mailsTo(email)).toEqual([]);
    expect(await countOf('verified')).toBe(before + 1);
    expect((await readMetrics(service)).sum('emailauth_sign_ins_total', { method: 'verified_email', result: 'signed_in' })).toBeGreaterThan(
      0,
    );
  });

  test('is signed in to the portal', async () => {
    const client = service.client();
    const email = addressAt(delegatedDomain(names, issuer.record));
    const token = await tokenFor(client, email, { nonce: await openPage(client, '/auth') });
    const { redirectUrl } = (await signIn(client, email, token, {})).json;
    expect(new URL(redirectUrl).origin).toBe(service.url);
    expect((await client.post('/api/auth/token-login', { token: tokenOf(redirectUrl) })).json).toMatchObject({ success: true, email });
  });

  test('is not enough for a website that requires a passkey', async () => {
    const client = service.client();
    const email = addressAt(delegatedDomain(names, issuer.record));
    const token = await tokenFor(client, email);
    const destination = { forward_url: `https://${shop}/`, require: 'passkey' };
    expect(await openPage(client, `/auth?${new URLSearchParams(destination)}`)).toBeUndefined();
    expect((await signIn(client, email, token, destination)).json).toMatchObject({ code: 'passkey_required' });
    expect(await signInsOf(email)).toEqual([]);
  });

  test('is signed in by the form of the page', async () => {
    const client = service.client();
    const email = addressAt(delegatedDomain(names, issuer.record));
    const path = `/auth?forward_url=${encodeURIComponent(`https://${shop}/`)}`;
    const page = (await client.get(path)).text;
    const field = /<input[^>]*autocomplete="email-verification-token"[^>]*>/i.exec(page)?.[0] ?? '';
    const nonce = /nonce="([^"]+)"/.exec(field)?.[1] ?? '';
    const name = /name="([^"]+)"/.exec(field)?.[1] ?? '';
    const response = await client.form(path, { email, [name]: await tokenFor(client, email, { nonce }) });
    expect(response.headers.refresh).toContain(`https://${shop}/?token=`);
    expect(await mailsTo(email)).toEqual([]);
  });

  test('is of its own: it shares nothing with the address that it forwards to', async () => {
    const client = service.client();
    const domain = delegatedDomain(names, issuer.record);
    const [own, email] = [addressAt(domain), addressAt(domain)];
    const token = await tokenFor(client, email, { evt: { claims: { is_private_email: true, linked_email: own } } });
    const { redirectUrl } = (await signIn(client, email, token)).json;
    expect((await client.get(`/api/verify-token?token=${tokenOf(redirectUrl)}`)).json.email).toBe(email);
    expect(await signInsOf(own)).toEqual([]);
  });

  test('is found by requests that are shared and cached', async () => {
    const [client, domain] = [service.client(), delegatedDomain(names, issuer.record)];
    const used = await openEmailIssuer();
    names.setText(`_email-verification.${domain}`, [used.record]);
    for (let n = 0; n < 3; n++) {
      const email = addressAt(domain);
      const token = await tokenFor(client, email, { issuer: used.origin, issuerKey: used.key });
      expect((await signIn(client, email, token)).json.redirectUrl).not.toBeNull();
    }
    expect(used.requests).toEqual(['/.well-known/email-verification', '/jwks']);
    expect(names.queries.filter((name) => name === `_email-verification.${domain}`)).toHaveLength(1);
    await used.close();
  });

  test('is signed in once: of 50 concurrent requests to two instances all but one get an email', async () => {
    const [client, there] = [service.client(), second.client()];
    for (let round = 0; round < 2; round++) {
      const email = addressAt(delegatedDomain(names, issuer.record));
      const token = await tokenFor(client, email);
      there.cookies = client.cookies;
      const responses = await Promise.all(Array.from({ length: 50 }, (_, n) => signIn(n % 2 ? client : there, email, token)));
      expect(responses.filter(({ json }) => typeof json.redirectUrl === 'string').length).toBeLessThanOrEqual(1);
      expect(await signInsOf(email)).toHaveLength(1);
    }
  });
});

describe('OpenID Connect', () => {
  test('the claim amr names the presence of the person, also with prompt=login', async () => {
    const developer = await signInDeveloper(stage, service);
    const created = await developer.client.post('/api/clients', { name: 'App', redirectUris: [REDIRECT] });
    const client = service.client();
    const email = addressAt(delegatedDomain(names, issuer.record));
    const begun = await begin(client, { clientId: created.json.clientId, parameters: { prompt: 'login' } });
    const { nonce } = bootOf(begun.page.text).verification;
    const signedIn = await signIn(client, email, await tokenFor(client, email, { nonce }), { interaction: begun.uid });
    const answer = answerOf(await allow(client, await follow(client, await client.get(signedIn.json.redirectUrl))));
    const { id_token } = (await exchangeCode(client, begun, answer.code)).json;
    expect(JSON.parse(Buffer.from(id_token.split('.')[1], 'base64url').toString())).toMatchObject({ email, amr: ['user'] });
  });
});

/** Checks that a token signs no one in, is counted, and that the email of the sign-in is sent as without a token. */
async function expectMail(client: Client, email: string, token: string, reason: string): Promise<void> {
  const before = await countOf(reason);
  const response = await signIn(client, email, token);
  expect([response.status, response.json]).toEqual([200, { redirectUrl: null }]);
  expect(await countOf(reason)).toBe(before + 1);
  await requestEmail(client, email, `https://${shop}/`);
  expect((await stage.mailbox.waitFor(email)).link).toContain(service.url);
  expect(await signInsOf(email)).toHaveLength(0);
}

describe('the email is sent instead', () => {
  test('for a token that another issuer has signed', async () => {
    const [client, forger] = [service.client(), await openEmailIssuer()];
    const email = addressAt(delegatedDomain(names, issuer.record));
    await expectMail(client, email, await tokenFor(client, email, { issuer: forger.origin, issuerKey: forger.key }), 'unknown_key');
    const issuerKey = { ...forger.key, kid: issuer.key.kid };
    await expectMail(client, email, await tokenFor(client, email, { issuerKey }), 'bad_signature');
    await forger.close();
  });

  test('for an issuer that is not responsible for the domain', async () => {
    const [client, other] = [service.client(), await openEmailIssuer()];
    const email = addressAt(delegatedDomain(names, other.record));
    other.responses.set('/jwks', { keys: [{ ...issuer.key.jwk, kid: issuer.key.kid, alg: 'ES256' }] });
    await expectMail(client, email, await tokenFor(client, email), 'wrong_issuer');
    await other.close();
  });

  test.each<[string, string, (client: Client) => Promise<Partial<TokenInput>> | Partial<TokenInput>]>([
    ['a nonce that the service did not make', 'bad_nonce', () => ({ nonce: 'x' })],
    ['the nonce of another browser', 'bad_nonce', async () => ({ nonce: await openPage(service.client()) })],
    ['another website', 'other_origin', () => ({ origin: 'https://evil.example' })],
    ['another address', 'other_email', () => ({ email: 'mallory@mail.example' })],
    ['an hour ago', 'expired', () => ({ evt: { claims: { iat: Math.floor(Date.now() / 1000) - 3600 } } })],
    ['a browser an hour ago', 'expired', () => ({ keyBinding: { claims: { iat: Math.floor(Date.now() / 1000) - 3600 } } })],
    ['an address that is not verified', 'not_verified', () => ({ evt: { claims: { email_verified: false } } })],
  ])('for a token of %s', async (_, reason, changes) => {
    const client = service.client();
    const email = addressAt(delegatedDomain(names, issuer.record));
    // The browser has a page, as each that sends a token.
    await openPage(client);
    await expectMail(client, email, await tokenFor(client, email, await changes(client)), reason);
  });

  test('for a token that was used before', async () => {
    const client = service.client();
    const email = addressAt(delegatedDomain(names, issuer.record));
    const token = await tokenFor(client, email);
    expect((await signIn(client, email, token)).json.redirectUrl).not.toBeNull();
    const before = await countOf('replayed');
    expect((await signIn(client, email, token)).json).toEqual({ redirectUrl: null });
    expect(await countOf('replayed')).toBe(before + 1);
    expect(await signInsOf(email)).toHaveLength(1);
  });

  test.each<[string, string, () => string[]]>([
    ['no record', 'no_issuer', () => []],
    ['two records', 'bad_record', () => [issuer.record, 'iss=other.example']],
    ['the same record twice', 'bad_record', () => [issuer.record, issuer.record]],
    ['a record of another kind', 'bad_record', () => ['v=spf1 -all']],
    ['a record with a path', 'bad_record', () => [`${issuer.record}/path`]],
    ['a record with a user', 'bad_record', () => [issuer.record.replace('=', '=a@')]],
    ['the port of a host elsewhere', 'bad_record', () => ['iss=issuer.example:8443']],
  ])('for a domain with %s', async (_, reason, records) => {
    const client = service.client();
    const email = addressAt(delegatedDomain(names, ...records()));
    await expectMail(client, email, await tokenFor(client, email), reason);
  });

  test.each(['10.0.0.7', '169.254.169.254', '127.0.0.1', '192.168.1.1'])('for an issuer at the internal address %s', async (address) => {
    const client = service.client();
    const host = `issuer-${address.replaceAll('.', '-')}.example`;
    names.setAddresses(host, [address]);
    for (const name of [host, address]) {
      const email = addressAt(delegatedDomain(names, `iss=${name}`));
      // In local mode the service may connect to this machine by its own address: nothing listens at its port of https.
      await expectMail(client, email, await tokenFor(client, email, { issuer: `https://${name}` }), 'unreachable');
    }
  });

  test('for an issuer that does not respond', async () => {
    const client = service.client();
    for (const path of ['/.well-known/email-verification', '/jwks']) {
      const hanging = await openEmailIssuer();
      hanging.responses.set(path, 'hang');
      const domain = delegatedDomain(names, hanging.record);
      const email = addressAt(domain);
      const token = await tokenFor(client, email, { issuer: hanging.origin, issuerKey: hanging.key });
      expect((await signIn(client, email, token)).json).toEqual({ redirectUrl: null });
      await requestEmail(client, email, `https://${shop}/`);
      await stage.mailbox.waitFor(email);
      await hanging.close();
    }
  });

  test.each<[string, string, string, object | number]>([
    ['no metadata', 'unreachable', '/.well-known/email-verification', 404],
    ['keys elsewhere', 'bad_metadata', '/.well-known/email-verification', { jwks_uri: 'https://keys.example/jwks' }],
    ['metadata that is a list', 'bad_metadata', '/.well-known/email-verification', []],
    ['no keys', 'unreachable', '/jwks', 500],
    ['keys that are none', 'bad_metadata', '/jwks', { keys: 'none' }],
  ])('for an issuer with %s', async (_, reason, path, response) => {
    const [client, broken] = [service.client(), await openEmailIssuer()];
    broken.responses.set(path, response);
    const email = addressAt(delegatedDomain(names, broken.record));
    await expectMail(client, email, await tokenFor(client, email, { issuer: broken.origin, issuerKey: broken.key }), reason);
    await broken.close();
  });

  test('for a form with a token that is not valid', async () => {
    const client = service.client();
    const email = addressAt(delegatedDomain(names));
    const path = `/auth?forward_url=${encodeURIComponent(`https://${shop}/`)}`;
    const token = await tokenFor(client, email);
    const response = await client.form(path, { email, email_verification_token: token });
    expect([response.status, String(response.headers.location)]).toEqual([303, expect.stringContaining('step=code')]);
    await stage.mailbox.waitFor(email);
  });
});

test('a request whose sender waits for a token sends no email, if the mail domain has an issuer', async () => {
  const client = service.client();
  const [theirs, other] = [addressAt(delegatedDomain(names, issuer.record)), addressAt(delegatedDomain(names))];
  const request = (email: string, verifiable?: boolean) =>
    client.post('/api/auth/domain-auth', { email, forward_url: `https://${shop}/`, verifiable });
  const refused = await request(theirs, true);
  expect([refused.status, refused.json.code]).toEqual([409, 'verifiable_email']);
  expect(await mailsTo(theirs)).toEqual([]);
  for (const [email, verifiable] of [
    [other, true],
    [theirs, undefined],
  ] as const) {
    expect((await request(email, verifiable)).status).toBe(200);
    await stage.mailbox.waitFor(email);
  }
});

test('a website that is not registered gets its usual error', async () => {
  const client = service.client();
  const email = addressAt(delegatedDomain(names, issuer.record));
  const response = await signIn(client, email, await tokenFor(client, email), { forward_url: 'http://insecure.example/' });
  expect(response.json.code).toBe('bad_forward_url');
});

test('where the protocol is off, a token is counted, and signs no one in', async () => {
  const client = off.client();
  const before = await countOf('off', off);
  const page = (await client.get('/auth')).text;
  expect(page).not.toContain('email-verification-token');
  expect(bootOf(page).verification).toBeUndefined();
  const email = addressAt(delegatedDomain(names, issuer.record));
  const nonce = await openPage(service.client());
  expect((await signIn(client, email, await tokenFor(client, email, { nonce }), {})).json).toEqual({ redirectUrl: null });
  expect(await countOf('off', off)).toBe(before + 1);
});

test('in production an issuer at an internal address is refused, and the limit of tokens applies', async () => {
  const on = await stage.start({ ...production, EVP: 'on', DNS_SERVERS: names.address });
  const email = addressAt(delegatedDomain(names, issuer.record));
  // An issuer on this machine is one at an internal address.
  const browser = on.client();
  const own = await openPage(browser, '/auth');
  const token = await tokenFor(browser, email, { nonce: own, origin: on.url });
  expect((await signIn(browser, email, token, {})).json).toEqual({ redirectUrl: null });
  expect(await countOf('bad_record', on)).toBe(1);
  for (let n = 0; n < 32; n++) expect((await signIn(browser, email, 'a.b.c~d.e.f', {})).json).toEqual({ redirectUrl: null });
  const [malformed, limited] = await Promise.all([countOf('malformed', on), countOf('limited', on)]);
  expect(malformed + limited).toBe(32);
  expect(limited).toBeGreaterThan(0);
});

test('the token of the origin trial is in the header of the sign-in pages only', async () => {
  const ofService = { Host: new URL(service.url).host };
  expect((await second.client().get('/auth', ofService)).headers['origin-trial']).toBe(TRIAL_TOKEN);
  expect((await second.client().get('/', ofService)).headers['origin-trial']).toBeUndefined();
});

test('a dump of the database has no usable nonce', async () => {
  const client = service.client();
  const email = addressAt(delegatedDomain(names, issuer.record));
  const nonce = await openPage(client);
  await signIn(client, email, await tokenFor(client, email, { nonce }));
  const rows = await stage.query('select hash::text from passkey_challenges');
  expect(JSON.stringify(rows)).not.toContain(Buffer.from(nonce).toString('hex'));
  expect(rows.length).toBeGreaterThan(0);
});
