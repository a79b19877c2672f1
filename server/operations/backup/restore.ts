import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import type { StorageConfig } from '../../platform/config.ts';
import { lockMigrations, MIGRATIONS, readSchemaState, type SchemaState } from '../../platform/db/migrate.ts';
import { lockOutService, waitUntilUnused } from '../../platform/db/serving-lock.ts';
import { openStorage } from '../../websites/storage.ts';
import { type Attached, attachDatabase, connectAlone } from '../embedded/attach.ts';
import { DataDirInUse } from '../embedded/processes.ts';
import { type ArchiveEntry, type Header, newer, openArchive } from './archive.ts';
import { BackupError, damaged, readableError } from './backup-error.ts';
import { BackupStore, type Counts, type Finished } from './store.ts';

type RestoreOptions = {
  config: StorageConfig;
  /** Absolute path; null: stdin. */
  file: string | null;
  revokeApiKeys: boolean;
  /** Its abort before the commit makes the restore reject and leaves everything unchanged. */
  signal: AbortSignal;
  /** Reports progress. */
  report(text: string): void;
  /** Called when the header is read, before anything changes. @throws to cancel the restore */
  confirm(question: { place: string; present: Counts; header: Header }): Promise<void>;
};

/**
 * `tables`: numbers of rows. `iconsLeft`: icons from after the backup that could not be removed; no website shows them.
 */
type Restored = Finished & {
  createdAt: string;
  tables: Record<string, number>;
  icons: number;
  iconsLeft: number;
};

type Archive = Awaited<ReturnType<typeof openArchive>>;

/**
 * Replaces all data by that of a backup, in one transaction that is committed when the whole backup was read and is undamaged. Sessions,
 * tokens, mailed links and remembered accounts are in no backup, so none of them works afterwards.
 * @throws BackupError, StartError
 */
export async function restoreBackup(options: RestoreOptions): Promise<Restored> {
  const { config, file, signal } = options;
  const source = file ?? 'The backup';
  let input: Readable | undefined;
  let database: Attached | undefined;
  try {
    input = file === null ? process.stdin : await openFile(file);
    // A read from a pipe can take forever.
    signal.addEventListener('abort', () => input?.destroy(signal.reason));
    const archive = await openArchive(input, source);
    if (archive.header.migrations.some((name) => !MIGRATIONS.includes(name))) throw newer(source);
    database = await attachDatabase(config, { exclusive: true, creates: true });
    signal.throwIfAborted();
    return await restoreInto(options, archive, database);
  } catch (error) {
    if (error instanceof DataDirInUse) throw running(config.dataDir);
    throw readableError(error, `restore ${file ?? 'the backup'}`);
  } finally {
    input?.destroy();
    await database?.stop();
  }
}

async function openFile(file: string): Promise<Readable> {
  if (!(await stat(file)).isFile()) throw new BackupError('file', `${file} is not a file.`, 'Give the path of a backup, or - for stdin.');
  return createReadStream(file);
}

async function restoreInto(options: RestoreOptions, archive: Archive, database: Attached): Promise<Restored> {
  const { config, file, signal, report, revokeApiKeys, confirm } = options;
  const { header } = archive;
  const { client, ignoreAbort, close } = await connectAlone(database, signal, { writes: true });
  try {
    const store = new BackupStore(client);
    await refuseForeign(await readSchemaState(client), store, database.place);
    if (!(await waitUntilUnused(client))) throw running(database.place);
    await confirm({ place: database.place, present: await store.counts(), header });

    await store.beginRestore();
    await lockMigrations(client);
    if (!(await lockOutService(client))) throw running(database.place);
    const replaced = await store.storedUploads();
    const permissions = await store.permissions();
    await store.rebuild(header.migrations);
    const icons = new RestoredIcons(config);
    let tables: Record<string, number>;
    let finished: Finished;
    let isCommitting = false;
    try {
      report('Restoring');
      tables = await copyEverything(archive, file ?? 'The backup', store, icons);
      finished = await store.finish({ revokeApiKeys, permissions });
      signal.throwIfAborted();
      // It would be unknown whether an aborted commit took place.
      ignoreAbort();
      isCommitting = true;
      await store.commit();
    } catch (error) {
      // A commit whose response is lost may have taken place: its rows need the icons.
      if (!isCommitting) await icons.removeAdded();
      throw error;
    }
    return { ...finished, createdAt: header.createdAt, tables, ...(await icons.finish(replaced)) };
  } finally {
    await close();
  }
}

/** @returns the number of rows by table */
async function copyEverything(
  { header, entries }: { header: Header; entries: AsyncIterable<ArchiveEntry> },
  source: string,
  store: BackupStore,
  icons: RestoredIcons,
): Promise<Record<string, number>> {
  const columns = header.tables;
  const expected = (await store.keptTables()).map(({ name }) => name);
  for (const name of new Set([...expected, ...Object.keys(columns)])) {
    const own = expected.includes(name) ? await store.columns(name) : [];
    if (own.join() !== (columns[name] ?? []).join()) throw damaged(source, `the columns of ${name} do not match its version`);
  }
  const rows = Object.fromEntries(expected.map((name) => [name, 0]));
  for await (const { table, id, content } of entries) {
    if (table === undefined) await icons.put(id, content);
    else rows[table] += await store.copyIn(table, columns[table], content);
  }
  return rows;
}

/**
 * The icons of a restore. An id always stands for the same bytes, so new icons are stored before the commit, while no row refers to
 * them, and icons that are no longer referenced are removed after it.
 */
class RestoredIcons {
  readonly #storage: ReturnType<typeof openStorage>;
  readonly #ids = new Set<string>();
  readonly #added: string[] = [];

  constructor(config: StorageConfig) {
    this.#storage = openStorage(config);
  }

  async put(id: string, bytes: Buffer): Promise<void> {
    this.#ids.add(id);
    if (await this.#storage.get(id)) return;
    this.#added.push(id);
    await this.#storage.put(id, bytes);
  }

  async removeAdded(): Promise<void> {
    for (const id of this.#added) await this.#storage.remove(id).catch(() => {});
  }

  /** Removes the icons to which no row refers. @param replaced the ids of the icons before the restore */
  async finish(replaced: string[]): Promise<Pick<Restored, 'icons' | 'iconsLeft'>> {
    const counts = { icons: this.#ids.size, iconsLeft: 0 };
    for (const id of replaced.filter((each) => !this.#ids.has(each))) await this.#storage.remove(id).catch(() => counts.iconsLeft++);
    return counts;
  }
}

/** Refuses to drop the tables of another program, or of a newer version of this one. @throws BackupError */
async function refuseForeign({ migrations, newer }: SchemaState, store: BackupStore, place: string): Promise<void> {
  if (newer) {
    throw new BackupError(
      'newer',
      `${place} belongs to a newer version of this program.`,
      'Restore with that version, or into another database.',
    );
  }
  const conflicting = migrations.length === 0 ? await store.conflictingTables() : [];
  if (conflicting.length > 0) {
    const names = `${conflicting.slice(0, 3).join(', ')}${conflicting.length > 3 ? ', …' : ''}`;
    throw new BackupError('database', `${place} has tables of another program (${names}).`, 'Set DATABASE_URL to a separate database.');
  }
}

const running = (place: string) =>
  new BackupError('running', `The service is running on ${place}.`, 'Stop all its instances before the restore. Nothing was changed.');
