import { z } from 'zod';
import { BackupError, damaged } from './backup-error.ts';
import { KEPT } from './tables.ts';

const FORMAT = 'emailauth-backup';
const FORMAT_VERSION = 1;

/** The first entry of an archive, so that all entries after it can be checked as they are read. */
export const MANIFEST = 'manifest.json';
export const MAX_MANIFEST_BYTES = 64_000_000;
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
export function readManifest(file: string, text: string): Manifest {
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
