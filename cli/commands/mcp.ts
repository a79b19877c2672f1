import type { Client } from '../../contract/client.ts';
import type { CheckWebsite } from '../../diagnostics/website-checks.ts';
import type { CommandSpec, Context } from '../command.ts';
import { EXIT } from '../exit.ts';
import { version } from '../installation.ts';
import type { ErrorHints } from '../mcp/logins.ts';
import type { Caller } from '../settings.ts';

export const mcp: CommandSpec = {
  usage: 'mcp',
  group: 'Integration',
  summary: 'the MCP server for AI assistants, on stdin and stdout',
  about:
    'Started by an assistant, not by a person: `mcp install` configures it. Uses the sign-in of `emailauth login`, or EMAILAUTH_TOKEN; without either it can sign you in with the code of an email.',
  flags: { '--read-only': 'leave out every tool that changes something' },
  examples: ['mcp', 'mcp --read-only'],
  ownsStdout: true,
  run: (context, _, { readOnly = false }) => serve(context, readOnly),
};

const IN_TERMINAL = `This is an MCP server: it waits for the messages of an assistant on stdin. Ctrl-C ends it.
To configure an assistant, run \`emailauth mcp install\`.`;

/** Serves MCP on stdin and stdout until the client disconnects. Nothing else may be written to stdout. */
async function serve(context: Context, readOnly: boolean): Promise<number> {
  const { terminal, signal } = context;
  if (terminal.interactive) terminal.note(IN_TERMINAL);
  const [{ createServer }, { serveStdio }, { openStdio }, { readOpenApi }, { createSignIns, toModelError }, { loginCommand }, host] =
    await Promise.all([
      import('../../mcp/server.ts'),
      import('@modelcontextprotocol/server/stdio'),
      import('../mcp/stdio.ts'),
      import('../api.ts'),
      import('../mcp/logins.ts'),
      import('../mcp/entry.ts'),
      context.host(),
    ]);
  const hints: ErrorHints = {
    host,
    hasToken: Boolean(context.env.EMAILAUTH_TOKEN?.trim()),
    howToSignIn: readOnly
      ? `Ask the person to run \`${await loginCommand(context, 'login')}\` in a terminal; it takes effect immediately.`
      : 'Call start_login with the address of the person you work for.',
  };
  const client = await openClient(context, hints, async () => (await context.credentials()).callerAt(await context.settings.host()));
  const checkWebsite = await openWebsiteChecks(client, host, { env: context.env, signsIn: !readOnly });
  const signIn = createSignIns(context, host, await openClient(context, hints, async () => null));
  const stdio = openStdio(terminal.streams.stdin, terminal.streams.stdout);
  const connection = serveStdio(
    () =>
      createServer({
        client,
        host,
        version: version(),
        readOnly,
        onDeveloperMachine: true,
        signIn: readOnly ? null : signIn,
        howToSignIn: hints.howToSignIn,
        checkWebsite,
        openApi: () =>
          readOpenApi(host, context).catch((error) => {
            throw toModelError(error, hints);
          }),
        report: (error) => {
          const reference = crypto.randomUUID().slice(0, 8);
          const { message, stack } = error instanceof Error ? error : new Error(String(error));
          terminal.note(`Internal error ${reference}: ${message}`);
          terminal.detail(stack ?? '');
          return reference;
        },
      }),
    { transport: stdio.transport, onerror: ({ message }) => terminal.detail(message) },
  );
  const interrupted = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
  await Promise.race([stdio.ended, interrupted]);
  await connection.close();
  return EXIT.ok;
}

/** Returns the API, which asks `callerOf` at each call. A sign-in or sign-out in a terminal takes effect while the server runs. */
async function openClient(context: Context, hints: ErrorHints, callerOf: () => Promise<Caller | null>): Promise<Client> {
  const [{ openApi }, { toModelError }, { clientOf }] = await Promise.all([
    import('../api.ts'),
    import('../mcp/logins.ts'),
    import('../../contract/client.ts'),
  ]);
  const { env, terminal, signal } = context;
  return clientOf(async (name, input, options) => {
    try {
      const client = openApi({ host: hints.host, env, caller: await callerOf(), terminal, signal });
      return await client[name](input as never, options);
    } catch (error) {
      throw toModelError(error, hints);
    }
  });
}

/**
 * Returns the function that checks websites of the account on the public internet, and the developer's localhost. It uses DNS_SERVERS, as
 * `emailauth doctor` does.
 */
async function openWebsiteChecks(
  client: Client,
  host: string,
  { env, signsIn }: { env: Context['env']; signsIn: boolean },
): Promise<CheckWebsite> {
  const [{ createWebsiteChecks }, { openDns, parseDnsServers }, { isPublicAddress }, { isThisMachine }] = await Promise.all([
    import('../../diagnostics/website-checks.ts'),
    import('../../diagnostics/dns.ts'),
    import('../../server/websites/guarded-fetch.ts'),
    import('../../contract/urls.ts'),
  ]);
  const servers = parseDnsServers(env.DNS_SERVERS);
  const dns = openDns({ servers, isAllowedAddress: isPublicAddress, usesSystemLookup: isThisMachine });
  return createWebsiteChecks({ client, service: host, dns, from: 'developer-machine', signsIn });
}
