import { generateKeyPairSync } from 'node:crypto';
import { type CryptoKey, errors, importJWK, importPKCS8 } from 'jose';
import { beforeAll, describe, expect, test } from 'vitest';
import { bindEvt, makeEvt, makeToken, newTokenKey, type TokenInput, type TokenKey } from '../../../test/support/email-issuer.ts';
import { type FindKey, InvalidToken, sdHashOf, splitToken, type TokenFailure } from './evt.ts';
import { claimedNonce, verifyToken } from './verify-evt.ts';

const NOW = Date.now();
const seconds = Math.floor(NOW / 1000);
const expected = { issuer: 'https://issuer.example', email: 'ann@mail.example', origin: 'https://auth.example', nonce: 'n-1', now: NOW };

let issuerKey: TokenKey;
let browserKey: TokenKey;
let valid: TokenInput;
let findKey: FindKey;
beforeAll(async () => {
  [issuerKey, browserKey] = await Promise.all([newTokenKey('ES256'), newTokenKey('Ed25519')]);
  valid = { ...expected, issuerKey, browserKey };
  findKey = keyFinder(issuerKey);
});

/** Returns the lookup of an issuer with one key. */
function keyFinder(key: TokenKey): FindKey {
  return async ({ kid }) => {
    if (kid !== key.kid) throw new errors.JWKSNoMatchingKey();
    return (await importJWK(key.jwk, key.alg)) as CryptoKey;
  };
}

/** Returns why a token is not valid, or null. */
async function failureOf(token: string, find = findKey): Promise<TokenFailure | null> {
  try {
    await verifyToken(splitToken(token), expected, find);
    return null;
  } catch (error) {
    if (error instanceof InvalidToken) return error.failure;
    throw error;
  }
}

const failureWith = async (changes: Partial<TokenInput>) => failureOf(await makeToken({ ...valid, ...changes }));

test.each(['Ed25519', 'EdDSA', 'ES256', 'RS256'])('accepts an issuer that signs with %s', async (alg) => {
  const key = await newTokenKey(alg);
  expect(await failureOf(await makeToken({ ...valid, issuerKey: key }), keyFinder(key))).toBeNull();
});

test.each(['Ed25519', 'EdDSA', 'ES256'])('accepts a browser that signs with %s', async (alg) => {
  expect(await failureWith({ browserKey: await newTokenKey(alg) })).toBeNull();
});

test('compares addresses in their normal form', async () => {
  expect(await failureWith({ email: 'Ann@MAIL.example' })).toBeNull();
});

test('accepts an address that the issuer made for one website as an address of its own', async () => {
  expect(await failureWith({ evt: { claims: { is_private_email: true } } })).toBeNull();
});

test('computes the hash of the key binding with the tilde', async () => {
  // SHA-256 of "a~".
  expect(sdHashOf('a')).toBe('tb8EFB89I6HicUx-MxXcbJ8KD0S-ZILcNP_KRWOqozM');
});

test('returns the nonce before the signatures are verified', async () => {
  expect(claimedNonce(splitToken(await makeToken(valid)))).toBe('n-1');
});

