import { createHmac, timingSafeEqual } from 'node:crypto';
import { digest, isRandomSecret, randomSecret } from '../secrets.ts';

/** What the admin pages' password and SECRET_KEY decide. A change of either ends every session and forgets every browser. */
export type AdminSecrets = {
  /** Compares in constant time. */
  isPassword(given: string): boolean;
  /** The form in which the database knows the secret of a session. */
  sessionHash(secret: string): Buffer;
  /** A value that marks a browser in which the password was right. */
  createBrowserMark(): string;
  /** @returns the id of the browser that holds the mark, or null when it is not one of ours */
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
      const [id, seal] = mark?.split('.') ?? [];
      if (!isRandomSecret(id) || !isRandomSecret(seal)) return null;
      return timingSafeEqual(Buffer.from(seal, 'base64url'), mac('browser', id)) ? id : null;
    },
  };
}
