import { type Context, signInNeeded } from '../context.ts';
import { EXIT, type ExitCode } from '../exit.ts';

/** Prints the token that calls are made with. */
export async function token({ terminal, credentials, host }: Context): Promise<ExitCode> {
  const origin = await host();
  const caller = (await credentials()).callerAt(origin);
  if (!caller) throw signInNeeded(origin);
  const expiresAt = caller.source === 'credentials' ? caller.expiresAt : null;
  if (expiresAt !== null && Date.parse(expiresAt) <= Date.now()) throw signInNeeded(origin, `Your sign-in at ${origin} has ended.`);
  if (terminal.fullScreen) terminal.note('Keep it to yourself: whoever has this token may do what you may.');
  terminal.answer({ token: caller.token, host: origin, expiresAt, source: caller.source }, caller.token);
  return EXIT.ok;
}
