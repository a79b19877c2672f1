import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, renameSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { anyEntered, enteredFault, readEntered } from '../contract/entered.ts';
import { languageOf } from '../contract/languages.ts';
import type { Context } from './command.ts';
import { CommandError, EXIT, usageError } from './exit.ts';
import { Attempts, findInbox, readAddress, reportSignIn, type SavedAttempt, whereToRead } from './login-attempts.ts';
import { promptText } from './prompts.ts';
import { requireWritableDirectory, stateDirectory } from './settings.ts';

// A sign-in in two commands, for a program that cannot keep one running while a person reads the email.

/** The redirect URI of such an attempt. Nothing listens there: port 9 is privileged, so programs of other users of this machine cannot. */
const NO_LISTENER = 'http://127.0.0.1:9/callback';
const MAX_INPUT_BYTES = 4096;
const START_AGAIN = 'Run `emailauth login --start` again.';

/** Requests the email and stores what is needed to complete the sign-in. @returns the exit code */
export async function startLogin(context: Context, given: string | undefined): Promise<number> {
  const { terminal, settings, env, signal } = context;
  const { openApi } = await import('./api.ts');
  const { value: host, source } = await settings.host();
  const logins = new PendingLogins(env);
  logins.requireWritable();
  (await context.credentials()).requireWritable();
  const email = await readAddress(context, given);
  const client = openApi({ host, env, caller: null, terminal, signal });
  const language = languageOf(await settings.get('language'));
  const attempts = new Attempts(client, { email, language, redirectUri: NO_LISTENER });
  await attempts.requestEmail();
  const isHostFromFlag = source === 'flag';
  const login = { host, profile: settings.profile, email, redirectUri: NO_LISTENER, attempts: attempts.saved(), isHostFromFlag };
  const loginId = logins.add(login);
  const inbox = await findInbox(host, signal);
  terminal.note(`An email with ${anyEntered('size')} is on its way to ${email}. ${await whereToRead(inbox, email)}`.trim());
  terminal.note(
    `Complete the sign-in within ten minutes: \`emailauth login --login ${loginId} --code <${anyEntered('unit')}>\`. Its link does not work for this.`,
  );
  const expiresAt = new Date(attempts.expiresAt).toISOString();
  terminal.result({ loginId, expiresAt, ...(inbox && { inbox }) }, loginId);
  return EXIT.ok;
}

/**
 * Completes a login with the code of its email. @param given the code; `-` or undefined: from stdin or a prompt
 * @returns the exit code. @throws CommandError login_not_found, bad_code
 */
export async function completeLogin(context: Context, loginId: string, given: string | undefined): Promise<number> {
  const { terminal, env, signal } = context;
  const { openApi } = await import('./api.ts');
  const logins = new PendingLogins(env);
  const login = await requireLogin(context, logins, loginId);
  const { host, email, redirectUri } = login;
  const read = readEntered(await readCode(context, given));
  if (read.value === null) throw usageError(enteredFault(read), `Give the ${anyEntered('size')} of the email that this login sent.`);
  const client = openApi({ host, env, caller: null, terminal, signal });
  const attempts = new Attempts(client, { email, language: 'en', redirectUri }, login.attempts);
  const authorization = await attempts.enterCode(read.value, signal);
  if (!authorization) throw rejectCode(logins, loginId, login, attempts);
  if (!logins.take(loginId)) throw unknownLogin();
  const credential = await attempts.exchange(authorization);
  const credentials = await context.credentials();
  const previous = credentials.storedAt(host);
  credentials.store(host, credential);
  return reportSignIn(context, { host, credential, previous, isHostFromFlag: login.isHostFromFlag });
}

/** @throws CommandError login_not_found; usage for another service or profile than that of the login */
async function requireLogin({ settings }: Context, logins: PendingLogins, loginId: string): Promise<PendingLogin> {
  const login = logins.find(loginId);
  if (!login) throw unknownLogin();
  const { value: host, source } = await settings.host();
  if (source === 'flag' && host !== login.host) throw usageError(`This login is for ${login.host}, not for ${host}.`, 'Leave out --host.');
  if (settings.profile !== login.profile)
    throw usageError(`This login is for the profile "${login.profile}".`, `Pass --profile ${login.profile}.`);
  return login;
}

