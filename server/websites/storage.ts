import { createHash } from 'node:crypto';
import { chmod, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { AwsClient } from 'aws4fetch';
import { Fault } from '../../contract/errors.ts';
import { ICON_TYPES, MAX_ICON_BYTES, UPLOAD_IDLE_SECONDS } from '../../contract/limits.ts';
import type { StorageConfig } from '../platform/config.ts';

const TYPES: readonly string[] = [...ICON_TYPES, 'image/jpg'];
/** A file that is too large, up to this size, is read to its end so that the client gets the response; a larger one is cut off. */
const MAX_READ_BYTES = 2 * MAX_ICON_BYTES;
const INITIAL_BYTES = 64 * 1024;
const IDLE_MS = UPLOAD_IDLE_SECONDS * 1000;

/** Reserves memory for more bytes of a file. @throws Fault unavailable when too much is in use */
export type ReserveBytes = (bytes: number) => void;

/**
 * Reads the whole body of an upload.
 * @param reserve called before memory is allocated
 * @throws Fault bad_icon, icon_too_large, bad_request, request_timeout when no data arrives for UPLOAD_IDLE_SECONDS, and what `reserve` throws
 */
export async function receiveFile(request: IncomingMessage, reserve: ReserveBytes): Promise<Buffer> {
  const type = request.headers['content-type']?.split(';')[0].trim().toLowerCase();
  if (!type || !TYPES.includes(type)) throw new Fault('bad_icon', { message: 'Please select a file of type: image/jpeg, image/png' });
  if (Number(request.headers['content-length']) > MAX_READ_BYTES) throw new Fault('icon_too_large');
  const file = new GrowingFile(reserve);
  let idle: NodeJS.Timeout | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      idle = setTimeout(() => reject(new Fault('request_timeout', { message: 'The file did not arrive in time.' })), IDLE_MS);
      const endEarly = (cause?: unknown) => reject(new Fault('bad_request', { message: 'The file ended early.', cause }));
      request.on('end', resolve).on('error', endEarly).on('close', endEarly);
      request.on('data', (chunk: Buffer) => {
        idle?.refresh();
        try {
          file.append(chunk);
        } catch (fault) {
          reject(fault);
        }
        if (file.received > MAX_READ_BYTES) reject(new Fault('icon_too_large'));
      });
    });
  } catch (fault) {
    request.pause();
    // Node reads the rest of a refused body and discards it.
    request.removeAllListeners('data');
    throw fault;
  } finally {
    clearTimeout(idle);
  }
  if (file.received > MAX_ICON_BYTES) throw new Fault('icon_too_large');
  return file.bytes();
}

/**
 * The bytes of a file in one buffer whose size doubles as they arrive: an array of chunks of a single byte would take a hundred times
 * the memory of the file.
 */
class GrowingFile {
  /** Number of bytes that arrived; those beyond MAX_ICON_BYTES are not kept. */
  received = 0;
  #buffer = Buffer.alloc(0);
  readonly #reserve: ReserveBytes;

  constructor(reserve: ReserveBytes) {
    this.#reserve = reserve;
  }

  append(chunk: Buffer): void {
    const at = this.received;
    this.received += chunk.length;
    if (this.received > MAX_ICON_BYTES) return;
    if (this.received > this.#buffer.length) this.#grow(this.received);
    chunk.copy(this.#buffer, at);
  }

  bytes(): Buffer {
    return this.#buffer.subarray(0, this.received);
  }

  #grow(needed: number): void {
    const length = Math.min(MAX_ICON_BYTES, Math.max(INITIAL_BYTES, needed, 2 * this.#buffer.length));
    this.#reserve(length - this.#buffer.length);
    const buffer = Buffer.allocUnsafe(length);
    this.#buffer.copy(buffer);
    this.#buffer = buffer;
  }
}

/** Stores the bytes of uploads by their ids. */
export type Storage = {
  put(id: string, bytes: Buffer): Promise<void>;
  /** Returns null when there are none. */
  get(id: string): Promise<Buffer | null>;
  /** Succeeds also when there are none. */
  remove(id: string): Promise<void>;
};

type Bucket = NonNullable<StorageConfig['bucket']>;

/** Time-out of one request to the bucket; a failed request is repeated once. */
const BUCKET_TIMEOUT_MS = 2_000;

/** Returns the storage of the settings: the bucket, or files in DATA_DIR. */
export function openStorage({ bucket, dataDir }: StorageConfig): Storage {
  return bucket ? bucketStorage(bucket) : diskStorage(join(dataDir, 'uploads'));
}

const unavailable = (cause: unknown) =>
  new Fault('unavailable', { message: 'The images are not available at the moment.', cause, retryAfter: 5 });

/** Stores files in `directory`, readable by this user only. A file appears complete or not at all. */
export function diskStorage(directory: string): Storage {
  const file = (id: string) => join(directory, id);
  const part = (id: string) => join(directory, `${id}.part`);
  return {
    put: async (id, bytes) => {
      try {
        await mkdir(directory, { recursive: true, mode: 0o700 });
        await writeFile(part(id), bytes, { mode: 0o600, flush: true });
        // The mode above applies to a new file only, not to one that remained after a crash.
        await chmod(part(id), 0o600);
        await rename(part(id), file(id));
      } catch (cause) {
        throw unavailable(cause);
      }
    },
    get: async (id) => {
      try {
        return await readFile(file(id));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
        throw unavailable(error);
      }
    },
    remove: async (id) => {
      await rm(file(id), { force: true });
      await rm(part(id), { force: true });
    },
  };
}

/**
 * Stores objects `uploads/ID` in a bucket with the API of S3 (path-style addresses, AWS Signature Version 4).
 * @throws Fault unavailable from each call when the bucket does not respond in time or refuses
 */
export function bucketStorage({ endpoint, name, region, accessKeyId, secretAccessKey }: Bucket): Storage {
  const aws = new AwsClient({ accessKeyId, secretAccessKey, region, service: 's3', retries: 0 });

  /** @returns the body; null when the object does not exist */
  async function send(method: 'PUT' | 'GET' | 'DELETE', id: string, body?: Buffer): Promise<Buffer | null> {
    const hash = createHash('sha256')
      .update(body ?? '')
      .digest('hex');
    const headers = { 'X-Amz-Content-Sha256': hash, ...(body && { 'Content-Type': 'application/octet-stream' }) };
    const sendOnce = async () => {
      const request = await aws.sign(`${endpoint}/${name}/uploads/${id}`, { method, headers, body: body && new Uint8Array(body) });
      // The signal is an option of fetch: Node loses that of a Request once it is garbage-collected, and would then wait without end.
      const response = await fetch(request, { redirect: 'error', signal: AbortSignal.timeout(BUCKET_TIMEOUT_MS) });
      const content = Buffer.from(await response.arrayBuffer());
      if (response.ok) return content;
      if (response.status === 404 && method !== 'PUT') return null;
      throw new Error(`The bucket responded with ${response.status} to ${method}: ${content.subarray(0, 300)}`);
    };
    try {
      return await sendOnce().catch(sendOnce);
    } catch (cause) {
      throw unavailable(cause);
    }
  }

  return {
    put: async (id, bytes) => void (await send('PUT', id, bytes)),
    get: (id) => send('GET', id),
    remove: async (id) => void (await send('DELETE', id)),
  };
}
