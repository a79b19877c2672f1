import { createCipheriv, createDecipheriv, generateKeyPair, type JsonWebKey, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import type pg from 'pg';
import { SIGNING_KEY_SECONDS } from '../../contract/limits.ts';
import { requireSecretKey } from '../platform/db/secret-key.ts';
import { isServingWith } from '../platform/db/serving-lock.ts';
import type { Log } from '../platform/log.ts';
import { deriveKey, type SecretKeys } from '../platform/secrets.ts';
import { addMissingKeys, encryptRowsAgain, type KeyRow, readKeys, removeEndedKeys, replaceKeys, type StoredKey } from './store.ts';

const ALGORITHMS = ['ES256', 'RS256'] as const;
type Algorithm = (typeof ALGORITHMS)[number];

/** A private signing key (RFC 7517). */
export type SigningKey = JsonWebKey & { kid: string; alg: Algorithm; use: 'sig' };

/** The signing keys and salts that this instance can decrypt. */
type KeySet = { readonly keys: readonly SigningKey[]; readonly salt: Buffer };

type Parts = { core: pg.Pool; secretKeys: SecretKeys; log: Pick<Log, 'warn' | 'info'> };

/** How long an instance uses the keys that it has read; new keys are published much longer before they sign. */
const CACHE_MS = 15_000;
const RSA_BITS = 2048;
const SALT_BYTES = 32;
const SALT = 'salt';

/**
 * The signing keys and the salt of the OpenID provider. They are made at the first use, stored encrypted, and shared by all
 * instances, each of which notices a rotation within seconds.
 */
export class ProviderKeys {
  readonly #core: pg.Pool;
  readonly #log: Parts['log'];
  readonly #encryption: KeyEncryption;
  #set: KeySet | undefined;
  #loading: Promise<KeySet> | undefined;
  #loadedAt = 0;
  readonly #reported = new Set<string>();

  constructor({ core, secretKeys, log }: Parts) {
    this.#core = core;
    this.#log = log;
    this.#encryption = new KeyEncryption(secretKeys);
  }

  /**
   * Returns the published keys with their private parts: of each algorithm the key that signs is first, then those that have signed
   * and those that will sign. The array is the same object until the keys change.
   */
  async signingKeys(): Promise<readonly SigningKey[]> {
    return (await this.#current()).keys;
  }

  /** Returns the salt of pairwise subjects (OpenID Connect Core §8.1), which no rotation changes. */
  async salt(): Promise<Buffer> {
    return (this.#set ?? (await this.#current())).salt;
  }

  /** Replaces signing keys that have signed for 90 days, removes those that are no longer published, and encrypts all with SECRET_KEY. */
  async maintain(): Promise<void> {
    await removeEndedKeys(this.#core);
    const rotated = await rotateSigningKeys(this.#core, this.#encryption, { minAgeSeconds: SIGNING_KEY_SECONDS.age });
    if (rotated) this.#log.info('new signing keys are published; they sign in a day');
    await encryptRowsAgain(this.#core, ({ kid, encrypted }) => {
      if (this.#encryption.isCurrent(kid, encrypted)) return null;
      const text = this.#encryption.decrypt(kid, encrypted);
      return text && this.#encryption.encrypt(kid, text);
    });
  }

  async #current(): Promise<KeySet> {
    if (this.#set && Date.now() - this.#loadedAt < CACHE_MS) return this.#set;
    this.#loading ??= this.#load().finally(() => {
      this.#loading = undefined;
    });
    // The previous keys are used when the database does not respond.
    return this.#set ? this.#loading.catch(() => this.#set as KeySet) : this.#loading;
  }

  async #load(): Promise<KeySet> {
    const found = this.#decrypt(await readKeys(this.#core)) ?? (await this.#create());
    this.#loadedAt = Date.now();
    const isSame = found.keys.map(({ kid }) => kid).join() === this.#set?.keys.map(({ kid }) => kid).join();
    if (!isSame || !found.salt.equals(this.#set?.salt ?? Buffer.alloc(0))) this.#set = found;
    return this.#set as KeySet;
  }

  /** Adds what is missing, and returns what this or another instance has added. */
  async #create(): Promise<KeySet> {
    const stored = await readKeys(this.#core);
    const saltId = stored.some(({ kid }) => kid === SALT) ? `${SALT}-${newKid()}` : SALT;
    const salt = { kid: saltId, algorithm: null, encrypted: this.#encryption.encrypt(saltId, randomBytes(SALT_BYTES)) };
    const rows = [salt, ...(await newKeys(this.#encryption))];
    await addMissingKeys(this.#core, rows, ({ kid, encrypted }) => this.#encryption.decrypt(kid, encrypted) !== null);
    const created = this.#decrypt(await readKeys(this.#core));
    if (!created) throw new Error('The signing keys cannot be read after they were created.');
    return created;
  }

  /** Returns null when there is no salt, or no key that signs. */
  #decrypt(rows: readonly StoredKey[]): KeySet | null {
    const usable = rows.flatMap((row) => {
      const text = this.#encryption.decrypt(row.kid, row.encrypted);
      if (!text) this.#reportUnreadable(row);
      return text ? [{ ...row, text }] : [];
    });
    // A backup's salt that became readable again is older than the one that replaced it.
    const salt = usable.find(({ algorithm }) => algorithm === null)?.text;
    const keysOf = (wanted: Algorithm, started: boolean) =>
      usable
        .filter((row) => row.algorithm === wanted && row.started === started)
        .map(({ kid, text }): SigningKey => ({ ...JSON.parse(text.toString()), kid, alg: wanted, use: 'sig' }));
    const signing = ALGORITHMS.map((algorithm) => keysOf(algorithm, true).reverse());
    if (!salt || signing.some((keys) => keys.length === 0)) return null;
    return { salt, keys: [...signing.flat(), ...ALGORITHMS.flatMap((algorithm) => keysOf(algorithm, false))] };
  }

  /** Logs once that a row is encrypted with a different SECRET_KEY, and what follows from it. */
  #reportUnreadable({ kid, algorithm }: KeyRow): void {
    if (this.#reported.has(kid)) return;
    this.#reported.add(kid);
    const effect = algorithm
      ? 'Another key signs; tokens that it has signed are no longer valid.'
      : 'Another salt is used: clients of OpenID Connect see every person with a new sub. ' +
        'To keep the former ones, set SECRET_KEY_PREVIOUS to the SECRET_KEY of the backup.';
    this.#log.warn({ kid }, `a row of oidc_keys is encrypted with a different SECRET_KEY. ${effect}`);
  }
}

/**
 * Publishes new signing keys. They sign after a day, and the former ones stay published until every token that they signed has expired.
 * @param options.revoke the new keys sign immediately, and tokens that the former ones signed become invalid
 * @param options.minAgeSeconds changes nothing when the newest keys are younger, or when there are none
 * @returns whether the keys were changed
 */
export async function rotateSigningKeys(
  database: pg.Pool | pg.Client,
  encryption: KeyEncryption,
  { revoke = false, minAgeSeconds = 0 }: { revoke?: boolean; minAgeSeconds?: number },
): Promise<boolean> {
  const { publishedAhead, kept } = SIGNING_KEY_SECONDS;
  const rotation = revoke ? { publishedAheadSeconds: 0, keptSeconds: null } : { publishedAheadSeconds: publishedAhead, keptSeconds: kept };
  return replaceKeys(database, () => newKeys(encryption), rotation, minAgeSeconds);
}

const generate = promisify(generateKeyPair);

async function newKeys(encryption: KeyEncryption): Promise<KeyRow[]> {
  const [ec, rsa] = await Promise.all([generate('ec', { namedCurve: 'P-256' }), generate('rsa', { modulusLength: RSA_BITS })]);
  const rowOf = (algorithm: Algorithm, jwk: JsonWebKey) => {
    const kid = newKid();
    return { kid, algorithm, encrypted: encryption.encrypt(kid, Buffer.from(JSON.stringify(jwk))) };
  };
  return [rowOf('ES256', ec.privateKey.export({ format: 'jwk' })), rowOf('RS256', rsa.privateKey.export({ format: 'jwk' }))];
}

const newKid = () => randomBytes(12).toString('base64url');

const PURPOSE = 'encryption of oidc_keys';
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** Encryption of the rows of `oidc_keys` by AES-256-GCM, with a key derived from SECRET_KEY. The key ID is authenticated with the text. */
export class KeyEncryption {
  readonly #secretKeys: SecretKeys;

  constructor(secretKeys: SecretKeys) {
    this.#secretKeys = secretKeys;
  }

  /** Returns initialization vector ‖ tag ‖ encrypted text. */
  encrypt(kid: string, text: Buffer): Buffer {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv('aes-256-gcm', deriveKey(this.#secretKeys.writing, PURPOSE), iv).setAAD(Buffer.from(kid));
    const encrypted = Buffer.concat([cipher.update(text), cipher.final()]);
    return Buffer.concat([iv, cipher.getAuthTag(), encrypted]);
  }

  /** Returns the text, or null when it was encrypted with a different SECRET_KEY or for another key ID. */
  decrypt(kid: string, sealed: Buffer): Buffer | null {
    for (const key of this.#secretKeys.reading) {
      const text = decryptWith(key, kid, sealed);
      if (text) return text;
    }
    return null;
  }

  /** Returns whether a row was encrypted with the key that new rows are encrypted with. */
  isCurrent(kid: string, sealed: Buffer): boolean {
    return decryptWith(this.#secretKeys.writing, kid, sealed) !== null;
  }
}

function decryptWith(secretKey: Buffer, kid: string, sealed: Buffer): Buffer | null {
  const iv = sealed.subarray(0, IV_BYTES);
  const tag = sealed.subarray(IV_BYTES, IV_BYTES + TAG_BYTES);
  try {
    const decipher = createDecipheriv('aes-256-gcm', deriveKey(secretKey, PURPOSE), iv, { authTagLength: TAG_BYTES });
    decipher.setAAD(Buffer.from(kid)).setAuthTag(tag);
    return Buffer.concat([decipher.update(sealed.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]);
  } catch {
    return null;
  }
}

/**
 * Publishes new signing keys of the OpenID provider, for an operator's command; running instances use them without a restart.
 * @param options.revoke ends the former keys, and every token that they have signed, immediately
 * @throws StartError when SECRET_KEY is not that of the service
 */
export async function rotateByOperator(client: pg.Client, secretKeys: SecretKeys, options: { revoke: boolean }): Promise<void> {
  await requireSecretKey(client, secretKeys);
  const { previous } = secretKeys;
  secretKeys.writePrevious(previous !== null && (await isServingWith(client, previous)));
  await rotateSigningKeys(client, new KeyEncryption(secretKeys), options);
}
