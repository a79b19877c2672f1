import { setTimeout as sleep } from 'node:timers/promises';
import type { EventStore, Position } from './store.ts';

/** How often the database is read while requests wait. */
const POLL_MS = 500;
/** The statements of the core end after 2.5 s. Behind a transaction that writes for longer, events appear when it ends. */
const WRITERS_TIMEOUT_MS = 3_000;
const WRITERS_POLL_MS = 20;
/** Requests that wait, of one account and of this process. */
const MAX_OF_ACCOUNT = 10;
const MAX_WAITING = 500;

type Waiting = { account: string; domains: readonly string[]; end(hasNews: boolean): void };

/** Has requests wait for new events. All of them share one statement, every POLL_MS, which runs only while there are any. */
export class EventFeed {
  readonly #store: EventStore;
  readonly #waiting = new Set<Waiting>();
  /** Up to where the waiting requests have been notified; null while none waits. */
  #notified: Position | null = null;
  #timer: NodeJS.Timeout | null = null;
  #stopped = false;

  constructor(store: EventStore) {
    this.#store = store;
  }

  /** Returns a position up to which no row can appear any more, or null when a transaction keeps writing for seconds. */
  async position(): Promise<Position | null> {
    const { writers, ...position } = await this.#store.newest();
    const end = Date.now() + WRITERS_TIMEOUT_MS;
    while (writers.length > 0 && (await this.#store.countWriters(writers)) > 0) {
      if (Date.now() > end) return null;
      await sleep(WRITERS_POLL_MS);
    }
    return position;
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
    const position = await this.position();
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
