import { ApiError, type Client } from '../../contract/client.ts';
import { type RouteName, routes } from '../../contract/routes.ts';
import { openApi } from '../api.ts';
import type { Context } from '../context.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { openCheckSite } from '../site-checks.ts';
import { version } from '../version.ts';

/** Serves MCP on stdin and stdout until its client leaves. Nothing else may be written to stdout meanwhile. */
export async function mcp(context: Context, { readOnly }: { readOnly: boolean }): Promise<ExitCode> {
  const { host, signal } = context;
  const [{ createServer }, { serveStdio }, origin] = await Promise.all([
    import('../../mcp/server.ts'),
    import('@modelcontextprotocol/server/stdio'),
    host(),
  ]);
  const client = await openClient(context, origin);
  const checkSite = await openCheckSite({ client, host: origin, env: context.env });
  const closed = new Promise<void>((resolve) => {
    process.stdin.once('close', resolve).once('end', resolve);
    signal.addEventListener('abort', () => resolve());
  });
  const connection = serveStdio(() =>
    createServer({
      client,
      host: origin,
      version: version(),
      readOnly,
      // PLACEHOLDER of the install slice: signIn, checkSite, report
      signIn: null,
      howToSignIn: 'Call start_login with the address of the person you work for.',
      checkSite,
      openApi: () => openApiOf(origin, signal),
      report: () => '',
    }),
  );
  await closed;
  await connection.close();
  return EXIT.ok;
}

/** @throws ApiError */
async function openApiOf(host: string, signal: AbortSignal): Promise<object> {
  const answer = await fetch(`${host}/openapi.json`, { signal }).catch((cause) => {
    throw new ApiError(0, { error: 'The service cannot be reached.', hint: 'Check the connection and try again.' }, { cause });
  });
  if (!answer.ok) throw new ApiError(answer.status, {});
  return (await answer.json()) as object;
}

/** The API as whoever is signed in at the moment of each call. */
async function openClient({ credentials, terminal, signal }: Context, host: string): Promise<Client> {
  const stored = await credentials();
  const call = (name: RouteName) => (input: never, options?: { signal?: AbortSignal }) =>
    openApi({ host, caller: stored.callerAt(host), terminal, signal })[name](input, options);
  return Object.fromEntries((Object.keys(routes) as RouteName[]).map((name) => [name, call(name)])) as unknown as Client;
}
