import { createHmac, timingSafeEqual } from 'node:crypto';
import { v7 as uuid } from 'uuid';
import type { Output } from '../../contract/calls.ts';
import { Fault } from '../../contract/errors.ts';
import { MAX_ICON_BYTES } from '../../contract/limits.ts';
import { UPLOADS_PATH, uploadIdOf } from '../../contract/urls.ts';
import { isOfGeneration } from '../permissions/conditions.ts';
import { type Database, type Query, queryOf } from '../platform/db/database.ts';
import type { Account } from '../platform/http/endpoint.ts';
import type { Limits } from '../platform/http/limits.ts';
import type { SecretKeys } from '../platform/secrets.ts';
import { formatOf, makeIcon } from './icon.ts';
import type { ReserveBytes, Storage } from './storage.ts';

/** Files of one account that one process receives at the same time. */
const MAX_CONCURRENT_PER_ACCOUNT = 4;
/** Memory for the files of all accounts that are being received or stored: the share of four accounts, so that one cannot use it up. */
const MAX_CONCURRENT_BYTES = 4 * MAX_CONCURRENT_PER_ACCOUNT * MAX_ICON_BYTES;
/** How long one run of the clean-up may take, and how many failures of the storage end it. */
const CLEAN_UP_MS = 20_000;
const MAX_FAILURES = 3;
const FIRST_ID = '00000000-0000-0000-0000-000000000000';

type Parts = { database: Database; limits: Pick<Limits, 'hit'>; urls: UploadUrls; storage: Storage };

/** The icons of websites: who may upload one, how it is stored, and how long. */
export class Uploads {
  readonly #parts: Parts;
  /** Upload id → user id of the files that are being received. */
  readonly #receiving = new Map<string, string>();
  #reservedBytes = 0;
  // One image is decoded at a time, since its pixels may take a hundred megabytes.
  #decoding: Promise<unknown> = Promise.resolve();
  /** The id up to which the clean-up has run. */
  #cleanedUpTo = FIRST_ID;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Returns an address to which one file can be PUT within ten minutes. @throws Fault rate_limited */
  async begin(account: Account): Promise<Output<'beginUpload'>> {
    const { database, limits, urls } = this.#parts;
    await limits.hit('uploads', account.email);
    const { time, Upload } = await database.orm();
    const expiresAt = time(`now() + interval '${UPLOAD_SECONDS} seconds'`);
    const { id, expiresAt: end } = await Upload.create({ id: uuid(), userId: account.id, expiresAt });
    return { uploadURL: urls.sign(id, Math.ceil(end.getTime() / 1000)) };
  }

