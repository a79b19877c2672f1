import type pg from 'pg';
import type { Output, Parsed } from '../../contract/calls.ts';
import { Fault } from '../../contract/errors.ts';
import { MAX_LOG_DAYS } from '../../contract/limits.ts';
import type { Database } from '../platform/db/database.ts';
import { startOf } from '../platform/db/row-numbers.ts';
import { type Account, type Endpoint, handle } from '../platform/http/endpoint.ts';
import { managedBy } from '../websites/managers.ts';
import { ERASED, shownAddress } from '../websites/visits.ts';
import { type EventRow, EventStore, IS_EVENT, KIND, type Piece, REASON } from './event-store.ts';
import { presentEvents } from './events.ts';
import { PROBLEM_KINDS } from './explanations.ts';

type Page = Output<'websiteLog'>;

/** A call that has found as many rows returns them, or what it has found after this time; the caller continues at the cursor. */
const PAGE_ROWS = 50;
const SEARCH_MS = 1_000;
/** Waiting for writers and for the searches of others included. */
const TIMEOUT_SECONDS = 10;
/** Searches that run or wait, of one account and of this process. */
const MAX_SEARCHES_OF_ACCOUNT = 10;
const MAX_SEARCHES = 50;

const DAY_MS = 86_400_000;
/** The times of neighboring rows may differ by some seconds from the order of their numbers. */
const MARGIN_MS = 60_000;

type Parts = { isLocal: boolean; database: Database };
type Search = { website: LoggedWebsite; filter: LogFilter; floor: number };

/** The log of one website: the same events as WebsiteEvents, read backwards and filtered. */
export class WebsiteLog {
  readonly #isLocal: boolean;
  readonly #store: LogStore;
  readonly #events: EventStore;
  /** Statements of all searches run one after the other, so that they leave the connections to the sign-ins. */
  #queue: Promise<unknown> = Promise.resolve();
  /** The accounts of the searches that run or wait. */
  readonly #searching: string[] = [];

  constructor({ isLocal, database }: Parts) {
    this.#isLocal = isLocal;
    this.#store = new LogStore(database.core);
    this.#events = new EventStore(database.core);
  }

