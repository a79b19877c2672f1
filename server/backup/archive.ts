import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { type Readable, Transform } from 'node:stream';
import { text } from 'node:stream/consumers';
import { finished, pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { type Extract, extract } from 'tar-stream';
import { BackupError, damaged, inWords } from './backup-error.ts';
import {
  type IconPart,
  iconEntry,
  MANIFEST,
  MAX_MANIFEST_BYTES,
  type Manifest,
  readManifest,
  type TablePart,
  tableEntry,
} from './manifest.ts';
import { measure } from './spool.ts';

/** One part of a backup, after the manifest. Its content is checked once it was read to its end: nothing may be final before. */
type ArchivePart = { manifest: Manifest; content: Readable } & ({ table: TablePart; icon?: never } | { icon: IconPart; table?: never });

type Entry = Extract extends AsyncIterable<infer Source> ? Source : never;

/** Text packs to a tenth; a thousandth is what an attack packs to. */
const MAX_RATIO = 250;
const MIN_BOUND = 64 * 1024 * 1024;
/** What may come between two parts: their headers, and what waits in buffers. */
const BETWEEN_PARTS = 2 * 1024 * 1024;

/**
 * Reads the whole of a backup as it comes: names, kinds, order, sizes and hashes have to be those of its manifest, so that
 * nothing of the file decides on a path, and nothing unknown passes.
 * @throws BackupError file, damaged, newer
 */
export async function* readArchive(file: string, signal: AbortSignal): AsyncGenerator<ArchivePart> {
  const tar = extract();
  let reading: Promise<void> | undefined;
  try {
    const there = await stat(file);
    // It is read twice: a pipe or a device is not the same the second time.
    if (!there.isFile()) throw new BackupError('file', `${file} is no file.`, 'Give the path of a backup.');
    const { allowance, bound } = bounds(file, there.size);
    reading = pipeline(createReadStream(file), createGunzip(), bound, tar, { signal });
    // It is waited for below; what fails meanwhile shows at the next entry.
    reading.catch(() => {});
    const entries = tar[Symbol.asyncIterator]();
    const next = async (name: string, bytes: number | null): Promise<Entry> => {
      const { value: entry, done } = await entries.next();
      if (done) throw damaged(file, `${name} is missing`);
      const { header } = entry;
      if (header.name !== name || header.type !== 'file') throw damaged(file, `it holds something else in the place of ${name}`);
      if (bytes === null ? (header.size ?? 0) > MAX_MANIFEST_BYTES : header.size !== bytes) throw damaged(file, `${name} has another size`);
      allowance(header.size ?? 0);
      return entry;
    };

    const manifest = readManifest(file, await text(await next(MANIFEST, null)));
    const parts = [
      ...manifest.tables.map((table) => ({ name: tableEntry(table.name), sum: table, table })),
      ...manifest.icons.files.map((icon) => ({ name: iconEntry(icon.id), sum: icon, icon })),
    ];
    for (const { name, sum, ...which } of parts) {
      const { through, measured } = measure();
      const passing = pipeline(await next(name, sum.bytes), through);
      passing.catch(() => {});
      yield { manifest, content: through, ...which } as ArchivePart;
      if (!through.readableEnded) await finished(through.resume());
      await passing;
      if (measured().sha256 !== sum.sha256) throw damaged(file, `${name} is not what was written`);
    }
    if (!(await entries.next()).done) throw damaged(file, 'there is more in it than it says');
    await reading;
  } catch (error) {
    if (signal.aborted || error instanceof BackupError) throw error;
    const told = inWords(error, `read ${file}`);
    throw told instanceof BackupError ? told : damaged(file, 'it is damaged, cut short or no backup', error);
  } finally {
    tar.destroy();
    await reading?.catch(() => {});
  }
}

/** Reads a backup to its end and changes nothing. @returns what it says of itself, all of it true */
export async function checkArchive(file: string, signal: AbortSignal): Promise<Manifest> {
  let manifest: Manifest | undefined;
  for await (const part of readArchive(file, signal)) manifest = part.manifest;
  if (!manifest) throw damaged(file, 'it holds no tables');
  return manifest;
}

/** Stops what unpacks to more than it may: in all by the size of the file, and between two parts. */
function bounds(file: string, packed: number): { allowance(bytes: number): void; bound: Transform } {
  const most = Math.max(MIN_BOUND, packed * MAX_RATIO);
  let total = 0;
  let allowed = BETWEEN_PARTS;
  const bound = new Transform({
    transform(chunk: Buffer, _, done) {
      total += chunk.length;
      const tooMuch = total > most || total > allowed;
      done(tooMuch ? damaged(file, 'it unpacks to far more than it may') : null, chunk);
    },
  });
  return {
    bound,
    allowance: (bytes) => {
      allowed = total + bytes + BETWEEN_PARTS;
    },
  };
}
