import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import type { StorageConfig } from '../config.ts';
import { type Attached, attachDatabase, connectAlone } from '../db/attach.ts';
import { DataDirInUse } from '../db/embedded/lock.ts';
import { lockMigrations, MIGRATIONS, readSchemaState, type SchemaState } from '../db/migrate.ts';
import { takeFromServing, waitUntilUnserved } from '../db/serving-lock.ts';
import { checkArchive, readArchive } from './archive.ts';
import { BackupError, damaged, inWords } from './backup-error.ts';
import { openIcons } from './icons.ts';
import { type Manifest, newer } from './manifest.ts';
import { type BackupStore, type Counts, createBackupStore, type Finished } from './store.ts';

export type RestoreOptions = {
  config: StorageConfig;
  /** Absolute path. */
  file: string;
  revokeApiKeys: boolean;
  /** Its abort before the commit leaves everything as it was; the restore then rejects. */
  signal: AbortSignal;
  tell(text: string): void;
  /** Asked once the file has proved good, before anything changes. @throws to end it there */
  confirm(question: { place: string; present: Counts; manifest: Manifest }): Promise<void>;
};

/** `iconsLeft`: icons from after the backup that could not be removed; nothing shows them. */
export type Restored = Finished & { manifest: Manifest; iconsLeft: number };

/**
 * Puts what a backup holds in the place of everything there is, in one transaction: it is all there, or all is as it was. What
 * lets somebody in (sessions, tokens, mailed links, remembered accounts) is in no backup, so none of it works afterwards.
 * @throws BackupError, StartError
 */
export async function restoreBackup(options: RestoreOptions): Promise<Restored> {
  const { config, file, signal } = options;
  options.tell(`Checking ${file}`);
  const manifest = await checkArchive(file, signal);
  if (manifest.migrations.some((name) => !MIGRATIONS.includes(name))) throw newer(file);
  let database: Attached | undefined;
  try {
    database = await attachDatabase(config, { exclusive: true });
    signal.throwIfAborted();
    return await restoreInto(options, manifest, database);
  } catch (error) {
    if (error instanceof DataDirInUse) throw running(config.dataDir);
    throw inWords(error, `restore ${file}`);
  } finally {
    await database?.stop();
  }
}

async function restoreInto(options: RestoreOptions, manifest: Manifest, database: Attached): Promise<Restored> {
  const { config, file, signal, tell, revokeApiKeys } = options;
  const { client, seeThrough, close } = await connectAlone(database, signal, { writes: true });
  try {
    const store = createBackupStore(client);
    await refuseForeign(await readSchemaState(client), store, database.place);
    if (!(await waitUntilUnserved(client))) throw running(database.place);
    await options.confirm({ place: database.place, present: await store.counts(), manifest });

    await store.beginRestore();
    await lockMigrations(client);
    if (!(await takeFromServing(client))) throw running(database.place);
    const replaced = await store.storedUploads();
    const permissions = await store.permissions();
    await store.rebuild(manifest.migrations);
    const icons = iconsOf(config);
    let finished: Finished;
    try {
      tell('Restoring');
      await copyEverything(options, store, icons);
      finished = await store.finish({ revokeApiKeys, permissions });
      signal.throwIfAborted();
      // Whether a commit that is broken off took place would be anybody's guess.
      seeThrough();
      await store.commit();
    } catch (error) {
      await icons.takeBack();
      throw error;
    }
    return { ...finished, manifest, iconsLeft: await icons.keepOnly(manifest, replaced, file) };
  } finally {
    await close();
  }
}

async function copyEverything({ file, signal }: RestoreOptions, store: BackupStore, icons: ReturnType<typeof iconsOf>): Promise<void> {
  const expected = new Set((await store.keptTables()).map(({ name }) => name));
  for await (const { table, icon, content } of readArchive(file, signal)) {
    if (icon) {
      await icons.put(icon.id, await buffer(content));
      continue;
    }
    const columns = expected.delete(table.name) ? await store.columns(table.name) : [];
    if (columns.join() !== table.columns.join()) throw damaged(file, `its ${table.name} does not fit its version`);
    const rows = store.copyIn(table.name, columns);
    await pipeline(content, rows, { signal });
    if (rows.rowCount !== table.rows) throw damaged(file, `${table.name} has ${rows.rowCount} rows in place of ${table.rows}`);
  }
  if (expected.size > 0) throw damaged(file, `${[...expected].join(', ')} is missing`);
}

/**
 * The icons of a restore. An id stands for the same bytes for good, so those that are new are put in their place before the commit,
 * where no row names them yet, and those that are no longer named go after it.
 */
function iconsOf(config: StorageConfig) {
  const storage = openIcons(config);
  const added: string[] = [];
  const differing = new Set<string>();
  /** Writes those anew whose file did not hold the icon any more. */
  const mend = async (file: string) => {
    if (differing.size === 0) return;
    for await (const { icon, content } of readArchive(file, new AbortController().signal)) {
      if (icon && differing.has(icon.id)) await storage.put(icon.id, await buffer(content));
    }
  };
  return {
    async put(id: string, bytes: Buffer): Promise<void> {
      const there = await storage.get(id);
      if (there && !there.equals(bytes)) differing.add(id);
      if (there) return;
      added.push(id);
      await storage.put(id, bytes);
    },

    async takeBack(): Promise<void> {
      for (const id of added) await storage.remove(id).catch(() => {});
    },

    /** @returns how many could not be put right or removed; those in a bucket stay, for a later backup may name them */
    async keepOnly(manifest: Manifest, replaced: string[], file: string): Promise<number> {
      const kept = new Set(manifest.icons.files.map(({ id }) => id));
      const needless = config.bucket ? [] : replaced.filter((id) => !kept.has(id));
      const done = await Promise.allSettled([...needless.map((id) => storage.remove(id)), mend(file)]);
      return done.filter(({ status }) => status === 'rejected').length;
    },
  };
}

/** A database of another program, or of a newer version of this one, is nothing to drop tables from. */
async function refuseForeign({ migrations, newer }: SchemaState, store: BackupStore, place: string): Promise<void> {
  if (newer) {
    throw new BackupError(
      'newer',
      `${place} is of a newer version than this program.`,
      'Restore with that version, or into another database.',
    );
  }
  const taken = migrations.length === 0 ? await store.takenNames() : [];
  if (taken.length > 0) {
    const names = `${taken.slice(0, 3).join(', ')}${taken.length > 3 ? ', …' : ''}`;
    throw new BackupError('database', `${place} has tables of another program (${names}).`, 'Give a database of its own in DATABASE_URL.');
  }
}

const running = (place: string) =>
  new BackupError('running', `The service is running on ${place}.`, 'Stop every instance of it, and restore then; nothing was changed.');
