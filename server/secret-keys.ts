import { hkdfSync } from 'node:crypto';

const FINGERPRINT_BYTES = 16;

/** The key from which values are derived: SECRET_KEY, and during its rotation also SECRET_KEY_PREVIOUS. */
export class SecretKeys {
  readonly #current: Buffer;
  readonly #previous: Buffer | null;
  #writesPrevious = false;

  /**
   * @param current SECRET_KEY, the same in all instances
   * @param previous SECRET_KEY_PREVIOUS
   */
  constructor(current: Buffer, previous: Buffer | null = null) {
    this.#current = current;
    this.#previous = previous;
  }

  /** Returns the key for new values. */
  get writing(): Buffer {
    return this.#writesPrevious && this.#previous ? this.#previous : this.#current;
  }

  /** Returns the keys with which values may have been made. */
  get reading(): readonly Buffer[] {
    return this.#previous ? [this.#current, this.#previous] : [this.#current];
  }

  /** Returns SECRET_KEY_PREVIOUS, or null. */
  get previous(): Buffer | null {
    return this.#previous;
  }

  /** Sets whether new values are made with SECRET_KEY_PREVIOUS, as long as instances run that have only that key. */
  writePrevious(value: boolean): void {
    this.#writesPrevious = value;
  }
}

/** Returns a key of 32 bytes for one purpose, by HKDF-SHA-256 (RFC 5869), which reveals neither SECRET_KEY nor keys for other purposes. */
export function deriveKey(secretKey: Buffer, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secretKey, '', `emailauth ${purpose}`, 32));
}

/** Returns the fingerprint of SECRET_KEY, which reveals neither the key nor other values derived from it. */
export function fingerprintOf(secretKey: Buffer): Buffer {
  return deriveKey(secretKey, 'fingerprint of SECRET_KEY').subarray(0, FINGERPRINT_BYTES);
}
