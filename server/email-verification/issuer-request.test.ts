import { beforeAll, describe, expect, test } from 'vitest';
import { newTokenKey, type TokenKey } from '../../test/email-issuer.ts';
import { type RequestChanges, signTokenRequest } from '../../test/token-request.ts';
import { InvalidRequest, type RequestFailure, verifyTokenRequest } from './issuer-request.ts';

const URL_OF_ENDPOINT = 'https://auth.mail.example/email-verification/issuance';
const BODY = '{"email":"ann@mail.example"}';
const NOW = Date.now();
const seconds = Math.floor(NOW / 1000);

let key: TokenKey;
let other: TokenKey;
beforeAll(async () => {
  [key, other] = await Promise.all([newTokenKey(), newTokenKey()]);
});

async function verify(changes: RequestChanges = {}, { url = URL_OF_ENDPOINT, body = BODY, now = NOW } = {}) {
  const headers = await signTokenRequest(URL_OF_ENDPOINT, BODY, key, { created: seconds, ...changes });
  return verifyTokenRequest({ method: 'POST', url, headers, body }, now);
}

/** Returns why a request is refused, or null. */
async function failureOf(...input: Parameters<typeof verify>): Promise<RequestFailure | null> {
  try {
    await verify(...input);
    return null;
  } catch (error) {
    if (error instanceof InvalidRequest) return error.failure;
    throw error;
  }
}

const hwk = ({ x, y }: TokenKey['jwk'], more = '') => `sig=hwk;kty="EC";crv="P-256";x="${x}";y="${y}"${more}`;

test('returns the key of the browser with the members that it sent', async () => {
  const { kty, crv, x, y } = key.jwk;
  expect(await verify()).toEqual({ kty, crv, x, y, alg: 'ES256' });
  expect(await verify({ signatureKey: hwk(key.jwk) })).toEqual({ kty, crv, x, y });
});

test('omits the default port of the URL in what is signed', async () => {
  expect(await failureOf({}, { url: URL_OF_ENDPOINT.replace('.example/', '.example:443/') })).toBeNull();
  expect(await failureOf({}, { url: URL_OF_ENDPOINT.replace('.example/', '.example:8443/') })).toBe('wrong_signature');
});

describe('rejects a signature', () => {
  test('of another method, host or path', async () => {
    expect(await failureOf({ method: 'PUT' })).toBe('wrong_signature');
    expect(await failureOf({ url: 'https://auth.other.example/email-verification/issuance' })).toBe('wrong_signature');
    expect(await failureOf({ url: 'https://auth.mail.example/email-verification/other' })).toBe('wrong_signature');
  });

  test('by another key than the one that is sent', async () => {
    expect(await failureOf({ signatureKey: hwk(other.jwk) })).toBe('wrong_signature');
  });

  test('when the key or the digest is replaced after signing', async () => {
    expect(await failureOf({ headers: { 'signature-key': hwk(other.jwk) } })).toBe('wrong_signature');
    const { 'content-digest': digest } = await signTokenRequest(URL_OF_ENDPOINT, '{"email":"bob@mail.example"}', key);
    expect(await failureOf({ headers: { 'content-digest': digest } }, { body: '{"email":"bob@mail.example"}' })).toBe('wrong_signature');
  });

  test('of a body with another digest', async () => {
    expect(await failureOf({}, { body: '{"email":"bob@mail.example"}' })).toBe('wrong_digest');
    expect(await failureOf({ headers: { 'content-digest': undefined } })).toBe('wrong_digest');
    expect(await failureOf({ headers: { 'content-digest': 'sha-512=:AAAA:' } })).toBe('wrong_digest');
  });

  test.each(['@method', '@authority', '@path', 'content-digest', 'signature-key'])('that does not cover %s', async (name) => {
    const covered = ['@method', '@authority', '@path', 'content-digest', 'signature-key'].filter((component) => component !== name);
    expect(await failureOf({ covered })).toBe('not_covered');
  });

  test('that covers a component twice, or with parameters', async () => {
    const input = `sig=("@method" "@authority" "@path" "content-digest" "signature-key" "@method");created=${seconds}`;
    expect(await failureOf({ headers: { 'signature-input': input } })).toBe('not_covered');
    const related = input.replace('"@method")', '"@query-param";name="x")');
    expect(await failureOf({ headers: { 'signature-input': related } })).toBe('not_covered');
  });

  test('that is more than a minute old, or from the future, or has no time', async () => {
    expect(await failureOf({ created: seconds - 59 })).toBeNull();
    expect(await failureOf({ created: seconds + 59 })).toBeNull();
    expect(await failureOf({ created: seconds - 62 })).toBe('not_current');
    expect(await failureOf({ created: seconds + 62 })).toBe('not_current');
    expect(await failureOf({ created: null })).toBe('not_current');
  });

  test.each(['signature', 'signature-input', 'signature-key'])('without the header %s', async (name) => {
    expect(await failureOf({ headers: { [name]: undefined } })).toBe('unsigned');
  });

  test('beside another one, or under another name than the key', async () => {
    const headers = await signTokenRequest(URL_OF_ENDPOINT, BODY, key);
    expect(await failureOf({ headers: { signature: `${headers.signature}, two=:AAAA:` } })).toBe('malformed');
    expect(await failureOf({ headers: { signature: headers.signature.replace('sig=', 'two=') } })).toBe('malformed');
    expect(await failureOf({ headers: { 'signature-input': 'not a dictionary;;' } })).toBe('malformed');
    expect(await failureOf({ headers: { 'signature-input': 'sig=5;created=1' } })).toBe('malformed');
  });

  test('by a key of another scheme or algorithm, or that is no point of the curve', async () => {
    expect(await failureOf({ signatureKey: hwk(key.jwk).replace('hwk', 'jwt') })).toBe('unsupported_key');
    expect(await failureOf({ signatureKey: hwk(key.jwk, ';alg="ES384"') })).toBe('unsupported_key');
    expect(await failureOf({ signatureKey: hwk(key.jwk).replace('P-256', 'P-384') })).toBe('unsupported_key');
    expect(await failureOf({ signatureKey: 'sig=hwk;kty="oct";k="c2VjcmV0"' })).toBe('unsupported_key');
    expect(await failureOf({ signatureKey: hwk({ kty: 'EC', x: key.jwk.x, y: other.jwk.y }) })).toBe('unsupported_key');
  });
});
