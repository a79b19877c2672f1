import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import type { StorageConfig } from '../config.ts';
import { type Attached, attachDatabase, connectAlone } from '../db/attach.ts';
import { DataDirInUse } from '../db/embedded/processes.ts';
import { lockMigrations, MIGRATIONS, readSchemaState, type SchemaState } from '../db/migrate.ts';
import { lockOutService, waitUntilUnused } from '../db/serving-lock.ts';
import { openStorage } from '../uploads/storage.ts';
import { checkArchive, type Manifest, newer, readArchive } from './archive.ts';
import { BackupError, damaged, readableError } from './backup-error.ts';
import { BackupStore, type Counts, type Finished } from './store.ts';

export type RestoreOptions = {
  config: StorageConfig;
  /** Absolute path. */
  file: string;
  revokeApiKeys: boolean;
  /** Its abort before the commit makes the restore reject and leaves everything unchanged. */
  signal: AbortSignal;
  /** Reports progress. */
  report(text: string): void;
  /** Called when the file is verified, before anything changes. @throws to cancel the restore */
  confirm(question: { place: string; present: Counts; manifest: Manifest }): Promise<void>;
};

/**
 * `iconsLeft`: icons from after the backup that could not be removed; no website shows them. `iconsDamaged`: icons of websites whose
 * stored bytes are damaged and could not be replaced.
 */
export type Restored = Finished & { manifest: Manifest; iconsLeft: number; iconsDamaged: number };

/**
 * Replaces all data by that of a backup, in one transaction. Sessions, tokens, mailed links and remembered accounts are in no backup, so
 * none of them works afterwards.
 * @throws BackupError, StartError
 */
export async function restoreBackup(options: RestoreOptions): Promise<Restored> {
  const { config, file, signal } = options;
  options.report(`Checking ${file}`);
  const manifest = await checkArchive(file, signal);
  if (manifest.migrations.some((name) => !MIGRATIONS.includes(name))) throw newer(file);
  let database: Attached | undefined;
  try {
    database = await attachDatabase(config, { exclusive: true, creates: true });
    signal.throwIfAborted();
    return await restoreInto(options, manifest, database);
  } catch (error) {
    if (error instanceof DataDirInUse) throw running(config.dataDir);
    throw readableError(error, `restore ${file}`);
  } finally {
    await database?.stop();
  }
}

async function restoreInto(options: RestoreOptions, manifest: Manifest, database: Attached): Promise<Restored> {
  const { config, file, signal, report, revokeApiKeys } = options;
  const { client, ignoreAbort, close } = await connectAlone(database, signal, { writes: true });
  try {
    const store = new BackupStore(client);
    await refuseForeign(await readSchemaState(client), store, database.place);
    if (!(await waitUntilUnused(client))) throw running(database.place);
    await options.confirm({ place: database.place, present: await store.counts(), manifest });

    await store.beginRestore();
    await lockMigrations(client);
    if (!(await lockOutService(client))) throw running(database.place);
    const replaced = await store.storedUploads();
    const permissions = await store.permissions();
    await store.rebuild(manifest.migrations);
    const icons = new RestoredIcons(config);
    let finished: Finished;
    let isCommitting = false;
    try {
      report('Restoring');
      await copyEverything(options, store, icons);
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
    return { ...finished, manifest, ...(await icons.keepOnly(manifest, replaced, file)) };
  } finally {
    await close();
  }
}

async function copyEverything({ file, signal }: RestoreOptions, store: BackupStore, icons: RestoredIcons): Promise<void> {
  const expected = new Set((await store.keptTables()).map(({ name }) => name));
  for await (const { table, icon, content } of readArchive(file, signal)) {
    if (icon) {
      await icons.put(icon.id, await buffer(content));
      continue;
    }
    const columns = expected.delete(table.name) ? await store.columns(table.name) : [];
    if (columns.join() !== table.columns.join()) throw damaged(file, `the columns of ${table.name} do not match its version`);
    const rows = store.copyIn(table.name, columns);
    await pipeline(content, rows, { signal });
    if (rows.rowCount !== table.rows) throw damaged(file, `${table.name} has ${rows.rowCount} rows instead of ${table.rows}`);
  }
  if (expected.size > 0) throw damaged(file, `${[...expected].join(', ')} is missing`);
}

/**
 * The icons of a restore. An id always stands for the same bytes, so new icons are stored before the commit, while no row refers to
 * them, and icons that are no longer referenced are removed after it.
 */
class RestoredIcons {
  readonly #config: StorageConfig;
  readonly #storage: ReturnType<typeof openStorage>;
  readonly #added: string[] = [];
  /** Icons whose stored bytes are damaged. */
  readonly #damaged = new Set<string>();

  constructor(config: StorageConfig) {
    this.#config = config;
    this.#storage = openStorage(config);
  }

  async put(id: string, bytes: Buffer): Promise<void> {
    const stored = await this.#storage.get(id);
    if (stored && !stored.equals(bytes)) this.#damaged.add(id);
    if (stored) return;
    this.#added.push(id);
    await this.#storage.put(id, bytes);
  }

  async removeAdded(): Promise<void> {
    for (const id of this.#added) await this.#storage.remove(id).catch(() => {});
  }

  /** Removes what no row refers to; icons in a bucket remain, since a later backup may refer to them. */
  async keepOnly(manifest: Manifest, replaced: string[], file: string): Promise<Pick<Restored, 'iconsLeft' | 'iconsDamaged'>> {
    const kept = new Set(manifest.icons.files.map(({ id }) => id));
    const unneeded = this.#config.bucket ? [] : replaced.filter((id) => !kept.has(id));
    const removed = await Promise.allSettled(unneeded.map((id) => this.#storage.remove(id)));
    const iconsDamaged = await this.#repair(file).then(
      () => 0,
      () => this.#damaged.size,
    );
    return { iconsLeft: removed.filter(({ status }) => status === 'rejected').length, iconsDamaged };
  }

  /** Stores the damaged icons again. */
  async #repair(file: string): Promise<void> {
    if (this.#damaged.size === 0) return;
    for await (const { icon, content } of readArchive(file, new AbortController().signal)) {
      if (icon && this.#damaged.has(icon.id)) await this.#storage.put(icon.id, await buffer(content));
    }
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
