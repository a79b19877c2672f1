import { lstat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import type { StorageConfig } from '../config.ts';
import { type Attached, attachDatabase, connectAlone } from '../db/attach.ts';
import { hasCluster } from '../db/embedded/embedded.ts';
import { readSchemaState } from '../db/migrate.ts';
import { BackupError, inWords } from './backup-error.ts';
import { openIcons } from './icons.ts';
import { type IconPart, iconEntry, MANIFEST, type Manifest, type TablePart, tableEntry, writeManifest } from './manifest.ts';
import { openSpool, type Spool } from './spool.ts';
import { type BackupStore, createBackupStore } from './store.ts';

export type BackupOptions = {
  config: StorageConfig;
  /** Absolute path. */
  file: string;
  /** Whether a file that is there may be replaced. */
  force: boolean;
  /** Version of this program. */
  program: string;
  /** Its abort leaves nothing behind; the backup then rejects. */
  signal: AbortSignal;
  /** News for the person who waits. */
  tell(text: string): void;
};

export type Backup = { bytes: number; tables: Record<string, number>; icons: number; missing: number; place: 'files' | 'bucket' };

/**
 * Writes all that a restore needs to one .tar.gz: every table in one snapshot, so that it is consistent while the service
 * runs, and the icons in DATA_DIR. The file appears whole or not at all, and only its owner may read it.
 * @throws BackupError, StartError
 */
export async function writeBackup(options: BackupOptions): Promise<Backup> {
  const { config, file, force, signal } = options;
  let spool: Spool | undefined;
  let database: Attached | undefined;
  try {
    await refuseTaken(file, force);
    if (!config.databaseUrl && !hasCluster(config.dataDir)) throw noDatabase(config.dataDir);
    spool = await openSpool(file, signal);
    database = await attachDatabase(config, { exclusive: false });
    signal.throwIfAborted();
    const { manifest, ...backup } = await spoolEverything(options, spool, database);
    options.tell(`Packing ${file}`);
    await refuseTaken(file, force);
    return { ...backup, bytes: await spool.pack({ name: MANIFEST, text: manifest }) };
  } catch (error) {
    throw inWords(error, `write ${file}`);
  } finally {
    await spool?.remove();
    await database?.stop();
  }
}

async function spoolEverything({ config, program, signal, tell }: BackupOptions, spool: Spool, database: Attached) {
  const { client, close } = await connectAlone(database, signal, { writes: false });
  try {
    const store = createBackupStore(client);
    const { at } = await store.beginSnapshot();
    const { migrations, unfinished, newer } = await readSchemaState(client);
    if (migrations.length === 0) throw new BackupError('database', `There is no Email Auth in ${database.place}.`, 'Check DATABASE_URL.');
    if (newer) {
      throw new BackupError('newer', `${database.place} is of a newer version than this program.`, 'Back it up with that version.');
    }
    if (unfinished) {
      const hint = 'Wait for its end, or finish it with `emailauth db migrate`, and run the backup again.';
      throw new BackupError('in_use', `The migration ${unfinished} of ${database.place} has not ended.`, hint);
    }
    tell(`Reading ${database.place}`);
    const tables = await spoolTables(store, spool);
    const icons = await spoolIcons(config, await store.storedUploads(), spool, tell, signal);
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
    const sum = await spool.add(tableEntry(table.name), rows);
    parts.push({ name: table.name as TablePart['name'], columns, rows: await count(), ...sum });
  }
  return parts;
}

/** An icon that the clean-up has removed since the snapshot is missed by nobody: no site showed it. */
async function spoolIcons(config: StorageConfig, ids: string[], spool: Spool, tell: BackupOptions['tell'], signal: AbortSignal) {
  const files: IconPart[] = [];
  const place: Manifest['icons']['place'] = config.bucket ? 'bucket' : 'files';
  if (place === 'bucket') return { place, files, missing: 0 };
  if (ids.length > 0) tell(`Reading ${ids.length} icons`);
  const icons = openIcons(config);
  for (const id of ids) {
    signal.throwIfAborted();
    const bytes = await icons.get(id);
    if (bytes) files.push({ id, ...(await spool.add(iconEntry(id), Readable.from([bytes]))) });
  }
  return { place, files, missing: ids.length - files.length };
}

async function refuseTaken(file: string, force: boolean): Promise<void> {
  const there = await lstat(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  // As root it would else take the place of /dev/null.
  if (there && !there.isFile() && !there.isSymbolicLink()) {
    throw new BackupError('file', `${file} is no file.`, there.isDirectory() ? 'Give the name of a file in it.' : 'Give another name.');
  }
  if (there && !force) throw new BackupError('taken', `${file} is there already.`, 'Give another name, or --force to replace it.');
}

const noDatabase = (dataDir: string) =>
  new BackupError('database', `There is no database in ${dataDir}.`, 'Set DATA_DIR or DATABASE_URL as the service has it.');