  /** Returns a part of the log, newest first, from the time when the website became the account's. @throws Fault website_not_found, unavailable */
  async read({ email }: Account, query: Parsed<'websiteLog'>): Promise<Page> {
    const ofAccount = this.#searching.filter((account) => account === email).length;
    if (ofAccount >= MAX_SEARCHES_OF_ACCOUNT || this.#searching.length >= MAX_SEARCHES) throw new Fault('unavailable', { retryAfter: 5 });
    this.#searching.push(email);
    try {
      return await this.#read(email, query);
    } finally {
      this.#searching.splice(this.#searching.indexOf(email), 1);
    }
  }

  async #read(email: string, query: Parsed<'websiteLog'>): Promise<Page> {
    const website = await this.#store.findWebsite(email, query.id);
    if (!website) throw new Fault('website_not_found');
    const filter = this.#filterOf(website, query);
    const latest = query.before === undefined ? await this.#latest() : null;
    const floor = await this.#store.firstOf(new Date(filter.from.getTime() - MARGIN_MS));
    const start = latest === null ? Number(query.before) : latest + 1;
    const below = query.to === undefined ? start : Math.min(start, await this.#store.firstOf(new Date(filter.to.getTime() + MARGIN_MS)));
    const { rows, end, more } = await this.#search({ website, filter, floor }, below);
    return {
      events: presentEvents(rows, { isLocal: this.#isLocal }),
      cursor: more ? String(end) : null,
      searchedTo: ((more && (await this.#store.timeOf(end))) || filter.from).toISOString(),
      latest: latest === null ? null : String(latest),
    };
  }

  async #search({ website, filter, floor }: Search, start: number): Promise<Piece> {
    const end = Date.now() + SEARCH_MS;
    const found: EventRow[] = [];
    for (let below = start; ; ) {
      const piece = await this.#inTurn(() => this.#store.read(website, filter, below, floor));
      found.push(...piece.rows);
      below = piece.end;
      if (!piece.more || found.length >= PAGE_ROWS || Date.now() >= end) return { ...piece, rows: found };
    }
  }

  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#queue.then(work);
    this.#queue = result.catch(() => {});
    return result;
  }

  /** Returns the newest number before which no row can appear any more. @throws Fault unavailable */
  async #latest(): Promise<number> {
    const latest = await this.#events.newest();
    if (latest === null) throw new Fault('unavailable', { retryAfter: 5 });
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

/** Binds the call that returns the log of a website. */
export function logEndpoints(log: WebsiteLog): Endpoint[] {
  return [handle('websiteLog', (input, { account }) => log.read(account, input), { timeoutSeconds: TIMEOUT_SECONDS })];
}

/** A website whose log is read. `since`: when it got its domain. */
type LoggedWebsite = { id: string; domain: string; since: Date; proven: boolean };

/** Which rows to return. Null: all of them. */
type LogFilter = {
  /** The beginning of an address, in lower case. */
  email: string | null;
  kinds: readonly string[] | null;
  reason: string | null;
  from: Date;
  to: Date;
  /** Addresses are shown as they are; otherwise masked, and the filter applies to the masked ones. */
  plainAddresses: boolean;
};

/** Rows of a website that one statement reads to filter them, and rows that it returns. */
const MAX_FILTERED = 20_000;
const MAX_ROWS = 100;

const FIND_WEBSITE = `
select id, domain, domain_since as since, proven_at is not null as proven
from websites w where id = $2::uuid and ${managedBy('w', '$1')}`;

const ADDRESS = shownAddress({ website: '$1::uuid', email: 'email', at: 'at' });

/** The address as presentEvents shows it; maskEmail of contract/emails.ts masks in the same way. */
const SHOWN = `case when $8 or address = '${ERASED}' then address else left(address, 1) || '•••@' || split_part(address, '@', 2) end`;

// $1 website, $2 from and $3 below which number, $4 $5 times, $6 kinds, $7 beginning of the address, $8 plainAddresses, $9 reason, $10 rows to read.
const ROWS = `
with recent as materialized (
  select id, at, action, result, method, email, client_id, count from activity_log
  where website_id = $1 and id >= $2 and id < $3 and ${IS_EVENT} order by id desc limit $10
),
event as (
  select id, at, ${KIND} as kind, ${REASON} as reason, ${ADDRESS} as address, coalesce(count, 1) as count,
    client_id is not null as is_open_id
  from recent
),
found as (
  select id::float8 as id, at, kind, reason, address as email, count, is_open_id as "isOpenId" from event
  where at >= $4 and at < $5 and ($6::text[] is null or kind = any($6)) and ($7::text is null or starts_with(${SHOWN}, $7))
    and ($9::text is null or reason = $9)
  order by event.id desc limit ${MAX_ROWS}
)
select (select count(*) from recent)::integer as "readRows", (select min(id) from recent)::float8 as "lastRead", found.*
from (select) one left join found on true order by found.id desc`;

/** A row of ROWS; without any that is found, there is one with null. */
type FoundRow = { readRows: number; lastRead: number } & (Omit<EventRow, 'domain' | 'application' | 'proven'> | { id: null });

const FIRST_AT = 'select at from activity_log where id >= $1 order by id limit 1';

/** The statements of the log of a website. */
class LogStore {
  readonly #core: pg.Pool;

  constructor(core: pg.Pool) {
    this.#core = core;
  }

  /** Returns a website that the address manages, or null. */
  async findWebsite(email: string, id: string): Promise<LoggedWebsite | null> {
    return (await this.#query<LoggedWebsite>('log-website', FIND_WEBSITE, [email, id]))[0] ?? null;
  }

  /** Returns the number of the first row at or after a time. */
  async firstOf(time: Date): Promise<number> {
    return (await this.#query<{ start: number }>('log-start', startOf('activity_log', '$1::timestamptz'), [time]))[0].start + 1;
  }

  /** Returns the time at a number, or null after the last row. */
  async timeOf(number: number): Promise<Date | null> {
    return (await this.#query<{ at: Date }>('log-time', FIRST_AT, [number]))[0]?.at ?? null;
  }

  /** Returns the newest rows below a number and not below `floor`, up to the limits of one statement. */
  async read({ id, domain, proven }: LoggedWebsite, filter: LogFilter, below: number, floor: number): Promise<Piece> {
    if (floor >= below) return { rows: [], end: floor, more: false };
    const { email, kinds, reason, plainAddresses, from, to } = filter;
    const limit = email === null && kinds === null && reason === null ? MAX_ROWS : MAX_FILTERED;
    const values = [id, floor, below, from, to, kinds, email, plainAddresses, reason, limit];
    const found = await this.#query<FoundRow>('log-read', ROWS, values);
    const rows = found.flatMap((row) => (row.id === null ? [] : [{ ...row, domain, application: null, proven }]));
    const [{ readRows, lastRead }] = found;
    if (rows.length < MAX_ROWS && readRows < limit) return { rows, end: floor, more: false };
    const end = rows.length === MAX_ROWS ? rows[MAX_ROWS - 1].id : lastRead;
    return { rows, end, more: end > floor };
  }

  async #query<Row extends object>(name: string, text: string, values: unknown[]): Promise<Row[]> {
    return (await this.#core.query<Row>({ name, text, values })).rows;
  }
}
