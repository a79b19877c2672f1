import type { CommandRow } from '../command-row.ts';
import { usageError } from '../exit.ts';
import { CLIENT_IDS, SCOPES, type Scope } from '../mcp/clients.ts';

/** Flags of what goes into an assistant's file. */
const MCP_FLAGS = {
  '--scope <scope>': "the person's own file (user), or one in this directory (project)",
  '--http': 'the address of the service instead of a local server',
  '--read-only': 'leave out every tool that changes something',
};

/** The sign-in in an app, and its assistants. */
export const integrationCommands: readonly CommandRow[] = [
  {
    usage: 'verify [token]',
    needs: 'service',
    choices: { '--domain': 'sites' },
    group: 'Integration',
    summary: 'ask the service whom a token is for; this uses it up',
    about:
      'Takes the token from stdin with `-`, or asks for it without showing it. As an argument it stands in the process list and the history of your shell; one that begins with - needs -- before it. With EMAILAUTH_TOKEN only tokens of your own websites are valid.',
    flags: { '--domain <domain>': 'the site that asks; a token for another one is refused and kept' },
    examples: ['verify', 'verify - --domain shop.example < token.txt', 'verify --json -- "$TOKEN"'],
    json: '{email,valid,domain} or {email,valid,reason}',
    exits: { 10: 'the token is not valid' },
    run: async (context, [token], { domain }) => (await import('../commands/verify.ts')).verify(context, { token, domain }),
  },
  {
    usage: 'init [dir]',
    choices: { dir: 'files', '--framework': 'frameworks', '--domain': 'sites' },
    group: 'Integration',
    summary: 'write the sign-in into a project',
    about:
      'Recognises the framework, shows what it would write, and writes it once you agree. It never overwrites a file without --force, and what stands in .env stays.',
    flags: {
      '--framework <id>': 'instead of the one that is recognised',
      '--domain <domain>': 'of the site; localhost while you develop',
      '--callback <path>': 'where visitors come back to (/auth/callback)',
      '--language <code>': 'of the sign-in page',
      '--dry-run': 'show it as a patch and write nothing',
      '--force': 'overwrite files that are there',
      '--list': 'the frameworks, and nothing else',
    },
    examples: ['init', 'init --framework express --domain shop.example', 'init web --dry-run', 'init --list'],
    json: '{framework,files,env,next}; with --list [{id,name,language}]',
    exits: { 6: 'files are there already and --force was not given' },
    run: async (context, [dir], given) => (await import('../commands/init.ts')).init(context, { dir, ...given }),
  },
  {
    usage: 'doctor [domain]',
    choices: { domain: 'sites' },
    group: 'Integration',
    summary: 'look for what is wrong, and how to mend it',
    about:
      'Checks the service, your sign-in, the clock and the mail; with a domain also its registration, proof, certificate and callback. FAIL has its fix below it; SKIP says why nothing could be told. The site is asked as a stranger: nothing of yours goes to it. DNS_SERVERS=9.9.9.9 asks other name servers.',
    flags: { '--url <url>': "the callback's address, if not https://<domain>/auth/callback" },
    examples: [
      'doctor',
      'doctor shop.example',
      'doctor shop.example --url https://shop.example/login/done',
      'doctor localhost --url http://localhost:5173/auth/callback',
    ],
    json: '{checks:[{id,name,ok,detail,fix}]}',
    exits: { 10: 'a check failed' },
    run: async (context, [domain], { url }) => (await import('../commands/doctor.ts')).doctor(context, { domain, url }),
  },
  {
    usage: 'mcp',
    group: 'Integration',
    summary: 'the MCP server for AI assistants, on stdin and stdout',
    about:
      'Started by an assistant, not by hand: `mcp install` tells it how. Works as whoever `emailauth login` signed in, or as EMAILAUTH_TOKEN; without either it can sign you in by the code of a mail.',
    flags: { '--read-only': 'leave out every tool that changes something' },
    examples: ['mcp', 'mcp --read-only'],
    ownsStdout: true,
    run: async (context, _, { readOnly = false }) => (await import('../commands/mcp.ts')).mcp(context, { readOnly }),
  },
  {
    usage: 'mcp install <client>',
    group: 'Integration',
    summary: "write the MCP server into an assistant's configuration",
    about:
      'Shows the entry, and writes it once you agree. Everything else in the file stays as it is. The entry names the service and the profile in use, and holds no key: the server works as whoever is signed in here.',
    choices: { client: CLIENT_IDS, '--scope': SCOPES },
    flags: {
      ...MCP_FLAGS,
      '--dry-run': 'show it as a patch and write nothing',
      '--force': 'without asking, and where the assistant does not seem to be installed',
    },
    examples: ['mcp install cursor', 'mcp install claude-code --scope project', 'mcp install codex --dry-run'],
    json: '{client,scope,path,action,config,next}',
    exits: { 3: 'its file cannot be edited', 5: 'the assistant does not seem to be installed' },
    run: async (context, [client = ''], given) =>
      (await import('../commands/mcp/install.ts')).install(context, client, {
        scope: scopeOf(given.scope),
        http: given.http === true,
        readOnly: given.readOnly === true,
        dryRun: given.dryRun === true,
        force: given.force === true,
      }),
  },
  {
    usage: 'mcp config [client]',
    group: 'Integration',
    summary: 'print what `mcp install` writes, to paste',
    choices: { client: CLIENT_IDS, '--scope': SCOPES },
    flags: MCP_FLAGS,
    examples: ['mcp config', 'mcp config vscode --scope project', 'mcp config gemini-cli --http --json'],
    json: '{client,path,config}; without a client a list of them',
    run: async (context, [client], given) =>
      (await import('../commands/mcp/config.ts')).config(context, client, {
        scope: scopeOf(given.scope),
        http: given.http === true,
        readOnly: given.readOnly === true,
      }),
  },
];

function scopeOf(given = 'user'): Scope {
  const scope = SCOPES.find((each) => each === given);
  if (scope) return scope;
  throw usageError(`--scope cannot be "${given}".`, `It is one of ${SCOPES.join(', ')}.`);
}
