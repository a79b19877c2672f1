import type { CommandRow } from './command-row.ts';
import { usageError } from './exit.ts';
import { CLIENT_IDS, SCOPES, type Scope } from './mcp/clients.ts';

/** What commands of two words have in common. */
export const FAMILIES: Readonly<Record<string, string>> = {
  sites: 'your websites',
  mcp: 'the MCP server for AI assistants',
  config: 'the settings',
  db: 'the database',
};

/** Taken by every command, before or after its name. */
export const GLOBAL_FLAGS: Readonly<Record<string, string>> = {
  '--json': 'answer with JSON on stdout, errors too',
  '--no-input': 'never ask; say which flag is missing (also with CI set)',
  '-y, --yes': 'confirm what would be asked',
  '-q, --quiet': 'no news on stderr',
  '--verbose': 'every call to the service, and the whole of a fault',
  '--no-color': 'no colours (NO_COLOR does the same)',
  '--host <url>': 'the service, instead of EMAILAUTH_HOST or the settings',
  '--profile <name>': 'other settings and credentials (EMAILAUTH_PROFILE)',
  '-h, --help': 'print the help of a command; with --json as data',
  '-V, --version': 'print the version',
};

/** Flags of what goes into an assistant's file. */
const MCP_FLAGS = {
  '--scope <scope>': "the person's own file (user), or one in this directory (project)",
  '--http': 'the address of the service instead of a local server',
  '--read-only': 'leave out every tool that changes something',
};

const SITE = '{id,domain,displayDomain,verified,iconUrl,createdAt,proof}';

