import { ApiError } from '../../contract/client.ts';
import { CommandError, EXIT } from '../exit.ts';

/** What a failure of a call means to an assistant; `start_login` alone signs in, not a command that it cannot run. */
export type Advice = { host: string; hasToken: boolean; howToSignIn: string };

/** An error of cli/api.ts, whose hints are for a person at a terminal, in words for a model. */
export function forModel(error: unknown, { host, hasToken, howToSignIn }: Advice): unknown {
  if (!(error instanceof CommandError)) return error;
  const { exitCode, message, cause } = error;
  if (exitCode === EXIT.unreachable) {
    const hint = /redirects/.test(message)
      ? 'Ask the person to name that address by --host in the arguments of this MCP server.'
      : `Ask the person to start it with \`emailauth start\`, or to name another service by --host in the arguments of this MCP server; ${host} is the one in use.`;
    return new ApiError(0, { error: message, hint }, { cause });
  }
  if (exitCode === EXIT.signInNeeded) {
    // By this code it counts as a fault of the token, not as nobody.
    if (hasToken) return new ApiError(401, { error: message, code: 'bad_api_key', hint: TOKEN_FIRST }, { cause });
    return new ApiError(401, { error: message, code: 'sign_in_needed', hint: howToSignIn }, { cause });
  }
  return new ApiError(400, { error: message, code: 'bad_request', hint: error.hint }, { cause });
}

/** While EMAILAUTH_TOKEN is set no sign-in counts. */
export const TOKEN_FIRST =
  'Ask the person to set EMAILAUTH_TOKEN of this MCP server to a good API key of the dashboard, or to unset it, and to restart the server. start_login cannot help while it is set.';
