import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, open, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable, Transform } from 'node:stream';
import { text } from 'node:stream/consumers';
import { finished, pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { type Extract, extract, pack } from 'tar-stream';
import { z } from 'zod';
import { BackupError, damaged, readableError } from './backup-error.ts';
import { KEPT } from './store.ts';

const FORMAT = 'emailauth-backup';
const FORMAT_VERSION = 1;

/** The first entry of an archive, so that all entries after it can be checked as they are read. */
export const MANIFEST = 'manifest.json';
const MAX_MANIFEST_BYTES = 64_000_000;
/** An icon is read into memory. */
const MAX_ICON_BYTES = 32_000_000;

// Values are shown on terminals, so each text has a restricted format.
const part = z.object({ bytes: z.int().nonnegative(), sha256: z.string().regex(/^[0-9a-f]{64}$/) });
const shape = z.object({
  format: z.literal(FORMAT),
  formatVersion: z.int(),
  createdAt: z.iso.datetime(),
  /** Version of the program that wrote the backup. */
  program: z.string().regex(/^[\w.+-]{1,40}$/),
  migrations: z.array(z.string().regex(/^[\w-]{1,80}$/)).min(1),
  tables: z.array(
    part.extend({ name: z.enum(KEPT.map(({ name }) => name)), columns: z.array(z.string()).min(1), rows: z.int().nonnegative() }),
  ),
  /** `bucket`: the bytes are only in the bucket. `missing`: the number of rows whose bytes were not found. */
  icons: z.object({
    place: z.enum(['files', 'bucket']),
    missing: z.int().nonnegative(),
    files: z.array(part.extend({ id: z.uuid(), bytes: part.shape.bytes.max(MAX_ICON_BYTES) })),
  }),
});

/** The description of a backup. */
export type Manifest = z.output<typeof shape>;
export type TablePart = Manifest['tables'][number];
export type IconPart = Manifest['icons']['files'][number];

export function writeManifest(parts: Omit<Manifest, 'format' | 'formatVersion'>): string {
  return `${JSON.stringify({ format: FORMAT, formatVersion: FORMAT_VERSION, ...parts }, null, 2)}\n`;
}

/** @param file for the error @throws BackupError damaged, newer */
function readManifest(file: string, text: string): Manifest {
  const head = z.object({ format: z.literal(FORMAT), formatVersion: z.int() }).safeParse(parse(text));
  if (!head.success) throw damaged(file, 'it is not a backup of Email Auth');
  if (head.data.formatVersion > FORMAT_VERSION) throw newer(file);
  const parsed = shape.safeParse(parse(text));
  if (!parsed.success) throw damaged(file, `its ${MANIFEST} is not valid (${parsed.error.issues[0].path.join('.')})`);
  const names = namesOf(parsed.data);
  if (new Set(names).size < names.length) throw damaged(file, `its ${MANIFEST} lists a part twice`);
  return parsed.data;
}

export const newer = (file: string) =>
  new BackupError('newer', `${file} was written by a newer version of Email Auth.`, 'Install that version or a later one to restore it.');

export const tableEntry = (name: string) => `tables/${name}.csv`;
export const iconEntry = (id: string) => `icons/${id}`;

/** Returns the names of the entries after the manifest, in order. */
export const namesOf = ({ tables, icons }: Manifest) => [
  ...tables.map(({ name }) => tableEntry(name)),
  ...icons.files.map(({ id }) => iconEntry(id)),
];

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Size and hash of a stream. */
export type Measured = { bytes: number; sha256: string };

/** Measures a stream. @returns a transform to pipe it through, and a function for the result after its end */
function measure(): { through: Transform; measured(): Measured } {
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
