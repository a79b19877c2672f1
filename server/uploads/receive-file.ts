import type { IncomingMessage } from 'node:http';
import { Fault } from '../../contract/errors.ts';
import { ICON_TYPES, MAX_ICON_BYTES, UPLOAD_IDLE_SECONDS } from '../../contract/limits.ts';

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
