import { parseSetCookies, type SetCookie } from './cookies.ts';
import { type PageRequest, type PageResponse, requestPage } from './request.ts';
import type { CheckOptions } from './website.ts';

const MAX_REDIRECTS = 5;
const MAX_PAGE = 256 * 1024;

type RequestOptions = Pick<CheckOptions, 'dns' | 'userAgent' | 'signal'>;

/** Where a visitor ended up: the last response, its URL, and the address on another website that it redirects to, if any. */
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
