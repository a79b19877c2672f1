import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Mail, MailSecrets } from '../mail/mail.ts';
import type { SecretKeys } from '../secret-keys.ts';

/**
 * What an attempt signs in to: a website, the portal by its token, an OAuth client with PKCE, or a client of OpenID Connect.
 * `registration`, `invitation`: the portal too, by the email about the registration of a domain or an invitation to a team.
 */
export type AttemptKind = 'site' | 'portal' | 'app' | 'oidc' | 'registration' | 'invitation';

const KINDS: readonly AttemptKind[] = ['site', 'app', 'portal', 'oidc', 'registration', 'invitation'];
const ID_BYTES = 16;
const LINK = /^[A-Za-z0-9_-]{64}$/;

/** The link secret and the code that one email carries. Both derive from the attempt's id, so that neither is stored. */
export class AttemptSecrets {
  readonly #keys: SecretKeys;

  constructor(keys: SecretKeys) {
    this.#keys = keys;
  }

  /** Returns the secret of the link: base64url(attempt id ‖ HMAC-SHA256), 64 characters. */
  link(kind: AttemptKind, id: string): string {
    const bytes = idToBytes(id);
    return Buffer.concat([bytes, mac(this.#keys.writing, kind, 'link', bytes)]).toString('base64url');
  }

  /** Returns the six-digit code of the same email. */
  code(kind: AttemptKind, id: string): string {
    return codeOf(this.#keys.writing, kind, id);
  }

  /** Returns the attempt of a link secret, or null when this service did not issue it. */
  readLink(secret: string): { kind: AttemptKind; id: string } | null {
    if (!LINK.test(secret)) return null;
    const bytes = Buffer.from(secret, 'base64url');
    const id = bytes.subarray(0, ID_BYTES);
    const given = bytes.subarray(ID_BYTES);
    for (const key of this.#keys.reading) {
      const kind = KINDS.find((candidate) => timingSafeEqual(mac(key, candidate, 'link', id), given));
      if (kind) return { kind, id: bytesToId(id) };
    }
    return null;
  }

  /** Compares a code in constant time. */
  isCode(kind: AttemptKind, id: string, given: string): boolean {
    if (given.length !== 6) return false;
    return this.#keys.reading.some((key) => timingSafeEqual(Buffer.from(codeOf(key, kind, id)), Buffer.from(given)));
  }

  /**
   * Returns the link and the code of an email, the same at each try; null for an email that signs nobody in.
   * @param publicUrl origin of the service
   */
  ofMail({ id, language, data }: Mail, publicUrl: string): MailSecrets | null {
    const kind = data.attempt as AttemptKind | undefined;
    if (!kind) return null;
    const secret = this.link(kind, id);
    // RFC 6749 §4.1.2 with the issuer of RFC 9207, for the portal's own page; every other link opens the link page.
    const link =
      kind === 'app' && data.state !== undefined
        ? `${publicUrl}/auth/callback?${new URLSearchParams({ code: secret, state: data.state, iss: publicUrl, language })}`
        : `${publicUrl}/auth/link?t=${secret}`;
    return { link, code: hasCode(kind) ? this.code(kind, id) : null };
  }
}

/** Returns whether the email of an attempt has a code: not when no browser began it, since there is no window in which to enter one. */
export function hasCode(kind: AttemptKind): boolean {
  return kind !== 'registration' && kind !== 'invitation';
}

function mac(key: Buffer, kind: AttemptKind, use: 'link' | 'code', id: Buffer): Buffer {
  return createHmac('sha256', key).update(`${kind}|${use}|`).update(id).digest();
}

function codeOf(key: Buffer, kind: AttemptKind, id: string): string {
  return String(mac(key, kind, 'code', idToBytes(id)).readUIntBE(0, 6) % 1_000_000).padStart(6, '0');
}

/** Returns the 16 bytes of a UUID in base64url: the handle of an attempt that a program gets. */
export function idToHandle(id: string): string {
  return idToBytes(id).toString('base64url');
}

/** Returns the UUID of a handle, or null when it is not a handle. */
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
