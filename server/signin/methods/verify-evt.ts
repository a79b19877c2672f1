import { type CryptoKey, decodeJwt, errors, importJWK, type JWK, type JWTPayload, jwtVerify } from 'jose';
import { normalEmail } from '../../../contract/emails.ts';
import {
  EVT_ALGORITHMS,
  EVT_TYPE,
  type FindKey,
  InvalidToken,
  KEY_BINDING_ALGORITHMS,
  KEY_BINDING_TYPE,
  MAX_CLOCK_SKEW_SECONDS,
  MAX_TOKEN_AGE_SECONDS,
  type SplitToken,
  sdHashOf,
} from './evt.ts';

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
