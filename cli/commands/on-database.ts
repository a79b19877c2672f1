import type { Attached, Connection } from '../../server/db/attach.ts';
import type { Context } from '../context.ts';
import { type CommandError, cancelled } from '../exit.ts';

/**
 * Runs `work` on a connection to the database that the settings name, which must accept writes. Ends the connection afterwards,
 * and the embedded PostgreSQL if it was started for this.
 * @param options.exclusive no service may run on DATA_DIR
 * @param options.interrupted the error after Ctrl-C, where more can be said than that it was cancelled
 */
export async function onDatabase<Result>(
  { env, signal }: Pick<Context, 'env' | 'signal'>,
  options: { exclusive: boolean; interrupted?: () => CommandError },
  work: (client: Connection['client'], database: Attached) => Promise<Result>,
): Promise<Result> {
  const { readStorageConfig } = await import('../../server/config.ts');
  const { attachDatabase, connectAlone } = await import('../../server/db/attach.ts');
  const database = await attachDatabase(readStorageConfig(env), options);
  try {
    const { client, close } = await connectAlone(database, signal, { writes: true });
    try {
      return await work(client, database);
    } finally {
      await close();
    }
  } catch (error) {
    throw signal.aborted ? (options.interrupted ?? cancelled)() : error;
  } finally {
    await database.stop();
  }
}
