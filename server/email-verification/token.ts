import { hash } from 'node:crypto';
import { type CryptoKey, decodeJwt, errors, importJWK, type JWK, type JWTHeaderParameters, type JWTPayload, jwtVerify } from 'jose';
import { normalEmail } from '../../contract/rules.ts';

/*
 * The tokens of the Email Verification Protocol (draft-hardt-email-verification): `EVT~KB`. The issuer of an address signs the EVT, an
 * SD-JWT without disclosures, for a key of the browser, and the browser signs the KB with that key, for one website and one page.
 */

/** `typ` of the token that the issuer signs, and of the key binding that the browser signs (RFC 9901 §4.3). */
export const EVT_TYPE = 'evt+jwt';
export const KEY_BINDING_TYPE = 'kb+jwt';

/** The algorithms of issuers that are accepted. `EdDSA` is the older name of `Ed25519` (RFC 9864). */
export const EVT_ALGORITHMS: readonly string[] = ['Ed25519', 'EdDSA', 'ES256', 'RS256'];
/** Those of the key of a browser. */
export const KEY_BINDING_ALGORITHMS: readonly string[] = ['Ed25519', 'EdDSA', 'ES256'];

/** How old a token may be, and how far ahead the clock of its issuer or browser may be, in seconds. */
export const MAX_TOKEN_AGE_SECONDS = 300;
export const MAX_CLOCK_SKEW_SECONDS = 60;

/** The claims of an EVT. `is_private_email`: the issuer made the address for one website; it is an address of its own. */
export type EvtClaims = {
  /** An https origin. */
  iss: string;
  iat: number;
  /** The public key of the browser. */
  cnf: { jwk: JWK };
  email: string;
  email_verified: true;
  is_private_email?: boolean;
};

/** The claims of a key binding. */
export type KeyBindingClaims = {
  /** The origin of the website. */
  aud: string;
  iat: number;
  nonce: string;
  sd_hash: string;
};

/** Why a token does not verify an address. They are values of a label of the metrics. */
export type TokenFailure =
  | 'malformed'
  | 'bad_type'
  | 'bad_algorithm'
  | 'unknown_key'
  | 'bad_signature'
  | 'wrong_issuer'
  | 'other_email'
  | 'not_verified'
  | 'other_origin'
  | 'other_nonce'
  | 'wrong_hash'
  | 'expired';

/** A token that does not verify the address. */
export class InvalidToken extends Error {
  readonly failure: TokenFailure;

  constructor(failure: TokenFailure) {
    super(`The token is not valid: ${failure}`);
    this.failure = failure;
  }
}

/** Returns the hash of an EVT in its key binding: of the EVT with the `~` after it (RFC 9901 §4.3.1). */
export const sdHashOf = (evt: string): string => hash('sha256', `${evt}~`, 'base64url');

/** Returns the key with which an issuer signs. It may throw the errors of jose. */
export type FindKey = (header: JWTHeaderParameters) => Promise<CryptoKey>;

/** The two parts of a token. */
export type SplitToken = { evt: string; keyBinding: string };

const COMPACT_JWS = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/** Returns the parts of a token. @throws InvalidToken */
export function splitToken(text: string): SplitToken {
  const [evt = '', keyBinding = '', ...rest] = text.split('~');
  if (rest.length > 0 || !COMPACT_JWS.test(evt) || !COMPACT_JWS.test(keyBinding)) throw new InvalidToken('malformed');
  return { evt, keyBinding };
}

/** Returns the nonce of a token whose signatures are not verified yet. @throws InvalidToken */
export function claimedNonce({ keyBinding }: SplitToken): string {
  const { nonce } = decoded(keyBinding);
  if (typeof nonce !== 'string') throw new InvalidToken('other_nonce');
  return nonce;
}

/**
 * Verifies a token: that its issuer says that the address is verified, to the browser that signed the nonce for this website.
 * @param expected.issuer the https origin that is responsible for the address
 * @param expected.email the address in its normal form
 * @param expected.now Unix milliseconds
 * @throws InvalidToken, and the errors of `findKey` that are not about the token
 */
