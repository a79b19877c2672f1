import type { Output, Parsed } from '../../contract/calls.ts';
import { maskEmail } from '../../contract/emails.ts';
import { Fault } from '../../contract/errors.ts';
import { MAX_EVENT_WAIT_SECONDS } from '../../contract/limits.ts';
import { METHODS, methodNames } from '../../contract/methods.ts';
import { type SignInState, STATE_OF_KIND } from '../../contract/sign-in-states.ts';
import { websiteDomain } from '../../contract/urls.ts';
import { isApplicationId } from '../developers/applications.ts';
import type { Database } from '../platform/db/database.ts';
import { type Account, type Endpoint, handle } from '../platform/http/endpoint.ts';
import { displayDomainOf } from '../websites/domains.ts';
import { ERASED } from '../websites/visits.ts';
import { type EventRow, EventStore, type Piece } from './event-store.ts';
import { explain } from './explanations.ts';

type Page = Output<'websiteEvents'>;

/** How long a call may take besides its wait. */
const MAX_READ_SECONDS = 5;

type Parts = { isLocal: boolean; database: Database };

/** What happened in the sign-ins at an account's websites and applications, as rows of the activity log. */
export class WebsiteEvents {
  readonly #isLocal: boolean;
  readonly #store: EventStore;
  readonly #feed: EventFeed;

  constructor({ isLocal, database }: Parts) {
    this.#isLocal = isLocal;
    this.#store = new EventStore(database.core);
    this.#feed = new EventFeed(this.#store);
  }

