import type { Context } from '../context.ts';
import { EXIT, type ExitCode } from '../exit.ts';

/** Asks the service who the caller is, so that a sign-in that has ended is told. */
export async function whoami({ terminal, signedIn }: Context): Promise<ExitCode> {
  const { client, caller, host } = await signedIn();
  const { email } = await client.me({});
  const expiresAt = caller.source === 'credentials' ? caller.expiresAt : null;
  const from = expiresAt ? `by \`emailauth login\`, until ${expiresAt.slice(0, 16).replace('T', ' ')} UTC` : 'by EMAILAUTH_TOKEN';
  terminal.answer({ email, host, expiresAt, source: caller.source }, `${email} at ${host}\n${from}`);
  return EXIT.ok;
}