export async function verifyToken(
  { evt, keyBinding }: SplitToken,
  expected: { issuer: string; email: string; origin: string; nonce: string; now: number },
  findKey: FindKey,
): Promise<void> {
  const { iss, iat, cnf, email, email_verified } = await signedClaims(
    evt,
    { typ: EVT_TYPE, algorithms: EVT_ALGORITHMS },
    expected.now,
    findKey,
  );
  if (iss !== expected.issuer) throw new InvalidToken('wrong_issuer');
  if (typeof email !== 'string' || normalEmail(email) !== expected.email) throw new InvalidToken('other_email');
  if (email_verified !== true) throw new InvalidToken('not_verified');
  requireCurrent(iat, expected.now);
  const jwk = browserKeyOf(cnf);
  const type = { typ: KEY_BINDING_TYPE, algorithms: KEY_BINDING_ALGORITHMS };
  const binding = await signedClaims(keyBinding, type, expected.now, ({ alg }) => importBrowserKey(jwk, alg));
  if (binding.aud !== expected.origin) throw new InvalidToken('other_origin');
  if (binding.nonce !== expected.nonce) throw new InvalidToken('other_nonce');
  if (binding.sd_hash !== sdHashOf(evt)) throw new InvalidToken('wrong_hash');
  requireCurrent(binding.iat, expected.now);
}

/** Verifies type, algorithm and signature, and `exp` and `nbf` where there are any. @throws InvalidToken */
async function signedClaims(
  jwt: string,
  { typ, algorithms }: { typ: string; algorithms: readonly string[] },
  now: number,
  findKey: FindKey,
): Promise<JWTPayload> {
  const options = { algorithms: [...algorithms], typ, currentDate: new Date(now), clockTolerance: MAX_CLOCK_SKEW_SECONDS };
  try {
    return (await jwtVerify(jwt, findKey, options)).payload;
  } catch (error) {
    throw failureOf(error);
  }
}

/** Returns the failure that an error of jose is about; any other error unchanged. */
function failureOf(error: unknown): unknown {
  if (error instanceof errors.JWSSignatureVerificationFailed) return new InvalidToken('bad_signature');
  if (error instanceof errors.JOSEAlgNotAllowed || error instanceof errors.JOSENotSupported) return new InvalidToken('bad_algorithm');
  if (error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys) return new InvalidToken('unknown_key');
  if (error instanceof errors.JWTExpired) return new InvalidToken('expired');
  if (error instanceof errors.JWTClaimValidationFailed) return new InvalidToken(error.claim === 'typ' ? 'bad_type' : 'expired');
  if (error instanceof errors.JWTInvalid || error instanceof errors.JWSInvalid) return new InvalidToken('malformed');
  return error;
}

/** Returns the public key in the `cnf` claim (RFC 7800 §3.2). @throws InvalidToken */
function browserKeyOf(cnf: unknown): JWK {
  const jwk = typeof cnf === 'object' && cnf !== null && 'jwk' in cnf ? cnf.jwk : null;
  if (typeof jwk !== 'object' || jwk === null || 'd' in jwk || 'k' in jwk) throw new InvalidToken('malformed');
  return jwk as JWK;
}

/** @throws InvalidToken when the key is not one of the algorithm */
async function importBrowserKey(jwk: JWK, alg: string | undefined): Promise<CryptoKey> {
  try {
    return (await importJWK(jwk, alg)) as CryptoKey;
  } catch {
    throw new InvalidToken('malformed');
  }
}

/** @throws InvalidToken */
function requireCurrent(iat: unknown, now: number): void {
  const age = typeof iat === 'number' ? now / 1000 - iat : Number.NaN;
  if (!(age <= MAX_TOKEN_AGE_SECONDS && age >= -MAX_CLOCK_SKEW_SECONDS)) throw new InvalidToken('expired');
}

function decoded(jwt: string): JWTPayload {
  try {
    return decodeJwt(jwt);
  } catch {
    throw new InvalidToken('malformed');
  }
}
