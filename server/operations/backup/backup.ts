import { randomBytes } from 'node:crypto';
import { lstat, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { StorageConfig } from '../../platform/config.ts';
import { readSchemaState } from '../../platform/db/migrate.ts';
import { openStorage } from '../../websites/storage.ts';
import { type Attached, attachDatabase, connectAlone } from '../embedded/attach.ts';
import { ArchiveWriter } from './archive.ts';
import { BackupError, readableError } from './backup-error.ts';
import { BackupStore } from './store.ts';

type BackupOptions = {
  config: StorageConfig;
  /** Absolute path; null: stdout. */
  file: string | null;
  /** Whether an existing file may be replaced. */
  force: boolean;
  /** Version of this program. */
  program: string;
  /** Its abort makes the backup reject and leave no files. */
  signal: AbortSignal;
  /** Reports progress. */
  report(text: string): void;
};

/** `tables`: numbers of rows. `missing`: the number of icons whose bytes were not found. */
type Backup = { bytes: number; tables: Record<string, number>; icons: number; missing: number };

/**
 * Writes everything that a restore needs as one tar archive: the tables in one snapshot, which is consistent while the service runs, and
 * the icons. A file appears complete or not at all, and only its owner may read it.
 * @throws BackupError, StartError
 */
export async function writeBackup(options: BackupOptions): Promise<Backup> {
  const { config, file } = options;
  let database: Attached | undefined;
  try {
    const write = async (output: Write) => {
      database = await attachDatabase(config, { exclusive: false });
      return writeArchive(options, database, output);
    };
    return file === null ? await write(writeToStdout) : await writeFileWhole(file, options, write);
  } catch (error) {
    throw readableError(error, `write ${file ?? 'the backup'}`);
  } finally {
    await database?.stop();
  }
}

/** Resolves when the bytes are written. */
type Write = (bytes: Buffer) => Promise<void>;

function writeToStdout(bytes: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(bytes, (error) => {
      if (!error) resolve();
      else if ((error as NodeJS.ErrnoException).code !== 'EPIPE') reject(error);
      else reject(new BackupError('interrupted', 'The backup is incomplete: what reads it has ended.', 'Check the command after the |.'));
    });
  });
}

/** Writes a file under another name first. @param options.force whether an existing file may be replaced */
async function writeFileWhole<Result>(
  file: string,
  { force, signal }: BackupOptions,
  write: (output: Write) => Promise<Result>,
): Promise<Result> {
  await refuseExisting(file, force);
  const partial = `${file}.partial-${randomBytes(4).toString('hex')}`;
  const handle = await open(partial, 'wx', 0o600);
  try {
    const result = await write((bytes) => handle.appendFile(bytes));
    await handle.sync();
    await refuseExisting(file, force);
    signal.throwIfAborted();
    await rename(partial, file);
    await syncDirectory(dirname(file));
    return result;
  } finally {
    await handle.close();
    await rm(partial, { force: true });
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

async function writeArchive(options: BackupOptions, database: Attached, output: Write): Promise<Backup> {
  const { config, signal, report } = options;
  const archive = new ArchiveWriter(output);
  try {
    const { tables, uploads } = await writeTables(options, database, archive);
    if (uploads.length > 0) report(`Reading ${uploads.length} icons`);
    const storage = openStorage(config);
    let missing = 0;
    for (const id of uploads) {
      signal.throwIfAborted();
      const content = await storage.get(id);
      // The clean-up may have removed it since the snapshot, if no website shows it.
      if (content) await archive.addIcon(id, content);
      else missing++;
    }
    await archive.end();
    return { bytes: archive.bytes, tables, icons: uploads.length - missing, missing };
  } finally {
    archive.destroy();
  }
}

/** Writes the header and the tables. @returns the number of rows by table, and the ids of the icons */
async function writeTables({ program, signal, report }: BackupOptions, database: Attached, archive: ArchiveWriter) {
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
    const kept = await store.keptTables();
    const columns: Record<string, string[]> = {};
    for (const { name } of kept) columns[name] = await store.columns(name);
    await archive.addHeader({ createdAt: at.toISOString(), program, migrations, counts: await store.counts(), tables: columns });
    const tables: Record<string, number> = {};
    for (const table of kept) tables[table.name] = await archive.addTable(table.name, store.copyOut(table, columns[table.name]));
    return { tables, uploads: await store.storedUploads() };
  } finally {
    await close();
  }
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
