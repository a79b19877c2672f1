import { randomBytes } from 'node:crypto';
import { ApiError, type Client } from '../../contract/client.ts';
import { languageOf } from '../../contract/languages.ts';
import { EMAIL_MESSAGE, normalEmail } from '../../contract/rules.ts';
import type { SignIn } from '../../mcp/server.ts';
import { type Attempts, type Opened, openAttempts } from '../attempts.ts';
import type { Context } from '../context.ts';
import { CommandError } from '../exit.ts';
import { type Loopback, openLoopback } from '../loopback.ts';
import { endSession } from '../session.ts';
import { lineOf } from './entry.ts';
import { TOKEN_FIRST } from './failures.ts';

/** So many logins are kept at once; the oldest makes room. */
const MAX_LOGINS = 20;
const AGAIN = 'Call start_login again, and use the code of the mail that it sends.';

type Login = {
  email: string;
  attempts: Attempts;
  loopback: Loopback;
  /** The end of it, by the link or the code, whichever came first; a code is exchanged once. */
  finish(opened: Opened): Promise<string>;
  outcome: Promise<string> | null;
  timer: NodeJS.Timeout;
};

/**
 * Sign-ins by mails that an assistant asks for. As with `emailauth login` the link of the mail works too, opened on this
 * machine: it signs in at once, and `complete` then takes any code for a good one. The sign-in is kept where the command keeps
 * its own, and never replaces that of another address.
 * @param client the API without credentials
 */
export function openSignIns(context: Context, host: string, client: Client): SignIn {
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
        const error = 'EMAILAUTH_TOKEN is set for this MCP server, and comes before every sign-in.';
        throw new ApiError(409, { error, code: 'bad_request', hint: TOKEN_FIRST });
      }
      const email = normalEmail(given);
      if (!email) throw new ApiError(400, { error: EMAIL_MESSAGE, code: 'bad_email', hint: 'Give one address such as name@example.com.' });
      await mustNotReplace(context, host, email);
      const language = languageOf(await context.settings.get('language'));
      const loopback = await openLoopback(host, 'assistant');
      const attempts = openAttempts(client, { email, language, redirectUri: loopback.redirectUri });
      try {
        loopback.expect(await attempts.mail());
      } catch (error) {
        loopback.close();
        throw error;
      }
      const loginId = randomBytes(16).toString('base64url');
      const [oldest] = logins.keys();
      if (logins.size >= MAX_LOGINS) forget(oldest);
      const timer = setTimeout(forget, attempts.endsAt() - Date.now(), loginId).unref();
      const finish = (opened: Opened) => {
        login.outcome ??= signIn(context, host, login, opened);
        return login.outcome;
      };
      const login: Login = { email, attempts, loopback, outcome: null, timer, finish };
      logins.set(loginId, login);
      // What goes wrong is told by complete().
      loopback.arrival.then(finish).catch(() => loopback.close());
      return { loginId, expiresAt: new Date(attempts.endsAt()).toISOString() };
    },

    async complete(loginId, code) {
      const login = logins.get(loginId);
      if (!login)
        throw new ApiError(400, { error: 'This loginId is unknown, or its ten minutes are over.', code: 'bad_grant', hint: AGAIN });
      try {
        return { email: await (login.outcome ?? enter(login, code, context.signal)) };
      } catch (error) {
        if (!login.outcome) throw error;
        forget(loginId);
        if (!(error instanceof ApiError || error instanceof CommandError) || error.code === 'confirmation_needed') throw error;
        throw new ApiError(400, { error: error.message, code: 'bad_grant', hint: AGAIN }, { cause: error });
      }
    },
  };
}

/** Tries the code. @returns the address. @throws ApiError that says how many tries are left */
async function enter(login: Login, code: string, signal: AbortSignal): Promise<string> {
  const { attempts } = login;
  const digits = code.replace(/[\s-]/g, '');
  if (!/^\d{6}$/.test(digits)) {
    throw new ApiError(400, {
      error: 'The code is six digits.',
      code: 'bad_request',
      hint: 'Ask the person for the six digits of the mail.',
    });
  }
  const opened = attempts.triesLeft() > 0 ? await attempts.enterCode(digits, signal) : null;
  // The link may have been opened meanwhile.
  if (login.outcome) return login.outcome;
  if (opened) return login.finish(opened);
  const left = attempts.triesLeft();
  if (left === 0) {
    const error = 'Too many wrong codes: this mail takes no more.';
    throw new ApiError(400, { error, code: 'bad_code', hint: `${AGAIN} Or ask the person to open the link of the mail on this machine.` });
  }
  const error = `That code is not right; ${left === 1 ? 'one try is' : `${left} tries are`} left.`;
  throw new ApiError(400, { error, code: 'bad_code', hint: 'Ask the person for the six digits of the mail that this start_login sent.' });
}

/** A person who is signed in as somebody else did not ask for that to end. @throws ApiError confirmation_needed */
async function mustNotReplace(context: Context, host: string, email: string): Promise<void> {
  const stored = (await context.credentials()).storedAt(host);
  if (!stored || stored.email === email || Date.parse(stored.expiresAt) <= Date.now()) return;
  const hint = `Ask the person; \`${await lineOf(context, 'logout')}\` ends it, then call start_login again.`;
  throw new ApiError(409, { error: 'Another address is signed in on this machine.', code: 'confirmation_needed', hint });
}

async function signIn(context: Context, host: string, { email, attempts, loopback }: Login, opened: Opened): Promise<string> {
  try {
    // A login in another terminal may have come first.
    await mustNotReplace(context, host, email);
    const credential = await attempts.exchange(opened);
    const credentials = await context.credentials();
    const before = credentials.storedAt(host);
    credentials.keep(host, credential);
    await loopback.tell('signed_in');
    if (before) await endSession(context, host, before);
    return credential.email;
  } catch (error) {
    await loopback.tell('failed');
    throw error;
  } finally {
    loopback.close();
  }
}
