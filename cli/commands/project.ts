import { resolve } from 'node:path';
import { WEBSITE_PATHS } from '../../contract/pages.ts';
import type { CheckResult } from '../../diagnostics/check.ts';
import type { CheckOptions, Remedies, WebsitePaths } from '../../diagnostics/website.ts';
import type { AppCommand } from '../app-sources.ts';
import type { CommandSpec, Context, Flags } from '../command.ts';
import { CommandError, EXIT, usageError } from '../exit.ts';
import { version } from '../installation.ts';
import type { RunningApp } from '../local-processes.ts';
import { foreign, shellLine, type Terminal, table } from '../terminal.ts';
import { commandRemedies, formatReport } from './doctor.ts';

const init: CommandSpec = {
  usage: 'init [dir]',
  choices: { dir: 'files', '--framework': 'frameworks', '--domain': 'sites' },
  group: 'Integration',
  summary: 'write the sign-in into a project',
  about:
    'Reads the project, shows what it would write and change, and does it after you confirm: files, .env, the entry file and packages. Then it runs the build of the project, or starts the app until it listens; when that fails, everything is rolled back. It never overwrites a file of yours without --force. It changes only files that git holds as they are, and prints the git commands that undo it; without git it asks whether there is a copy.',
  flags: {
    '--framework <id>': 'instead of the detected one',
    '--domain <domain>': 'of the website; localhost during development, and where no prompt is possible',
    '--login-path <path>': 'where a sign-in starts (/login)',
    '--callback <path>': 'where visitors return to (/auth/callback)',
    '--language <code>': 'of the sign-in page',
    '--dry-run': 'show it as a patch and write nothing',
    '--force': 'overwrite existing files, and values in .env',
    '--no-verify': 'do not run the build or start the app afterwards',
    '--no-install': 'leave the installation of packages to you',
    '--allow-dirty': 'change files that have changes which git does not hold',
    '--list': 'list the frameworks, and do nothing else',
  },
  examples: [
    'init',
    'init --framework express --domain shop.example',
    'init apps/web --dry-run',
    'init --domain localhost --yes --json',
    'init --list',
  ],
  json: '{framework,variant,files,env,packages,commands,verified,next,undo:{command,notes}}; with --list [{id,name,language}]',
  exits: { 6: 'a file or a route exists already, or git does not hold a file: see --force, --login-path and --allow-dirty' },
  // A rollback takes as long as the package manager needs.
  waitsForCleanUp: true,
  run: async (context, [dir], flags) => {
    if (flags.list) return listFrameworks(context.terminal);
    const { addSignIn } = await import('../init/init.ts');
    return addSignIn(context, dir, flags);
  },
};

async function listFrameworks(terminal: Terminal): Promise<number> {
  const { frameworks } = await import('../../templates/catalog.ts');
  const rows = frameworks.map(({ id, name, language }) => ({ id, name, language }));
  terminal.result(rows, table(rows.map(({ id, name, language }) => [id, name, language])));
  return EXIT.ok;
}

const remedies: Remedies = {
  ...commandRemedies,
  wholeSignIn: '',
  nameLogin: 'Give the path that starts a sign-in with --login-path, such as --login-path /login.',
};

/** A check, and where in the project its subject is, as `path:line`. */
type PlacedCheck = CheckResult & { at: string | null };

const tryCommand: CommandSpec = {
  usage: 'try [dir]',
  choices: { dir: 'files' },
  group: 'Integration',
  summary: 'run the app, sign in, and attack its callback',
  about:
    'Starts the app with its own command (or checks one that runs, with --url), signs visitors in through the inbox of a local service, and tries what must not work: a repeated callback, a made-up token, a token of another website, a missing, made-up or foreign state, a redirect to another website. Each FAIL has the fix and the line below it. Without a local service it starts one with its own data. It creates test visitors in the app, and registers other-website.example at the service.',
  flags: {
    '--command <command>': 'what starts the app, such as "npm run dev"',
    '--url <url>': 'where the app runs; without --command it must be running, with SITE_URL and EMAILAUTH_URL set',
    '--login-path <path>': 'what starts a sign-in, if not /login',
    '--page <path>': 'a page for signed-in visitors, if not /account',
  },
  examples: ['try', 'try web', 'try --command "npm run dev"', 'try --url http://localhost:5173', 'try --page /dashboard --json'],
  json: '{url,checks:[{id,name,ok,detail,fix,at}]}',
  exits: { 8: 'no local service runs, and none can be started', 10: 'a check failed' },
  waitsForCleanUp: true,
  async run(context, [dir], flags) {
    const { terminal } = context;
    const { requireDirectory } = await import('../init/questions.ts');
    const root = requireDirectory(resolve(context.cwd, dir ?? '.'));
    const paths = await parsePaths(flags);
    const url = flags.url === undefined ? undefined : await parseUrl(flags.url);
    const command = await findCommand(context, root, flags);
    const { openLocalService } = await import('../local-processes.ts');
    const service = await openLocalService(context);
    let app: RunningApp | null = null;
    try {
      app = command && (await start(context, { root, command, url, service: service.origin }));
      const origin = app?.url ?? (url as string);
      terminal.note(`Checking ${origin} with ${service.origin}…`);
      const checks = await attack(context, { root, origin, service: service.origin, ...paths });
      const report = checks.map((check) => ({ ...check, fix: withPlace(check) }));
      terminal.result({ url: origin, checks }, formatReport(report, terminal));
      return checks.some(({ ok }) => ok === false) ? EXIT.negative : EXIT.ok;
    } finally {
      if (app) terminal.detail(app.output());
      await app?.stop();
      await service.close();
    }
  },
};