  /**
   * Returns the next events of the account's websites and applications, oldest first, each from the time when the website became the
   * account's.
   * @throws Fault website_not_found
   */
  async read({ id, email }: Account, { domain, after, since, wait }: Parsed<'websiteEvents'>): Promise<Page> {
    const owner = { id, email };
    const subjects = await this.#store.subjectsOf(owner, domain === undefined ? null : domainOf(domain));
    if (domain !== undefined && subjects.length === 0) throw new Fault('website_not_found', { field: 'domain' });
    const end = Date.now() + wait * 1000;
    let from = after === undefined ? await this.#store.startOf(since) : Number(after);
    for (;;) {
      const upTo = await this.#store.newest();
      if (upTo === null) return this.#present({ rows: [], end: from, more: false });
      const piece = await this.#store.read(owner, subjects, from, upTo);
      // After a restore, the numbers of new rows are smaller than old cursors.
      from = Math.min(piece.end, upTo);
      const isOver = piece.rows.length > 0 || piece.more || Date.now() >= end;
      if (isOver || !(await this.#feed.wait(id, subjects, from, end - Date.now()))) return this.#present({ ...piece, end: from });
    }
  }

  /** Ends all waiting calls, and lets no other one wait. */
  stop(): void {
    this.#feed.stop();
  }

  #present({ rows, end, more }: Piece): Page {
    return { events: presentEvents(rows, { isLocal: this.#isLocal }), cursor: String(end), more };
  }
}

function domainOf(text: string): string {
  if (isApplicationId(text)) return text;
  const host = text.trim().toLowerCase();
  return websiteDomain(host) ?? '';
}

/** Binds the call that returns events; it may wait for the next one. */
export function eventEndpoints(events: WebsiteEvents): Endpoint[] {
  const options = { timeoutSeconds: MAX_EVENT_WAIT_SECONDS + MAX_READ_SECONDS };
  return [handle('websiteEvents', (input, { account }) => events.read(account, input), options)];
}

type Event = Output<'websiteEvents'>['events'][number];

/**
 * Returns events as those who manage their websites see them. Anyone can register a domain, and could learn here who is invited to sign
 * in to it: so addresses are masked until it is proven, except in local mode.
 */
export function presentEvents(rows: EventRow[], { isLocal }: { isLocal: boolean }): Event[] {
  return rows.map(({ id, at, domain, application, kind, reason, email, count, isOpenId, signIn, proven }) => ({
    id: String(id),
    at: at.toISOString(),
    domain,
    name: application ?? displayDomainOf(domain),
    kind,
    reason,
    email: email === null || email === ERASED || proven || isLocal ? email : maskEmail(email),
    ...explain(kind, reason, isOpenId),
    signIn,
    state: stateAfter(kind, reason, isOpenId),
    count,
  }));
}

/** The kinds by which a visitor went back to a website with a token, or with OpenID Connect with a code. */
export const SIGNED_IN_KINDS: readonly string[] = [...new Set(methodNames.map((method) => METHODS[method].event.kind))];

/** Returns the state to which a step leads. A code of OpenID Connect does not say of which sign-in its exchange is, so that such a one is done before. */
function stateAfter(kind: string, reason: string | null, isOpenId: boolean): SignInState | null {
  if (SIGNED_IN_KINDS.includes(kind)) return isOpenId ? 'signed_in' : 'unverified';
  return STATE_OF_KIND[`${kind} ${reason}`] ?? STATE_OF_KIND[kind] ?? null;
}

/** How often the database is read while requests wait. */
const POLL_MS = 500;
/** Requests that wait, of one account and of this process. */
const MAX_OF_ACCOUNT = 10;
const MAX_WAITING = 500;

type Waiting = { account: string; subjects: readonly string[]; end(hasNews: boolean): void };

/** Has requests wait for new events. All of them share one statement, every POLL_MS, which runs only while there are any. */
class EventFeed {
  readonly #store: EventStore;
  readonly #waiting = new Set<Waiting>();
  /** Up to where the waiting requests have been notified; null while none waits. */
  #notified: number | null = null;
  #timer: NodeJS.Timeout | null = null;
  #stopped = false;

  constructor(store: EventStore) {
    this.#store = store;
  }

  /**
   * Waits for events of some websites and applications after a number.
   * @returns whether there may be some; false when the time is over, the service stops, or too many requests wait. An account that has
   * too many waiting requests ends its oldest one, which may be of a closed page.
   */
  wait(account: string, subjects: readonly string[], after: number, timeoutMs: number): Promise<boolean> {
    if (this.#stopped || this.#waiting.size >= MAX_WAITING) return Promise.resolve(false);
    // Others were notified of rows after this number already.
    if (this.#notified !== null && after < this.#notified) return Promise.resolve(true);
    this.#notified ??= after;
    const own = [...this.#waiting].filter((each) => each.account === account);
    if (own.length >= MAX_OF_ACCOUNT) own[0].end(false);
    return new Promise((resolve) => {
      const waiting: Waiting = {
        account,
        subjects,
        end: (hasNews) => {
          clearTimeout(timer);
          this.#waiting.delete(waiting);
          resolve(hasNews);
        },
      };
      const timer = setTimeout(() => waiting.end(false), timeoutMs);
      this.#waiting.add(waiting);
      this.#schedule();
    });
  }

  /** Ends all waiting requests, and lets no other one wait. */
  stop(): void {
    this.#stopped = true;
    for (const waiting of [...this.#waiting]) waiting.end(false);
  }

  #schedule(): void {
    this.#timer ??= setTimeout(async () => {
      // While the database does not respond, requests wait until their time is over.
      if (this.#waiting.size > 0) await this.#notify().catch(() => {});
      this.#timer = null;
      if (this.#waiting.size > 0) this.#schedule();
      else this.#notified = null;
    }, POLL_MS).unref();
  }

  async #notify(): Promise<void> {
    const from = this.#notified;
    const upTo = await this.#store.newest();
    if (from === null || upTo === null || from >= upTo) return;
    // Before the next statement, so that a request which begins to wait during it reads again.
    this.#notified = upTo;
    const waiting = [...this.#waiting];
    const subjects = [...new Set(waiting.flatMap((each) => each.subjects))];
    const withNews = await this.#store.withNews(subjects, from, upTo).catch((error) => {
      this.#notified = from;
      throw error;
    });
    for (const each of waiting) if (each.subjects.some((subject) => withNews.has(subject))) each.end(true);
  }
}
