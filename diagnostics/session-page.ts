import type { PageResponse } from './request.ts';
import { type Arrival, redirectOf, Visitor } from './visitor.ts';
import type { CheckOptions } from './website.ts';

/** A page that shows whether a visitor is signed in. */
export type SessionPage = {
  url: URL;
  /** What a visitor without a session gets. */
  anonymous: Arrival;
  /** `guarded`: others are redirected or refused. `personal`: it is the same page for all, with the email address of a signed-in visitor. */
  kind: 'guarded' | 'personal';
};

/** Returns the page when visitors without a session do not get it, else null. */
export async function findGuardedPage(url: URL, options: CheckOptions): Promise<SessionPage | null> {
  const anonymous = await new Visitor(url.origin, options).open(url);
  return isGuarded(anonymous, url) ? { url, anonymous, kind: 'guarded' } : null;
}

/**
 * Returns the first of these pages that is different for a signed-in visitor, or null.
 * @param email of the visitor
 */
export async function findSessionPage(
  urls: readonly URL[],
  visitor: Visitor,
  email: string,
  options: CheckOptions,
): Promise<SessionPage | null> {
  for (const url of urls) {
    const anonymous = await new Visitor(url.origin, options).open(url);
    for (const kind of ['guarded', 'personal'] as const) {
      const page: SessionPage = { url, anonymous, kind };
      if ((kind === 'personal' || isGuarded(anonymous, url)) && (await isSignedIn(page, visitor, email))) return page;
    }
  }
  return null;
}

/** Returns whether the page shows that the visitor is signed in. @param email of the visitor, where the page is personal */
export async function isSignedIn({ url, anonymous, kind }: SessionPage, visitor: Visitor, email = ''): Promise<boolean> {
  const arrival = await visitor.open(url);
  if (!isPage(arrival)) return false;
  if (kind === 'personal') return email !== '' && arrival.response.body.includes(email) && !anonymous.response.body.includes(email);
  return !isPage(anonymous) || pathOf(arrival.url) !== pathOf(anonymous.url);
}

/** Whether the visitor was refused, or redirected to another page. A page that does not exist is not guarded. */
function isGuarded(arrival: Arrival, url: URL): boolean {
  if (arrival.leavesTo) return true;
  const { status } = arrival.response;
  return status === 401 || status === 403 || (status < 300 && pathOf(arrival.url) !== pathOf(url));
}

const isPage = ({ response, leavesTo }: Arrival) => !leavesTo && response.status >= 200 && response.status < 300;

const pathOf = ({ pathname }: URL) => pathname.replace(/\/$/, '');

/** Whether two responses redirect to the same page, whatever its query. */
export function redirectsAlike(one: PageResponse, other: PageResponse, base: URL): boolean {
  const [first, second] = [redirectOf(one, base), redirectOf(other, base)];
  return first !== null && second !== null && first.origin === second.origin && pathOf(first) === pathOf(second);
}
