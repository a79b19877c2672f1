import { type CryptoKey, exportJWK, generateKeyPair, type JWK, type JWTHeaderParameters, type JWTPayload, SignJWT } from 'jose';
import { type EvtClaims, type KeyBindingClaims, sdHashOf } from '../server/email-verification/token.ts';

/** A key pair of an issuer, or of a browser. */
export type TokenKey = { alg: string; kid: string; privateKey: CryptoKey; jwk: JWK };

let keyCount = 0;

export async function newTokenKey(alg = 'ES256'): Promise<TokenKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  keyCount += 1;
  return { alg, kid: `key-${keyCount}`, privateKey, jwk: await exportJWK(publicKey) };
}

/** Headers and claims that replace those of a valid token; undefined removes one. */
type Changes = { header?: Partial<JWTHeaderParameters>; claims?: JWTPayload };

/** A token of the Email Verification Protocol, and what is wrong with it. */
export type TokenInput = {
  /** The origin of the issuer. */
  issuer: string;
  email: string;
  /** Of the website. */
  origin: string;
  nonce: string;
  issuerKey: TokenKey;
  browserKey: TokenKey;
  evt?: Changes;
  keyBinding?: Changes;
};

/** Returns a token as an issuer and a browser make one. */
export async function makeToken(input: TokenInput): Promise<string> {
  const evt = await makeEvt(input);
  return `${evt}~${await bindEvt(evt, input)}`;
}

/** Returns the token that the issuer signs. */
export async function makeEvt({ issuer, email, issuerKey, browserKey, evt = {} }: Omit<TokenInput, 'origin' | 'nonce'>): Promise<string> {
  const claims: EvtClaims = { iss: issuer, iat: seconds(), cnf: { jwk: browserKey.jwk }, email, email_verified: true };
  const header = { alg: issuerKey.alg, kid: issuerKey.kid, typ: 'evt+jwt', ...evt.header };
  return new SignJWT({ ...claims, ...evt.claims }).setProtectedHeader(header).sign(issuerKey.privateKey);
}

/** Returns the key binding of a browser. */
export async function bindEvt(evt: string, { origin, nonce, browserKey, keyBinding = {} }: TokenInput): Promise<string> {
  const claims: KeyBindingClaims = { aud: origin, iat: seconds(), nonce, sd_hash: sdHashOf(evt) };
  const header = { alg: browserKey.alg, typ: 'kb+jwt', ...keyBinding.header };
  return new SignJWT({ ...claims, ...keyBinding.claims }).setProtectedHeader(header).sign(browserKey.privateKey);
}

const seconds = () => Math.floor(Date.now() / 1000);
