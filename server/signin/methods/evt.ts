import { hash } from 'node:crypto';
import type { CryptoKey, JWK, JWTHeaderParameters } from 'jose';

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
