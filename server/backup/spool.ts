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

/** Files for the parts of an archive: tar needs the size of a part before its content, and a table may not fit into memory. */
export type Spool = {
  /** Stores a part under its name in the archive. The archive has the parts in the order of these calls. */
  add(name: string, content: Readable): Promise<Measured>;
  /** Writes the archive with `first` before the parts, and moves it to its destination. @returns its size in bytes */
  pack(first: { name: string; text: string }): Promise<number>;
  /** Removes all temporary files. */
  remove(): Promise<void>;
};

/** Creates a temporary directory beside `file` that only this user may read. */
export async function openSpool(file: string, signal: AbortSignal): Promise<Spool> {
  const directory = await mkdtemp(`${file}.partial-`);
  const parts: { name: string; path: string; bytes: number }[] = [];
  const archive = join(directory, 'archive.tar.gz');

  return {
    async add(name, content) {
      const path = join(directory, String(parts.length));
      const { through, measured } = measure();
      await pipeline(content, through, createWriteStream(path, { mode: 0o600 }), { signal });
      const sum = measured();
      parts.push({ name, path, bytes: sum.bytes });
      return sum;
    },

    async pack(first) {
      const tar = pack();
      const written = pipeline(tar, createGzip(), createWriteStream(archive, { mode: 0o600, flush: true }), { signal });
      const mtime = new Date();
      const add = async (name: string, size: number, content: Readable) => {
        await pipeline(content, tar.entry({ name, size, mode: 0o600, mtime, type: 'file' }), { signal });
      };
      const packing = async () => {
        await add(first.name, Buffer.byteLength(first.text), Readable.from([first.text]));
        for (const { name, bytes, path } of parts) {
          await add(name, bytes, createReadStream(path));
          await rm(path);
        }
        tar.finalize();
      };
      await Promise.all([written, packing()]);
      signal.throwIfAborted();
      await rename(archive, file);
      await syncDirectory(dirname(file));
      return (await stat(file)).size;
    },

    remove: () => rm(directory, { recursive: true, force: true }),
  };
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
