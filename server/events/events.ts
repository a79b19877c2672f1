import { Fault } from '../../contract/errors.ts';
import { MAX_EVENT_WAIT_SECONDS } from '../../contract/limits.ts';
import type { Output, Parsed } from '../../contract/routes.ts';
import { LOCALHOST, maskEmail, normalDomain } from '../../contract/rules.ts';
import { isApplicationId } from '../applications/applications.ts';
import type { Config } from '../config.ts';
import type { Database } from '../db/database.ts';
import { type Account, type Served, serve } from '../http/invoke.ts';
import { ERASED } from '../visitors/visits.ts';
import { displayDomainOf } from '../websites/domains.ts';
import { explain } from './explanations.ts';
import { type EventRow, EventStore, type Position, type Source } from './store.ts';

type Page = Output<'websiteEvents'>;

/** How long a call may take besides its wait. */
const MAX_READ_SECONDS = 5;

type Parts = { config: Pick<Config, 'mode'>; database: Pick<Database, 'core'> };

/** What happened in the sign-ins at an account's websites and applications: rows of the audit log, and of `website_events`. */
export class WebsiteEvents {
  readonly #isLocal: boolean;
  readonly #store: EventStore;
  readonly #feed: EventFeed;

  constructor({ config, database }: Parts) {
    this.#isLocal = config.mode === 'local';
    this.#store = new EventStore(database.core);
    this.#feed = new EventFeed(this.#store);
  }

