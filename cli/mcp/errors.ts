import { ApiError } from '../../contract/client.ts';
import { CommandError, EXIT } from '../exit.ts';

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
  if (exitCode === EXIT.signInNeeded) {
    // With this code it counts as an invalid token, not as an anonymous caller.
    if (hasToken) return new ApiError(401, { error: message, code: 'bad_api_key', hint: TOKEN_FIRST }, { cause });
    return new ApiError(401, { error: message, code: 'sign_in_needed', hint: howToSignIn }, { cause });
  }
  return new ApiError(400, { error: message, code: 'bad_request', hint: error.hint }, { cause });
}

/** The hint when EMAILAUTH_TOKEN is set, which takes precedence over every sign-in. */
export const TOKEN_FIRST =
  'Ask the person to set EMAILAUTH_TOKEN of this MCP server to a valid API key from the dashboard, or to unset it, and to restart the server. start_login cannot help while it is set.';
