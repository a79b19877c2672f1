import { createHmac, hash, hkdfSync, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import { chmodSync, linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openDataDir } from './data-dir.ts';
import { StartError } from './start-error.ts';

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

/**
 * Returns a secret that the service generates and stores in `dataDir`, readable only by its own user (mode 600). Every call returns
 * the same secret, also when several processes start at the same time.
 * @param name file name in `dataDir`
 * @param bytes of entropy; the secret is their base64url
 * @throws StartError of openDataDir, or when the file is empty; Error when the directory cannot be used
 */
export function keptSecret(dataDir: string, name: string, bytes: number): string {
  openDataDir(dataDir);
  const file = join(dataDir, name);
  const stored = read(file);
  if (stored) return stored;
  // Processes in several containers may have the same id.
  const temporary = `${file}.${randomUUID()}`;
  writeFileSync(temporary, `${randomBytes(bytes).toString('base64url')}\n`, { mode: 0o600, flag: 'wx', flush: true });
  try {
    // A link fails when the file exists: the first process wins, and no process reads a partly written file.
    linkSync(temporary, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(temporary, { force: true });
  }
  const secret = read(file);
  if (secret === null) throw new StartError(`${file} is empty. Restore it from a copy of the directory.`);
  return secret;
}

function read(file: string): string | null {
  try {
    chmodSync(file, 0o600);
    return readFileSync(file, 'utf8').trim() || null;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

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
