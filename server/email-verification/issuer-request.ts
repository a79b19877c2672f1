import { createPublicKey, hash, type KeyObject, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { JWK } from 'jose';
import type { InnerList, Item } from 'structured-headers';

/** A token request as the browser sent it. `url` is that of the endpoint below PUBLIC_URL, never made from the request's Host. */
export type TokenRequest = { method: string; url: string; headers: IncomingHttpHeaders; body: string };

/** Why a signed request is refused. They are values of a label of the metrics. */
export type RequestFailure =
  | 'unsigned'
  | 'malformed'
  | 'wrong_digest'
  | 'unsupported_key'
  | 'not_covered'
  | 'not_current'
  | 'wrong_signature';

/** A token request whose signature proves nothing. */
export class InvalidRequest extends Error {
  readonly failure: RequestFailure;

  constructor(failure: RequestFailure) {
    super(`The signed request is not valid: ${failure}`);
    this.failure = failure;
  }
}

/** The algorithms of the keys of browsers, as the metadata of the issuer list them. */
export const REQUEST_ALGORITHMS: readonly string[] = ['ES256'];
/** The name of ES256 in RFC 9421 §3.3.4. */
const SIGNATURE_ALGORITHM = 'ecdsa-p256-sha256';
/** What a signature has to cover: otherwise parts of the request could be of somebody else. */
const COVERED = ['@method', '@authority', '@path', 'content-digest', 'signature-key'];
const COMPONENT = /^@?[a-z][a-z-]*$/;
/** How far the time of a signature may be from the present, in seconds. */
const MAX_AGE_SECONDS = 60;

type StructuredFields = typeof import('structured-headers');

/**
 * Verifies the HTTP Message Signature (RFC 9421) of a token request: one signature by a key in Signature-Key, of scheme `hwk`
 * (draft-hardt-httpbis-signature-key), over method, URL, key and digest of the body (RFC 9530).
 * @param now Unix milliseconds
 * @returns the public key of the browser, with the members that it sent
 * @throws InvalidRequest
 */
export async function verifyTokenRequest(request: TokenRequest, now: number): Promise<JWK> {
  // Imported at the first request: hardly any service is an issuer.
  const [fields, { httpbis, createVerifier }] = await Promise.all([import('structured-headers'), import('http-message-signatures')]);
  const input = onlyMember(fields, request.headers['signature-input']);
  const key = onlyMember(fields, request.headers['signature-key']);
  const signature = onlyMember(fields, request.headers.signature);
  if (!input || !key || !signature) throw new InvalidRequest('unsigned');
  if (input.name !== key.name || input.name !== signature.name) throw new InvalidRequest('malformed');
  requireCovered(fields, input.value);
  requireCurrent(input.value[1], now);
  requireDigest(fields, request);
  const jwk = keyOf(fields, key.value);
  const publicKey = importKey(jwk);
  const headers = Object.fromEntries(Object.entries(request.headers).filter((entry): entry is [string, string | string[]] => !!entry[1]));
  const verifying = { algs: [SIGNATURE_ALGORITHM], verify: createVerifier(publicKey, SIGNATURE_ALGORITHM) };
  const config = { keyLookup: async () => verifying, requiredFields: COVERED, tolerance: MAX_AGE_SECONDS };
  const isValid = await httpbis.verifyMessage(config, { ...request, headers }).catch(() => false);
  if (isValid !== true) throw new InvalidRequest('wrong_signature');
  return jwk;
}

/** Returns the one member of a dictionary (RFC 9651 §3.2); null when there is no header. @throws InvalidRequest for several members, or none */
function onlyMember({ parseDictionary }: StructuredFields, header: string | string[] | undefined) {
  if (typeof header !== 'string') return null;
  const members = [...parsed(() => parseDictionary(header))];
  if (members.length !== 1) throw new InvalidRequest('malformed');
  const [[name, value]] = members;
  return { name, value };
}

function parsed<Value>(parse: () => Value): Value {
  try {
    return parse();
  } catch {
    throw new InvalidRequest('malformed');
  }
}

/** @throws InvalidRequest when a component is missing, listed twice, or has parameters, which change what it stands for */
function requireCovered({ isInnerList }: StructuredFields, input: Item | InnerList): void {
  if (!isInnerList(input)) throw new InvalidRequest('malformed');
  const names = input[0].map(([name, parameters]) => {
    if (typeof name !== 'string' || !COMPONENT.test(name) || parameters.size > 0) throw new InvalidRequest('not_covered');
    return name;
  });
  if (new Set(names).size !== names.length || !COVERED.every((name) => names.includes(name))) throw new InvalidRequest('not_covered');
}

/** @throws InvalidRequest */
function requireCurrent(parameters: Map<string, unknown>, now: number): void {
  const created = parameters.get('created');
  const age = typeof created === 'number' ? Math.abs(now / 1000 - created) : Number.NaN;
  if (!(age <= MAX_AGE_SECONDS)) throw new InvalidRequest('not_current');
}

/** @throws InvalidRequest */
function requireDigest({ parseDictionary }: StructuredFields, { headers, body }: TokenRequest): void {
  const header = headers['content-digest'];
  if (typeof header !== 'string') throw new InvalidRequest('wrong_digest');
  const given = parsed(() => parseDictionary(header)).get('sha-256')?.[0];
  const expected = hash('sha256', body, 'buffer');
  const isSame = given instanceof ArrayBuffer && given.byteLength === expected.length && timingSafeEqual(Buffer.from(given), expected);
  if (!isSame) throw new InvalidRequest('wrong_digest');
}

/** Returns the key in a member of Signature-Key: `hwk` with the members of a JWK as parameters. @throws InvalidRequest */
function keyOf({ Token }: StructuredFields, [scheme, parameters]: Item | InnerList): JWK {
  if (!(scheme instanceof Token) || scheme.toString() !== 'hwk') throw new InvalidRequest('unsupported_key');
  const { kty, crv, x, y, alg } = Object.fromEntries(parameters) as Record<string, unknown>;
  if (kty !== 'EC' || crv !== 'P-256' || typeof x !== 'string' || typeof y !== 'string') throw new InvalidRequest('unsupported_key');
  if (alg !== undefined && alg !== 'ES256') throw new InvalidRequest('unsupported_key');
  // The browser compares the members of the key in its token with those that it sent.
  return { kty, crv, x, y, ...(alg && { alg }) };
}

/** @throws InvalidRequest when the point is not on the curve */
function importKey({ kty, crv, x, y }: JWK): KeyObject {
  try {
    return createPublicKey({ key: { kty, crv, x, y }, format: 'jwk' });
  } catch {
    throw new InvalidRequest('unsupported_key');
  }
}
