import type pg from 'pg';
import { Fault } from '../../contract/errors.ts';
import { ATTEMPT_SECONDS, MAX_LOG_DAYS } from '../../contract/limits.ts';
import type { Output, Parsed } from '../../contract/routes.ts';
import type { Config } from '../config.ts';
import type { Database } from '../db/database.ts';
import { startOf } from '../db/row-numbers.ts';
import { type Account, type Served, serve } from '../http/invoke.ts';
import { ERASED, shownAddress } from '../visitors/visits.ts';
import { managedBy } from '../websites/managers.ts';
import { earliest, type Merged, mergeSources, positionOf, presentEvents } from './events.ts';
import { PROBLEM_KINDS } from './explanations.ts';
import { AUDIT_KINDS, type EventRow, EventStore, IS_EVENT, KIND, type Position, REASON, type Source, subjectOfRow } from './store.ts';

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

type Parts = { config: Pick<Config, 'mode'>; database: Pick<Database, 'core'> };
type Search = { website: LoggedWebsite; filter: LogFilter; floor: Position };

/** The log of one website: the same events as WebsiteEvents, read backwards and filtered. */
export class WebsiteLog {
  readonly #isLocal: boolean;
  readonly #store: LogStore;
  readonly #events: EventStore;
  /** Statements of all searches run one after the other, so that they leave the connections to the sign-ins. */
  #queue: Promise<unknown> = Promise.resolve();
  /** The accounts of the searches that run or wait. */
  readonly #searching: string[] = [];

