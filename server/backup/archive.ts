import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { type Readable, Transform } from 'node:stream';
import { text } from 'node:stream/consumers';
import { finished, pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { type Extract, extract } from 'tar-stream';
import { BackupError, damaged, readableError } from './backup-error.ts';
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

/** One part of a backup after the manifest. Its content is verified when it was read to the end; until then the caller must not commit it. */
type ArchivePart = { manifest: Manifest; content: Readable } & ({ table: TablePart; icon?: never } | { icon: IconPart; table?: never });

type Entry = Extract extends AsyncIterable<infer Source> ? Source : never;

/** Text is compressed to about a tenth, a decompression bomb to a thousandth. */
const MAX_RATIO = 250;
const MIN_LIMIT_BYTES = 64 * 1024 * 1024;
/** What may be read between two parts: their headers, and buffered data. */
const MAX_BETWEEN_BYTES = 2 * 1024 * 1024;

/**
 * Reads a backup as a stream. Names, types, order, sizes and hashes have to match its manifest, so that the file cannot choose a path
 * and contains nothing unknown.
 * @throws BackupError file, damaged, newer
 */
export async function* readArchive(file: string, signal: AbortSignal): AsyncGenerator<ArchivePart> {
  const tar = extract();
  let reading: Promise<void> | undefined;
  try {
    const stats = await stat(file);
    // It is read twice, and a pipe or a device can only be read once.
    if (!stats.isFile()) throw new BackupError('file', `${file} is not a file.`, 'Give the path of a backup.');
    const { allow, limit } = limitSize(file, stats.size);
    reading = pipeline(createReadStream(file), createGunzip(), limit, tar, { signal });
    // It is awaited below; an error before that is reported by the next entry.
    reading.catch(() => {});
    const entries = tar[Symbol.asyncIterator]();
    const next = async (name: string, bytes: number | null): Promise<Entry> => {
      const { value: entry, done } = await entries.next();
      if (done) throw damaged(file, `${name} is missing`);
      const { header } = entry;
      if (header.name !== name || header.type !== 'file') throw damaged(file, `it contains something else instead of ${name}`);
      if (bytes === null ? (header.size ?? 0) > MAX_MANIFEST_BYTES : header.size !== bytes)
        throw damaged(file, `the size of ${name} is wrong`);
      allow(header.size ?? 0);
      return entry;
    };

    const manifest = readManifest(file, await text(await next(MANIFEST, null)));
    const parts = [
      ...manifest.tables.map((table) => ({ name: tableEntry(table.name), expected: table, table })),
      ...manifest.icons.files.map((icon) => ({ name: iconEntry(icon.id), expected: icon, icon })),
    ];
    for (const { name, expected, ...which } of parts) {
      const { through, measured } = measure();
      const passing = pipeline(await next(name, expected.bytes), through);
      passing.catch(() => {});
      yield { manifest, content: through, ...which } as ArchivePart;
      if (!through.readableEnded) await finished(through.resume());
      await passing;
      if (measured().sha256 !== expected.sha256) throw damaged(file, `the content of ${name} was changed`);
    }
    if (!(await entries.next()).done) throw damaged(file, 'it contains more than its manifest lists');
    await reading;
  } catch (error) {
    if (signal.aborted || error instanceof BackupError) throw error;
    const readable = readableError(error, `read ${file}`);
    throw readable instanceof BackupError ? readable : damaged(file, 'it is damaged, truncated or not a backup', error);
  } finally {
    tar.destroy();
    await reading?.catch(() => {});
  }
}

/** Reads and verifies a whole backup. @returns its manifest */
export async function checkArchive(file: string, signal: AbortSignal): Promise<Manifest> {
  let manifest: Manifest | undefined;
  for await (const part of readArchive(file, signal)) manifest = part.manifest;
  if (!manifest) throw damaged(file, 'it contains no tables');
  return manifest;
}

/** Limits the unpacked size: in total by the size of the file, and between two parts. */
function limitSize(file: string, packedBytes: number): { allow(bytes: number): void; limit: Transform } {
  const maxBytes = Math.max(MIN_LIMIT_BYTES, packedBytes * MAX_RATIO);
  let total = 0;
  let allowed = MAX_BETWEEN_BYTES;
  const limit = new Transform({
    transform(chunk: Buffer, _, done) {
      total += chunk.length;
      const tooMuch = total > maxBytes || total > allowed;
      done(tooMuch ? damaged(file, 'it unpacks to far more than a backup can') : null, chunk);
    },
  });
  return {
    limit,
    allow: (bytes) => {
      allowed = total + bytes + MAX_BETWEEN_BYTES;
    },
  };
}
