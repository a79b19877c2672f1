import { v7 as uuid } from 'uuid';
import { Fault } from '../../contract/errors.ts';
import { MAX_ICON_BYTES } from '../../contract/limits.ts';
import type { Output } from '../../contract/routes.ts';
import type { Database, Query } from '../db/database.ts';
import type { Limits } from '../http/limits.ts';
import type { Account } from '../http/serve.ts';
import { formatOf, makeIcon } from './icon.ts';
import type { ReserveBytes } from './receive-file.ts';
import type { Storage } from './storage.ts';
import { findUnneeded, removeUnneeded } from './store.ts';
import { isUploadId, UPLOAD_SECONDS, type UploadUrls, uploadIdOf, uploadPath } from './upload-url.ts';

/** Files of one account that one process receives at the same time. */
const MAX_CONCURRENT_PER_ACCOUNT = 4;
/** Memory for the files of all accounts that are being received or stored: the share of four accounts, so that one cannot use it up. */
const MAX_CONCURRENT_BYTES = 4 * MAX_CONCURRENT_PER_ACCOUNT * MAX_ICON_BYTES;
/** How long one run of the clean-up may take, and how many failures of the storage end it. */
const CLEAN_UP_MS = 20_000;
const MAX_FAILURES = 3;
const FIRST_ID = '00000000-0000-0000-0000-000000000000';

type Parts = { database: Pick<Database, 'orm'>; limits: Pick<Limits, 'hit'>; urls: UploadUrls; storage: Storage };

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
   * @param query a connection of the timed jobs
   * @returns their number
   * @throws the first error of the storage
   */
  async removeUnneeded(query: Query): Promise<number> {
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

  /** Marks an upload as stored and writes its bytes. @returns false, and writes nothing, when the file is not expected any more */
  async #storeOnce(id: string, bytes: Buffer): Promise<boolean> {
    const { database, storage } = this.#parts;
    const { sequelize, time, Upload } = await database.orm();
    return sequelize.transaction(async (transaction) => {
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