  /**
   * Receives the file for an address that `begin` returned. An address accepts one file: a refused one ends it too.
   * @param readFile reads the whole body, and reserves the memory for it; called when the address is valid
   * @throws Fault bad_upload, bad_icon, unavailable when too many files arrive, and what `readFile` throws
   */
  async receive(
    id: string,
    query: { expires?: unknown; signature?: unknown },
    readFile: (reserve: ReserveBytes) => Promise<Buffer>,
  ): Promise<{ iconUrl: string }> {
    if (!isUploadId(id) || !this.#parts.urls.isSigned(id, query) || this.#receiving.has(id)) throw new Fault('bad_upload');
    const userId = await this.#pendingUserOf(id);
    if (!userId || this.#receiving.has(id)) throw new Fault('bad_upload');
    if ([...this.#receiving.values()].filter((other) => other === userId).length >= MAX_CONCURRENT_PER_ACCOUNT) throw tooManyFiles();
    let bytesOfFile = 0;
    const reserve = (bytes: number) => {
      if (this.#reservedBytes + bytes > MAX_CONCURRENT_BYTES) throw tooManyFiles();
      this.#reservedBytes += bytes;
      bytesOfFile += bytes;
    };
    this.#receiving.set(id, userId);
    try {
      const file = await readFile(reserve);
      const isStored = await this.#inTurn(async () => this.#storeOnce(id, await makeIcon(file)));
      if (!isStored) throw new Fault('bad_upload');
      return { iconUrl: uploadPath(id) };
    } catch (error) {
      if (error instanceof Fault && (error.code === 'bad_icon' || error.code === 'icon_too_large')) await this.#cancel(id);
      throw error;
    } finally {
      this.#receiving.delete(id);
      this.#reservedBytes -= bytesOfFile;
    }
  }

  /** Returns a stored icon, or null when there is none with this id. */
  async find(id: string): Promise<{ bytes: Buffer; type: string } | null> {
    if (!isUploadId(id) || !(await this.#isStored({ id }))) return null;
    const bytes = await this.#parts.storage.get(id);
    const format = bytes && formatOf(bytes);
    return format && { bytes, type: `image/${format}` };
  }

  /**
   * Returns the id of the upload that an account wants to use as an icon.
   * @throws Fault bad_request, the same for one that does not exist, is not stored or belongs to another account
   */
  async ownIcon(account: Account, iconUrl: string): Promise<string> {
    const id = uploadIdOf(iconUrl);
    if (id && (await this.#isStored({ id, userId: account.id }))) return id;
    throw new Fault('bad_request', { field: 'iconUrl', message: 'There is no such icon. Upload it first and give the path it got.' });
  }

  /**
   * Removes uploads that did not arrive or that no website shows, after a day, with their bytes. A row is deleted after its bytes, so
   * that a failed removal is repeated. The next run continues where a run stopped early.
   * @param query a connection of the scheduled jobs
   * @returns their number
   * @throws the first error of the storage
   */
  async cleanUp(query: Query): Promise<number> {
    const { database, storage } = this.#parts;
    const end = Date.now() + CLEAN_UP_MS;
    const failures: unknown[] = [];
    const mayContinue = () => Date.now() < end && failures.length < MAX_FAILURES;
    let removed = 0;
    while (mayContinue()) {
      const { unneeded, last } = await findUnneeded(query, this.#cleanedUpTo);
      for (const id of unneeded) {
        if (!mayContinue()) break;
        this.#cleanedUpTo = id;
        try {
          if (await removeUnneeded(database, id, () => storage.remove(id))) removed += 1;
        } catch (error) {
          failures.push(error);
        }
      }
      if (!mayContinue()) break;
      this.#cleanedUpTo = last ?? FIRST_ID;
      if (last === null) break;
    }
    if (failures.length > 0) throw failures[0];
    return removed;
  }

  /** Returns the account whose file is still expected for this id, or null. */
  async #pendingUserOf(id: string): Promise<string | null> {
    const { Upload } = await this.#parts.database.orm();
    const upload = await Upload.findOne({ attributes: ['userId'], where: await this.#pending(id), raw: true });
    return upload?.userId ?? null;
  }

  /**
   * Marks an upload as stored and writes its bytes.
   * @returns false, and writes nothing, when the file is not expected any more, or the account was signed out since it began the upload
   */
  async #storeOnce(id: string, bytes: Buffer): Promise<boolean> {
    const { database, storage } = this.#parts;
    const { sequelize, time, Upload } = await database.orm();
    return sequelize.transaction(async (transaction) => {
      if ((await queryOf(sequelize, transaction)(IS_PERMITTED, [id])).rows.length === 0) return false;
      // The row is locked until the bytes are written: a second request waits, and then finds the upload stored.
      const [updated] = await Upload.update({ storedAt: time('now()') }, { where: await this.#pending(id), transaction });
      if (updated === 0) return false;
      await storage.put(id, bytes);
      return true;
    });
  }

  /** Ends an upload whose file was refused. */
  async #cancel(id: string): Promise<void> {
    const { Upload } = await this.#parts.database.orm();
    await Upload.destroy({ where: { id, storedAt: null } });
  }

  async #isStored(upload: { id: string; userId?: string }): Promise<boolean> {
    const { Op, Upload } = await this.#parts.database.orm();
    const found = await Upload.findOne({ attributes: ['id'], where: { ...upload, storedAt: { [Op.ne]: null } }, raw: true });
    return found !== null;
  }

  /** The condition of an upload whose file is still expected. */
  async #pending(id: string) {
    const { Op, time } = await this.#parts.database.orm();
    return { id, storedAt: null, expiresAt: { [Op.gt]: time('now()') } };
  }

  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#decoding.then(work);
    this.#decoding = result.catch(() => {});
    return result;
  }
}

function tooManyFiles(): Fault {
  return new Fault('unavailable', { message: 'Too many files are being uploaded. Try again in a moment.', retryAfter: 5 });
}

/** How long an upload address is valid. */
const UPLOAD_SECONDS = 600;

// The time of a row's creation is its generation.
const IS_PERMITTED = `
select 1 from uploads p join users u on u.id = p.user_id
where p.id = $1 and ${isOfGeneration('u.email', `(extract(epoch from p.expires_at) - ${UPLOAD_SECONDS}) * 1000000`)}`;

/** Whether a part of a path has the form of an upload's id; nothing else is passed to the storage. */
const isUploadId = (text: string): boolean => uploadIdOf(uploadPath(text)) !== null;

/** Returns the path of an upload, the `iconUrl` of a website. */
export const uploadPath = (id: string): string => `${UPLOADS_PATH}${id}`;

/** Signed addresses, each of which permits to PUT one file; the signature covers the id and the expiry. */
type UploadUrls = {
  /** @param expires Unix seconds */
  sign(id: string, expires: number): string;
  /** Whether the query of an address was signed for this id. The database checks the expiry. */
  isSigned(id: string, query: { expires?: unknown; signature?: unknown }): boolean;
};

/** Returns the signer of upload addresses below PUBLIC_URL. */
export function createUploadUrls(keys: SecretKeys, publicUrl: string): UploadUrls {
  const mac = (key: Buffer, id: string, expires: string) => createHmac('sha256', key).update(`upload|put|${id}|${expires}`).digest();
  return {
    sign: (id, expires) => {
      const query = new URLSearchParams({
        expires: String(expires),
        signature: mac(keys.writing, id, String(expires)).toString('base64url'),
      });
      return `${publicUrl}${uploadPath(id)}?${query}`;
    },
    isSigned: (id, { expires, signature }) => {
      if (typeof expires !== 'string' || !/^\d{1,12}$/.test(expires) || typeof signature !== 'string') return false;
      const given = Buffer.from(signature, 'base64url');
      return keys.reading.some((key) => {
        const expected = mac(key, id, expires);
        return given.length === expected.length && timingSafeEqual(given, expected);
      });
    },
  };
}

// An icon that was uploaded within the last day may still be assigned to a website. As a subquery with a limit, the websites are found
// by their index one by one, whatever number of them the planner estimates.
const UNNEEDED = `(stored_at is null and expires_at < now() - interval '1 day')
  or (stored_at < now() - interval '1 day' and (select w.id from websites w where w.icon = u.id limit 1) is null)`;
const BATCH = 1_000;

/**
 * Reads the next uploads after the id `after`, on a connection of the scheduled jobs.
 * @returns the ids of those that are not needed, and the last id that was read; null after the last upload
 */
async function findUnneeded(query: Query, after: string): Promise<{ unneeded: string[]; last: string | null }> {
  const { rows } = await query(
    `with slice as materialized (select id, stored_at, expires_at from uploads where id > $1 order by id limit ${BATCH})
     select array(select id from slice u where ${UNNEEDED} order by id) as unneeded, (select id from slice order by id desc limit 1) as last`,
    [after],
  );
  return rows[0] as { unneeded: string[]; last: string | null };
}

/**
 * Removes an upload after `removeBytes`. Its row is locked meanwhile, so that no website can be given the icon.
 * @returns false when it is needed, or locked by another process
 */
async function removeUnneeded(database: Database, id: string, removeBytes: () => Promise<void>): Promise<boolean> {
  const { sequelize, Upload } = await database.orm();
  return sequelize.transaction(async (transaction) => {
    const sql = `select id from uploads u where id = $1 and (${UNNEEDED}) for update skip locked`;
    const [rows] = await sequelize.query(sql, { bind: [id], transaction });
    if (rows.length === 0) return false;
    await removeBytes();
    await Upload.destroy({ where: { id }, transaction });
    return true;
  });
}
