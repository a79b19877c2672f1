import { createHash } from 'node:crypto';
import type { TokenKey } from './email-issuer.ts';

/** What is different in a token request; undefined: as a browser makes it. */
export type RequestChanges = {
  method?: string;
  /** The URL that is signed. */
  url?: string;
  covered?: string[];
  /** Unix seconds; null: none. */
  created?: number | null;
  /** The body whose digest is sent. */
  digestOf?: string;
  /** The member of Signature-Key. */
  signatureKey?: string;
  /** Replaces the headers after signing; undefined removes one. */
  headers?: Record<string, string | undefined>;
};

const COVERED = ['@method', '@authority', '@path', 'content-digest', 'signature-key'];

/**
 * Returns the headers of a token request, signed as Chromium 156 does it (RFC 9421). The code is independent of the library with which the
 * service verifies it.
 * @param key of algorithm ES256
 */
export async function signTokenRequest(url: string, body: string, key: TokenKey, changes: RequestChanges = {}) {
  const { kty, crv, x, y } = key.jwk;
  const target = new URL(changes.url ?? url);
  const digest = `sha-256=:${createHash('sha256')
    .update(changes.digestOf ?? body)
    .digest('base64')}:`;
  const signatureKey = changes.signatureKey ?? `sig=hwk;alg="ES256";crv="${crv}";kty="${kty}";x="${x}";y="${y}"`;
  const created = changes.created === undefined ? Math.floor(Date.now() / 1000) : changes.created;
  const covered = changes.covered ?? COVERED;
  const parameters = `(${covered.map((name) => `"${name}"`).join(' ')})${created === null ? '' : `;created=${created}`}`;
  const values: Record<string, string> = {
    '@method': changes.method ?? 'POST',
    '@authority': target.host,
    '@path': target.pathname,
    'content-digest': digest,
    'signature-key': signatureKey,
  };
  const base = [...covered.map((name) => `"${name}": ${values[name]}`), `"@signature-params": ${parameters}`].join('\n');
  const signature = await crypto.subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, key.privateKey, Buffer.from(base));
  const headers: Record<string, string | undefined> = {
    'content-type': 'application/json',
    origin: 'null',
    'sec-fetch-dest': 'email-verification',
    'content-digest': digest,
    'signature-key': signatureKey,
    'signature-input': `sig=${parameters}`,
    signature: `sig=:${Buffer.from(signature).toString('base64')}:`,
    ...changes.headers,
  };
  return Object.fromEntries(Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined));
}
