import { endSession } from './api.ts';
import type { Context } from './context.ts';
import type { Credential } from './credentials.ts';
import { EXIT, usageError } from './exit.ts';
import { promptText } from './prompts.ts';

const INBOX_TIMEOUT_MS = 3_000;

/** Returns the address of the flag or of a prompt. @throws CommandError usage */
export async function readAddress({ terminal }: Context, given: string | undefined): Promise<string> {
  const { EMAIL_MESSAGE, normalEmail } = await import('../contract/rules.ts');
  const typed =
    given ??
    (await promptText(terminal, {
      message: 'Your email address',
      flag: '--email <address>',
      placeholder: 'you@example.com',
      validate: (text) => (normalEmail(text) ? undefined : EMAIL_MESSAGE),
    }));
  const email = normalEmail(typed);
  if (!email) throw usageError(EMAIL_MESSAGE, 'Give one address, such as --email you@example.com.');
  return email;
}

/** Returns the address of the built-in inbox, which a service in local mode shows to its own machine only, or null. */
export async function findInbox(host: string, signal: AbortSignal): Promise<string | null> {
  const { protocol } = new URL(host);
  if (protocol !== 'http:') return null;
  const url = `${host}/dev/inbox`;
  const limit = AbortSignal.any([signal, AbortSignal.timeout(INBOX_TIMEOUT_MS)]);
  const response = await fetch(url, { method: 'HEAD', redirect: 'error', signal: limit }).catch(() => null);
  return response?.status === 200 ? url : null;
}

type SignedIn = { host: string; credential: Credential; previous: Credential | null; isHostFromFlag: boolean };

/** Ends the sign-in that a new one replaced, makes its service that of the profile, and prints the result. @returns the exit code */
export async function reportSignIn(context: Context, { host, credential, previous, isHostFromFlag }: SignedIn): Promise<number> {
  const { terminal, settings, env } = context;
  if (previous) await endSession(context, host, previous);
  if (isHostFromFlag && !(await settings.get('host'))) {
    await settings.set('host', host);
    terminal.note(`From now on, commands of the profile "${settings.profile}" use ${host}.`);
  }
  if (env.EMAILAUTH_TOKEN) terminal.note('EMAILAUTH_TOKEN is set and takes precedence over this sign-in. Unset it to use the sign-in.');
  const { email, expiresAt } = credential;
  terminal.result({ email, host, expiresAt, source: 'credentials' }, `Signed in as ${email} at ${host}.`);
  return EXIT.ok;
}
