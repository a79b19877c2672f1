import { statSync } from 'node:fs';
import { type Check, fail, oneLine, pass, runCheck, skip, type Verdict } from '../../contract/check.ts';
import type { Context } from '../context.ts';
import type { Caller, Credentials } from '../credentials.ts';
import { CommandError, EXIT } from '../exit.ts';

type Parts = Pick<Context, 'credentials' | 'host' | 'signedIn' | 'signal'>;

/**
 * Who is signed in, until when, and whether others can read the file that says so.
 * @param ask whether a service answers that can be asked
 */
export function checkCredentials(parts: Parts, ask: boolean): Promise<Check> {
  return runCheck({ id: 'credentials', name: 'Sign-in', signal: parts.signal }, async () => {
    let credentials: Credentials;
    try {
      credentials = await parts.credentials();
    } catch (error) {
      if (error instanceof CommandError) return fail(oneLine(error.message), error.hint);
      throw error;
    }
    const mode = modeOf(credentials.path);
    if (mode & 0o077) {
      const shown = mode.toString(8);
      return fail(`Others on this machine may read ${credentials.path} (mode ${shown}).`, `chmod 600 ${credentials.path}`);
    }
    const host = await parts.host();
    const caller = credentials.callerAt(host);
    return caller ? judgeCaller(parts, caller, host, ask) : skip(`Nobody is signed in at ${host}.`, 'Run `emailauth login`.');
  });
}

/** Permissions of a file; 0 when there is none, or on a system that has no such thing. */
function modeOf(path: string): number {
  if (process.platform === 'win32') return 0;
  return (statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o777;
}

async function judgeCaller({ signedIn }: Parts, caller: Caller, host: string, ask: boolean): Promise<Verdict> {
  const stored = caller.source === 'credentials' ? caller : null;
  if (stored && Date.parse(stored.expiresAt) < Date.now()) {
    return fail(`The sign-in of ${oneLine(stored.email)} at ${host} has ended.`, 'Run `emailauth login`.');
  }
  if (!ask) return skip('The service could not be asked whether the sign-in is still good.');
  try {
    const { email } = await (await signedIn()).client.me({});
    const until = stored ? `until ${oneLine(stored.expiresAt, 11).slice(0, 10)}` : 'by EMAILAUTH_TOKEN, until it is revoked';
    return pass(`${oneLine(email)} is signed in, ${until}.`);
  } catch (error) {
    if (error instanceof CommandError && error.exitCode === EXIT.signInNeeded) return fail(oneLine(error.message), oneLine(error.hint));
    throw error;
  }
}
