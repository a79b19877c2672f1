import { ApiError, type Client } from '../contract/client.ts';
import type { LanguageCode } from '../contract/languages.ts';
import { ATTEMPT_SECONDS, MAX_CODE_TRIES } from '../contract/limits.ts';
import { CLI_CLIENT_ID, createPkce } from '../contract/pkce.ts';
import type { Credential } from './credentials.ts';
import { CommandError, EXIT } from './exit.ts';

/** A mail that was asked for: what its link comes back with, and what alone can use it. */
type Attempt = { state: string; verifier: string; handle: string; sentAt: number; endsAt: number; triesLeft: number };

/** A mail that was opened, by its link or its code. */
export type Opened = { code: string; state: string };

/** The mails of one `login`. Each of them stays good when a newer one is asked for. */
export type Attempts = {
  /** Asks for one more mail. @returns its state. @throws ApiError, CommandError */
  mail(): Promise<string>;
  /** When the newest mail was asked for, in milliseconds of Date.now(). */
  sentAt(): number;
  /** When the newest mail ends, in milliseconds of Date.now(). */
  endsAt(): number;
  /** How often a code can still be tried. */
  triesLeft(): number;
  /** Tries six digits on every mail. @returns null: they are of none of them. @throws ApiError, CommandError */
  enterCode(digits: string, signal: AbortSignal): Promise<Opened | null>;
  /** Uses it up. To do so twice would end what the first one opened. @throws CommandError */
  exchange(opened: Opened): Promise<Credential>;
};

/** OAuth 2.0 with PKCE (RFC 7636) as a native client, for one address. */
export function openAttempts(client: Client, asked: { email: string; language: LanguageCode; redirectUri: string }): Attempts {
  const { email, language, redirectUri } = asked;
  /** The newest first. */
  const attempts: Attempt[] = [];
  return {
    async mail() {
      const { codeVerifier, codeChallenge, codeChallengeMethod, state } = await createPkce();
      const { attempt, expiresIn } = await client.authorize({
        email,
        language,
        client_id: CLI_CLIENT_ID,
        redirect_uri: redirectUri,
        code_challenge: codeChallenge,
        code_challenge_method: codeChallengeMethod,
        state,
      });
      const sentAt = Date.now();
      const endsAt = sentAt + Math.min(expiresIn, ATTEMPT_SECONDS) * 1000;
      attempts.unshift({ state, verifier: codeVerifier, handle: attempt, sentAt, endsAt, triesLeft: MAX_CODE_TRIES });
      return state;
    },
    sentAt: () => attempts[0]?.sentAt ?? 0,
    endsAt: () => attempts[0]?.endsAt ?? 0,
    triesLeft: () => Math.max(0, ...attempts.map(({ triesLeft }) => triesLeft)),
    async enterCode(digits, signal) {
      for (const attempt of attempts.filter(({ triesLeft }) => triesLeft > 0)) {
        try {
          const { state, handle } = attempt;
          const answer = await client.emailCode({ email, code: digits, state, attempt: handle }, { signal });
          if ('code' in answer) return { code: answer.code, state };
        } catch (error) {
          if (!(error instanceof ApiError) || error.code !== 'bad_code') throw error;
          attempt.triesLeft--;
        }
      }
      return null;
    },
    async exchange({ code, state }) {
      const attempt = attempts.find((each) => each.state === state);
      try {
        const answer = await client.token({
          code,
          code_verifier: attempt?.verifier ?? '',
          client_id: CLI_CLIENT_ID,
          redirect_uri: redirectUri,
        });
        if (!('access_token' in answer)) throw new Error('The service gave this program no access token.');
        return {
          email: answer.email,
          token: answer.access_token,
          expiresAt: new Date(Date.now() + answer.expires_in * 1000).toISOString(),
        };
      } catch (error) {
        if (!(error instanceof ApiError) || error.code !== 'bad_grant') throw error;
        throw new CommandError(
          EXIT.failure,
          error.code,
          'This sign-in mail was used already or has expired.',
          'Run `emailauth login` once more.',
          error,
        );
      }
    },
  };
}
