import { ApiError, type Client } from '../contract/client.ts';
import { errors } from '../contract/errors.ts';
import { openApi } from './api.ts';
import type { Context } from './context.ts';
import { createCookieJar } from './cookies.ts';
import { CommandError, EXIT } from './exit.ts';
import { askHidden } from './prompts.ts';
import { checkDays, type Day } from './stats.ts';

const VARIABLE = 'EMAILAUTH_ADMIN_PASSWORD';
const TRIES = 3;
/** A service that hangs must not keep anybody from leaving. */
const LOGOUT_MS = 2_000;

/** The admin pages, open to this process: its cookies lie in memory alone. */
export type AdminSession = {
  /**
   * Sign-ins of 30 UTC days, newest first.
   * @param options.reopen a session that has ended (30 minutes without use, 8 hours in all) is opened again; somebody must have asked for it
   * @throws CommandError admin_session_ended, bad_password (it was changed), bad_answer, unreachable; ApiError
   */
  dailyLogins(options?: { reopen?: boolean; signal?: AbortSignal }): Promise<Day[]>;
  /** Ends the session if the service can be reached. */
  close(): Promise<void>;
};

/**
 * Opens the admin pages with the password of the environment, or asks for it.
 * @throws CommandError bad_password, admin_disabled, unreachable; usage where nobody can be asked; ApiError, when it was tried too often for instance
 */
export async function openAdmin(context: Context): Promise<AdminSession> {
  const { terminal, signal } = context;
  const cookies = createCookieJar();
  const client = openApi({ host: await context.host(), caller: null, terminal, signal, cookies });
  const password = await unlock(client, context);
  const dailyLogins = async (options: { signal?: AbortSignal }) => checkDays(await client.dailyLogins({}, options));
  return {
    async dailyLogins({ reopen = false, signal } = {}) {
      try {
        return await dailyLogins({ signal });
      } catch (error) {
        if (!isAnswer(error, 'admin_needed')) throw error;
        if (!reopen) throw notOpen('admin_session_ended', 'The admin session has ended.', 'Press r to open it again.', error);
      }
      await verify(client, password, signal, () => ['The admin password was changed.', 'Quit, and run `emailauth stats` again.']);
      return dailyLogins({ signal });
    },
    async close() {
      await client.adminLogout({}, { signal: AbortSignal.timeout(LOGOUT_MS) }).catch(() => {});
      cookies.clear();
    },
  };
}

/** @returns the password that was right */
async function unlock(client: Client, { env, terminal, signal }: Context): Promise<string> {
  const given = env[VARIABLE];
  const hint = "It is the service's ADMIN_PASSWORD; a local service prints its own when it starts.";
  if (given) {
    await verify(client, given, signal, () => [`${VARIABLE} is not the admin password.`, hint]);
    return given;
  }
  // Nobody should type a password only to hear that there is none.
  if (terminal.interactive && !(await client.adminSession({})).enabled) {
    throw new CommandError(EXIT.failure, 'admin_disabled', errors.admin_disabled.message, errors.admin_disabled.hint);
  }
  for (let left = TRIES - 1; ; left--) {
    const password = (await askHidden(terminal, { message: 'Admin password', variable: VARIABLE })) ?? '';
    try {
      await verify(client, password, signal, () => ['That is not the admin password.', hint]);
      return password;
    } catch (error) {
      if (left === 0 || !(error instanceof CommandError) || error.code !== 'bad_password') throw error;
      terminal.note('That is not the admin password. Try again.');
    }
  }
}

/** @param whenWrong sentence and hint. @throws CommandError bad_password */
async function verify(client: Client, password: string, signal: AbortSignal | undefined, whenWrong: () => [string, string]): Promise<void> {
  try {
    await client.adminVerify({ password }, { signal });
  } catch (error) {
    throw isAnswer(error, 'bad_password') ? notOpen('bad_password', ...whenWrong(), error) : error;
  }
}

const isAnswer = (error: unknown, code: ApiError['code']) => error instanceof ApiError && error.code === code;

const notOpen = (code: string, message: string, hint: string, cause: unknown) =>
  new CommandError(EXIT.signInNeeded, code, message, hint, cause);
