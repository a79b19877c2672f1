import { lstat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import type { StorageConfig } from '../config.ts';
import { type Attached, attachDatabase, connectAlone } from '../db/attach.ts';
import { readSchemaState } from '../db/migrate.ts';
import { openStorage } from '../uploads/storage.ts';
import { type IconPart, iconEntry, MANIFEST, type Manifest, Spool, type TablePart, tableEntry, writeManifest } from './archive.ts';
import { BackupError, readableError } from './backup-error.ts';
import { BackupStore } from './store.ts';

export type BackupOptions = {
  config: StorageConfig;
  /** Absolute path. */
  file: string;
  /** Whether an existing file may be replaced. */
  force: boolean;
  /** Version of this program. */
  program: string;
  /** Its abort makes the backup reject and leave no files. */
  signal: AbortSignal;
  /** Reports progress. */
  report(text: string): void;
};

export type Backup = { bytes: number; tables: Record<string, number>; icons: number; missing: number; place: 'files' | 'bucket' };

/**
 * Writes everything that a restore needs to one .tar.gz: the tables in one snapshot, which is consistent while the service runs, and
 * the icons in DATA_DIR. The file appears complete or not at all, and only its owner may read it.
 * @throws BackupError, StartError
 */
export async function writeBackup(options: BackupOptions): Promise<Backup> {
  const { config, file, force, signal } = options;
  let spool: Spool | undefined;
  let database: Attached | undefined;
  try {
    await refuseExisting(file, force);
    spool = await Spool.open(file, signal);
    database = await attachDatabase(config, { exclusive: false });
    signal.throwIfAborted();
    const { manifest, ...backup } = await spoolEverything(options, spool, database);
    options.report(`Packing ${file}`);
    await refuseExisting(file, force);
    return { ...backup, bytes: await spool.pack({ name: MANIFEST, text: manifest }) };
  } catch (error) {
    throw readableError(error, `write ${file}`);
  } finally {
    await spool?.remove();
    await database?.stop();
  }
}

async function spoolEverything({ config, program, signal, report }: BackupOptions, spool: Spool, database: Attached) {
  const { client, close } = await connectAlone(database, signal, { writes: false });
  try {
    const store = new BackupStore(client);
    const { at } = await store.beginSnapshot();
    const { migrations, unfinished, newer } = await readSchemaState(client);
    if (migrations.length === 0)
      throw new BackupError('database', `There is no Email Auth database in ${database.place}.`, 'Check DATABASE_URL.');
    if (newer) {
      throw new BackupError('newer', `${database.place} belongs to a newer version of this program.`, 'Back it up with that version.');
    }
    if (unfinished) {
      const hint = 'Wait until it has finished, or finish it with `emailauth db migrate`, and run the backup again.';
      throw new BackupError('in_use', `The migration ${unfinished} of ${database.place} has not finished.`, hint);
    }
    report(`Reading ${database.place}`);
    const tables = await spoolTables(store, spool);
    const icons = await spoolIcons(config, await store.storedUploads(), spool, report, signal);
    const manifest = writeManifest({ createdAt: at.toISOString(), program, migrations, tables, icons });
    return {
      manifest,
      tables: Object.fromEntries(tables.map(({ name, rows }) => [name, rows])),
      icons: icons.files.length,
      missing: icons.missing,
      place: icons.place,
    };
  } finally {
    await close();
  }
}

async function spoolTables(store: BackupStore, spool: Spool): Promise<TablePart[]> {
  const parts: TablePart[] = [];
  for (const table of await store.keptTables()) {
    const columns = await store.columns(table.name);
    const { rows, count } = store.copyOut(table, columns);
    const measured = await spool.add(tableEntry(table.name), rows);
    parts.push({ name: table.name as TablePart['name'], columns, rows: await count(), ...measured });
  }
  return parts;
}

/** An icon that the clean-up has removed since the snapshot may be missing, since no website shows it. */
async function spoolIcons(config: StorageConfig, ids: string[], spool: Spool, report: BackupOptions['report'], signal: AbortSignal) {
  const files: IconPart[] = [];
  const place: Manifest['icons']['place'] = config.bucket ? 'bucket' : 'files';
  if (place === 'bucket') return { place, files, missing: 0 };
  if (ids.length > 0) report(`Reading ${ids.length} icons`);
  const icons = openStorage(config);
  for (const id of ids) {
    signal.throwIfAborted();
    const bytes = await icons.get(id);
    if (bytes) files.push({ id, ...(await spool.add(iconEntry(id), Readable.from([bytes]))) });
  }
  return { place, files, missing: ids.length - files.length };
}

async function refuseExisting(file: string, force: boolean): Promise<void> {
  const existing = await lstat(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  // Otherwise root could replace /dev/null.
  if (existing && !existing.isFile() && !existing.isSymbolicLink()) {
    throw new BackupError(
      'file',
      `${file} is not a file.`,
      existing.isDirectory() ? 'Give the name of a file in it.' : 'Give another name.',
    );
  }
  if (existing && !force) throw new BackupError('taken', `${file} exists already.`, 'Give another name, or pass --force to replace it.');
}
