import { createHmac, hash, randomBytes, timingSafeEqual } from 'node:crypto';

/** What an attempt signs in to: a site, the portal by its token, or an OAuth client with PKCE. */
export type AttemptKind = 'site' | 'portal' | 'app';

const KINDS: readonly AttemptKind[] = ['site', 'app', 'portal'];
const ID_BYTES = 16;
const LINK = /^[A-Za-z0-9_-]{64}$/;
const RANDOM = /^[A-Za-z0-9_-]{43}$/;

/** A random secret of 32 bytes in base64url, 43 characters. */
export function randomSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** Whether a cookie or parameter can be a secret of `randomSecret`. */
export function isRandomSecret(text: string | undefined): text is string {
  return text !== undefined && RANDOM.test(text);
}

/** SHA-256 of a secret: the only form in which the database knows it. */
export function digest(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}

/** Public id of a device, no secret: the beginning of what the database knows its cookie by, 22 characters. */
export function deviceIdOf(device: Buffer): string {
  return device.toString('base64url').slice(0, 22);
}

/** The two ways in that one mail carries; both derive from the attempt's id, so that nothing of them is stored. */
export type Secrets = {
  /** The secret of the mailed link: base64url(attempt id ‖ HMAC-SHA256), 64 characters. */
  link(kind: AttemptKind, id: string): string;
  /** The six-digit code of the same mail. */
  code(kind: AttemptKind, id: string): string;
  /** @returns the attempt that a link secret names, or null when it is not one of ours */
  readLink(secret: string): { kind: AttemptKind; id: string } | null;
  /** Compares in constant time. */
  isCode(kind: AttemptKind, id: string, code: string): boolean;
};

/** @param key SECRET_KEY, the same in all instances */
export function createSecrets(key: Buffer): Secrets {
  const mac = (kind: AttemptKind, use: 'link' | 'code', id: Buffer) =>
    createHmac('sha256', key).update(`${kind}|${use}|`).update(id).digest();
  const code = (kind: AttemptKind, id: string) => String(mac(kind, 'code', idToBytes(id)).readUIntBE(0, 6) % 1_000_000).padStart(6, '0');
  return {
    code,
    link: (kind, id) => {
      const bytes = idToBytes(id);
      return Buffer.concat([bytes, mac(kind, 'link', bytes)]).toString('base64url');
    },
    readLink: (secret) => {
      if (!LINK.test(secret)) return null;
      const bytes = Buffer.from(secret, 'base64url');
      const id = bytes.subarray(0, ID_BYTES);
      const given = bytes.subarray(ID_BYTES);
      const kind = KINDS.find((candidate) => timingSafeEqual(mac(candidate, 'link', id), given));
      return kind ? { kind, id: bytesToId(id) } : null;
    },
    isCode: (kind, id, given) => given.length === 6 && timingSafeEqual(Buffer.from(code(kind, id)), Buffer.from(given)),
  };
}

/** A UUID as its 16 bytes in base64url: the handle of an attempt that a program gets. */
export function idToHandle(id: string): string {
  return idToBytes(id).toString('base64url');
}

/** @returns the UUID behind a handle, or null */
export function handleToId(handle: string): string | null {
  const bytes = Buffer.from(handle, 'base64url');
  return bytes.length === ID_BYTES ? bytesToId(bytes) : null;
}

function idToBytes(id: string): Buffer {
  return Buffer.from(id.replaceAll('-', ''), 'hex');
}

function bytesToId(bytes: Buffer): string {
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** A remembered account's key: which row (selector) and the proof for it (verifier), each base64url. */
export function createAuthKey(): { key: string; selector: Buffer; verifier: Buffer } {
  const selector = randomBytes(16);
  const secret = randomSecret();
  return { key: `${selector.toString('base64url')}.${secret}`, selector, verifier: digest(secret) };
}

/** @returns the two parts of a key, the verifier hashed as the database holds it, or null when it has not that form */
export function readAuthKey(key: string): { selector: Buffer; verifier: Buffer } | null {
  const [selector, secret, more] = key.split('.');
  if (more !== undefined || selector?.length !== 22 || !isRandomSecret(secret)) return null;
  return { selector: Buffer.from(selector, 'base64url'), verifier: digest(secret) };
}
