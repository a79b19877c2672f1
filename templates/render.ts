import { type LanguageCode, languages } from '../contract/languages.ts';
import { WEBSITE_PATHS } from '../contract/pages.ts';
import { normalHost } from '../contract/urls.ts';
import { environment } from './catalog.ts';
import type { EnvironmentVariable, Framework, Insertion, Layout, Wiring } from './framework.ts';
import { PAGE_STYLE } from './style.ts';

/** The values for the placeholders of an integration. */
export type TemplateValues = {
  /** The origin of the service, such as `https://auth.example.com`. */
  origin: string;
  /** The registered domain, or `localhost`. */
  domain: string;
  /** The path of the website that the visitor returns to; `/auth/callback` by default. */
  callbackPath?: string;
  /** The path of the website that starts a sign-in; `/login` by default. */
  loginPath?: string;
  /** The language of the sign-in page; English by default. */
  language?: LanguageCode;
  /** The port of the website during development, when the project sets one; otherwise that of the framework. */
  port?: number;
  /** The layout of the project; null for the default one. When absent, the next steps describe the alternatives. */
  layout?: Layout | null;
  /** The caller installs the packages and connects the files itself, so `commands` and `nextSteps` do not mention them. */
  applied?: boolean;
};

/** The contents of a framework's files by their `source`, with placeholders. */
export type Sources = Readonly<Record<string, string>>;

export type Integration = {
  files: { path: string; role: string; contents: string; example?: true }[];
  env: EnvironmentVariable[];
  /** The origin of the website. */
  site: string;
  commands: string[];
  /** Commands that start a new project; absent for an existing one. */
  start?: string[];
  nextSteps: string[];
};

const RESERVED_PATHS = ['/logout', '/account'];
// Paths go into string literals of six languages and into file names.
const PATH = /^(?:\/[a-z0-9][a-z0-9_-]*){1,6}$/i;

/**
 * Returns the files of a framework with their placeholders filled in for one website.
 * @throws RangeError for a value that is not safe to put into the code
 */
export function render(framework: Framework, sources: Sources, values: TemplateValues): Integration {
  const placeholders = placeholdersOf(framework, values);
  const fill = filler(placeholders);
  const instead = values.applied ? [] : (framework.wiring ?? []).map((wiring) => wiring.instead);
  return {
    files: framework.files.map(({ source, path, role, example }) => {
      const text = sources[source];
      if (text === undefined) throw new RangeError(`The source ${framework.id}/${source} is missing.`);
      return { path: placeIn(values.layout, fill(path)), role, contents: fill(text), ...(example && { example }) };
    }),
    env: environment
      .filter(({ name }) => !framework.ownSettings && !(framework.ownSessions && name === 'SESSION_SECRET'))
      .map((variable) => ({ ...variable, value: fill(variable.value) })),
    site: placeholders.SITE,
    commands: [...(values.applied ? [] : installCommands(framework)), ...framework.commands],
    ...(framework.start && { start: framework.start.map(fill) }),
    nextSteps: [
      ...(values.layout === undefined ? (framework.layouts ?? []).map(({ hint }) => hint) : []),
      ...[...instead, ...framework.next].map(fill),
    ],
  };
}

/** Returns the wiring of a framework with the placeholders in its texts filled in. @throws RangeError as `render` does */
export function renderWiring(framework: Framework, values: TemplateValues): Wiring[] {
  const fill = filler(placeholdersOf(framework, values));
  const fillInsertion = <Given extends Insertion>(insertion: Given): Given => ({
    ...insertion,
    insert: fill(insertion.insert),
    import: insertion.import && fill(insertion.import),
  });
  return (framework.wiring ?? []).map((wiring) => ({
    ...fillInsertion(wiring),
    otherwise: wiring.otherwise && fillInsertion(wiring.otherwise),
    unless: fill(wiring.unless),
    instead: fill(wiring.instead),
  }));
}

const filler = (placeholders: Record<string, string>) => (text: string) =>
  text.replace(/__([A-Z]+)__/g, (placeholder, name: string) => placeholders[name] ?? placeholder);

const INSTALL: Record<Framework['language'], { add: string; addDev: string }> = {
  JavaScript: { add: 'npm install', addDev: 'npm install --save-dev' },
  TypeScript: { add: 'npm install', addDev: 'npm install --save-dev' },
  Python: { add: 'pip install', addDev: 'pip install' },
  PHP: { add: 'composer require', addDev: 'composer require --dev' },
  Ruby: { add: 'bundle add', addDev: 'bundle add --group development' },
  Go: { add: 'go get', addDev: 'go get' },
};

function installCommands({ language, packages = [], devPackages = [] }: Framework): string[] {
  const { add, addDev } = INSTALL[language];
  return [
    ...(packages.length > 0 ? [`${add} ${packages.join(' ')}`] : []),
    ...(devPackages.length > 0 ? [`${addDev} ${devPackages.join(' ')}`] : []),
  ];
}

function placeIn(layout: Layout | null | undefined, path: string): string {
  return layout && path.startsWith(layout.from) ? layout.to + path.slice(layout.from.length) : path;
}