  constructor({ config, database }: Parts) {
    this.#isLocal = config.mode === 'local';
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
    const start = latest ? { audit: latest.audit + 1, event: latest.event + 1 } : positionOf(query.before as string);
    const below = query.to === undefined ? start : earliest(start, await this.#store.firstOf(new Date(filter.to.getTime() + MARGIN_MS)));
    const { rows, end, more } = await this.#search({ website, filter, floor }, below);
    return {
      events: presentEvents(rows, { isLocal: this.#isLocal }),
      cursor: more ? `${end.audit}.${end.event}` : null,
      searchedTo: ((more && (await this.#store.timeOf(end.audit))) || filter.from).toISOString(),
      latest: latest && `${latest.audit}.${latest.event}`,
    };
  }

  async #search(search: Search, start: Position): Promise<Merged> {
    const end = Date.now() + SEARCH_MS;
    const found: Merged['rows'] = [];
    for (let below = start; ; ) {
      const piece = await this.#inTurn(() => this.#readPiece(search, below));
      found.push(...piece.rows);
      below = piece.end;
      if (!piece.more || found.length >= PAGE_ROWS || Date.now() >= end) return { ...piece, rows: found };
    }
  }

  async #readPiece({ website, filter, floor }: Search, below: Position): Promise<Merged> {
    const piece = mergeSources(await this.#store.read(website, filter, below, floor), below, 'backward');
    if (piece.rows.length > 0 || !piece.more) return piece;
    return { ...piece, end: { ...piece.end, audit: await this.#store.skipQuietDays(website, piece.end.audit, floor.audit) } };
  }

  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#queue.then(work);
    this.#queue = result.catch(() => {});
    return result;
  }

  /** Returns the newest position before which no row can appear any more. @throws Fault unavailable */
  async #latest(): Promise<Position> {
    const latest = await this.#events.position();
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

/** Binds the call that returns the log of a website. */
export function logRoutes(log: WebsiteLog): Served[] {
  return [serve('websiteLog', (input, { account }) => log.read(account, input), { timeoutSeconds: TIMEOUT_SECONDS })];
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

/** Numbers that one statement reads of each source, and rows that it returns. The rows of a domain have no index. */
const MAX_SCANNED = 100_000;
const MAX_ROWS = 100;

const FIND_WEBSITE = `
select id, domain, domain_since as since, proven_at is not null as proven
from websites w where id = $2::uuid and ${managedBy('w', '$1')}`;

const ADDRESS = shownAddress({ website: '$10::uuid', email: 'email', at: 'at' });

/** The address as presentEvents shows it; maskEmail of contract/rules.ts masks in the same way. */
const SHOWN = `case when $8 or address = '${ERASED}' then address else left(address, 1) || '•••@' || split_part(address, '@', 2) end`;

// $1 domain and $10 id of the website, $2 from and $3 below which number, $4 $5 times, $6 kinds, $7 beginning of the address, $8 plainAddresses, $9 reason.
const rowsOf = (source: string) => `
select id::float8 as id, at, domain, null as application, kind, reason, address as email, count, is_open_id as "isOpenId", true as visible
from (${source}) source
where id >= $2 and id < $3 and domain = $1 and at >= $4 and at < $5 and ($6::text[] is null or kind = any($6))
  and ($7::text is null or starts_with(${SHOWN}, $7)) and ($9::text is null or reason = $9)
order by source.id desc limit ${MAX_ROWS}`;

const AUDIT_ROWS = rowsOf(`
  select id, at, ${subjectOfRow('array[$1]::text[]')} as domain, ${KIND} as kind, ${REASON} as reason,
    ${ADDRESS} as address, 1 as count, client_id is not null as is_open_id
  from audit_log where ${IS_EVENT}`);
const EVENT_ROWS = rowsOf(`select id, at, domain, kind, reason, ${ADDRESS} as address, count, false as is_open_id from website_events`);

const firstAt = (table: string) => `select at from ${table} where id >= $1 order by id limit 1`;

/**
 * Finds the last day with sign-ins of the website $1 up to the day of the time $2; `isCounted`: the totals include all rows up to the
 * number $3. A client of OpenID Connect may exchange codes on days without a sign-in, which the totals do not count.
 */
const LAST_BUSY_DAY = `
select (select last_audit_id >= $3 from roll_up)
    and not exists (select from daily_sites where website = $1 and openid_sent + openid_opened > 0) as "isCounted", (
  select max(day)::text from daily_sites
  where website = $1 and day <= ($2::timestamptz at time zone 'UTC')::date and sent + opened + again + completed > 0
) as day`;

/** The statements of the log of a website. All of them find rows by the primary keys. */
class LogStore {
  readonly #core: pg.Pool;

  constructor(core: pg.Pool) {
    this.#core = core;
  }

  /** Returns a website that the address manages, or null. */
  async findWebsite(email: string, id: string): Promise<LoggedWebsite | null> {
    return (await this.#query<LoggedWebsite>('log-website', FIND_WEBSITE, [email, id]))[0] ?? null;
  }

  /** Returns the numbers of the first rows at or after a time. */
  async firstOf(time: Date): Promise<Position> {
    const [[audit], [event]] = await Promise.all([
      this.#query<{ start: number }>('log-start-audit', startOf('audit_log', '$1::timestamptz'), [time]),
      this.#query<{ start: number }>('log-start', startOf('website_events', '$1::timestamptz'), [time]),
    ]);
    return { audit: audit.start + 1, event: event.start + 1 };
  }

  /** Returns the time of the audit log at a number, or null after its end. */
  async timeOf(audit: number): Promise<Date | null> {
    return (await this.#query<{ at: Date }>('log-time-audit_log', firstAt('audit_log'), [audit]))[0]?.at ?? null;
  }

  /** Returns the newest rows below a position and not below `floor`, up to the limits of one statement. */
  async read(website: LoggedWebsite, filter: LogFilter, below: Position, floor: Position): Promise<{ audit: Source; event: Source }> {
    const audited = filter.kinds?.map((kind) => AUDIT_KINDS.includes(kind));
    const none = (end: number): Source => ({ rows: [], end, endAt: null });
    const [audit, event] = await Promise.all([
      audited?.every((isAudited) => !isAudited)
        ? none(floor.audit)
        : this.#readSource('audit_log', AUDIT_ROWS, website, filter, below.audit, floor.audit),
      audited?.every((isAudited) => isAudited)
        ? none(floor.event)
        : this.#readSource('website_events', EVENT_ROWS, website, filter, below.event, floor.event),
    ]);
    return { audit, event };
  }

  /**
   * Returns up to which number of the audit log, from `below` backwards, no row of the website can be: its totals have the days with
   * requests and sign-ins, and a row that they do not count, such as a proven address, follows its request within the life of an attempt.
   * A minute is added, as the times of neighboring rows may be some seconds apart.
   */
  async skipQuietDays({ id }: LoggedWebsite, below: number, floor: number): Promise<number> {
    const time = await this.timeOf(below);
    if (!time) return below;
    const values = [id, time, below];
    const [{ isCounted, day }] = await this.#query<{ isCounted: boolean; day: string | null }>('log-day', LAST_BUSY_DAY, values);
    if (!isCounted) return below;
    if (day === null) return floor;
    const end = await this.#query<{ start: number }>('log-start-audit', startOf('audit_log', '$1::timestamptz'), [
      new Date(Date.parse(`${day}T00:00:00Z`) + DAY_MS + ATTEMPT_SECONDS * 1000 + MARGIN_MS),
    ]);
    return Math.min(below, end[0].start + 1);
  }

  async #readSource(table: string, text: string, website: LoggedWebsite, filter: LogFilter, below: number, floor: number): Promise<Source> {
    const from = Math.max(floor, below - MAX_SCANNED);
    if (from >= below) return { rows: [], end: below, endAt: null };
    const { email, kinds, reason, plainAddresses } = filter;
    const values = [website.domain, from, below, filter.from, filter.to, kinds, email, plainAddresses, reason, website.id];
    const read = await this.#query<Omit<EventRow, 'proven'>>(`log-read-${table}`, text, values);
    const rows = read.map((row) => ({ ...row, proven: website.proven }));
    const last = rows.at(-1);
    if (rows.length === MAX_ROWS && last && last.id > floor) return { rows, end: last.id, endAt: last.at };
    if (from <= floor) return { rows, end: floor, endAt: null };
    const [end] = await this.#query<{ at: Date }>(`log-time-${table}`, firstAt(table), [from]);
    return { rows, end: from, endAt: end?.at ?? new Date() };
  }

  async #query<Row extends object>(name: string, text: string, values: unknown[]): Promise<Row[]> {
    return (await this.#core.query<Row>({ name, text, values })).rows;
  }
}
