import { randomBytes } from 'node:crypto';
import { ApiError, type Client, refusal } from '../../contract/client.ts';
import { emailFaultOf, readEmail } from '../../contract/emails.ts';
import { anyEntered, enteredFault, readEntered } from '../../contract/entered.ts';
import { errors } from '../../contract/errors.ts';
import { languageOf } from '../../contract/languages.ts';
import type { SignIn } from '../../mcp/tool.ts';
import { endSession } from '../api.ts';
import type { Context } from '../command.ts';
import { CommandError, EXIT } from '../exit.ts';
import { Attempts, type Authorization } from '../login-attempts.ts';
import { type Loopback, openLoopback } from '../loopback.ts';
import { loginCommand } from './entry.ts';

/** Maximum number of open logins; a new one removes the oldest. */
const MAX_LOGINS = 20;
const START_AGAIN = 'Call start_login again, and use the code of the email that it sends.';

type Login = {
  email: string;
  attempts: Attempts;
  loopback: Loopback;
  /** Completes it by the link or the code, whichever comes first; the code is exchanged only once. */
  finish(authorization: Authorization): Promise<string>;
  result: Promise<string> | null;
  timer: NodeJS.Timeout;
};

/**
 * Creates sign-ins by emails that an assistant requests. As with `emailauth login`, the link of the email works as well when it is
 * opened on this machine: it signs in immediately, and `complete` then accepts any code. The sign-in is stored like that of the
 * command, and never replaces that of another address.
 * @param client the API without credentials
 */
export function createSignIns(context: Context, host: string, client: Client): SignIn {
  const logins = new Map<string, Login>();
  const forget = (loginId: string) => {
    const login = logins.get(loginId);
    clearTimeout(login?.timer);
    login?.loopback.close();
    logins.delete(loginId);
  };
  context.signal.addEventListener('abort', () => [...logins.keys()].forEach(forget));

  return {
    async start(given) {
      if (context.env.EMAILAUTH_TOKEN?.trim()) {
        const error = 'EMAILAUTH_TOKEN is set for this MCP server, and takes precedence over every sign-in.';
        throw new ApiError(409, { error, code: 'bad_request', hint: TOKEN_FIRST });
      }
      const email = readEmail(given);
      if (!email) {
        const code = emailFaultOf(given);
        throw refusal(code, errors[code].message);
      }
      await requireNoOtherAccount(context, host, email);
      (await context.credentials()).requireWritable();
      const language = languageOf(await context.settings.get('language'));
      const loopback = await openLoopback(host, 'assistant');
      const attempts = new Attempts(client, { email, language, redirectUri: loopback.redirectUri });
      try {
        loopback.expect(await attempts.requestEmail());
      } catch (error) {
        loopback.close();
        throw error;
      }
      const loginId = randomBytes(16).toString('base64url');
      const [oldest] = logins.keys();
      if (logins.size >= MAX_LOGINS) forget(oldest);
      const timer = setTimeout(forget, attempts.expiresAt - Date.now(), loginId).unref();
      const finish = (authorization: Authorization) => {
        login.result ??= signIn(context, host, login, authorization);
        return login.result;
      };
      const login: Login = { email, attempts, loopback, result: null, timer, finish };
      logins.set(loginId, login);
      // complete() reports errors.
      loopback.authorization.then(finish).catch(() => loopback.close());
      return { loginId, expiresAt: new Date(attempts.expiresAt).toISOString() };
    },

    async complete(loginId, code) {
      const login = logins.get(loginId);
      if (!login)
        throw new ApiError(400, {
          error: 'This loginId is unknown or has expired after ten minutes.',
          code: 'bad_grant',
          hint: START_AGAIN,
        });
      try {
        return { email: await (login.result ?? enter(login, code, context.signal)) };
      } catch (error) {
        if (!login.result) throw error;
        forget(loginId);
        if (!(error instanceof ApiError || error instanceof CommandError) || error.code === 'confirmation_needed') throw error;
        throw new ApiError(400, { error: error.message, code: 'bad_grant', hint: START_AGAIN }, { cause: error });
      }
    },
  };
}

