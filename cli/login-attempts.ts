import { ApiError, type Client } from '../contract/client.ts';
import { errors } from '../contract/errors.ts';
import type { LanguageCode } from '../contract/languages.ts';
import { ATTEMPT_SECONDS, MAX_CODE_TRIES } from '../contract/limits.ts';
import { CLI_CLIENT_ID, createPkce } from '../contract/pkce.ts';
import { endSession } from './api.ts';
import type { Context } from './command.ts';
import { CommandError, EXIT, usageError } from './exit.ts';
import { promptText } from './prompts.ts';
import type { Credential } from './settings.ts';

/** One requested email, with what its link returns and the verifier that redeems it. */
export type SavedAttempt = { state: string; verifier: string; id: string; sentAt: number; expiresAt: number; triesLeft: number };

/** The authorization code of an attempt that was completed by its link or its code. */
export type Authorization = { code: string; state: string };

/**
 * The attempts of one sign-in: OAuth 2.0 with PKCE (RFC 7636) as a native client, for one address. A new email does not invalidate
 * the earlier ones.
 */
export class Attempts {
  readonly #client: Client;
  readonly #request: { email: string; language: LanguageCode; redirectUri: string };
  /** Newest first. */
  readonly #attempts: SavedAttempt[];

  /** @param attempts those that `saved` returned, to continue with them */
  constructor(
    client: Client,
    request: { email: string; language: LanguageCode; redirectUri: string },
    attempts: readonly SavedAttempt[] = [],
  ) {
    this.#client = client;
    this.#request = request;
    this.#attempts = attempts.map((each) => ({ ...each }));
  }

  /** Returns the attempts with their secrets. */
  saved(): readonly SavedAttempt[] {
    return this.#attempts;
  }

  /** When the newest email was requested, in milliseconds of Date.now(). */
  get sentAt(): number {
    return this.#attempts[0]?.sentAt ?? 0;
  }

  /** When the newest email expires, in milliseconds of Date.now(). */
  get expiresAt(): number {
    return this.#attempts[0]?.expiresAt ?? 0;
  }

  /** How many more codes can be tried. */
  get triesLeft(): number {
    return Math.max(0, ...this.#attempts.map(({ triesLeft }) => triesLeft));
  }

  /** What a person reads after a wrong code that was not the last one. */
  get wrongCodeMessage(): string {
    const { triesLeft } = this;
    return `${errors.bad_code.message} ${triesLeft === 1 ? 'One try is' : `${triesLeft} tries are`} left.`;
  }

  /** Requests another email. @returns its state. @throws ApiError, CommandError */
  async requestEmail(): Promise<string> {
    const { email, language, redirectUri } = this.#request;
    const { codeVerifier, codeChallenge, codeChallengeMethod, state } = await createPkce();
    const { attempt, expiresIn } = await this.#client.authorize({
      email,
      language,
      client_id: CLI_CLIENT_ID,
      redirect_uri: redirectUri,
      code_challenge: codeChallenge,
      code_challenge_method: codeChallengeMethod,
      state,
    });
    const sentAt = Date.now();
    const expiresAt = sentAt + Math.min(expiresIn, ATTEMPT_SECONDS) * 1000;
    this.#attempts.unshift({ state, verifier: codeVerifier, id: attempt, sentAt, expiresAt, triesLeft: MAX_CODE_TRIES });
    return state;
  }

  /** Tries what was entered with every attempt. @returns null when they match none. @throws ApiError, CommandError */
  async enterCode(code: string, signal: AbortSignal): Promise<Authorization | null> {
    const { email } = this.#request;
    for (const attempt of this.#attempts.filter(({ triesLeft }) => triesLeft > 0)) {
      try {
        const { state, id } = attempt;
        const response = await this.#client.emailCode({ email, code, state, attempt: id }, { signal });
        if ('code' in response) return { code: response.code, state };
      } catch (error) {
        if (!(error instanceof ApiError) || error.code !== 'bad_code') throw error;
        attempt.triesLeft = error.triesLeft ?? attempt.triesLeft - 1;
      }
    }
    return null;
  }

  /** Exchanges the authorization code for an access token. A second exchange would revoke the token. @throws CommandError */
  async exchange({ code, state }: Authorization): Promise<Credential> {
    const attempt = this.#attempts.find((each) => each.state === state);
    try {
      const response = await this.#client.token({
        code,
        code_verifier: attempt?.verifier ?? '',
        client_id: CLI_CLIENT_ID,
        redirect_uri: this.#request.redirectUri,
      });
      if (!('access_token' in response)) throw new Error('The service gave this program no access token.');
      return {
        email: response.email,
        token: response.access_token,
        expiresAt: new Date(Date.now() + response.expires_in * 1000).toISOString(),
      };
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'bad_grant') throw error;
      const message = 'This sign-in email was used already or has expired.';
      throw new CommandError(EXIT.failure, error.code, message, 'Run `emailauth login` again.', error);
    }
  }
}

const INBOX_TIMEOUT_MS = 3_000;

/** Returns the address of the flag or of a prompt. @throws CommandError usage */
export async function readAddress({ terminal }: Context, given: string | undefined): Promise<string> {
  const { EMAIL_MESSAGES, emailFaultOf, readEmail } = await import('../contract/emails.ts');
  const typed =
    given ??
    (await promptText(terminal, {
      message: 'Your email address',
      flag: '--email <address>',
      placeholder: 'you@example.com',
      validate: (text) => (readEmail(text) ? undefined : EMAIL_MESSAGES[emailFaultOf(text)]),
    }));
  const email = readEmail(typed);
  if (!email) throw usageError(EMAIL_MESSAGES[emailFaultOf(typed)], 'Give one address, such as --email you@example.com.');
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

/** Returns where to read an email to an address, as a sentence: in an inbox of findInbox, or in the web mail of its domain; empty: not known. */
export async function whereToRead(inbox: string | null, email: string): Promise<string> {
  if (inbox) return `Read it in the inbox of local mode: ${inbox}`;
  const { mailboxSite } = await import('../contract/web-mail.ts');
  const site = mailboxSite(email);
  return site ? `Open ${site.name}: ${site.url}` : '';
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
