import { randomBytes } from 'node:crypto';
import { globSync } from 'tinyglobby';
import { WEBSITE_PATHS } from '../../contract/pages.ts';
import { isThisMachine } from '../../contract/urls.ts';
import { MIN_SECRET_LENGTH } from '../../templates/catalog.ts';
import type { Framework, Wiring } from '../../templates/framework.ts';
import type { Integration } from '../../templates/render.ts';
import { CommandError, EXIT } from '../exit.ts';
import type { Environment } from '../installation.ts';
import { additionTo, complete, type Variable, valueIn } from './env-file.ts';
import { type Change, readExisting, type ShownChange } from './files.ts';
import { gitStatusOf } from './git.ts';
import { FOREIGN, readText } from './project.ts';
import { connect } from './wiring.ts';

/** What happens to one file: `changed` keeps what is in it. */
export type Step = {
  change: Change;
  action: 'written' | 'changed' | 'unchanged' | 'overwritten';
  /** The change without secrets. */
  shown: ShownChange;
};

type Changes = {
  steps: Step[];
  /** Notes for the person, as sentences. */
  remarks: string[];
};

export type Plan = Changes & {
  /** Origin of the website, from its `.env`. */
  siteUrl: string;
};

/** The project into which an integration is written. */
type Target = {
  /** Its directory, without symbolic links. */
  root: string;
  /** The environment of git. */
  environment: Environment;
  framework: Framework;
  entries: readonly string[];
  wiring: readonly Wiring[];
  /** The files as an earlier run wrote them with the values of `.env`. */
  earlier: Integration['files'];
  /** Values of `.env` that someone else set are replaced too. */
  force: boolean;
  /** The path that starts a sign-in. */
  loginPath: string;
};

const ENV = '.env';
const SECRET = 'SESSION_SECRET';
const MASK = '•'.repeat(16);

/**
 * Returns what an integration changes in a project, without writing anything.
 * @throws CommandError conflict for a path that cannot be a file, and for a SESSION_SECRET that is too short
 */
export function planFor(target: Target, { files, env, site }: Integration): Plan {
  const account = ownAccountPage(target, files);
  const remarks: string[] = [];
  const steps = files.map(({ path, contents, example }) => {
    const step = planFile(target, path, contents);
    const isOwn = example === true || (account !== null && servesPath(target.framework.id, path, WEBSITE_PATHS.account));
    if (step.action === 'unchanged' || !isOwn || (example && !step.change.before)) return step;
    if (example) remarks.push(`Your ${path} is unchanged: link to \`${target.loginPath}\` in it.`);
    return { ...step, action: 'unchanged' as const, isLeftOut: step.change.before === null };
  });
  if (account) remarks.push(describeAccount(account, target.framework.id));
  const connected = connectFiles(target);
  const kept = steps.filter((step) => !('isLeftOut' in step && step.isLeftOut));
  const all = { steps: [...kept, ...connected.steps], remarks: [...remarks, ...connected.remarks] };
  if (env.length === 0) return { ...all, siteUrl: site };
  const isRepeated = steps.some(({ action }) => action === 'changed');
  const environment = planEnvironment({ ...target, force: target.force || isRepeated }, env, site);
  const gitignore = planGitignore(target);
  return {
    steps: [...all.steps, environment.step, ...gitignore.steps],
    remarks: [...gitignore.remarks, ...all.remarks, ...environment.remarks],
    siteUrl: environment.siteUrl,
  };
}

/** Returns the project's own page at /account, or null. */
function ownAccountPage({ root, framework, entries, earlier }: Target, files: Integration['files']): string | null {
  const isOurs = ({ path, contents }: Integration['files'][number]) => {
    const { before } = readExisting(root, path);
    return before === null || isSameText(before, contents) || isSameText(before, textIn(earlier, path));
  };
  const written = new Set(files.filter(isOurs).map(({ path }) => path));
  return findRoute(WEBSITE_PATHS.account, { root, framework: framework.id, entries, written });
}

const describeAccount = (file: string, framework: string) =>
  hasFileRoutes(framework)
    ? `Your own page ${file} is kept: show the signed-in address and a form for \`POST /logout\` on it.`
    : `${file} has a route /account of its own: remove either that one or the one of the integration.`;

function planFile({ root, earlier }: Target, path: string, rendered: string): Step {
  const found = readExisting(root, path);
  const { before } = found;
  const change = { path, ...found, after: Buffer.from(rendered) };
  const stepOf = (action: Step['action']): Step => ({ change, action, shown: change });
  if (before === null) return stepOf('written');
  if (isSameText(before, rendered)) return stepOf('unchanged');
  return stepOf(isSameText(before, textIn(earlier, path)) ? 'changed' : 'overwritten');
}

