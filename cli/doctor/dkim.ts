import { createPublicKey, type KeyObject } from 'node:crypto';
import { fail, oneLine, pass, type Verdict } from '../../contract/check.ts';
import { parseTags } from './tags.ts';

/** RFC 8301 §3.2: verifiers ignore shorter keys, and signers should use longer ones than 1024. */
const MIN_BITS = 1024;
const GOOD_BITS = 2048;

/** What is wrong with a DKIM key record (RFC 6376 §3.6.1), and the key in it when there is one. */
export type DkimRecord = { fault: string | null; key: KeyObject | null; testing: boolean };

/** @param text a TXT record at selector._domainkey.domain */
export function parseDkim(text: string): DkimRecord {
  const broken = (fault: string): DkimRecord => ({ fault, key: null, testing: false });
  const tags = parseTags(text);
  if (!tags) return broken('is no list of tags such as v=DKIM1; k=rsa; p=…');
  const listed = (tag: string) =>
    tags
      .get(tag)
      ?.toLowerCase()
      .split(':')
      .map((value) => value.trim());
  const key = tags.get('p')?.replace(/\s+/g, '');
  if (tags.has('v') && (tags.get('v') !== 'DKIM1' || [...tags.keys()][0] !== 'v')) return broken('does not begin with v=DKIM1');
  if (key === undefined) return broken('has no p= with the key');
  if (key === '') return broken('says that the key is revoked: its p= is empty');
  const kind = tags.get('k')?.toLowerCase() ?? 'rsa';
  if (kind !== 'rsa' && kind !== 'ed25519') return broken(`is of an unknown kind: k=${oneLine(kind, 20)}`);
  if (listed('h')?.includes('sha256') === false) return broken('does not allow sha256 in its h=');
  if (listed('s')?.some((service) => service === '*' || service === 'email') === false) return broken('is not for email by its s=');
  const read = /^[A-Za-z0-9+/]+={0,2}$/.test(key) ? readKey(kind, Buffer.from(key, 'base64')) : null;
  if (!read) return broken('holds no key in its p=: it may have been cut or wrapped when it was pasted');
  const bits = read.asymmetricKeyDetails?.modulusLength;
  if (bits !== undefined && bits < MIN_BITS) return broken(`has a key of ${bits} bits, which receivers ignore`);
  return { fault: null, key: read, testing: listed('t')?.includes('y') ?? false };
}

function readKey(kind: 'rsa' | 'ed25519', key: Buffer): KeyObject | null {
  if (kind === 'ed25519') {
    // RFC 8463 §4: 32 bytes as they are.
    const jwk = { kty: 'OKP', crv: 'Ed25519', x: key.toString('base64url') };
    return key.length === 32 ? createPublicKey({ key: jwk, format: 'jwk' }) : null;
  }
  // Everybody publishes SubjectPublicKeyInfo; RFC 6376 speaks of RSAPublicKey.
  for (const type of ['spki', 'pkcs1'] as const) {
    try {
      const read = createPublicKey({ key, format: 'der', type });
      if (read.asymmetricKeyType === 'rsa') return read;
    } catch {
      // Not of this form.
    }
  }
  return null;
}

/**
 * Judges the record of the key that the service signs with.
 * @param dkim `publicKey`: what it signs with, DER in base64
 * @param texts TXT records at selector._domainkey.domain
 */
export function judgeDkim(dkim: { domain: string; selector: string; publicKey: string }, texts: string[]): Verdict {
  const name = `${dkim.selector}._domainkey.${dkim.domain}`;
  const right = `v=DKIM1; k=rsa; p=${dkim.publicKey}`;
  if (texts.length === 0)
    return fail(`There is no key at ${name}, so the signatures are not valid.`, `Add a TXT record at ${name}: ${right}`);
  if (texts.length > 1) return fail(`There are ${texts.length} TXT records at ${name}.`, `Keep one of them: ${right}`);
  const { fault, key, testing } = parseDkim(texts[0]);
  if (fault) return fail(`The record at ${name} ${fault}.`, `Replace it by: ${right}`);
  const published = key?.export({ format: 'der', type: 'spki' }).toString('base64');
  if (published !== dkim.publicKey) {
    return fail(
      `The key at ${name} is not the one that the service signs with.`,
      `Give the service the right DKIM_KEY, or replace the record by: ${right}`,
    );
  }
  const bits = key?.asymmetricKeyDetails?.modulusLength ?? GOOD_BITS;
  const advice = [
    ...(testing ? ['It says t=y, by which receivers may treat the mails as unsigned: remove it.'] : []),
    ...(bits < GOOD_BITS ? [`The key has ${bits} bits: ${GOOD_BITS} are advised.`] : []),
  ];
  return pass(`The key at ${name} is the one that the service signs with.`, advice.join(' '));
}
