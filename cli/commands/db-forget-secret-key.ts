import type { Context } from '../context.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { mustConfirm } from '../prompts.ts';
import { onDatabase } from './on-database.ts';

/** Lets the next instance to start decide which SECRET_KEY the database is used with; the service must not run. */
export async function forgetSecretKey(context: Context): Promise<ExitCode> {
  const { terminal } = context;
  const { forgetSecretKey: forget } = await import('../../server/db/secret-key.ts');
  // Without a terminal and --yes it fails before a database is started.
  if (!terminal.interactive) await mustConfirm(terminal, '');
  await onDatabase(context, { exclusive: true }, async (client, { place }) => {
    await mustConfirm(terminal, `Let the next start decide which SECRET_KEY ${place} is used with? Open mailed links and codes may end.`);
    const forgotten = await forget(client, place);
    terminal.answer({ forgotten }, forgotten ? 'Forgotten. Start the service with the SECRET_KEY to use from now on.' : 'Nothing to do.');
  });
  return EXIT.ok;
}
