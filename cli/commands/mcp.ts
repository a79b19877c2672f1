import { randomUUID } from 'node:crypto';
import type { Client } from '../../contract/client.ts';
import { type RouteName, routes } from '../../contract/routes.ts';
import { openApi, readOpenApi } from '../api.ts';
import type { Context } from '../context.ts';
import type { Caller } from '../credentials.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { lineOf } from '../mcp/entry.ts';
import { type Advice, forModel } from '../mcp/failures.ts';
import { openSignIns } from '../mcp/sign-ins.ts';
import { openCheckSite } from '../site-checks.ts';
import { version } from '../version.ts';

/** Serves MCP on stdin and stdout until its client leaves. Nothing else may be written to stdout meanwhile. */
export async function mcp(context: Context, { readOnly }: { readOnly: boolean }): Promise<ExitCode> {
  const { terminal, signal } = context;
  // What a package logs would break the protocol.
  Object.assign(console, { log: console.error, info: console.error, debug: console.error });
  const [{ createServer }, { serveStdio }, { openWire }, host] = await Promise.all([
    import('../../mcp/server.ts'),
    import('@modelcontextprotocol/server/stdio'),
    import('../mcp/wire.ts'),
    context.host(),
  ]);
  const advice: Advice = {
    host,
    hasToken: Boolean(context.env.EMAILAUTH_TOKEN?.trim()),
    howToSignIn: readOnly
      ? `Ask the person to run \`${await lineOf(context, 'login')}\` in a terminal; it counts at once.`
      : 'Call start_login with the address of the person you work for.',
  };
  const callerAtHost = async () => (await context.credentials()).callerAt(host);
  const client = openClient(context, advice, callerAtHost);
  const checkSite = await openCheckSite({ client, host, env: context.env });
  const signIn = openSignIns(
    context,
    host,
    openClient(context, advice, async () => null),
  );
  const wire = openWire(process.stdin, process.stdout);
  const connection = serveStdio(
    () =>
      createServer({
        client,
        host,
        version: version(),
        readOnly,
        besideApp: true,
        signIn: readOnly ? null : signIn,
        howToSignIn: advice.howToSignIn,
        checkSite,
        openApi: () =>
          readOpenApi(host, signal).catch((error) => {
            throw forModel(error, advice);
          }),
        report: (error) => {
          const reference = randomUUID().slice(0, 8);
          const { message, stack } = error instanceof Error ? error : new Error(String(error));
          terminal.note(`Fault ${reference}: ${message}`);
          terminal.detail(stack ?? '');
          return reference;
        },
      }),
    { transport: wire.transport, onerror: ({ message }) => terminal.detail(message) },
  );
  const interrupted = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
  await Promise.race([wire.ended, interrupted]);
  await connection.close();
  return EXIT.ok;
}

/** The API as whoever is signed in at the moment of each call: a login in another terminal counts at once. */
function openClient({ terminal, signal }: Context, advice: Advice, callerOf: () => Promise<Caller | null>): Client {
  const call = (name: RouteName) => async (input: never, options?: { signal?: AbortSignal }) => {
    try {
      return await openApi({ host: advice.host, caller: await callerOf(), terminal, signal })[name](input, options);
    } catch (error) {
      throw forModel(error, advice);
    }
  };
  return Object.fromEntries((Object.keys(routes) as RouteName[]).map((name) => [name, call(name)])) as unknown as Client;
}
