import type { Context } from '../context.ts';
import { CommandError, EXIT, type ExitCode } from '../exit.ts';

/** Brings the database to the version of this program; services that run go on meanwhile. */
export async function migrateDatabase({ env, terminal, signal }: Context): Promise<ExitCode> {
  const { readStorageConfig } = await import('../../server/config.ts');
  const { attachDatabase, connectAlone } = await import('../../server/db/attach.ts');
  const { migrateOn } = await import('../../server/db/migrate.ts');
  const database = await attachDatabase(readStorageConfig(env), { exclusive: false });
  try {
    const { client, close } = await connectAlone(database, signal, { writes: true });
    try {
      const applied = await migrateOn(client, { url: database.url, signal, report: (line) => terminal.note(line) });
      terminal.note(`Looked at ${database.place}`);
      terminal.answer({ applied }, applied.length > 0 ? `Applied: ${applied.join(', ')}` : 'Nothing to do.');
    } finally {
      await close();
    }
  } catch (error) {
    throw signal.aborted ? interrupted() : error;
  } finally {
    await database.stop();
  }
  return EXIT.ok;
}

const interrupted = () =>
  new CommandError(EXIT.cancelled, 'cancelled', 'Cancelled. The steps that had ended are kept; the next `emailauth db migrate` goes on.');
