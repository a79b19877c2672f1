import type pg from 'pg';
import type { Output, Parsed } from '../../contract/calls.ts';
import { Fault } from '../../contract/errors.ts';
import { ATTEMPT_SECONDS, MAX_LOG_DAYS, TOKEN_SECONDS } from '../../contract/limits.ts';
import { METHODS } from '../../contract/methods.ts';
import { SIGN_IN_STATES, type SignInState, STATE_OF_KIND, signInStates } from '../../contract/sign-in-states.ts';
import type { Database } from '../platform/db/database.ts';
import { WITHOUT_EMAIL } from '../platform/db/method-rows.ts';
import { startOf } from '../platform/db/row-numbers.ts';
import { type Account, type Endpoint, handle } from '../platform/http/endpoint.ts';
import { managedBy } from '../websites/managers.ts';
import { ERASED, shownAddress } from '../websites/visits.ts';
import { type EventRow, EventStore, IS_EVENT, KIND, type Piece, REASON } from './event-store.ts';
import { presentEvents, SIGNED_IN_KINDS } from './events.ts';
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
/** From the first step of a sign-in to the last one, with the time that passes until a step is written. */
const SIGN_IN_MS = (ATTEMPT_SECONDS + TOKEN_SECONDS) * 1000 + 5 * MARGIN_MS;

type Parts = { isLocal: boolean; database: Database };
/** `above`: with whole sign-ins, the number before which the steps of the first ones have come. */
type Search = { website: LoggedWebsite; filter: LogFilter; floor: number; above: number | null };