const textIn = (files: Integration['files'], wanted: string) => files.find(({ path }) => path === wanted)?.contents;

// A checkout on Windows may have other line ends.
const isSameText = (bytes: Buffer, text: string | undefined) => bytes.toString().replaceAll('\r\n', '\n') === text;

/** Connects the files with the app; what cannot be changed is a remark. */
function connectFiles({ root, entries, wiring }: Target): Changes {
  const remarks: string[] = [];
  // Several insertions may change the same file.
  const texts = new Map<string, string>();
  const read = (path: string) => texts.get(path) ?? readExisting(root, path).before?.toString() ?? null;
  for (const each of wiring) {
    const { path, text } = connect(each, { root, entries, read });
    if (path === null) remarks.push(each.instead);
    else texts.set(path, text);
  }
  const steps = [...texts].map(([path, text]): Step => {
    const change = { path, ...readExisting(root, path), after: Buffer.from(text) };
    return { change, action: change.before?.equals(change.after) ? 'unchanged' : 'changed', shown: change };
  });
  return { steps, remarks };
}

function planEnvironment(
  { root, force }: Target,
  env: Integration['env'],
  site: string,
): { step: Step; remarks: string[]; siteUrl: string } {
  const found = readExisting(root, ENV);
  const text = found.before?.toString() ?? '';
  if (env.some(({ name }) => name === SECRET)) requireLongSecret(valueIn(text, SECRET));
  const variables = (secret: () => string): Variable[] => env.map(({ name, value }) => ({ name, value: value || secret, replaces: force }));
  const after = complete(
    text,
    variables(() => randomBytes(32).toString('hex')),
  );
  const shown = complete(
    text,
    variables(() => MASK),
  );
  const action = after.text === text ? 'unchanged' : after.replaced.length > 0 ? 'changed' : 'written';
  const remarks = after.different.map(
    (name) => `\`${ENV}\` has another value for ${name} than ${valueFor(env, name)}; it is unchanged. \`--force\` replaces it.`,
  );
  const siteUrl = valueIn(after.text, 'SITE_URL');
  return {
    step: {
      change: { path: ENV, ...found, after: bytesAfter(found.before, text, after), mode: 0o600 },
      action,
      shown: { path: ENV, before: found.before, after: Buffer.from(shown.text), addition: shown.addition, replaced: shown.replaced },
    },
    remarks,
    siteUrl: /^https?:/.test(siteUrl) && URL.canParse(siteUrl) ? new URL(siteUrl).origin : site,
  };
}

/** @throws CommandError conflict for a secret of the app that the integration would refuse; an empty one is generated */
function requireLongSecret(secret: string): void {
  if (secret === '' || secret.length >= MIN_SECRET_LENGTH) return;
  const message = `${SECRET} in \`${ENV}\` has ${secret.length} characters; the sign-in needs at least ${MIN_SECRET_LENGTH}. Nothing was written.`;
  const hint = 'Replace it with the output of `openssl rand -hex 32`. What your app has signed with it then becomes invalid.';
  throw new CommandError(EXIT.conflict, 'conflict', message, hint);
}

/** Returns the bytes of a file; the existing ones stay when lines are only added, whatever their encoding. */
const bytesAfter = (before: Buffer | null, text: string, { text: after, addition, replaced }: ReturnType<typeof complete>): Buffer =>
  before && replaced.length === 0 && text !== after ? Buffer.concat([before, Buffer.from(addition)]) : Buffer.from(after);

/** Keeps the secret out of the repository. */
function planGitignore({ root, environment }: Target): Changes {
  const status = gitStatusOf(root, ENV, environment);
  if (status === 'tracked') {
    const remark = `git tracks \`${ENV}\`, and the secret in it: remove it with \`git rm --cached ${ENV}\`, and add it to \`.gitignore\`.`;
    return { steps: [], remarks: [remark] };
  }
  if (status !== 'untracked') return { steps: [], remarks: [] };
  const path = '.gitignore';
  const found = readExisting(root, path);
  const before = found.before ?? Buffer.alloc(0);
  const addition = additionTo(before.toString(), [ENV]);
  const after = Buffer.concat([before, Buffer.from(addition)]);
  return {
    steps: [{ change: { path, ...found, after }, action: 'written', shown: { path, before: found.before, after, addition } }],
    remarks: [],
  };
}

