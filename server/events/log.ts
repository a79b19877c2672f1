import { Fault } from '../../contract/errors.ts';
import { MAX_LOG_DAYS } from '../../contract/limits.ts';
import type { Output, Parsed } from '../../contract/routes.ts';
import type { Config } from '../config.ts';
import type { Database } from '../db/database.ts';
import { type Account, type Served, serve } from '../http/serve.ts';
import { PROBLEM_KINDS } from './explanations.ts';
import { EventFeed } from './feed.ts';
import { type LogFilter, type LoggedWebsite, LogStore } from './log-store.ts';
import { type Merged, mergeSources } from './merge.ts';
import { presentEvents } from './presentation.ts';
import { EventStore, type Position } from './store.ts';

type Page = Output<'websiteLog'>;

/** A call that has found as many rows returns them, or what it has found after this time; the caller continues at the cursor. */
const PAGE_ROWS = 50;
const SEARCH_MS = 1_000;
/** Waiting for writers and for the searches of others included. */
const TIMEOUT_SECONDS = 10;

const DAY_MS = 86_400_000;
/** The times of neighboring rows may differ by some seconds from the order of their numbers. */
const MARGIN_MS = 60_000;

type Parts = { config: Pick<Config, 'mode'>; database: Pick<Database, 'core' | 'currentReader'> };
type Search = { store: LogStore; website: LoggedWebsite; filter: LogFilter; floor: Position };

/** The log of one website: the same events as WebsiteEvents, read backwards and filtered. */
export class WebsiteLog {
  readonly #isLocal: boolean;
  readonly #database: Parts['database'];
  readonly #feed: EventFeed;
  /** Statements of all searches run one after the other, so that they leave the connections to the sign-ins. */
  #lane: Promise<unknown> = Promise.resolve();

  constructor({ config, database }: Parts) {
    this.#isLocal = config.mode === 'local';
    this.#database = database;
    this.#feed = new EventFeed(new EventStore(database.core));
  }

  /** Returns a part of the log, newest first, from the time when the website became the account's. @throws Fault website_not_found, unavailable */
  async read({ email }: Account, query: Parsed<'websiteLog'>): Promise<Page> {
    const website = await new LogStore(this.#database.core).findWebsite(email, query.id);
    if (!website) throw new Fault('website_not_found');
    const filter = this.#filterOf(website, query);
    const latest = query.before === undefined ? await this.#latest() : null;
    // Only after the newest position is known: all rows up to it must be visible.
    const store = new LogStore(await this.#database.currentReader());
    const floor = await store.firstOf(new Date(filter.from.getTime() - MARGIN_MS));
    const start = latest ? { audit: latest.audit + 1, event: latest.event + 1 } : positionOf(query.before as string);
    const below = query.to === undefined ? start : lowest(start, await store.firstOf(new Date(filter.to.getTime() + MARGIN_MS)));
    const { rows, end, more } = await this.#search({ store, website, filter, floor }, below);
    return {
      events: presentEvents(rows, { isLocal: this.#isLocal }),
      cursor: more ? `${end.audit}.${end.event}` : null,
      searchedTo: ((more && (await store.timeOf(end.audit))) || filter.from).toISOString(),
      latest: latest && `${latest.audit}.${latest.event}`,
    };
  }

  async #search(search: Search, start: Position): Promise<Merged> {
    const end = Date.now() + SEARCH_MS;
    const found: Merged['rows'] = [];
    for (let below = start; ; ) {
      const piece = await this.#inLane(() => this.#readPiece(search, below));
      found.push(...piece.rows);
      below = piece.end;
      if (!piece.more || found.length >= PAGE_ROWS || Date.now() >= end) return { ...piece, rows: found };
    }
  }

  async #readPiece({ store, website, filter, floor }: Search, below: Position): Promise<Merged> {
    const piece = mergeSources(await store.read(website, filter, below, floor), below, 'backward');
    if (piece.rows.length > 0 || !piece.more) return piece;
    return { ...piece, end: { ...piece.end, audit: await store.skipQuietDays(website, piece.end.audit, floor.audit) } };
  }

  #inLane<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#lane.then(work);
    this.#lane = result.catch(() => {});
    return result;
  }

  /** Returns the newest position before which no row can appear any more. @throws Fault unavailable */
  async #latest(): Promise<Position> {
    const latest = await this.#feed.position();
    if (!latest) throw new Fault('unavailable', { retryAfter: 5 });
    return latest;
  }

  #filterOf({ since, proven }: LoggedWebsite, { email, kind, reason, problems, from, to }: Parsed<'websiteLog'>): LogFilter {
    const oldest = Math.max(since.getTime(), Date.now() - MAX_LOG_DAYS * DAY_MS, from === undefined ? 0 : Date.parse(from));
    return {
      email: email || null,
      kinds: kind ? [kind] : problems === 'true' ? PROBLEM_KINDS : null,
      reason: reason || null,
      from: new Date(oldest),
      to: to === undefined ? new Date(Date.now() + DAY_MS) : new Date(to),
      plainAddresses: proven || this.#isLocal,
    };
  }
}

function positionOf(cursor: string): Position {
  const [audit, event] = cursor.split('.').map(Number);
  return { audit, event };
}

const lowest = (a: Position, b: Position): Position => ({ audit: Math.min(a.audit, b.audit), event: Math.min(a.event, b.event) });

export function logRoutes(log: WebsiteLog): Served[] {
  return [serve('websiteLog', (input, { account }) => log.read(account, input), { timeoutSeconds: TIMEOUT_SECONDS })];
}