/** The log of one website: the same events as WebsiteEvents, read backwards and filtered, or as whole sign-ins. */
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
    const above = query.by === 'sign_in' ? await this.#endOfSteps(below) : null;
    const { rows, end, more } = await this.#search({ website, filter, floor, above }, below);
    return {
      events: presentEvents(rows, { isLocal: this.#isLocal }),
      cursor: more ? String(end) : null,
      searchedTo: ((more && (await this.#store.timeOf(end))) || filter.from).toISOString(),
      latest: latest === null ? null : String(latest),
    };
  }

  async #search({ website, filter, floor, above }: Search, start: number): Promise<Piece> {
    const end = Date.now() + SEARCH_MS;
    const found: EventRow[] = [];
    let until = above;
    for (let below = start; ; ) {
      const piece = await this.#inTurn(() =>
        until === null
          ? this.#store.read(website, filter, below, floor)
          : this.#store.readSignIns(website, filter, { floor, below, above: until }),
      );
      found.push(...piece.rows);
      below = piece.end;
      if (!piece.more || found.length >= PAGE_ROWS || Date.now() >= end) return { ...piece, rows: found };
      if (until !== null) until = await this.#endOfSteps(below);
    }
  }

  /** Returns a number before which all steps of the sign-ins have come that began before `below`. */
  async #endOfSteps(below: number): Promise<number> {
    const at = await this.#store.timeOf(below);
    return at ? Math.max(below, await this.#store.firstOf(new Date(at.getTime() + SIGN_IN_MS))) : below;
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

  #filterOf({ since, proven }: LoggedWebsite, { email, kind, reason, problems, state, method, from, to }: Parsed<'websiteLog'>): LogFilter {
    const oldest = Math.max(since.getTime(), Date.now() - MAX_LOG_DAYS * DAY_MS, from === undefined ? 0 : Date.parse(from));
    return {
      email: email || null,
      kinds: kind ? [kind] : problems === 'true' ? PROBLEM_KINDS : null,
      reason: reason || null,
      state: state ?? null,
      method: method ? METHODS[method].code : null,
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
  /** Of whole sign-ins only. */
  state: SignInState | null;
  /** As a column has it; of whole sign-ins only. */
  method: string | null;
  from: Date;
  to: Date;
  /** Addresses are shown as they are; otherwise masked, and the filter applies to the masked ones. */
  plainAddresses: boolean;
};

/** Rows of a website that one statement reads to filter them, and rows that it returns. */
const MAX_FILTERED = 20_000;
const MAX_ROWS = 100;
/** Sign-ins that one statement returns, and rows of a website that it reads for them when it filters nothing. */
const MAX_SIGN_INS = 30;
const MAX_UNFILTERED = 500;
/** Later rows of a website that one statement reads for the steps of the sign-ins that began before them. A sign-in takes 70 minutes at most. */
const MAX_LATER = 100_000;

const FIND_WEBSITE = `
select id, domain, domain_since as since, proven_at is not null as proven
from websites w where id = $2::uuid and ${managedBy('w', '$1')}`;

const ADDRESS = shownAddress({ website: '$1::uuid', email: 'email', at: 'at' });

/** The address as presentEvents shows it; maskEmail of contract/emails.ts masks in the same way. */
const SHOWN = `case when $8 or address = '${ERASED}' then address else left(address, 1) || '•••@' || split_part(address, '@', 2) end`;

// $1 website, $2 from and $3 below which number, $4 $5 times, $6 kinds, $7 beginning of the address, $8 plainAddresses, $9 reason, $10 rows to read.
const ROWS = `
with recent as materialized (
  select id, at, action, result, method, email, client_id, sign_in, count from activity_log
  where website_id = $1 and id >= $2 and id < $3 and ${IS_EVENT} order by id desc limit $10
),
event as (
  select id, at, ${KIND} as kind, ${REASON} as reason, ${ADDRESS} as address, coalesce(count, 1) as count,
    client_id is not null as is_open_id, sign_in
  from recent
),
found as (
  select id::float8 as id, at, kind, reason, address as email, count, is_open_id as "isOpenId", sign_in as "signIn" from event
  where at >= $4 and at < $5 and ($6::text[] is null or kind = any($6)) and ($7::text is null or starts_with(${SHOWN}, $7))
    and ($9::text is null or reason = $9)
  order by event.id desc limit ${MAX_ROWS}
)
select (select count(*) from recent)::integer as "readRows", (select min(id) from recent)::float8 as "lastRead", found.*
from (select) one left join found on true order by found.id desc`;

/** Whether a row is the first one of a sign-in, or an event that is of none. */
const IS_START = `(sign_in is null or action = 'sign_in_requested' or ${WITHOUT_EMAIL})`;

const rankOf = (state: SignInState) => signInStates.indexOf(state);

/** The rank of the state to which a step leads, as presentEvents returns it. */
const RANK = `case when kind in (${SIGNED_IN_KINDS.map((kind) => `'${kind}'`).join(', ')}) then case when is_open_id then ${rankOf('signed_in')} else ${rankOf('unverified')} end ${Object.entries(
  STATE_OF_KIND,
)
  .map(([key, state]) => {
    const [kind, reason] = key.split(' ');
    return `when kind = '${kind}'${reason ? ` and reason = '${reason}'` : ''} then ${rankOf(state)}`;
  })
  .join(' ')} end`;

/** The state of a sign-in, as stateOf returns it. */
const STATE = `case
      when rank in (${signInStates
        .filter((state) => SIGN_IN_STATES[state].waits)
        .map(rankOf)
        .join(', ')}) and begun < now() - interval '${ATTEMPT_SECONDS} seconds' then 'ended'
      ${signInStates.map((state) => `when rank = ${rankOf(state)} then '${state}'`).join(' ')} end`;

// As ROWS; $11 state, $12 method, $13 below which number the steps have come. A sign-in is where its first row is, so that it stays there
// when it goes on. Its other rows are after that one, also after $3.
const SIGN_INS = `
with recent as materialized (
  select id, at, action, result, method, email, client_id, sign_in, count from activity_log
  where website_id = $1 and id >= $2 and id < $3 and ${IS_EVENT} order by id desc limit $10
),
later as materialized (
  select id, at, action, result, method, email, client_id, sign_in, count from activity_log
  where website_id = $1 and id >= $3 and id < $13 and ${IS_EVENT} and sign_in in (select sign_in from recent) and not ${IS_START} order by id limit ${MAX_LATER}
),
event as (
  select id, at, ${KIND} as kind, ${REASON} as reason, ${ADDRESS} as address, coalesce(count, 1) as count,
    client_id is not null as is_open_id, sign_in, method, coalesce(sign_in::text, id::text) as key, ${IS_START} as is_start
  from (select * from recent union all select * from later) of_website
),
ranked as materialized (select *, ${RANK} as rank, ${SHOWN} as shown from event),
sign_in as (
  select key, min(id) filter (where is_start) as start, min(at) filter (where is_start) as begun, max(rank) as rank,
    bool_or($6::text[] is null or kind = any($6) and ($9::text is null or reason = $9)) as has_kind,
    bool_or($7::text is null or starts_with(shown, $7)) as has_address, bool_or($12::"char" is null or method = $12::"char") as has_method
  from ranked group by key
),
found as (
  select key, start from sign_in where start is not null and begun >= $4 and begun < $5 and has_kind and has_address and has_method
    and ($11::text is null or ${STATE} = $11)
  order by start desc limit ${MAX_SIGN_INS}
)
select (select count(*) from recent)::integer as "readRows", (select min(id) from recent)::float8 as "lastRead", found.start::float8 as start,
  row.id::float8 as id, at, kind, reason, address as email, count, is_open_id as "isOpenId", sign_in as "signIn"
from (select) one left join found on true left join ranked row using (key) order by found.start desc, row.id`;

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

  /** Returns the newest sign-ins that began below a number and not below `floor`, up to the limits of one statement, each with all its rows. */
  async readSignIns(
    { id, domain, proven }: LoggedWebsite,
    filter: LogFilter,
    { floor, below, above }: { floor: number; below: number; above: number },
  ): Promise<Piece> {
    if (floor >= below) return { rows: [], end: floor, more: false };
    const { email, kinds, reason, state, method, plainAddresses, from, to } = filter;
    const isFiltered = [email, kinds, reason, state, method].some((each) => each !== null);
    const limit = isFiltered ? MAX_FILTERED : MAX_UNFILTERED;
    const values = [id, floor, below, from, to, kinds, email, plainAddresses, reason, limit, state, method, above];
    const found = await this.#query<FoundRow & { start: number | null }>('log-sign-ins', SIGN_INS, values);
    const rows = found.flatMap((row) => (row.id === null ? [] : [{ ...row, domain, application: null, proven }]));
    const starts = new Set(found.map(({ start }) => start));
    const [{ readRows, lastRead }] = found;
    if (starts.size < MAX_SIGN_INS && readRows < limit) return { rows, end: floor, more: false };
    const end = starts.size === MAX_SIGN_INS ? Number(found[found.length - 1].start) : lastRead;
    return { rows, end, more: end > floor };
  }

  async #query<Row extends object>(name: string, text: string, values: unknown[]): Promise<Row[]> {
    return (await this.#core.query<Row>({ name, text, values })).rows;
  }
}
