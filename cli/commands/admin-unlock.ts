import type { Context } from '../context.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { onDatabase } from './on-database.ts';

/** Clears the counters of wrong admin passwords, so that the password is compared again on every instance. */
export async function unlockAdmin(context: Context): Promise<ExitCode> {
  const { terminal } = context;
  const { clearAdminLimits } = await import('../../server/admin/unlock-store.ts');
  await onDatabase(context, { exclusive: false }, async (client, { place }) => {
    const cleared = await clearAdminLimits(client, place);
    const text =
      cleared === 0 ? 'Nothing was locked' : `Cleared ${cleared} ${cleared === 1 ? 'counter' : 'counters'} of wrong admin passwords`;
    terminal.note(`Looked at ${place}`);
    terminal.answer({ cleared }, `${text}. The admin password can be entered at /iladmin, on every instance.`);
  });
  return EXIT.ok;
}
