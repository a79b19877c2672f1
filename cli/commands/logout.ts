import type { Context } from '../context.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { endSession } from '../session.ts';

/** Ends the sign-in at the service and forgets it; when the service cannot be asked it is forgotten all the same. */
export async function logout(context: Context, { all }: { all: boolean }): Promise<ExitCode> {
  const { terminal, env } = context;
  const credentials = await context.credentials();
  const hosts = all ? credentials.hosts() : [await context.host()];
  const signedOut: { host: string; email: string; ended: boolean }[] = [];
  for (const host of hosts) {
    const stored = credentials.storedAt(host);
    if (!stored) continue;
    const ended = await endSession(context, host, stored);
    credentials.forget(host);
    signedOut.push({ host, email: stored.email, ended });
    if (!ended) {
      terminal.note(`${host} could not be told. The session there ends by itself, on ${stored.expiresAt.slice(0, 10)} at the latest;`);
      terminal.note('to end it sooner, sign this device out in the dashboard, under Settings.');
    }
  }
  if (env.EMAILAUTH_TOKEN) terminal.note('EMAILAUTH_TOKEN is set and is not touched: unset it to be nobody.');
  const lines = signedOut.map(({ host, email }) => `Signed out ${email} at ${host}.`);
  terminal.answer({ signedOut }, lines.join('\n') || (all ? 'You are signed in nowhere.' : `You are not signed in at ${hosts[0]}.`));
  return EXIT.ok;
}