/** Returns what is left to do in a project, as sentences with code in backticks. */
export function nextStepsAfter(
  framework: Framework,
  integration: Integration,
  plan: Plan,
  { domain, loginPath }: { domain: string; loginPath: string },
): string[] {
  const { loadEnv } = framework;
  const login = `${plan.siteUrl}${loginPath}`;
  const service = valueFor(integration.env, 'EMAILAUTH_URL');
  return [
    ...plan.remarks,
    ...integration.nextSteps,
    ...(loadEnv ? [loadEnv] : []),
    ...(isLocal(service) && !isLocal(plan.siteUrl)
      ? [`${service} is this machine: before you deploy, name the public service with --host.`]
      : []),
    ...(isLocal(service) && isLocal(plan.siteUrl) && portOfUrl(service) === portOfUrl(plan.siteUrl)
      ? [`The service uses port ${portOfUrl(service)}, too: start it at another one with \`--port\`, and run this again with \`--host\`.`]
      : []),
    isLocal(plan.siteUrl)
      ? `Try it: start your website at ${plan.siteUrl} and open ${login}.`
      : `Try it once it is deployed: open ${login}. \`emailauth doctor ${domain}\` finds problems.`,
  ];
}

const valueFor = (env: Integration['env'], wanted: string) => env.find(({ name }) => name === wanted)?.value ?? '';
const portOfUrl = (url: string) => new URL(url).port || '80';
const isLocal = (url: string) => /^http:/.test(url) && URL.canParse(url) && isThisMachine(new URL(url).hostname);

/** Directories in which each file is a route, and what a file's name may end with, by the id of the framework. */
const FILE_ROUTES: Readonly<Record<string, { directories: readonly string[]; files: readonly RegExp[] }>> = {
  nextjs: {
    directories: ['app', 'src/app', 'pages', 'src/pages'],
    files: [/\/(?:page|route)\.(?:[jt]sx?|mdx?)$/, /\.[jt]sx?$/],
  },
  sveltekit: { directories: ['src/routes'], files: [/\/\+(?:page(?:\.server)?|server)(?:@[^/]*)?\.(?:svelte|[jt]s)$/] },
  nuxt: { directories: ['app/pages', 'pages', 'server/routes'], files: [/\.(?:get|post)\.[jt]s$/, /\.(?:vue|[jt]sx?)$/] },
  astro: { directories: ['src/pages'], files: [/\.(?:astro|mdx?|html|[jt]s)$/] },
};

/**
 * Returns the first file of a project that already serves a path: a page of a framework whose files are routes, or a route in one of
 * the entry files. Null when none is visible.
 * @param project.written the files that the integration writes, which do not count
 */
export function findRoute(
  path: string,
  { root, framework, entries, written }: { root: string; framework: string; entries: readonly string[]; written: ReadonlySet<string> },
): string | null {
  const routes = FILE_ROUTES[framework];
  if (routes) {
    const patterns = routes.directories.map((directory) => `${directory}/**/*`);
    const files = globSync(patterns, { cwd: root, ignore: FOREIGN, expandDirectories: false }).sort();
    return files.find((file) => !written.has(file) && routeOf(file, routes) === path.toLowerCase()) ?? null;
  }
  const serves = (code: string) => [...code.matchAll(ROUTE)].some(([, found]) => isSamePath(found, path.slice(1)));
  return entries.find((file) => !written.has(file) && serves(withoutComments(readText(root, file) ?? ''))) ?? null;
}

const isSamePath = (found: string, path: string) => found.toLowerCase().replace(/\/$/, '') === path.toLowerCase();

// A call or a decorator whose first or second argument is the path: `app.get('/login', …)`, `@app.route("/login")`, `path('login/', …)`,
// `http.HandleFunc("GET /login", …)`, `get '/login' do`.
const ROUTE =
  /\b(?:get|all|route|any|match|path|re_path|page|handle|handleFunc|api_route)\b\s*(?:\(\s*)?r?["'`](?:GET )?\/?([\w/-]*)["'`]/gi;

const withoutComments = (code: string) => code.replace(/^[ \t]*(?:\/\/|#|\/?\*).*$/gm, '');

/** Whether files of a framework are routes. */
const hasFileRoutes = (framework: string): boolean => FILE_ROUTES[framework] !== undefined;

/** Whether a file of such a framework serves a path. */
function servesPath(framework: string, file: string, path: string): boolean {
  const routes = FILE_ROUTES[framework];
  return routes !== undefined && routeOf(file, routes) === path.toLowerCase();
}

/** Returns the path that a file serves, in lower case; null for a file that serves none. Groups such as `(shop)` are not part of it. */
function routeOf(file: string, { directories, files }: { directories: readonly string[]; files: readonly RegExp[] }): string | null {
  const directory = directories.find((each) => file.startsWith(`${each}/`)) ?? '';
  const isAppRouter = /^(?:src\/)?app$/.test(directory);
  const ending = (isAppRouter ? files.slice(0, 1) : files).find((each) => each.test(file));
  if (!ending) return null;
  const route = file
    .slice(directory.length)
    .replace(ending, '')
    .replace(/\/index$/, '');
  return route.replace(/\/\([^/)]*\)/g, '').toLowerCase() || '/';
}
