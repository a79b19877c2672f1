import { WEBSITE_PATHS } from '../contract/pages.ts';
import { isThisMachine } from '../contract/urls.ts';
import { type Finding, fail, oneLine, pass, skip } from './check.ts';
import { addressesIn } from './html.ts';
import { type PageRequest, type PageResponse, parseSetCookies, type RequestOptions, requestPage, type SetCookie } from './request.ts';
import type { CheckOptions, WebsitePaths } from './website.ts';

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

export type Website = WebsitePaths & { callback: URL; service: string };

const MAX_LINKS = 3;

/**
 * Starts a sign-in as a visitor does: requests the login, or else follows links to it on the first page.
 * @param query added to the login's URL, such as `?return_to=/orders`
 * @returns null when no page of the website led to a service
 */
export async function startSignIn(
  { callback, loginPath }: Website,
  options: CheckOptions,
  query = '',
  visitor = new Visitor(callback.origin, options),
): Promise<StartedSignIn | null> {
  const first = new URL(`${loginPath ?? WEBSITE_PATHS.login}${query}`, callback);
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
  const pages = leavesTo ? [leavesTo] : response.status === 200 ? addressesIn(response.body, url) : [];
  for (const page of pages) {
    const forwardUrl = page.searchParams.get('forward_url') ?? '';
    if (URL.canParse(forwardUrl)) return { visitor, login, signInPage: page, forwardUrl: new URL(forwardUrl) };
  }
  return null;
}

/** Returns the addresses on the same website that look like a login, in the order of the page. */
function linksToLogin(response: PageResponse, page: URL): URL[] {
  const links = addressesIn(response.body, page).filter(
    ({ origin, pathname }) => origin === page.origin && pathname !== page.pathname && /log-?in|sign-?in|auth/i.test(pathname),
  );
  return [...new Map(links.map((link) => [link.href, link])).values()];
}

/**
 * Returns the finding for two sign-ins of different visitors: whether they lead to the service and back to the callback, with a state.
 * @param fixes.missing what to do when no login was found, as a sentence
 */
export function evaluateLogin(
  started: StartedSignIn | null,
  other: StartedSignIn | null,
  { callback, service, loginPath }: Website,
  fixes: { missing: string; urlOption: string },
): Finding {
  if (!started)
    return skip(`No sign-in starts at ${callback.host}${loginPath ?? WEBSITE_PATHS.login}, and no link to one was found.`, fixes.missing);
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
function isSameOrigin(one: URL, other: URL): boolean {
  if (one.origin === other.origin) return true;
  return one.protocol === other.protocol && one.port === other.port && isThisMachine(one.hostname) && isThisMachine(other.hostname);
}

/** Returns the names of the parameters of forward_url that differ between two visitors. */
export function stateOf({ forwardUrl }: StartedSignIn, other: StartedSignIn): string[] {
  return [...forwardUrl.searchParams.keys()].filter(
    (name) => forwardUrl.searchParams.get(name) !== other.forwardUrl.searchParams.get(name),
  );
}

const MAX_REDIRECTS = 5;
const MAX_PAGE = 256 * 1024;

/** Where a visitor ended up: the last response and its URL. `leavesTo`: the address on another website that it redirects to. */
export type Arrival = { response: PageResponse; url: URL; leavesTo: URL | null };

/** A visitor of one website: keeps its cookies, as a browser does. It sends requests to this website only. */
export class Visitor {
  readonly cookies = new Map<string, SetCookie>();
  readonly #origin: string;
  readonly #options: RequestOptions;

  /** @param origin of the website */
  constructor(origin: string, options: RequestOptions) {
    this.#origin = origin;
    this.#options = options;
  }

  /** Returns another visitor with those of the cookies that pass the test. */
  copy(keep: (cookie: SetCookie) => boolean = () => true): Visitor {
    const copy = new Visitor(this.#origin, this.#options);
    for (const cookie of this.cookies.values()) if (keep(cookie)) copy.cookies.set(cookie.name, cookie);
    return copy;
  }

  /** Requests one page and stores its cookies. @throws Error for another website, and as requestPage does */
  async get(url: URL): Promise<PageResponse> {
    return this.#send(url, {});
  }

  /** Submits a form of a page of this website, as a browser does. @throws Error as `get` */
  async post(url: URL, body: string, contentType = 'application/x-www-form-urlencoded'): Promise<PageResponse> {
    const headers = { Origin: this.#origin, 'Sec-Fetch-Site': 'same-origin', 'Content-Type': contentType };
    return this.#send(url, { body, headers });
  }

  /** Requests a page and follows redirects within this website. @throws Error as `get` */
  async open(url: URL): Promise<Arrival> {
    return this.follow(await this.get(url), url);
  }

  /** Follows the redirects of a response within this website. @throws Error as `get` */
  async follow(first: PageResponse, from: URL): Promise<Arrival> {
    let [response, url] = [first, from];
    for (let i = 0; i < MAX_REDIRECTS; i++) {
      const target = redirectOf(response, url);
      if (!target) break;
      if (target.origin !== this.#origin) return { response, url, leavesTo: target };
      [response, url] = [await this.get(target), target];
    }
    return { response, url, leavesTo: null };
  }

  async #send(url: URL, request: PageRequest): Promise<PageResponse> {
    if (url.origin !== this.#origin) throw new Error(`${url.origin} is another website`);
    const cookie = [...this.cookies.values()].map(({ name, value }) => `${name}=${value}`).join('; ');
    const headers = { ...request.headers, ...(cookie && { Cookie: cookie }) };
    const response = await requestPage(url, { ...this.#options, ...request, headers, maxBody: MAX_PAGE });
    for (const each of parseSetCookies(response.setCookies)) {
      if (each.isDeleted) this.cookies.delete(each.name);
      else this.cookies.set(each.name, each);
    }
    return response;
  }
}

/** Returns the URL that a response redirects to, or null. */
export function redirectOf({ status, location }: PageResponse, url: URL): URL | null {
  if (status < 300 || status >= 400 || !location || !URL.canParse(location, url.href)) return null;
  return new URL(location, url);
}
