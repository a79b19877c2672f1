import { createHmac, timingSafeEqual } from 'node:crypto';
import { digest, isRandomSecret, randomSecret } from '../secrets.ts';

/** The checks that depend on the admin password and SECRET_KEY. A change of either voids every session and browser mark. */
export type AdminSecrets = {
  /** Compares in constant time. */
  isPassword(password: string): boolean;
  /** Returns the form in which the secret of a session is stored. */
  sessionHash(secret: string): Buffer;
  /** Returns a new value that marks a browser in which the password was correct. */
  createBrowserMark(): string;
  /** Returns the id in the mark of a browser, or null when the mark is not valid. */
  browserOf(mark: string | undefined): string | null;
};

/** @param key SECRET_KEY, the same in all instances */
export function createAdminSecrets(key: Buffer, password: string): AdminSecrets {
  const expected = digest(password);
  const admin = createHmac('sha256', key).update('admin|').update(expected).digest();
  const mac = (use: 'session' | 'browser', text: string) => createHmac('sha256', admin).update(`${use}|${text}`).digest();
  return {
    isPassword: (given) => timingSafeEqual(digest(given), expected),
    sessionHash: (secret) => mac('session', secret),
    createBrowserMark: () => {
      const id = randomSecret();
      return `${id}.${mac('browser', id).toString('base64url')}`;
    },
    browserOf: (mark) => {
      const [id, signature] = mark?.split('.') ?? [];
      if (!isRandomSecret(id) || !isRandomSecret(signature)) return null;
      return timingSafeEqual(Buffer.from(signature, 'base64url'), mac('browser', id)) ? id : null;
    },
  };
}
