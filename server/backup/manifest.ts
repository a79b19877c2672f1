import { z } from 'zod';
import { BackupError, damaged } from './backup-error.ts';
import { KEPT } from './tables.ts';

const FORMAT = 'emailauth-backup';
const FORMAT_VERSION = 1;

/** Where the manifest stands in the archive: first, so that everything after it can be checked as it comes. */
export const MANIFEST = 'manifest.json';
export const MAX_MANIFEST_BYTES = 64_000_000;
/** An icon passes through memory. */
const MAX_ICON_BYTES = 32_000_000;

// Shown on terminals: no text of the file gets there that is not of a narrow form.
const part = z.object({ bytes: z.int().nonnegative(), sha256: z.string().regex(/^[0-9a-f]{64}$/) });
const shape = z.object({
  format: z.literal(FORMAT),
  formatVersion: z.int(),
  createdAt: z.iso.datetime(),
  /** Version of the program that made it. */
  program: z.string().regex(/^[\w.+-]{1,40}$/),
  migrations: z.array(z.string().regex(/^[\w-]{1,80}$/)).min(1),
  tables: z.array(
    part.extend({ name: z.enum(KEPT.map(({ name }) => name)), columns: z.array(z.string()).min(1), rows: z.int().nonnegative() }),
  ),
  /** Bytes of icons; `bucket`: they lie in the bucket alone. `missing`: rows whose bytes were not found. */
  icons: z.object({
    place: z.enum(['files', 'bucket']),
    missing: z.int().nonnegative(),
    files: z.array(part.extend({ id: z.uuid(), bytes: part.shape.bytes.max(MAX_ICON_BYTES) })),
  }),
});

/** What a backup says of itself. */
export type Manifest = z.output<typeof shape>;
export type TablePart = Manifest['tables'][number];
export type IconPart = Manifest['icons']['files'][number];

export function writeManifest(parts: Omit<Manifest, 'format' | 'formatVersion'>): string {
  return `${JSON.stringify({ format: FORMAT, formatVersion: FORMAT_VERSION, ...parts }, null, 2)}\n`;
}

/** @param file for the error @throws BackupError damaged, newer */
export function readManifest(file: string, text: string): Manifest {
  const head = z.object({ format: z.literal(FORMAT), formatVersion: z.int() }).safeParse(parse(text));
  if (!head.success) throw damaged(file, 'it is no backup of Email Auth');
  if (head.data.formatVersion > FORMAT_VERSION) throw newer(file);
  const parsed = shape.safeParse(parse(text));
  if (!parsed.success) throw damaged(file, `its ${MANIFEST} is not valid (${parsed.error.issues[0].path.join('.')})`);
  const names = namesOf(parsed.data);
  if (new Set(names).size < names.length) throw damaged(file, `its ${MANIFEST} names a part twice`);
  return parsed.data;
}

export const newer = (file: string) =>
  new BackupError(
    'newer',
    `${file} was made by a newer version of Email Auth.`,
    'Install that version, or a later one, and restore with it.',
  );

export const tableEntry = (name: string) => `tables/${name}.csv`;
export const iconEntry = (id: string) => `icons/${id}`;

/** The entries that follow the manifest, in their order. */
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
