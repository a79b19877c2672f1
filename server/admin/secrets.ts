import { createHmac, timingSafeEqual } from 'node:crypto';
import type { SecretKeys } from '../secret-keys.ts';
import { digest, isRandomSecret, randomSecret } from '../secrets.ts';

/** The checks that depend on the admin password and SECRET_KEY. A change of the password voids every session and browser mark. */
export type AdminSecrets = {
  /** Compares in constant time. */
  isPassword(password: string): boolean;
  /** Returns the form in which the secret of a session is stored. */
  sessionHash(secret: string): Buffer;
  /** Returns the forms in which it may be stored, while SECRET_KEY is rotated. */
  sessionHashes(secret: string): Buffer[];
  /** Returns a new value that marks a browser in which the password was correct. */
  createBrowserMark(): string;
  /** Returns the id in the mark of a browser, or null when the mark is not valid. */
  browserOf(mark: string | undefined): string | null;
};

export function createAdminSecrets(keys: SecretKeys, password: string): AdminSecrets {
  const expected = digest(password);
  const mac = (key: Buffer, use: 'session' | 'browser', text: string) => {
    const admin = createHmac('sha256', key).update('admin|').update(expected).digest();
    return createHmac('sha256', admin).update(`${use}|${text}`).digest();
  };
  return {
    isPassword: (given) => timingSafeEqual(digest(given), expected),
    sessionHash: (secret) => mac(keys.writing, 'session', secret),
    sessionHashes: (secret) => keys.reading.map((key) => mac(key, 'session', secret)),
    createBrowserMark: () => {
      const id = randomSecret();
      return `${id}.${mac(keys.writing, 'browser', id).toString('base64url')}`;
    },
    browserOf: (mark) => {
      const [id, signature] = mark?.split('.') ?? [];
      if (!isRandomSecret(id) || !isRandomSecret(signature)) return null;
      const given = Buffer.from(signature, 'base64url');
      return keys.reading.some((key) => timingSafeEqual(given, mac(key, 'browser', id))) ? id : null;
    },
  };
}