const unknownLogin = () =>
  new CommandError(EXIT.notFound, 'login_not_found', 'This login is unknown, was used, or has expired after ten minutes.', START_AGAIN);

async function readCode({ terminal }: Context, given: string | undefined): Promise<string> {
  if (given !== undefined && given !== '-') return given;
  if (given === undefined && terminal.interactive)
    return promptText(terminal, { message: `The ${anyEntered('size')} of the email`, flag: `--code <${anyEntered('unit')}>` });
  return terminal.readInput(MAX_INPUT_BYTES);
}

/** Stores how many tries are left; without any the login is removed. @returns the error */
function rejectCode(logins: PendingLogins, loginId: string, login: PendingLogin, attempts: Attempts): CommandError {
  const left = attempts.triesLeft;
  if (left > 0) {
    logins.save(loginId, { ...login, attempts: attempts.saved() });
    const hint = `Use the ${anyEntered('unit')} of the email that this login sent.`;
    return new CommandError(EXIT.negative, 'bad_code', attempts.wrongCodeMessage, hint);
  }
  logins.take(loginId);
  return new CommandError(EXIT.negative, 'bad_code', 'Too many wrong codes: this email can no longer be used.', START_AGAIN);
}

/** A sign-in that `login --start` began, with the verifiers that redeem its code. */
type PendingLogin = {
  host: string;
  profile: string;
  email: string;
  redirectUri: string;
  attempts: readonly SavedAttempt[];
  /** Whether the service was named by `--host`, and becomes that of the profile. */
  isHostFromFlag: boolean;
};

const ID = /^[\w-]{22}$/;

/** The pending logins of this machine: one file each, which only its owner may read, until it is used or expires. */
class PendingLogins {
  readonly #directory: string;

  constructor(env: Record<string, string | undefined>) {
    this.#directory = join(stateDirectory(env), 'logins');
  }

  /** Ensures that a login can be stored. @throws CommandError usage */
  requireWritable(): void {
    requireWritableDirectory(this.#directory, 'XDG_STATE_HOME');
  }

  /** Stores a login, and removes those that have expired. @returns its id */
  add(login: PendingLogin): string {
    for (const file of readdirSync(this.#directory)) this.find(file.replace(/\.json$/, ''));
    // Not base64url, which could begin with a dash and would be read as a flag.
    const id = randomBytes(11).toString('hex');
    this.save(id, login);
    return id;
  }

  /** Writes a login atomically. */
  save(id: string, login: PendingLogin): void {
    const temporary = `${this.#pathOf(id)}.${randomBytes(6).toString('hex')}`;
    writeFileSync(temporary, JSON.stringify(login), { mode: 0o600, flag: 'wx' });
    renameSync(temporary, this.#pathOf(id));
  }

  /** Returns a login; null when it is unknown, was used or has expired. */
  find(id: string): PendingLogin | null {
    if (!ID.test(id)) return null;
    try {
      const login = JSON.parse(readFileSync(this.#pathOf(id), 'utf8')) as PendingLogin;
      if (login.attempts.some(({ expiresAt }) => expiresAt > Date.now())) return login;
    } catch (error) {
      if (isMissing(error)) return null;
      // Not JSON: the file was damaged, and is of no use.
    }
    rmSync(this.#pathOf(id), { force: true });
    return null;
  }

  /** Removes a login so that it can be used once. @returns whether this call removed it */
  take(id: string): boolean {
    try {
      unlinkSync(this.#pathOf(id));
      return true;
    } catch (error) {
      if (isMissing(error)) return false;
      throw error;
    }
  }

  #pathOf(id: string): string {
    return join(this.#directory, `${id}.json`);
  }
}

const isMissing = (error: unknown) => (error as NodeJS.ErrnoException).code === 'ENOENT';