describe('rejects the token of an issuer', () => {
  test.each<[string, TokenFailure, Partial<TokenInput>]>([
    ['with another issuer', 'wrong_issuer', { issuer: 'https://other.example' }],
    ['for another address', 'other_email', { email: 'bob@mail.example' }],
    ['without an address', 'other_email', { evt: { claims: { email: undefined } } }],
    ['with a list of addresses', 'other_email', { evt: { claims: { email: ['ann@mail.example'] } } }],
    ['for an address that is not verified', 'not_verified', { evt: { claims: { email_verified: false } } }],
    ['for an address that is "true"', 'not_verified', { evt: { claims: { email_verified: 'true' } } }],
    ['that is six minutes old', 'expired', { evt: { claims: { iat: seconds - 360 } } }],
    ['that is two minutes ahead', 'expired', { evt: { claims: { iat: seconds + 120 } } }],
    ['without a time', 'expired', { evt: { claims: { iat: undefined } } }],
    ['that has expired', 'expired', { evt: { claims: { exp: seconds - 120 } } }],
    ['of another type', 'bad_type', { evt: { header: { typ: 'JWT' } } }],
    ['without a type', 'bad_type', { evt: { header: { typ: undefined } } }],
    ['of an unknown key', 'unknown_key', { evt: { header: { kid: 'other' } } }],
    ['without a key of the browser', 'malformed', { evt: { claims: { cnf: undefined } } }],
    [
      'with a private key of the browser',
      'malformed',
      { evt: { claims: { cnf: { jwk: { kty: 'OKP', crv: 'Ed25519', x: 'x', d: 'd' } } } } },
    ],
    ['with a key of the browser that is none', 'malformed', { evt: { claims: { cnf: { jwk: { kty: 'OKP', crv: 'Ed25519', x: '' } } } } }],
  ])('%s', async (_, failure, changes) => expect(await failureWith(changes)).toBe(failure));

  test('signed by a forger', async () => {
    const forger = { ...(await newTokenKey('ES256')), kid: issuerKey.kid };
    expect(await failureWith({ issuerKey: forger })).toBe('bad_signature');
  });

  test('without a signature', async () => {
    const [evt, keyBinding] = (await makeToken(valid)).split('~');
    const [, claims] = evt.split('.');
    const header = Buffer.from(JSON.stringify({ alg: 'none', typ: 'evt+jwt', kid: issuerKey.kid })).toString('base64url');
    expect(await failureOf(`${header}.${claims}.AA~${keyBinding}`)).toBe('bad_algorithm');
  });

  test('with an algorithm that is not accepted', async () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-384' });
    const key = await importPKCS8(String(privateKey.export({ type: 'pkcs8', format: 'pem' })), 'ES384');
    expect(await failureWith({ issuerKey: { ...issuerKey, alg: 'ES384', privateKey: key } })).toBe('bad_algorithm');
  });
});

describe('rejects the key binding', () => {
  test.each<[string, TokenFailure, Partial<TokenInput>]>([
    ['for another website', 'other_origin', { origin: 'https://shop.example' }],
    ['for a list of websites', 'other_origin', { keyBinding: { claims: { aud: ['https://auth.example'] } } }],
    ['for another page', 'other_nonce', { nonce: 'n-2' }],
    ['of another token', 'wrong_hash', { keyBinding: { claims: { sd_hash: sdHashOf('x') } } }],
    ['that is six minutes old', 'expired', { keyBinding: { claims: { iat: seconds - 360 } } }],
    ['that is two minutes ahead', 'expired', { keyBinding: { claims: { iat: seconds + 120 } } }],
    ['of another type', 'bad_type', { keyBinding: { header: { typ: 'evt+jwt' } } }],
  ])('%s', async (_, failure, changes) => expect(await failureWith(changes)).toBe(failure));

  test('of another browser', async () => {
    const evt = await makeEvt(valid);
    const stolen = await bindEvt(evt, { ...valid, browserKey: await newTokenKey('Ed25519') });
    expect(await failureOf(`${evt}~${stolen}`)).toBe('bad_signature');
  });

  test('with an algorithm that does not belong to the key', async () => {
    const evt = await makeEvt(valid);
    const other = await bindEvt(evt, { ...valid, browserKey: await newTokenKey('ES256') });
    expect(await failureOf(`${evt}~${other}`)).toBe('malformed');
  });
});

test.each(['', '~', 'a.b.c', 'a.b.c~', '~a.b.c', 'a.b.c~d.e.f~', 'a.b.c~d.e', 'a.b.c~d.e.f', 'a b.c.d~e.f.g', `${'a.b.c~'.repeat(3)}`])(
  'rejects %j',
  async (text) => expect(await failureOf(text)).toBe('malformed'),
);

test('reports a failure of the lookup of keys as it is', async () => {
  const token = await makeToken(valid);
  const unreachable = async () => Promise.reject(new TypeError('unreachable'));
  await expect(verifyToken(splitToken(token), expected, unreachable)).rejects.toThrow('unreachable');
});
