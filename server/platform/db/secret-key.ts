import { timingSafeEqual } from 'node:crypto';
import type pg from 'pg';
import type { Log } from '../log.ts';
import { fingerprintOf, type SecretKeys } from '../secrets.ts';
import { StartError } from '../start-error.ts';
import { isServingWith, lockOutService, waitUntilUnused } from './serving-lock.ts';

/** The database was used with a different SECRET_KEY. */
class DifferentSecretKey extends StartError {
  override name = 'DifferentSecretKey';
  override readonly exitCode = 6;
  readonly code = 'other_secret_key';

  constructor() {
    super(
      'The SECRET_KEY of this instance differs from the one that this database was used with before. ' +
        'All instances need the same key; without the setting it is in the file secret-key in DATA_DIR. ' +
        'To change the key, give the one before in SECRET_KEY_PREVIOUS. If that is lost, stop all instances, run `emailauth db forget-secret-key`, and start again. ' +
        'Mailed links and codes that have not been used then stop working.',
    );
  }
}

/** Instances are using the database. */
class StillInUse extends StartError {
  override name = 'StillInUse';
  override readonly exitCode = 6;
  readonly code = 'running';

  constructor(place: string) {
    super(`The service is running on ${place}. Stop all its instances first. Nothing was changed.`);
  }
}

/**
 * Compares SECRET_KEY with that of other instances by a fingerprint in the database, which the first instance writes.
 * @param previous SECRET_KEY_PREVIOUS, which may be the key of the other instances during a rotation
 * @throws DifferentSecretKey
 */
export async function checkSecretKey(client: pg.ClientBase, secretKey: Buffer, previous: Buffer | null): Promise<void> {
  const own = fingerprintOf(secretKey);
  const known = await readFingerprint(client);
  if (!known) await client.query('insert into installation (secret_key_fingerprint) values ($1) on conflict do nothing', [own]);
  // Several instances may start at once, of which one has written it.
  const kept = known ?? (await readFingerprint(client));
  const accepted = previous ? [own, fingerprintOf(previous)] : [own];
  if (!kept || !accepted.some((fingerprint) => timingSafeEqual(kept, fingerprint))) throw new DifferentSecretKey();
}

/**
 * Returns after comparing SECRET_KEY with the fingerprint in the database, which it does not change.
 * @throws DifferentSecretKey
 */
export async function requireSecretKey(client: pg.ClientBase, secretKeys: SecretKeys): Promise<void> {
  const known = await readFingerprint(client);
  if (known && !secretKeys.reading.some((key) => timingSafeEqual(known, fingerprintOf(key)))) throw new DifferentSecretKey();
}

/** Stores the fingerprint of SECRET_KEY in place of that of SECRET_KEY_PREVIOUS. @returns whether it was that one */
export async function replaceFingerprint(pool: pg.Pool, secretKey: Buffer, previous: Buffer): Promise<boolean> {
  const statement = 'update installation set secret_key_fingerprint = $1 where secret_key_fingerprint = $2';
  return (await pool.query(statement, [fingerprintOf(secretKey), fingerprintOf(previous)])).rowCount === 1;
}

/**
 * Removes the fingerprint, so that the database takes the SECRET_KEY of the next instance that starts.
 * @param place of the database, for messages
 * @returns false if there was none
 * @throws StillInUse
 */
export async function forgetSecretKey(client: pg.Client, place: string): Promise<boolean> {
  if (!(await waitUntilUnused(client))) throw new StillInUse(place);
  await client.query('begin');
  try {
    // The lock is held until the commit, so that no instance starts with the previous key.
    if (!(await lockOutService(client))) throw new StillInUse(place);
    const { rows } = await client.query<{ there: boolean }>("select to_regclass('installation') is not null as there");
    const removed = rows[0].there ? (await client.query('delete from installation')).rowCount : 0;
    await client.query('commit');
    return removed === 1;
  } catch (error) {
    await client.query('rollback').catch(() => {});
    throw error;
  }
}

async function readFingerprint(client: pg.ClientBase): Promise<Buffer | undefined> {
  const { rows } = await client.query<{ secret_key_fingerprint: Buffer }>('select secret_key_fingerprint from installation');
  return rows[0]?.secret_key_fingerprint;
}

const CHECK_MS = 5_000;

type Parts = {
  core: pg.Pool;
  secretKeys: SecretKeys;
  log: Log;
  /** Called when no other instance needs SECRET_KEY_PREVIOUS, to encrypt with SECRET_KEY what is stored. */
  encryptAgain(): Promise<void>;
};

/**
 * Replaces SECRET_KEY_PREVIOUS by SECRET_KEY without a pause. As long as an instance runs that has only the former key, this one
 * makes links, codes and everything else with the former key too, so that any instance can read them.
 */
export class SecretKeyRotation {
  readonly #parts: Parts;
  #timer: NodeJS.Timeout | undefined;
  #isReplaced = false;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Checks once which key is to be used, and then regularly; does nothing without SECRET_KEY_PREVIOUS. */
  async start(): Promise<void> {
    const { secretKeys } = this.#parts;
    if (!secretKeys.previous) return;
    secretKeys.writePrevious(true);
    if (await this.#check())
      this.#parts.log.info('instances with SECRET_KEY_PREVIOUS as their only key are running: it is used until they have stopped');
    this.#timer = setInterval(() => void this.#check(), CHECK_MS).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Returns whether an instance runs that has only the former key; false also when the database did not respond. */
  async #check(): Promise<boolean> {
    const { core, secretKeys, log, encryptAgain } = this.#parts;
    const previous = secretKeys.previous as Buffer;
    try {
      const isUsed = await isServingWith(core, previous);
      secretKeys.writePrevious(isUsed);
      if (isUsed || this.#isReplaced) return isUsed;
      await replaceFingerprint(core, secretKeys.writing, previous);
      await encryptAgain();
      this.#isReplaced = true;
      log.info('SECRET_KEY has replaced SECRET_KEY_PREVIOUS, which can be removed after a day');
    } catch (error) {
      log.debug({ err: error }, 'the rotation of SECRET_KEY waits for the database');
    }
    return false;
  }
}