/** Tries the code. @returns the address. @throws ApiError with the number of tries left */
async function enter(login: Login, code: string, signal: AbortSignal): Promise<string> {
  const { attempts } = login;
  const read = readEntered(code);
  if (read.value === null) {
    throw new ApiError(400, {
      error: enteredFault(read),
      code: 'bad_request',
      hint: `Ask the person for the ${anyEntered('size')} of the email.`,
    });
  }
  const authorization =
    attempts.triesLeft > 0
      ? await attempts.enterCode(read.value, signal).catch((error) => {
          // The link may have been opened in the meantime, which also makes the code invalid.
          if (!login.result) throw error;
          return null;
        })
      : null;
  if (login.result) return login.result;
  if (authorization) return login.finish(authorization);
  if (attempts.triesLeft === 0) {
    const error = 'Too many wrong codes: this email can no longer be used with a code.';
    throw new ApiError(400, {
      error,
      code: 'bad_code',
      hint: `${START_AGAIN} Or ask the person to open the link of the email on this machine.`,
    });
  }
  throw new ApiError(400, {
    error: attempts.wrongCodeMessage,
    code: 'bad_code',
    hint: `Ask the person for the ${anyEntered('size')} of the email that this start_login sent.`,
  });
}

/** Ensures that no sign-in of another address is replaced. @throws ApiError confirmation_needed */
async function requireNoOtherAccount(context: Context, host: string, email: string): Promise<void> {
  const stored = (await context.credentials()).storedAt(host);
  if (!stored || stored.email === email || Date.parse(stored.expiresAt) <= Date.now()) return;
  const hint = `Ask the person; \`${await loginCommand(context, 'logout')}\` ends it, then call start_login again.`;
  throw new ApiError(409, { error: 'Another address is signed in on this machine.', code: 'confirmation_needed', hint });
}

async function signIn(context: Context, host: string, { email, attempts, loopback }: Login, authorization: Authorization): Promise<string> {
  try {
    // A login in another terminal may have finished first.
    await requireNoOtherAccount(context, host, email);
    const credential = await attempts.exchange(authorization);
    const credentials = await context.credentials();
    const previous = credentials.storedAt(host);
    credentials.store(host, credential);
    await loopback.respond('signed_in');
    if (previous) await endSession(context, host, previous);
    return credential.email;
  } catch (error) {
    await loopback.respond('failed');
    throw error;
  } finally {
    loopback.close();
  }
}

/** What the hints for an assistant depend on: it can call start_login, but not run a command. */
export type ErrorHints = { host: string; hasToken: boolean; howToSignIn: string };

/** Returns an error of cli/api.ts, whose hints are for a person at a terminal, with hints for a model. */
export function toModelError(error: unknown, { host, hasToken, howToSignIn }: ErrorHints): unknown {
  if (!(error instanceof CommandError)) return error;
  const { exitCode, message, cause } = error;
  if (exitCode === EXIT.unreachable) {
    const hint = /redirects/.test(message)
      ? 'Ask the person to name that address with --host in the arguments of this MCP server.'
      : `Ask the person to start it with \`emailauth start\`, or to name another service with --host in the arguments of this MCP server; ${host} is the one in use.`;
    return new ApiError(0, { error: message, hint }, { cause });
  }
  if (error.code === 'person_needed') {
    const hint = `Ask the person to do it at ${host}/dashboard, or to unset EMAILAUTH_TOKEN of this MCP server and sign in with \`emailauth login\`.`;
    return new ApiError(403, { error: message, code: 'person_needed', hint }, { cause });
  }
  // The tool knows whether start_login is offered.
  if (error.code === 'proof_needed') return new ApiError(403, { error: message, code: 'proof_needed', hint: error.hint }, { cause });
  if (exitCode === EXIT.signInNeeded) {
    // With this code it counts as an invalid token, not as an anonymous caller.
    if (hasToken) return new ApiError(401, { error: message, code: 'bad_api_key', hint: TOKEN_FIRST }, { cause });
    return new ApiError(401, { error: message, code: 'sign_in_needed', hint: howToSignIn }, { cause });
  }
  return new ApiError(400, { error: message, code: 'bad_request', hint: error.hint }, { cause });
}

/** The hint when EMAILAUTH_TOKEN is set, which takes precedence over every sign-in. */
const TOKEN_FIRST =
  'Ask the person to set EMAILAUTH_TOKEN of this MCP server to a valid API key from the dashboard, or to unset it, and to restart the server. start_login cannot help while it is set.';
