import { type LanguageCode, languages } from '../contract/languages.ts';
import { normalHost } from '../contract/rules.ts';
import { environment } from './catalog.ts';
import type { EnvironmentVariable, Framework, Layout } from './framework.ts';
import { SERVICE_ORIGIN } from './next-steps.ts';

/** What an integration is filled in with. */
export type Filling = {
  /** Of the service, such as `https://auth.example.com`. */
  origin: string;
  /** The registered domain, or `localhost`. */
  domain: string;
  /** Where the visitor comes back to on the site: `/auth/callback` unless given. */
  callbackPath?: string;
  /** Of the sign-in page; English unless given. */
  language?: LanguageCode;
  /** How the project is laid out, null: as usual. Without it the steps say what may be different. */
  layout?: Layout | null;
};

/** The texts of a framework's files by their `source`, as they lie in its folder. */
export type Sources = Readonly<Record<string, string>>;

export type Integration = {
  files: { path: string; role: string; contents: string; example?: true }[];
  env: EnvironmentVariable[];
  /** Where the site runs, an origin. */
  site: string;
  commands: string[];
  nextSteps: string[];
};

const CALLBACK_PATH = '/auth/callback';
const TAKEN_PATHS = ['/login', '/logout', '/account'];

/**
 * The files of a framework for one site. Pure: who calls it has read the sources.
 * @throws RangeError for a value that has no place in the code
 */
export function render(framework: Framework, sources: Sources, filling: Filling): Integration {
  const values = valuesOf(framework, filling);
  const fill = (text: string) => text.replace(/__([A-Z]+)__/g, (placeholder, name: string) => values[name] ?? placeholder);
  return {
    files: framework.files.map(({ source, path, role, example }) => {
      const text = sources[source];
      if (text === undefined) throw new RangeError(`The source ${framework.id}/${source} is missing.`);
      return { path: placed(fill(path), filling.layout), role, contents: fill(text), ...(example && { example }) };
    }),
    env: environment
      .filter(({ name }) => !framework.ownSettings && !(framework.ownSessions && name === 'SESSION_SECRET'))
      .map((variable) => ({ ...variable, value: fill(variable.value) })),
    site: values.SITE,
    commands: [...framework.commands],
    nextSteps: [...(filling.layout === undefined ? (framework.layouts ?? []).map(({ hint }) => hint) : []), ...framework.next.map(fill)],
  };
}

function placed(path: string, layout: Layout | null | undefined): string {
  return layout && path.startsWith(layout.from) ? layout.to + path.slice(layout.from.length) : path;
}

function valuesOf(
  framework: Framework,
  { origin, domain, callbackPath = CALLBACK_PATH, language = 'en' }: Filling,
): Record<string, string> {
  const host = domain === 'localhost' ? domain : normalHost(domain);
  if (!host) throw new RangeError(`"${domain}" is no domain: give one such as shop.example, or localhost.`);
  if (!SERVICE_ORIGIN.test(origin)) throw new RangeError(`${origin} is no origin of a service.`);
  // Inside string literals of six languages, and in file names: nothing but plain segments.
  // Some routers ignore the case of a path.
  if (!/^(?:\/[a-z0-9][a-z0-9_-]*){1,6}$/i.test(callbackPath) || TAKEN_PATHS.includes(callbackPath.toLowerCase())) {
    throw new RangeError(
      `"${callbackPath}" is no path for a callback: give one such as ${CALLBACK_PATH}, and none of ${TAKEN_PATHS.join(', ')}.`,
    );
  }
  if (!languages.some(({ code }) => code === language))
    throw new RangeError(`"${language}" is no language of the sign-in page: give one of ${languages.map(({ code }) => code).join(', ')}.`);
  return {
    ORIGIN: origin,
    DOMAIN: host,
    SITE: host === 'localhost' ? localSite(framework.port, origin) : `https://${host}`,
    CALLBACK: callbackPath,
    // As frameworks name it that put the slash before every route.
    ROUTE: callbackPath.slice(1),
    LANGUAGE: language,
    // From the callback's file up to the directory that holds the pages.
    UP: '../'.repeat(callbackPath.split('/').length - 1),
  };
}

/** Where a development server listens; one port further where the service has its port, as most of them do by themselves. */
function localSite(port: number, origin: string): string {
  const site = `http://localhost:${port}`;
  return site === origin ? `http://localhost:${port + 1}` : site;
}
