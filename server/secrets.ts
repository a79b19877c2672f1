import { hash, randomBytes } from 'node:crypto';

const RANDOM_SECRET = /^[A-Za-z0-9_-]{43}$/;

/** Returns a random secret of 32 bytes in base64url, 43 characters. */
export function randomSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** Returns whether a cookie or parameter has the form of a secret of `randomSecret`. */
export function isRandomSecret(text: string | undefined): text is string {
  return text !== undefined && RANDOM_SECRET.test(text);
}

/** Returns the SHA-256 of a secret, the only form in which the database stores it. */
export function digest(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}
