import { isThisMachine } from '../contract/rules.ts';
import { type Finding, fail, oneLine, pass, skip } from './check.ts';
import type { PageResponse } from './request.ts';
import { type Arrival, Visitor } from './visitor.ts';
import type { CheckOptions, Target } from './website.ts';

/** A sign-in that a visitor has started at a website, up to the redirect to the service. */
export type StartedSignIn = {
  visitor: Visitor;
  /** The page of the website that started it. */
  login: URL;
  /** The sign-in page of the service. */
  signInPage: URL;
  /** Where the visitor comes back to, with the state and without a token. */
  forwardUrl: URL;
};

export type Website = Pick<Target, 'loginPath' | 'page'> & { callback: URL; service: string };

const LOGIN_PATH = '/login';
const MAX_LINKS = 3;

/**
 * Starts a sign-in as a visitor does: requests the login, or else follows the links to it of the first page.
 * @param query added to the login's URL, such as `?return_to=/orders`
 * @returns null when no page of the website led to a service
 */
export async function startSignIn(
  { callback, loginPath }: Website,
  options: CheckOptions,
  query = '',
  visitor = new Visitor(callback.origin, options),
): Promise<StartedSignIn | null> {
  const first = new URL(`${loginPath ?? LOGIN_PATH}${query}`, callback);
  const arrival = await visitor.open(first);
  const started = startedFrom(arrival, first, visitor);
  if (started || loginPath) return started;
  const home = arrival.response.status === 200 ? arrival : await visitor.open(new URL('/', callback));
  for (const link of linksToLogin(home.response, home.url).slice(0, MAX_LINKS)) {
    const url = new URL(link.pathname + (query || link.search), link);
    const found = startedFrom(await visitor.open(url), url, visitor);
    if (found) return found;
  }
  return null;
}

function startedFrom({ response, url, leavesTo }: Arrival, login: URL, visitor: Visitor): StartedSignIn | null {
  const pages = leavesTo ? [leavesTo] : response.status === 200 ? addressesIn(response, url) : [];
  for (const page of pages) {
    const forwardUrl = page.searchParams.get('forward_url') ?? '';
    if (URL.canParse(forwardUrl)) return { visitor, login, signInPage: page, forwardUrl: new URL(forwardUrl) };
  }
  return null;
}

/** Returns the addresses on the same website that look like a login, in the order of the page. */
function linksToLogin(response: PageResponse, page: URL): URL[] {
  const links = addressesIn(response, page).filter(
    ({ origin, pathname }) => origin === page.origin && pathname !== page.pathname && /log-?in|sign-?in|auth/i.test(pathname),
  );
  return [...new Map(links.map((link) => [link.href, link])).values()];
}

function addressesIn({ body }: PageResponse, page: URL): URL[] {
  return [...body.matchAll(/<(?:a|form)\b[^<>]*>/gi)].flatMap(([tag]) => {
    const [, address = ''] = /\s(?:href|action)="([^"]*)"/i.exec(tag) ?? /\s(?:href|action)='([^']*)'/i.exec(tag) ?? [];
    const text = address.replaceAll('&amp;', '&').replaceAll('&#38;', '&');
    return text && URL.canParse(text, page.href) ? [new URL(text, page)] : [];
  });
}

/**
 * Returns the finding for two sign-ins of different visitors: whether they lead to the service, come back to the callback, and
 * carry a state.
 * @param fixes.missing what to do when no login was found, as a sentence
 */
export function evaluateLogin(
  started: StartedSignIn | null,
  other: StartedSignIn | null,
  { callback, service, loginPath }: Website,
  fixes: { missing: string; urlOption: string },
): Finding {
  if (!started)
    return skip(`No sign-in starts at ${callback.host}${loginPath ?? LOGIN_PATH}, and no link to one was found.`, fixes.missing);
  const { login, signInPage, forwardUrl } = started;
  const path = oneLine(login.pathname, 60);
  if (!isSameOrigin(signInPage, new URL(service))) {
    const fix = `Set EMAILAUTH_URL of the website to ${service}, or name that service with --host.`;
    return fail(`${path} leads to ${oneLine(signInPage.origin, 60)}, not to ${service}.`, fix);
  }
  if (forwardUrl.origin !== callback.origin || forwardUrl.pathname !== callback.pathname) {
    const back = oneLine(forwardUrl.origin + forwardUrl.pathname);
    const fix = `If that is the website, check it with ${fixes.urlOption}; else correct SITE_URL, from which forward_url is built.`;
    return fail(`${path} lets visitors come back to ${back}, not to ${callback.origin}${callback.pathname}.`, fix);
  }
  if (other && stateOf(started, other).length === 0) {
    return fail(
      `${path} sends the same forward_url to every visitor: it contains no state.`,
      'Put a random state into forward_url for every sign-in, keep it in a cookie, and compare the two in the callback.',
    );
  }
  return pass(`${path} leads to the service, with a state of its own for each visitor.`);
}

/** Whether two addresses have one origin; all names of this machine are the same. */
export function isSameOrigin(one: URL, other: URL): boolean {
  if (one.origin === other.origin) return true;
  return one.protocol === other.protocol && one.port === other.port && isThisMachine(one.hostname) && isThisMachine(other.hostname);
}

/** Returns the names of the parameters of forward_url that differ between two visitors. */
export function stateOf({ forwardUrl }: StartedSignIn, other: StartedSignIn): string[] {
  return [...forwardUrl.searchParams.keys()].filter(
    (name) => forwardUrl.searchParams.get(name) !== other.forwardUrl.searchParams.get(name),
  );
}
