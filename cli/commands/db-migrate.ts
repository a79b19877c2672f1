import type { Context } from '../context.ts';
import { CommandError, EXIT, type ExitCode } from '../exit.ts';
import { onDatabase } from './on-database.ts';

/** Brings the database to the version of this program; services that run go on meanwhile. */
export async function migrateDatabase(context: Context): Promise<ExitCode> {
  const { terminal, signal } = context;
  const { migrateOn } = await import('../../server/db/migrate.ts');
  await onDatabase(context, { exclusive: false, interrupted }, async (client, { url, place }) => {
    const applied = await migrateOn(client, { url, signal, report: (line) => terminal.note(line) });
    terminal.note(`Looked at ${place}`);
    terminal.answer({ applied }, applied.length > 0 ? `Applied: ${applied.join(', ')}` : 'Nothing to do.');
  });
  return EXIT.ok;
}

const interrupted = () =>
  new CommandError(EXIT.cancelled, 'cancelled', 'Cancelled. The steps that had ended are kept; the next `emailauth db migrate` goes on.');
