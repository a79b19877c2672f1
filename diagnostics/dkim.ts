import { createPublicKey, type KeyObject } from 'node:crypto';
import { type Finding, fail, oneLine, pass } from './check.ts';

/** RFC 8301 §3.2: verifiers ignore shorter keys, and signers should use 2048 bits. */
const MIN_BITS = 1024;
const RECOMMENDED_BITS = 2048;

/** A DKIM key record (RFC 6376 §3.6.1). `error` says what is wrong with it, in words that follow its name; else there is a key. */
export type DkimRecord = { error: string | null; key: KeyObject | null; isTesting: boolean };

/** Parses a TXT record at selector._domainkey.domain. */
export function parseDkim(text: string): DkimRecord {
  const invalid = (error: string): DkimRecord => ({ error, key: null, isTesting: false });
  const tags = parseTags(text);
  if (!tags) return invalid('is not a list of tags such as v=DKIM1; k=rsa; p=…');
  const valuesOf = (tag: string) =>
    tags
      .get(tag)
      ?.toLowerCase()
      .split(':')
      .map((value) => value.trim());
  const encoded = tags.get('p')?.replace(/\s+/g, '');
  if (tags.has('v') && (tags.get('v') !== 'DKIM1' || [...tags.keys()][0] !== 'v')) return invalid('does not begin with v=DKIM1');
  if (encoded === undefined) return invalid('has no p= with the key');
  if (encoded === '') return invalid('marks the key as revoked: its p= is empty');
  const type = tags.get('k')?.toLowerCase() ?? 'rsa';
  if (type !== 'rsa' && type !== 'ed25519') return invalid(`has an unknown key type: k=${oneLine(type, 20)}`);
  if (valuesOf('h')?.includes('sha256') === false) return invalid('does not allow sha256 in its h=');
  if (valuesOf('s')?.some((service) => service === '*' || service === 'email') === false) return invalid('is not for email by its s=');
  const key = /^[A-Za-z0-9+/]+={0,2}$/.test(encoded) ? parseKey(type, Buffer.from(encoded, 'base64')) : null;
  if (!key) return invalid('has no valid key in its p=: it may have been cut or wrapped when it was pasted');
  const bits = key.asymmetricKeyDetails?.modulusLength;
  if (bits !== undefined && bits < MIN_BITS) return invalid(`has a key of ${bits} bits, which receivers ignore`);
  return { error: null, key, isTesting: valuesOf('t')?.includes('y') ?? false };
}

function parseKey(type: 'rsa' | 'ed25519', key: Buffer): KeyObject | null {
  if (type === 'ed25519') {
    // RFC 8463 §4: the 32 bytes of the key, without a container.
    const jwk = { kty: 'OKP', crv: 'Ed25519', x: key.toString('base64url') };
    return key.length === 32 ? createPublicKey({ key: jwk, format: 'jwk' }) : null;
  }
  // In practice SubjectPublicKeyInfo; RFC 6376 defines RSAPublicKey.
  for (const format of ['spki', 'pkcs1'] as const) {
    try {
      const parsed = createPublicKey({ key, format: 'der', type: format });
      if (parsed.asymmetricKeyType === 'rsa') return parsed;
    } catch {
      // Not in this format.
    }
  }
  return null;
}

/**
 * Returns the finding for the record of the key that the service signs with.
 * @param dkim.publicKey DER in base64
 * @param texts TXT records at selector._domainkey.domain
 */
export function evaluateDkim(dkim: { domain: string; selector: string; publicKey: string }, texts: string[]): Finding {
  const name = `${dkim.selector}._domainkey.${dkim.domain}`;
  const expected = `v=DKIM1; k=rsa; p=${dkim.publicKey}`;
  if (texts.length === 0)
    return fail(`There is no key at ${name}, so the signatures are not valid.`, `Add a TXT record at ${name}: ${expected}`);
  if (texts.length > 1) return fail(`There are ${texts.length} TXT records at ${name}.`, `Keep one of them: ${expected}`);
  const { error, key, isTesting } = parseDkim(texts[0]);
  if (error) return fail(`The record at ${name} ${error}.`, `Replace it with: ${expected}`);
  const published = key?.export({ format: 'der', type: 'spki' }).toString('base64');
  if (published !== dkim.publicKey) {
    return fail(
      `The key at ${name} is not the one that the service signs with.`,
      `Give the service the right DKIM_KEY, or replace the record with: ${expected}`,
    );
  }
  const bits = key?.asymmetricKeyDetails?.modulusLength ?? RECOMMENDED_BITS;
  const advice = [
    ...(isTesting ? ['It has t=y, which lets receivers treat the emails as unsigned: remove it.'] : []),
    ...(bits < RECOMMENDED_BITS ? [`The key has ${bits} bits: ${RECOMMENDED_BITS} are recommended.`] : []),
  ];
  return pass(`The key at ${name} is the one that the service signs with.`, advice.join(' '));
}

/**
 * Parses the `name=value; name=value` of DKIM and DMARC records (RFC 6376 §3.2, RFC 7489 §6.4), in order.
 * @returns null when it is not such a list or a name occurs twice
 */
export function parseTags(text: string): Map<string, string> | null {
  const tags = new Map<string, string>();
  const parts = text.split(';').map((part) => part.trim());
  if (parts.at(-1) === '') parts.pop();
  for (const part of parts) {
    const match = /^([a-z][a-z0-9_]*)\s*=\s*(.*)$/is.exec(part);
    if (!match || tags.has(match[1])) return null;
    tags.set(match[1], match[2].trim());
  }
  return tags.size > 0 ? tags : null;
}
