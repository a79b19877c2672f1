import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, open, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { pack } from 'tar-stream';

/** Size and hash of a stream. */
export type Measured = { bytes: number; sha256: string };

/** Measures a stream. @returns a transform to pipe it through, and a function for the result after its end */
export function measure(): { through: Transform; measured(): Measured } {
  const hash = createHash('sha256');
  let bytes = 0;
  const through = new Transform({
    transform(chunk: Buffer, _, done) {
      hash.update(chunk);
      bytes += chunk.length;
      done(null, chunk);
    },
  });
  return { through, measured: () => ({ bytes, sha256: hash.digest('hex') }) };
}

/** Temporary files for the parts of an archive: tar needs the size of a part before its content, and a table may not fit into memory. */
export class Spool {
  readonly #file: string;
  readonly #directory: string;
  readonly #signal: AbortSignal;
  readonly #parts: { name: string; path: string; bytes: number }[] = [];

  private constructor(file: string, directory: string, signal: AbortSignal) {
    this.#file = file;
    this.#directory = directory;
    this.#signal = signal;
  }

  /** Creates a temporary directory beside `file` that only this user may read. */
  static async open(file: string, signal: AbortSignal): Promise<Spool> {
    return new Spool(file, await mkdtemp(`${file}.partial-`), signal);
  }

  /** Stores a part under its name in the archive. The archive has the parts in the order of these calls. */
  async add(name: string, content: Readable): Promise<Measured> {
    const path = join(this.#directory, String(this.#parts.length));
    const { through, measured } = measure();
    await pipeline(content, through, createWriteStream(path, { mode: 0o600 }), { signal: this.#signal });
    const result = measured();
    this.#parts.push({ name, path, bytes: result.bytes });
    return result;
  }

  /** Writes the archive with `first` before the parts, and moves it to its destination. @returns its size in bytes */
  async pack(first: { name: string; text: string }): Promise<number> {
    const signal = this.#signal;
    const archive = join(this.#directory, 'archive.tar.gz');
    const tar = pack();
    const mtime = new Date();
    const addEntry = (name: string, size: number, content: Readable) =>
      pipeline(content, tar.entry({ name, size, mode: 0o600, mtime, type: 'file' }), { signal });
    const addEntries = async () => {
      await addEntry(first.name, Buffer.byteLength(first.text), Readable.from([first.text]));
      for (const { name, bytes, path } of this.#parts) {
        await addEntry(name, bytes, createReadStream(path));
        await rm(path);
      }
      tar.finalize();
    };
    const output = createWriteStream(archive, { mode: 0o600, flush: true });
    await Promise.all([pipeline(tar, createGzip(), output, { signal }), addEntries()]);
    signal.throwIfAborted();
    await rename(archive, this.#file);
    await syncDirectory(dirname(this.#file));
    return (await stat(this.#file)).size;
  }

  /** Removes all temporary files. */
  async remove(): Promise<void> {
    await rm(this.#directory, { recursive: true, force: true });
  }
}

/** Flushes a directory to disk, so that a renamed file survives a crash. */
async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
