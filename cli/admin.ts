import type { Client } from '../contract/client.ts';
import { errors, hasCode } from '../contract/errors.ts';
import { openApi } from './api.ts';
import type { Context } from './command.ts';
import { CommandError, EXIT } from './exit.ts';
import { type Day, parseDailyLogins } from './login-stats.ts';
import { promptHidden } from './prompts.ts';
import { requireNamed } from './settings.ts';

const VARIABLE = 'EMAILAUTH_ADMIN_PASSWORD';
const MAX_TRIES = 3;
/** A service that hangs must not delay the end of the command. */
const LOGOUT_TIMEOUT_MS = 2_000;

/** A session of the admin pages; its cookies are in memory only. */
export type AdminSession = {
  /**
   * Returns the sign-ins of 30 UTC days, newest first.
   * @param options.reopen opens a session that has ended (30 minutes without use, 8 hours in all) again, as the person asked for
   * @throws CommandError admin_session_ended, bad_password (it was changed), bad_answer, unreachable; ApiError
   */
  dailyLogins(options?: { reopen?: boolean; signal?: AbortSignal }): Promise<Day[]>;
  /** Ends the session if the service can be reached. */
  close(): Promise<void>;
};

/**
 * Opens the admin pages with the password from the environment, or prompts for it.
 * @throws CommandError bad_password, admin_disabled, unreachable; usage where no prompt is possible; ApiError, after too many tries for instance
 */
export async function openAdmin(context: Context): Promise<AdminSession> {
  const { terminal, signal } = context;
  if (context.env[VARIABLE]) requireNamed(await context.settings.host(), VARIABLE);
  const cookies = new Map<string, string>();
  const client = openApi({ host: await context.host(), env: context.env, caller: null, terminal, signal, cookies });
  const password = await enterPassword(client, context);
  const dailyLogins = async (options: { signal?: AbortSignal }) => parseDailyLogins(await client.dailyLogins({}, options));
  return {
    async dailyLogins({ reopen = false, signal } = {}) {
      try {
        return await dailyLogins({ signal });
      } catch (error) {
        if (!hasCode(error, 'admin_needed')) throw error;
        if (!reopen) throw refused('admin_session_ended', 'The admin session has ended.', 'Press r to open it again.', error);
      }
      await verify(client, password, signal, () => ['The admin password was changed.', 'Quit, and run `emailauth stats` again.']);
      return dailyLogins({ signal });
    },
    async close() {
      await client.adminLogout({}, { signal: AbortSignal.timeout(LOGOUT_TIMEOUT_MS) }).catch(() => {});
      cookies.clear();
    },
  };
}

/** Opens the session. @returns the password that was accepted */
async function enterPassword(client: Client, { env, terminal, signal }: Context): Promise<string> {
  const fromEnvironment = env[VARIABLE];
  const hint = "It is the service's ADMIN_PASSWORD; a local service prints its own when it starts.";
  if (fromEnvironment) {
    await verify(client, fromEnvironment, signal, () => [`${VARIABLE} is not the admin password.`, hint]);
    return fromEnvironment;
  }
  // Before the prompt, so that no password is typed in vain.
  if (terminal.interactive && !(await client.adminSession({})).enabled) {
    throw new CommandError(EXIT.failure, 'admin_disabled', errors.admin_disabled.message, errors.admin_disabled.hint);
  }
  for (let left = MAX_TRIES - 1; ; left--) {
    const password = (await promptHidden(terminal, { message: 'Admin password', variable: VARIABLE })) ?? '';
    try {
      await verify(client, password, signal, () => ['That is not the admin password.', hint]);
      return password;
    } catch (error) {
      if (left === 0 || !(error instanceof CommandError) || error.code !== 'bad_password') throw error;
      terminal.note('That is not the admin password. Try again.');
    }
  }
}

/** @param textWhenWrong returns message and hint. @throws CommandError bad_password */
async function verify(
  client: Client,
  password: string,
  signal: AbortSignal | undefined,
  textWhenWrong: () => [string, string],
): Promise<void> {
  try {
    await client.adminVerify({ password }, { signal });
  } catch (error) {
    throw hasCode(error, 'bad_password') ? refused('bad_password', ...textWhenWrong(), error) : error;
  }
}

const refused = (code: string, message: string, hint: string, cause: unknown) =>
  new CommandError(EXIT.signInNeeded, code, message, hint, cause);
