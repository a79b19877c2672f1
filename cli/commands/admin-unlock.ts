import type { Context } from '../context.ts';
import { cancelled, EXIT, type ExitCode } from '../exit.ts';

/** Lets the admin password be tried again at once, on every instance. */
export async function unlockAdmin({ env, terminal, signal }: Context): Promise<ExitCode> {
  const { readStorageConfig } = await import('../../server/config.ts');
  const { attachDatabase, connectAlone } = await import('../../server/db/attach.ts');
  const { clearAdminLimits } = await import('../../server/admin/unlock-store.ts');
  const database = await attachDatabase(readStorageConfig(env), { exclusive: false });
  try {
    const { client, close } = await connectAlone(database, signal, { writes: true });
    try {
      const cleared = await clearAdminLimits(client, database.place);
      const words =
        cleared === 0 ? 'Nothing was locked' : `Cleared ${cleared} ${cleared === 1 ? 'counter' : 'counters'} of wrong admin passwords`;
      terminal.note(`Looked at ${database.place}`);
      terminal.answer({ cleared }, `${words}. The admin password can be entered at /iladmin, on every instance.`);
    } finally {
      await close();
    }
  } catch (error) {
    throw signal.aborted ? cancelled() : error;
  } finally {
    await database.stop();
  }
  return EXIT.ok;
}
