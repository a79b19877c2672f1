import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { type Extract, extract, pack } from 'tar-stream';
import { z } from 'zod';
import { BackupError, damaged, readableError } from './backup-error.ts';

const FORMAT = 'emailauth-backup';
const FORMAT_VERSION = 1;

/** The first entry of an archive. */
const HEADER = 'backup.json';
/** The last entry: the hashes of all others, as `sha256sum` writes them. */
const SUMS = 'SHA256SUMS';
/** The size at which a part of a table ends. tar needs the size of an entry before its content, so that a part is kept in memory. */
const PART_BYTES = 8 * 1024 * 1024;
/** More than a part, an icon or the hashes of a terabyte have. */
const MAX_ENTRY_BYTES = 64 * 1024 * 1024;

// Values are shown on terminals, so each text has a restricted format.
const shape = z.object({
  format: z.literal(FORMAT),
  formatVersion: z.int(),
  createdAt: z.iso.datetime(),
  /** Version of the program that wrote the backup. */
  program: z.string().regex(/^[\w.+-]{1,40}$/),
  migrations: z.array(z.string().regex(/^[\w-]{1,80}$/)).min(1),
  counts: z.object({ accounts: z.int().nonnegative(), websites: z.int().nonnegative(), events: z.int().nonnegative() }),
  /** The columns of each table, in the order of its rows. */
  tables: z.record(z.string().regex(/^[a-z_]{1,63}$/), z.array(z.string()).min(1)),
});

/** The description of a backup. */
export type Header = z.output<typeof shape>;

/** @param source for the error @throws BackupError damaged, newer */
function readHeader(source: string, text: string): Header {
  const head = z.object({ format: z.literal(FORMAT), formatVersion: z.int() }).safeParse(parse(text));
  if (!head.success) throw damaged(source, 'it is not a backup of Email Auth');
  if (head.data.formatVersion > FORMAT_VERSION) throw newer(source);
  const parsed = shape.safeParse(parse(text));
  if (!parsed.success) throw damaged(source, `its ${HEADER} is not valid (${parsed.error.issues[0].path.join('.')})`);
  return parsed.data;
}

export const newer = (source: string) =>
  new BackupError('newer', `${source} was written by a newer version of Email Auth.`, 'Install that version or a later one to restore it.');

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const sumOf = (name: string, content: Buffer) => `${createHash('sha256').update(content).digest('hex')}  ${name}\n`;

/** Writes a backup as a tar archive, each entry as it becomes known. */
export class ArchiveWriter {
  readonly #tar = pack();
  readonly #written: Promise<void>;
  #sums = '';
  /** Size of what was written. */
  bytes = 0;

  /** @param write resolves when the bytes are written */
  constructor(write: (bytes: Buffer) => Promise<void>) {
    this.#written = (async () => {
      for await (const bytes of this.#tar as AsyncIterable<Buffer>) {
        await write(bytes);
        this.bytes += bytes.length;
      }
    })();
    // Each entry reports it.
    this.#written.catch(() => {});
  }

  async addHeader(header: Omit<Header, 'format' | 'formatVersion'>): Promise<void> {
    await this.#add(HEADER, Buffer.from(`${JSON.stringify({ format: FORMAT, formatVersion: FORMAT_VERSION, ...header }, null, 2)}\n`));
  }

  /** Adds the rows of a table in the text format of COPY, in which each line is a row. @returns their number */
  async addTable(name: string, rows: Readable): Promise<number> {
    let count = 0;
    let number = 0;
    let held = Buffer.alloc(0);
    const addPart = async (end: number) => {
      const part = held.subarray(0, end);
      held = held.subarray(end);
      for (let at = part.indexOf('\n'); at >= 0; at = part.indexOf('\n', at + 1)) count++;
      await this.#add(`tables/${name}.${++number}.copy`, part);
    };
    let chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of rows as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes < PART_BYTES) continue;
      held = Buffer.concat([held, ...chunks]);
      [chunks, bytes] = [[], 0];
      await addPart(held.lastIndexOf('\n') + 1);
    }
    held = Buffer.concat([held, ...chunks]);
    await addPart(held.length);
    return count;
  }

  async addIcon(id: string, content: Buffer): Promise<void> {
    await this.#add(`icons/${id}`, content);
  }

  /** Writes the end. */
  async end(): Promise<void> {
    await this.#add(SUMS, Buffer.from(this.#sums));
    this.#tar.finalize();
    await this.#written;
  }

  /** Ends the archive where it is. */
  destroy(): void {
    this.#tar.destroy();
  }

  async #add(name: string, content: Buffer): Promise<void> {
    this.#sums += sumOf(name, content);
    const added = new Promise<void>((resolve, reject) => {
      this.#tar.entry({ name, mode: 0o600 }, content, (error) => (error ? reject(error) : resolve()));
    });
    await added.catch(async (error) => {
      await this.#written;
      throw error;
    });
  }
}

/** A part of a table, or an icon. */
export type ArchiveEntry = { table: string; id?: never; content: Buffer } | { id: string; table?: never; content: Buffer };

/**
 * Reads the header of a backup. What `entries` has returned is verified only when it has ended: until then the caller must not commit it.
 * Names and types are checked, so that a backup cannot choose a path and contains nothing unknown.
 * @param source for errors
 * @throws BackupError file, damaged, newer; `entries` too
 */
export async function openArchive(input: Readable, source: string): Promise<{ header: Header; entries: AsyncIterable<ArchiveEntry> }> {
  const tar = extract();
  input.on('error', (error) => tar.destroy(error)).pipe(tar);
  const archive = entriesOf(tar, source);
  const { value: first } = await archive.next();
  if (first?.name !== HEADER) throw damaged(source, 'it is not a backup of Email Auth');
  const header = readHeader(source, String(first.content));
  let sums = sumOf(first.name, first.content);

  async function* entries(): AsyncGenerator<ArchiveEntry> {
    for await (const { name, content } of archive) {
      if (name === SUMS) {
        if (String(content) !== sums) throw damaged(source, 'its content was changed');
        if (!(await archive.next()).done) throw damaged(source, `it contains more than its ${SUMS} lists`);
        return;
      }
      sums += sumOf(name, content);
      const [, table] = /^tables\/([a-z_]{1,63})\.\d{1,9}\.copy$/.exec(name) ?? [];
      const [, id] = /^icons\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/.exec(name) ?? [];
      if (table && Object.hasOwn(header.tables, table)) yield { table, content };
      else if (id) yield { id, content };
      else throw damaged(source, 'it contains something unknown');
    }
    throw damaged(source, 'it is incomplete');
  }
  return { header, entries: entries() };
}

async function* entriesOf(tar: Extract, source: string): AsyncGenerator<{ name: string; content: Buffer }> {
  try {
    for await (const entry of tar) {
      const { name, type, size = 0 } = entry.header;
      if (type !== 'file' || size > MAX_ENTRY_BYTES) throw damaged(source, 'it contains something unknown');
      yield { name, content: await buffer(entry) };
    }
  } catch (error) {
    const readable = readableError(error, `read ${source}`);
    throw readable instanceof BackupError ? readable : damaged(source, 'it is damaged, truncated, compressed or not a backup', error);
  }
}