  /**
   * Returns the next events of the account's websites and applications, oldest first, each from the time when the website became the
   * account's. In local mode, localhost belongs to every account.
   * @throws Fault website_not_found
   */
  async read({ id, email }: Account, { domain, after, since, wait }: Parsed<'websiteEvents'>): Promise<Page> {
    const owner = { id, email, localhost: this.#isLocal };
    const domains = await this.#store.domainsOf(owner, domain === undefined ? null : domainOf(domain));
    if (domain !== undefined && domains.length === 0) throw new Fault('website_not_found', { field: 'domain' });
    const end = Date.now() + wait * 1000;
    let from = after === undefined ? await this.#store.startOf(since) : positionOf(after);
    for (;;) {
      const upTo = await this.#store.position();
      if (upTo === null) return this.#present({ rows: [], end: from, more: false });
      const merged = mergeSources(await this.#store.read(owner, domains, from, upTo), from);
      // After a restore, the numbers of new rows are smaller than old cursors.
      from = earliest(merged.end, upTo);
      const isOver = merged.rows.length > 0 || merged.more || Date.now() >= end;
      if (isOver || !(await this.#feed.wait(id, domains, from, end - Date.now()))) return this.#present({ ...merged, end: from });
    }
  }

  /** Ends all waiting calls, and lets no other one wait. */
  stop(): void {
    this.#feed.stop();
  }

  #present({ rows, end, more }: Merged): Page {
    return { events: presentEvents(rows, { isLocal: this.#isLocal }), cursor: `${end.audit}.${end.event}`, more };
  }
}

function domainOf(text: string): string {
  if (isApplicationId(text)) return text;
  const host = text.trim().toLowerCase();
  return host === LOCALHOST ? host : (normalDomain(host) ?? '');
}

/** Returns the position that the cursor of a response names. */
export function positionOf(cursor: string): Position {
  const [audit, event] = cursor.split('.').map(Number);
  return { audit, event };
}

/** Returns the earlier row number of each source. */
export const earliest = (a: Position, b: Position): Position => ({ audit: Math.min(a.audit, b.audit), event: Math.min(a.event, b.event) });

/** Binds the call that returns events; it may wait for the next one. */
export function eventRoutes(events: WebsiteEvents): Served[] {
  const options = { timeoutSeconds: MAX_EVENT_WAIT_SECONDS + MAX_READ_SECONDS };
  return [serve('websiteEvents', (input, { account }) => events.read(account, input), options)];
}

type Event = Output<'websiteEvents'>['events'][number];

/**
 * Returns events as those who manage their websites see them. Anyone can register a domain, and could learn here who is invited to sign
 * in to it: so addresses are masked until it is proven, except in local mode.
 */
export function presentEvents(rows: Merged['rows'], { isLocal }: { isLocal: boolean }): Event[] {
  return rows.map(({ key, at, domain, application, kind, reason, email, count, isOpenId, proven }) => ({
    id: key,
    at: at.toISOString(),
    domain,
    name: application ?? displayDomainOf(domain),
    kind,
    reason,
    email: email === null || email === ERASED || proven || isLocal ? email : maskEmail(email),
    ...explain(kind, reason, isOpenId),
    count,
  }));
}

/** How often the database is read while requests wait. */
const POLL_MS = 500;
/** Requests that wait, of one account and of this process. */
const MAX_OF_ACCOUNT = 10;
const MAX_WAITING = 500;

type Waiting = { account: string; domains: readonly string[]; end(hasNews: boolean): void };

/** Has requests wait for new events. All of them share one statement, every POLL_MS, which runs only while there are any. */
class EventFeed {
  readonly #store: EventStore;
  readonly #waiting = new Set<Waiting>();
  /** Up to where the waiting requests have been notified; null while none waits. */
  #notified: Position | null = null;
  #timer: NodeJS.Timeout | null = null;
  #stopped = false;

  constructor(store: EventStore) {
    this.#store = store;
  }

  /**
   * Waits for events of some domains after a position.
   * @returns whether there may be some; false when the time is over, the service stops, or too many requests wait. An account that has
   * too many waiting requests ends its oldest one, which may be of a closed page.
   */
  wait(account: string, domains: readonly string[], after: Position, timeoutMs: number): Promise<boolean> {
    if (this.#stopped || this.#waiting.size >= MAX_WAITING) return Promise.resolve(false);
    // Others were notified of rows after this position already.
    if (this.#notified && isBefore(after, this.#notified)) return Promise.resolve(true);
    this.#notified ??= after;
    const own = [...this.#waiting].filter((each) => each.account === account);
    if (own.length >= MAX_OF_ACCOUNT) own[0].end(false);
    return new Promise((resolve) => {
      const waiting: Waiting = {
        account,
        domains,
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
    const position = await this.#store.position();
    if (!from || !position || !isBefore(from, position)) return;
    // Before the next statement, so that a request which begins to wait during it reads again.
    this.#notified = position;
    const waiting = [...this.#waiting];
    const domains = [...new Set(waiting.flatMap((each) => each.domains))];
    const withNews = await this.#store.domainsWithNews(domains, from, position).catch((error) => {
      this.#notified = from;
      throw error;
    });
    for (const each of waiting) if (each.domains.some((domain) => withNews.has(domain))) each.end(true);
  }
}

const isBefore = (a: Position, b: Position) => a.audit < b.audit || a.event < b.event;

/** Rows of both sources in the order of their times, with an id each. */
export type Merged = { rows: (EventRow & { key: string })[]; end: Position; more: boolean };

/**
 * Merges the rows of both sources by time. A source that was not read to its end limits the rows of the other one to those that are
 * not later, so that the rows of the next call follow. No row is left out or returned twice, whatever the times are.
 * @param direction `backward`: the sources were read from their newest row, which is the first of the result
 */
export function mergeSources(
  sources: { audit: Source; event: Source },
  after: Position,
  direction: 'forward' | 'backward' = 'forward',
): Merged {
  const order = (at: Date) => (direction === 'forward' ? at.getTime() : -at.getTime());
  const limit = Math.min(limitOf(sources.audit, order), limitOf(sources.event, order));
  const audit = takeUpTo(sources.audit, after.audit, limit, order);
  const event = takeUpTo(sources.event, after.event, limit, order);
  const keyed = (prefix: string, rows: EventRow[]) => rows.map((row) => ({ ...row, key: `${prefix}${row.id}` }));
  const rows = [...keyed('a', audit.rows), ...keyed('e', event.rows)];
  return {
    rows: rows.filter(({ visible }) => visible).sort((a, b) => order(a.at) - order(b.at)),
    end: { audit: audit.end, event: event.end },
    more: Number.isFinite(limit),
  };
}

/** Where a time is in the order of the result. */
type Order = (at: Date) => number;

/** Returns the last time of the rows of a source that has more, so that at least one source is taken as a whole; else Infinity. */
function limitOf({ rows, endAt }: Source, order: Order): number {
  if (endAt === null) return Number.POSITIVE_INFINITY;
  return Math.max(order(endAt), ...rows.map(({ at }) => order(at)));
}

/** Returns the rows before the first one that comes after the limit, and up to which number they are. */
function takeUpTo({ rows, end }: Source, after: number, limit: number, order: Order): { rows: EventRow[]; end: number } {
  const firstLater = rows.findIndex(({ at }) => order(at) > limit);
  if (firstLater < 0) return { rows, end };
  return { rows: rows.slice(0, firstLater), end: firstLater === 0 ? after : rows[firstLater - 1].id };
}
