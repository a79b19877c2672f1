import { v7 as uuid } from 'uuid';
import { Fault } from '../../contract/errors.ts';
import { MAX_ICON_BYTES } from '../../contract/limits.ts';
import type { Output } from '../../contract/routes.ts';
import type { Database, Query } from '../db/database.ts';
import type { Limits } from '../http/limits.ts';
import type { Account } from '../http/serve.ts';
import { formatOf, makeIcon } from './icon.ts';
import type { HoldBytes } from './receive-file.ts';
import type { Storage } from './storage.ts';
import { createUploadStore } from './store.ts';
import { isUploadId, UPLOAD_SECONDS, type UploadUrls, uploadIdOf, uploadPath } from './upload-url.ts';

/** Files of one account that one process takes at once. */
const MAX_AT_ONCE_OF_ONE = 4;
/** Memory for the files of all accounts that are arriving or wait to be stored: four accounts' share, so that none can use it up. */
const MAX_BYTES_AT_ONCE = 4 * MAX_AT_ONCE_OF_ONE * MAX_ICON_BYTES;
/** What one run of the clean-up may take, and how many failures of the storage end it. */
const CLEAN_UP_MS = 20_000;
const MAX_FAILURES = 3;
const FIRST_ID = '00000000-0000-0000-0000-000000000000';

export type Uploads = ReturnType<typeof createUploads>;

/** Icons on their way in and out: who may send one, what is kept of it, and for how long. */
export function createUploads(parts: { database: Database; limits: Pick<Limits, 'hit'>; urls: UploadUrls; storage: Storage }) {
  const { limits, urls, storage } = parts;
  const store = createUploadStore(parts.database);
  /** How far the clean-up has come. */
  let cleanedUpTo = FIRST_ID;
  /** Upload id → user id of the files that are being taken. */
  const underWay = new Map<string, string>();
  let bytesHeld = 0;
  // One image is decoded at a time: its pixels may take a hundred megabytes.
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <Result>(work: () => Promise<Result>): Promise<Result> => {
    const turn = last.then(work);
    last = turn.catch(() => {});
    return turn;
  };

  return {
    /** Gives an address to PUT one file to, within ten minutes. @throws Fault rate_limited */
    async begin(account: Account): Promise<Output<'beginUpload'>> {
      await limits.hit('uploads', account.email);
      const id = uuid();
      return { uploadURL: urls.sign(id, await store.expect({ id, userId: account.id, seconds: UPLOAD_SECONDS })) };
    },

    /**
     * Takes the file of an address that `begin` gave. An address takes one file: one that is refused ends it too.
     * @param readFile reads the whole body; called once the address proved good. It reserves the memory that it takes
     * @throws Fault bad_upload, bad_icon, unavailable when too many files arrive, and what `readFile` throws
     */
    async receive(
      id: string,
      query: { expires?: unknown; signature?: unknown },
      readFile: (hold: HoldBytes) => Promise<Buffer>,
    ): Promise<{ iconUrl: string }> {
      if (!isUploadId(id) || !urls.isSigned(id, query) || underWay.has(id)) throw new Fault('bad_upload');
      const userId = await store.expectedFrom(id);
      if (!userId || underWay.has(id)) throw new Fault('bad_upload');
      if ([...underWay.values()].filter((other) => other === userId).length >= MAX_AT_ONCE_OF_ONE) throw tooManyFiles();
      let bytesOfFile = 0;
      const hold = (bytes: number) => {
        if (bytesHeld + bytes > MAX_BYTES_AT_ONCE) throw tooManyFiles();
        bytesHeld += bytes;
        bytesOfFile += bytes;
      };
      underWay.set(id, userId);
      try {
        const file = await readFile(hold);
        const stored = await inTurn(async () => {
          const icon = await makeIcon(file);
          return store.storeOnce(id, () => storage.put(id, icon));
        });
        if (!stored) throw new Fault('bad_upload');
        return { iconUrl: uploadPath(id) };
      } catch (error) {
        if (error instanceof Fault && (error.code === 'bad_icon' || error.code === 'icon_too_large')) await store.forget(id);
        throw error;
      } finally {
        underWay.delete(id);
        bytesHeld -= bytesOfFile;
      }
    },

    /** A stored icon. @returns null when there is none under this id */
    async find(id: string): Promise<{ bytes: Buffer; type: string } | null> {
      if (!isUploadId(id) || !(await store.isStored(id))) return null;
      const bytes = await storage.get(id);
      const format = bytes && formatOf(bytes);
      return format && { bytes, type: `image/${format}` };
    },

    /**
     * The upload that an account names as an icon.
     * @throws Fault bad_request for one that is somebody else's or not stored, as for one that never was
     */
    async ownIcon(account: Account, iconUrl: string): Promise<string> {
      const id = uploadIdOf(iconUrl);
      if (id && (await store.isStored(id, account.id))) return id;
      throw new Fault('bad_request', { field: 'iconUrl', message: 'There is no such icon. Upload it first and give the path it got.' });
    },

    /**
     * Removes what was never sent and what no site shows, a day after, with its bytes. A row goes after its bytes only, so that
     * what the storage refuses is tried again. A run that does not reach the end is continued by the next one.
     * @param query a connection of the timed jobs
     * @returns how many
     * @throws the storage's fault, when it failed
     */
    async removeUnneeded(query: Query): Promise<number> {
      const end = Date.now() + CLEAN_UP_MS;
      const failures: unknown[] = [];
      const goesOn = () => Date.now() < end && failures.length < MAX_FAILURES;
      let removed = 0;
      while (goesOn()) {
        const { unneeded, last } = await store.findUnneeded(query, cleanedUpTo);
        for (const id of unneeded) {
          if (!goesOn()) break;
          cleanedUpTo = id;
          try {
            if (await store.removeUnneeded(id, () => storage.remove(id))) removed += 1;
          } catch (error) {
            failures.push(error);
          }
        }
        if (!goesOn()) break;
        cleanedUpTo = last ?? FIRST_ID;
        if (last === null) break;
      }
      if (failures.length > 0) throw failures[0];
      return removed;
    },
  };
}

function tooManyFiles(): Fault {
  return new Fault('unavailable', { message: 'Too many files are on their way. Try again in a moment.', retryAfter: 5 });
}
