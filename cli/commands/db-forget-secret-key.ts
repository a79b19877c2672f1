import type { Context } from '../context.ts';
import { cancelled, EXIT, type ExitCode } from '../exit.ts';
import { mustConfirm } from '../prompts.ts';

/** Lets the next instance to start decide which SECRET_KEY the database is used with; the service must not run. */
export async function forgetSecretKey({ env, terminal, signal }: Context): Promise<ExitCode> {
  const { readStorageConfig } = await import('../../server/config.ts');
  const { attachDatabase, connectAlone } = await import('../../server/db/attach.ts');
  const { forgetSecretKey: forget } = await import('../../server/db/secret-key.ts');
  const config = readStorageConfig(env);
  // Where nobody can be asked it is told before a database is started.
  if (!terminal.interactive) await mustConfirm(terminal, '');
  const database = await attachDatabase(config, { exclusive: true });
  try {
    await mustConfirm(
      terminal,
      `Let the next start decide which SECRET_KEY ${database.place} is used with? Open mailed links and codes may end.`,
    );
    const { client, close } = await connectAlone(database, signal, { writes: true });
    try {
      const forgotten = await forget(client, database.place);
      terminal.answer({ forgotten }, forgotten ? 'Forgotten. Start the service with the SECRET_KEY to use from now on.' : 'Nothing to do.');
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
