import { createHmac, timingSafeEqual } from 'node:crypto';
import type { SecretKeys } from '../secret-keys.ts';

/** What a value is signed for; a value of one purpose is not valid for another. */
type Purpose = 'state' | 'pending' | 'session';

/** Signs the shop's cookies, so that all workers and instances can verify them without a store. */
export class SignedValues {
  readonly #keys: SecretKeys;
  readonly #now: () => number;

  constructor(keys: SecretKeys, now: () => number = Date.now) {
    this.#keys = keys;
    this.#now = now;
  }

  /** Returns the signed form of a text, valid for `seconds`. */
  sign(purpose: Purpose, text: string, seconds: number): string {
    const body = Buffer.from(JSON.stringify({ text, until: this.#now() + seconds * 1000 })).toString('base64url');
    return `${body}.${mac(this.#keys.writing, purpose, body)}`;
  }

  /** Returns the text of a signed value, or null for a forged or expired one or another purpose. */
  verify(purpose: Purpose, signed: unknown): string | null {
    if (typeof signed !== 'string') return null;
    const [body, given, ...rest] = signed.split('.');
    const givenMac = Buffer.from(given ?? '');
    const isSigned = this.#keys.reading.some((key) => {
      const expectedMac = Buffer.from(mac(key, purpose, body));
      return givenMac.length === expectedMac.length && timingSafeEqual(givenMac, expectedMac);
    });
    if (rest.length > 0 || !isSigned) return null;
    const { text, until } = JSON.parse(Buffer.from(body, 'base64url').toString('utf8'));
    return until > this.#now() ? text : null;
  }
}

function mac(secretKey: Buffer, purpose: Purpose, body: string): string {
  const key = createHmac('sha256', secretKey).update('demo shop').digest();
  return createHmac('sha256', key).update(`${purpose}\n${body}`).digest('base64url');
}
