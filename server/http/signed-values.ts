import { createHmac, timingSafeEqual } from 'node:crypto';
import type { SecretKeys } from '../secret-keys.ts';

/** Signs the values of a feature for cookies and URLs, so that all workers and instances can verify them without a store. */
export class SignedValues<Purpose extends string> {
  readonly #keys: SecretKeys;
  readonly #feature: string;
  readonly #now: () => number;

  /** @param feature whose values these are; those of another feature or purpose are not valid */
  constructor(keys: SecretKeys, feature: string, now: () => number = Date.now) {
    this.#keys = keys;
    this.#feature = feature;
    this.#now = now;
  }

  /** Returns the signed form of a text, valid for `seconds`. */
  sign(purpose: Purpose, text: string, seconds: number): string {
    const body = Buffer.from(JSON.stringify({ text, until: this.#now() + seconds * 1000 })).toString('base64url');
    return `${body}.${this.#mac(this.#keys.writing, purpose, body)}`;
  }

  /** Returns the text of a signed value, or null for a forged or expired one or another purpose. */
  verify(purpose: Purpose, signed: unknown): string | null {
    if (typeof signed !== 'string') return null;
    const [body, given, ...rest] = signed.split('.');
    const givenMac = Buffer.from(given ?? '');
    const isSigned = this.#keys.reading.some((key) => {
      const expectedMac = Buffer.from(this.#mac(key, purpose, body));
      return givenMac.length === expectedMac.length && timingSafeEqual(givenMac, expectedMac);
    });
    if (rest.length > 0 || !isSigned) return null;
    const { text, until } = JSON.parse(Buffer.from(body, 'base64url').toString('utf8'));
    return until > this.#now() ? text : null;
  }

  #mac(secretKey: Buffer, purpose: Purpose, body: string): string {
    const key = createHmac('sha256', secretKey).update(this.#feature).digest();
    return createHmac('sha256', key).update(`${purpose}\n${body}`).digest('base64url');
  }
}