/** @throws CommandError usage */
async function parsePaths({ loginPath, page }: Flags): Promise<WebsitePaths> {
  const { parsePath } = await import('../../diagnostics/website.ts');
  return { loginPath: parsePath(loginPath, 'login', usageError), page: parsePath(page, 'account', usageError) };
}

/** @throws CommandError usage for an address that is not on this machine */
async function parseUrl(text: string): Promise<string> {
  const { isThisMachine } = await import('../../contract/urls.ts');
  const hint = 'Give the address of the app on this machine, such as http://localhost:5173; `emailauth doctor` checks a public website.';
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) throw usageError(`--url is not an address: ${text}`, hint);
  const { hostname, origin } = new URL(text);
  if (!isThisMachine(hostname)) throw usageError(`${hostname} is not this machine.`, hint);
  return origin;
}

/** Returns how to start the app; null when it runs already. @throws CommandError usage when that is unknown */
async function findCommand({ env }: Context, root: string, { command, url }: Flags): Promise<AppCommand | null> {
  if (command !== undefined) return { run: command };
  if (url !== undefined) return null;
  const { findAppCommand } = await import('../app-sources.ts');
  const found = findAppCommand(root, env);
  if (found) return found;
  const hint = 'Give it with --command, such as --command "npm run dev"; or start the app yourself and give its address with --url.';
  throw usageError(`It is unknown how to start the app in ${foreign(root)}.`, hint);
}

/** Starts the app, and says how. */
async function start(
  { terminal, env, signal }: Context,
  app: { root: string; command: AppCommand; url: string | undefined; service: string },
): Promise<RunningApp> {
  const { startApp } = await import('../local-processes.ts');
  const { run } = app.command;
  terminal.note(`Starting the app: ${typeof run === 'string' ? run : withoutPort(run)}`);
  return startApp({ ...app, env, signal });
}

/** Returns a command for people, without the port. */
const withoutPort = (run: readonly string[]) =>
  shellLine(run.map((word) => word.replaceAll('{port}', '__PORT__'))).replace(/(?: --)? ?-?-?p?(?:ort)?[= ]?__PORT__/, '');

/** A project whose app runs at `origin`, with the origin of the local service. */
type RunningProject = WebsitePaths & { root: string; origin: string; service: string };

/** Signs visitors in at the app, and attacks its callback, session and logout. */
async function attack({ signal }: Context, { root, origin, service, loginPath, page }: RunningProject): Promise<PlacedCheck[]> {
  const [{ attackWebsite }, { LocalInbox }, { startSignIn }, { openDns }, { placeOf, readSignInSources }] = await Promise.all([
    import('../../diagnostics/attack.ts'),
    import('../../diagnostics/inbox.ts'),
    import('../../diagnostics/login.ts'),
    import('../../diagnostics/dns.ts'),
    import('../app-sources.ts'),
  ]);
  const dns = openDns({ servers: null, isAllowedAddress: null, usesSystemLookup: () => true });
  const options: CheckOptions = { dns, userAgent: `emailauth-try/${version()}`, remedies, signal };
  const website = { callback: new URL(WEBSITE_PATHS.callback, origin), service, loginPath, page };
  const started = await startSignIn(website, options).catch((error) => {
    signal.throwIfAborted();
    throw new CommandError(EXIT.failure, 'app_failed', `${origin} does not respond: ${error.message}.`, 'Check that the app runs there.');
  });
  // Where the app lets visitors come back to, if that is on this website.
  const isHere = started?.forwardUrl.origin === website.callback.origin;
  const callback = new URL(isHere ? started.forwardUrl.pathname : website.callback.pathname, origin);
  const target = { domain: 'localhost', isLocal: true, callback, loginPath, page };
  const checks = await attackWebsite(target, service, new LocalInbox(service, signal), options);
  const sources = readSignInSources(root, callback.pathname);
  return checks.map((check) => ({ ...check, at: check.ok === false ? placeOf(check.id, sources, callback.pathname) : null }));
}

const withPlace = ({ fix, at }: PlacedCheck) => (at ? `${at}: ${fix}` : fix);

export const projectCommands: readonly CommandSpec[] = [init, tryCommand];
