import { createHmac, timingSafeEqual } from 'node:crypto';

/** What a value is signed for; a value of one purpose is not valid for another. */
type Purpose = 'state' | 'pending' | 'session';

/** Signs the shop's cookies, so that all workers and instances can verify them without a store. */
export class SignedValues {
  readonly #key: Buffer;
  readonly #now: () => number;

  constructor(secretKey: Buffer, now: () => number = Date.now) {
    this.#key = createHmac('sha256', secretKey).update('demo shop').digest();
    this.#now = now;
  }

  /** Returns the signed form of a text, valid for `seconds`. */
  sign(purpose: Purpose, text: string, seconds: number): string {
    const body = Buffer.from(JSON.stringify({ text, until: this.#now() + seconds * 1000 })).toString('base64url');
    return `${body}.${this.#mac(purpose, body)}`;
  }

  /** Returns the text of a signed value, or null for a forged or expired one or another purpose. */
  verify(purpose: Purpose, signed: unknown): string | null {
    if (typeof signed !== 'string') return null;
    const [body, given, ...rest] = signed.split('.');
    const expectedMac = Buffer.from(this.#mac(purpose, body));
    const givenMac = Buffer.from(given ?? '');
    if (rest.length > 0 || givenMac.length !== expectedMac.length || !timingSafeEqual(givenMac, expectedMac)) return null;
    const { text, until } = JSON.parse(Buffer.from(body, 'base64url').toString('utf8'));
    return until > this.#now() ? text : null;
  }

  #mac(purpose: Purpose, body: string): string {
    return createHmac('sha256', this.#key).update(`${purpose}\n${body}`).digest('base64url');
  }
}
