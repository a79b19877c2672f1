import { hkdfSync, timingSafeEqual } from 'node:crypto';
import pg from 'pg';
import { StartError } from '../start-error.ts';
import { takeFromServing, waitUntilUnserved } from './serving-lock.ts';

const FINGERPRINT_BYTES = 16;
const WAIT_MS = 5_000;

/** The database was used with another SECRET_KEY. */
class OtherSecretKey extends StartError {
  override name = 'OtherSecretKey';
  override readonly exitCode = 6;
  readonly code = 'other_secret_key';

  constructor() {
    super(
      'This instance has another SECRET_KEY than the instances that used this database before. ' +
        'Give all of them the same one; without the setting it is the file secret-key in DATA_DIR. ' +
        'If that key is lost, or was changed on purpose: stop every instance, run `emailauth db forget-secret-key`, and start again. ' +
        'Mailed links and codes that are open then end.',
    );
  }
}

/** Instances serve from the database. */
class StillServed extends StartError {
  override name = 'StillServed';
  override readonly exitCode = 6;
  readonly code = 'running';

  constructor(place: string) {
    super(`The service is running on ${place}. Stop every instance of it first; nothing was changed.`);
  }
}

/**
 * Compares SECRET_KEY with that of the instances before, by a fingerprint in the database. The first instance writes it.
 * @param url a direct connection
 * @throws OtherSecretKey
 */
export async function checkSecretKey(url: string, secretKey: Buffer): Promise<void> {
  const own = fingerprintOf(secretKey);
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: WAIT_MS, query_timeout: WAIT_MS });
  client.on('error', () => {});
  try {
    await client.connect();
    const known = await readFingerprint(client);
    if (!known) await client.query('insert into installation (secret_key_fingerprint) values ($1) on conflict do nothing', [own]);
    // Of several first instances one has written it.
    const kept = known ?? (await readFingerprint(client));
    if (!kept || !timingSafeEqual(kept, own)) throw new OtherSecretKey();
  } finally {
    await client.end().catch(() => {});
  }
}

/**
 * Removes the fingerprint, so that the next instance to start decides which SECRET_KEY is the right one.
 * @param place of the database, for people
 * @returns false when there was none
 * @throws StillServed
 */
export async function forgetSecretKey(client: pg.Client, place: string): Promise<boolean> {
  if (!(await waitUntilUnserved(client))) throw new StillServed(place);
  await client.query('begin');
  try {
    // It holds until the commit, so that no instance starts to serve with the key from before.
    if (!(await takeFromServing(client))) throw new StillServed(place);
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

/** HKDF (RFC 5869) with an info of its own: it reveals neither the key nor anything else that is derived from it. */
function fingerprintOf(secretKey: Buffer): Buffer {
  return Buffer.from(hkdfSync('sha256', secretKey, '', 'emailauth fingerprint of SECRET_KEY', FINGERPRINT_BYTES));
}