/** The command line, as contract/routes.ts is the API: `--help`, completion and docs/cli.md derive from this table. */
export const commands: readonly CommandRow[] = [
  {
    usage: 'login',
    needs: 'service',
    group: 'Sign-in',
    summary: 'sign in by a mailed link or its code',
    about:
      'Mails you a link. Open it on this machine, or type the six digits of the mail here: the first of them signs you in. Works over SSH and with no browser. Without a terminal it needs --email, and waits for the link.',
    flags: { '--email <address>': 'your address', '--no-browser': 'do not open the inbox of local mode' },
    examples: ['login', 'login --email you@example.com', 'login --host https://auth.example.com'],
    json: '{email,host,expiresAt,source}',
    run: async (context, _, { email, browser }) =>
      (await import('./commands/login.ts')).login(context, { email, browser: browser !== false }),
  },
  {
    usage: 'logout',
    group: 'Sign-in',
    summary: 'end the sign-in and forget it',
    about: 'When the service cannot be reached the sign-in is forgotten all the same, and ends there by itself.',
    flags: { '--all': 'at every service that this profile is signed in to' },
    examples: ['logout', 'logout --all'],
    json: '{signedOut:[{host,email,ended}]}',
    run: async (context, _, { all = false }) => (await import('./commands/logout.ts')).logout(context, { all }),
  },
  {
    usage: 'whoami',
    needs: 'sign-in',
    group: 'Sign-in',
    summary: 'who is signed in, where, from which source and until when',
    examples: ['whoami', 'whoami --json'],
    json: '{email,host,expiresAt,source}',
    run: async (context) => (await import('./commands/whoami.ts')).whoami(context),
  },
  {
    usage: 'token',
    group: 'Sign-in',
    summary: 'print an access token for scripts',
    about: 'Whoever has it may do what you may. For something that lasts, make an API key in the dashboard.',
    examples: ['token', 'curl -H "Authorization: Bearer $(emailauth token)" https://auth.example.com/api/websites'],
    json: '{token,host,expiresAt,source}',
    run: async (context) => (await import('./commands/token.ts')).token(context),
  },
  {
    usage: 'register [domain]',
    needs: 'service',
    group: 'Websites',
    summary: 'register a domain with its linked address',
    about: 'Needs no sign-in. Visitors can sign in at once; the linked address gets a mail and manages the domain.',
    flags: { '--email <address>': 'the linked address' },
    examples: ['register', 'register shop.example --email you@example.com'],
    json: '{domain,email,status,authUrl,nextSteps}',
    exits: { 6: 'the domain is registered already' },
    run: async (context, [domain], { email }) => (await import('./commands/register.ts')).register(context, { domain, email }),
  },
  {
    usage: 'sites list',
    needs: 'sign-in',
    group: 'Websites',
    summary: 'your websites',
    examples: ['sites list', "sites list --json | jq -r '.[].domain'"],
    json: `[${SITE}]`,
    run: async (context) => (await import('./commands/sites/list.ts')).list(context),
  },
  {
    usage: 'sites add [domain]',
    needs: 'sign-in',
    choices: { '--icon': 'files' },
    group: 'Websites',
    summary: 'add a website',
    flags: { '--icon <file>': 'JPG or PNG of at most 5 MB, shown on the sign-in page' },
    examples: ['sites add shop.example', 'sites add shop.example --icon logo.png'],
    json: SITE,
    exits: { 6: 'the domain is registered already' },
    run: async (context, [domain], { icon }) => (await import('./commands/sites/add.ts')).add(context, { domain, icon: icon || undefined }),
  },
  {
    usage: 'sites get <domain>',
    needs: 'sign-in',
    choices: { domain: 'sites' },
    group: 'Websites',
    summary: 'one website and its sign-ins of 30 days',
    examples: ['sites get shop.example'],
    json: '{id,domain,displayDomain,verified,iconUrl,createdAt,proof,figures}',
    run: async (context, [domain = '']) => (await import('./commands/sites/get.ts')).get(context, domain),
  },
  {
    usage: 'sites update <domain>',
    needs: 'sign-in',
    choices: { domain: 'sites', '--icon': 'files' },
    group: 'Websites',
    summary: 'change the domain or the icon of a website',
    about: 'Sign-ins at the old domain end at once; the new one has to be proved anew.',
    flags: {
      '--domain <domain>': 'the new domain',
      '--icon <file>': 'JPG or PNG of at most 5 MB',
      '--no-icon': 'remove the icon',
    },
    examples: ['sites update shop.example --icon logo.png', 'sites update shop.example --domain store.example'],
    json: SITE,
    exits: { 6: 'the new domain is registered already' },
    run: async (context, [domain = ''], given) =>
      (await import('./commands/sites/update.ts')).update(context, domain, { domain: given.domain, icon: given.icon }),
  },
  {
    usage: 'sites remove <domain>',
    needs: 'sign-in',
    choices: { domain: 'sites' },
    group: 'Websites',
    summary: 'delete a website; its sign-in ends at once',
    about: 'Asks for the domain to be typed, or takes --yes.',
    examples: ['sites remove shop.example', 'sites remove shop.example --yes'],
    json: '{domain,removed}',
    run: async (context, [domain = '']) => (await import('./commands/sites/remove.ts')).remove(context, domain),
  },
  {
    usage: 'sites verify <domain>',
    needs: 'sign-in',
    choices: { domain: 'sites' },
    group: 'Websites',
    summary: 'prove that a domain is yours, by DNS or by a file',
    about:
      'Shows the TXT record and the file, and checks them; one of them is enough. A proof lifts the limits of a new site, and takes a domain over from an address that has not proved it.',
    examples: ['sites verify shop.example', 'sites verify shop.example --json'],
    json: '{domain,verified,proof}',
    exits: { 10: 'the proof was not found' },
    run: async (context, [domain = '']) => (await import('./commands/sites/verify.ts')).verify(context, domain),
  },
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
    run: async (context, [token], { domain }) => (await import('./commands/verify.ts')).verify(context, { token, domain }),
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
    run: async (context, [dir], given) => (await import('./commands/init.ts')).init(context, { dir, ...given }),
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
    run: async (context, [domain], { url }) => (await import('./commands/doctor.ts')).doctor(context, { domain, url }),
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
    run: async (context, _, { readOnly = false }) => (await import('./commands/mcp.ts')).mcp(context, { readOnly }),
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
      (await import('./commands/mcp/install.ts')).install(context, client, {
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
      (await import('./commands/mcp/config.ts')).config(context, client, {
        scope: scopeOf(given.scope),
        http: given.http === true,
        readOnly: given.readOnly === true,
      }),
  },
  {
    usage: 'open [target]',
    group: 'This program',
    summary: 'open the dashboard, the documentation or the site in the browser',
    choices: { target: ['dashboard', 'docs', 'site'] },
    examples: ['open', 'open docs'],
    json: '{url,opened}',
    run: async (context, [target]) => (await import('./commands/open.ts')).open(context, target),
  },
  {
    usage: 'stats',
    needs: 'service',
    group: 'Figures',
    summary: 'the sign-ins of 30 days, on a screen that you can walk through',
    about:
      'For the operator: asks for the admin password, or takes it from EMAILAUTH_ADMIN_PASSWORD. On the screen ←/→ choose a day, ↑/↓ scroll, ? shows every key and q quits. Without a terminal it prints a table, as it does for a screen reader (INK_SCREEN_READER=true). Days are UTC days.',
    flags: { '--days <n>': 'how many days, today included: 1 to 30', '--plain': 'a table instead of the screen' },
    examples: ['stats', 'stats --plain --days 7', 'stats --json | jq .total'],
    json: '{days:[{date,count}],today,total,average}',
    run: async (context, _, { days, plain = false }) => (await import('./commands/stats.ts')).stats(context, { days, plain }),
  },
  {
    usage: 'completion <shell>',
    group: 'This program',
    summary: "print a shell's completion script",
    about: 'Bash: add it to ~/.bashrc. Zsh: ~/.zfunc has to be in fpath before compinit. Commands, flags, files and your domains complete.',
    choices: { shell: ['bash', 'zsh', 'fish'] },
    examples: [
      'completion bash >> ~/.bashrc',
      'completion zsh > ~/.zfunc/_emailauth',
      'completion fish > ~/.config/fish/completions/emailauth.fish',
    ],
    json: '{shell,script}',
    run: async (context, [shell = '']) => (await import('./commands/completion.ts')).completion(context, shell),
  },
  {
    usage: 'config list',
    group: 'This program',
    summary: 'the settings in use, and where each is from',
    examples: ['config list'],
    json: '{profile,host:{value,source},language:{value,source},path}',
    run: async (context) => (await import('./commands/config.ts')).listConfig(context),
  },
  {
    usage: 'config get <key>',
    group: 'This program',
    summary: 'one setting',
    choices: { key: ['host', 'language'] },
    examples: ['config get host'],
    json: '{key,value,source}',
    run: async (context, [key = '']) => (await import('./commands/config.ts')).getConfig(context, key),
  },
  {
    usage: 'config set <key> [value]',
    group: 'This program',
    summary: 'keep a setting; without a value it is forgotten',
    choices: { key: ['host', 'language'] },
    examples: ['config set host https://auth.example.com', 'config set language lv', 'config set host'],
    json: '{key,value,source}',
    run: async (context, [key = '', value]) => (await import('./commands/config.ts')).setConfig(context, key, value),
  },
  {
    usage: 'start',
    group: 'The service',
    summary: 'run the service (what `npm start` does)',
    about: 'Every other setting comes from the environment: see docs/operations.md.',
    flags: { '--port <port>': 'port to listen on, instead of PORT', '--host <address>': 'address to listen on, instead of HOST' },
    examples: ['start', 'start --port 8080'],
    ownsSignals: true,
    run: async ({ env }, _, { port, host }) => (await import('./commands/start.ts')).start({ port, host }, env),
  },
  {
    usage: 'backup <file>',
    choices: { file: 'files' },
    group: 'The service',
    summary: 'write everything that the service keeps to one file',
    about:
      'Of the database that DATABASE_URL names, else of the embedded one in DATA_DIR, also while the service runs; with the icons in DATA_DIR. The file lets nobody in, but it holds addresses. SECRET_KEY is not in it.',
    flags: { '--force': 'replace the file' },
    examples: ['backup emailauth-2026-11-21.tar.gz'],
    json: '{file,bytes,tables,icons}',
    exits: { 3: 'a setting or the path is wrong', 6: 'the file is there already', 8: 'the database does not answer' },
    endsItself: true,
    run: async (context, [file = ''], { force = false }) => (await import('./commands/backup.ts')).backup(context, { file, force }),
  },
  {
    usage: 'restore <file>',
    choices: { file: 'files' },
    group: 'The service',
    summary: 'replace everything by what a backup holds',
    about:
      'The service must not run. The file is checked first, and then all is replaced, or nothing. Every session, token, mailed link and remembered device from before ends.',
    flags: { '--revoke-api-keys': 'end all API keys; else those work that did at the backup' },
    examples: ['restore emailauth-2026-11-21.tar.gz', 'restore emailauth-2026-11-21.tar.gz --yes --revoke-api-keys'],
    json: '{file,createdAt,tables,icons,apiKeys}',
    exits: { 3: 'a setting or the file is wrong', 6: 'the service is running', 8: 'the database does not answer' },
    endsItself: true,
    run: async (context, [file = ''], { revokeApiKeys = false }) =>
      (await import('./commands/restore.ts')).restore(context, { file, revokeApiKeys }),
  },
  {
    usage: 'db migrate',
    group: 'The service',
    summary: 'bring the database to the version of this program',
    about: '`start` does it by itself. Safe while the service runs.',
    examples: ['db migrate', 'db migrate --json'],
    json: '{applied}',
    exits: { 3: 'a setting is wrong', 8: 'the database does not answer' },
    endsItself: true,
    run: async (context) => (await import('./commands/db-migrate.ts')).migrateDatabase(context),
  },
];

function scopeOf(given = 'user'): Scope {
  const scope = SCOPES.find((each) => each === given);
  if (scope) return scope;
  throw usageError(`--scope cannot be "${given}".`, `It is one of ${SCOPES.join(', ')}.`);
}