function placeholdersOf(
  framework: Framework,
  {
    origin,
    domain,
    callbackPath = WEBSITE_PATHS.callback,
    loginPath = WEBSITE_PATHS.login,
    language = 'en',
    port = framework.port,
  }: TemplateValues,
): Record<string, string> {
  const host = domain === 'localhost' ? domain : normalHost(domain);
  if (!host) throw new RangeError(`"${domain}" is not a valid domain. Use one such as shop.example, or localhost.`);
  if (!SERVICE_ORIGIN.test(origin)) throw new RangeError(`"${origin}" is not a valid origin of a service.`);
  requirePath('login', loginPath, WEBSITE_PATHS.login, RESERVED_PATHS);
  requirePath('callback', callbackPath, WEBSITE_PATHS.callback, [loginPath, ...RESERVED_PATHS]);
  if (!languages.some(({ code }) => code === language))
    throw new RangeError(
      `"${language}" is not a language of the sign-in page. Use one of ${languages.map(({ code }) => code).join(', ')}.`,
    );
  return {
    ORIGIN: origin,
    DOMAIN: host,
    SITE: host === 'localhost' ? `http://localhost:${port}` : `https://${host}`,
    PORT: String(port),
    CALLBACK: callbackPath,
    LOGIN: loginPath,
    // For frameworks whose routes have no leading slash.
    ROUTE: callbackPath.slice(1),
    LANGUAGE: language,
    STYLE: PAGE_STYLE,
    // The relative paths from the files of the callback and of the login to the directory of the pages.
    UP: '../'.repeat(callbackPath.split('/').length - 1),
    LOGINUP: '../'.repeat(loginPath.split('/').length - 1),
  };
}

function requirePath(what: string, path: string, example: string, taken: readonly string[]): void {
  // Some routers ignore the case of a path.
  if (PATH.test(path) && !taken.some((each) => each.toLowerCase() === path.toLowerCase())) return;
  throw new RangeError(`"${path}" is not a valid ${what} path. Use one such as ${example}, but not ${taken.join(', ')}.`);
}

/** Returns one message with which an AI assistant can add the sign-in to a project: the task, the protocol, the files and the tests. */
export function assistantPrompt(
  { name }: Framework,
  { files, env, commands, nextSteps }: Integration,
  { origin, domain }: TemplateValues,
): string {
  const code = files.map(({ path, contents }) => `--- ${path}\n${contents.trimEnd()}`).join('\n\n');
  return `Add passwordless email sign-in to this ${name} project, for the domain ${domain}, with the service at ${origin}.

How it works:
1. /login creates a random state, stores it for an hour in an HttpOnly cookie and redirects to ${origin}/auth with forward_url (a URL on ${domain} that contains the state) and language.
2. The service emails a link and a code. After the sign-in, the visitor returns to forward_url with one more parameter, token.
3. The callback compares the state with the cookie first, and rejects the request if they differ. If there is no such cookie, it redirects to /login with the same page to return to.
4. Then the server requests GET ${origin}/api/verify-token?token=…&domain=${domain}. The response is {"email": "…", "valid": true, "domain": "${domain}", "method": "link", "at": "…"} or {"email": null, "valid": false, "reason": "used" | "expired" | "unknown" | "other_domain"}. A token can be verified once, within an hour. Always send domain.
5. If it is valid, open a new session for the email address and redirect to a URL without token and state.
6. If the service does not respond within 5 seconds, show a page with status 503 that offers to try again.

Do not install a package of the service: there is none. If the project already has sessions or users, use those. Every call is described at ${origin}/openapi.json.

Start from these files, and adapt them to the conventions of the project:

${code}
${environmentText(env)}
Then:
${[...commands.map((command) => `Run: ${command}`), ...nextSteps].map((step) => `- ${step}`).join('\n')}
- Add a "Login with Email" link to /login where visitors expect it.
- Test: a sign-in reaches the protected page; the same callback URL opened again signs no one in; one with a different state is rejected.
`;
}

function environmentText(env: Integration['env']): string {
  if (env.length === 0) return '';
  const lines = env.map(({ name, value, purpose }) => `- ${name}${value && `=${value}`} (${purpose})`);
  return `\nEnvironment:\n${lines.join('\n')}\n`;
}

/** Matches a service origin that is safe inside shell quotes and string literals. */
const SERVICE_ORIGIN = /^https?:\/\/(?:[a-z0-9.-]+|\[[0-9a-f:]+\])(?::\d+)?$/;

/** Returns a curl command that verifies a token. `TOKEN` stands for the token that the callback received. */
export const verifyRequest = (origin: string, domain: string) => `curl '${origin}/api/verify-token?token=TOKEN&domain=${domain}'`;

/**
 * Returns the three steps after the registration of a domain, for any framework. Code to copy is on a line below the sentence.
 * @param registered the response of the registration
 * @throws RangeError for an invalid domain or service address, because a step is pasted into a shell
 */
export function nextSteps(registered: { authUrl: string; domain: string }): string[] {
  const { origin } = new URL(registered.authUrl);
  const domain = normalHost(registered.domain);
  if (!domain) throw new RangeError(`"${registered.domain}" is not a valid domain.`);
  if (!SERVICE_ORIGIN.test(origin)) throw new RangeError(`"${origin}" is not a valid origin of a service.`);
  const forwardUrl = encodeURIComponent(`https://${domain}/auth/callback?state=STATE`);
  return [
    `Send visitors to this URL, with a random state that you keep in a cookie:\n${origin}/auth?forward_url=${forwardUrl}`,
    `They return with a token. Compare the state, then verify the token once:\n${verifyRequest(origin, domain)}`,
    'If it is valid, open a session for the email address, and redirect to a URL without the token.',
  ];
}
