import type pg from 'pg';
import { METHODS, methodNames } from '../../contract/methods.ts';
import { LOCALHOST } from '../../contract/rules.ts';
import { startOf } from '../db/row-numbers.ts';
import { ofSignIn } from '../db/sign-in-rows.ts';
import { waitForWriters, writersOf } from '../db/writers.ts';
import { shownAddress } from '../visitors/visits.ts';
import { managedBy } from '../websites/managers.ts';

/** How far the two sources of events are read: the last row number of the audit log, and of `website_events`. */
export type Position = { audit: number; event: number };

/** A row of one of the two sources. */
export type EventRow = {
  id: number;
  at: Date;
  /** A domain, or the client ID of an application. */
  domain: string;
  /** The name of the application; null: a website. */
  application: string | null;
  kind: string;
  reason: string | null;
  email: string | null;
  count: number;
  /** Whether the step is of OpenID Connect, where that is known. */
  isOpenId: boolean;
  /** Whether the domain is proven. */
  proven: boolean;
  /** False: from before the website had its present owner or domain. */
  visible: boolean;
};

/** The rows of one source within a range, in the order of their numbers. */
export type Source = {
  rows: EventRow[];
  /** The range was read up to this number. */
  end: number;
  /** The time of the last row that was read, when there are later rows. */
  endAt: Date | null;
};

/** Whose events to read: those of the websites that an account manages, and of its applications. `localhost`: also those of localhost, which no one owns. */
export type Owner = { id: string; email: string; localhost: boolean };

/** A new row. `mail`: the id of the pending email that it is about. */
export type NewEvent = { domain: string; kind: string; reason: string | null; email: string | null; count: number; mail: string | null };

/** Numbers that one call reads of each source, and rows that it returns of each. The rows of a domain have no index. */
const MAX_SCANNED = 100_000;
const MAX_ROWS = 200;

const IS_OWN = `(${managedBy('w', '$1')} or $2 and w.email is null)`;

/**
 * Returns the SQL expression of the subject of a row of the audit log, for rows that may be of some subjects: their domain, or for their
 * client_id what subjectOf returns.
 * @param subjects a parameter of type text[]
 */
export const subjectOfRow = (subjects: string) => `coalesce(domain, case
    when client_id is null then null
    when client_id like 'https://%' then (
      select array_to_string(labels[n:], '.')
      from (select string_to_array(substring(client_id from '^https://([^/:]+)$'), '.') as labels) host
        cross join lateral generate_series(1, cardinality(labels)) n
      where array_to_string(labels[n:], '.') = any(${subjects}) limit 1)
    when client_id like 'http://%' then '${LOCALHOST}'
    else client_id end)`;

const DOMAINS = `
select domain from websites w where ${IS_OWN} and ($3::text is null or domain = $3)
union all select client_id from applications where user_id = $4 and ($3::text is null or client_id = $3)`;

/** The actions of the audit log that are events, and their kinds. A sign-in with a known method has the kind of its method. */
const KIND_OF_ACTION = {
  sign_in_requested: 'requested',
  signed_in: 'opened',
  address_proven: 'address_proven',
  token_verified: 'verified',
  application_signed_in: 'opened',
  code_exchanged: 'exchanged',
};

/** The kinds of events that are rows of the audit log. */
export const AUDIT_KINDS: readonly string[] = [
  ...Object.values(KIND_OF_ACTION),
  ...methodNames.map((method) => METHODS[method].event.kind),
];

const ACTIONS = Object.entries(KIND_OF_ACTION);

/** The kind and the reason of an event, of a row of the audit log. */
export const KIND = `coalesce(${ofSignIn((method) => METHODS[method].event.kind)}, case action ${ACTIONS.map(([action, kind]) => `when '${action}' then '${kind}'`).join(' ')} end)`;
export const REASON = ofSignIn((method) => METHODS[method].event.reason);

/** The condition of rows of the audit log that are events. */
export const IS_EVENT = `action in (${ACTIONS.map(([action]) => `'${action}'`).join(', ')})`;

/** Selects the newest row of both tables, and the transactions that may still add a row before it. */
const NEWEST = `
select (select coalesce(max(id), 0) from audit_log)::float8 as audit, (select coalesce(max(id), 0) from website_events)::float8 as event,
  ${writersOf('audit_log', 'website_events')} as writers`;

const OWNED = `
owned as materialized (
  select w.id as website, domain, w.domain_since as since, proven_at is not null as proven, null as application
  from websites w where ${IS_OWN} and domain = any($3::text[])
  union all
  select id, client_id, created_at, false, name from applications where user_id = $7 and client_id = any($3::text[])
)`;

const SHOWN_EMAIL = shownAddress({ website: 'owned.website', email: 'row.email', at: 'row.at' });

// $1 $2 $7 the owner, $3 domains and client IDs, $4 after and $5 up to which number, $6 limit.
const AUDIT_ROWS = `
with ${OWNED},
row as materialized (
  select id, at, subject as domain, action, method, email, client_id is not null as is_open_id
  from audit_log cross join lateral (select ${subjectOfRow('$3::text[]')} as subject) of_row
  where id > $4 and id <= $5 and ${IS_EVENT} and subject = any($3::text[])
  order by id limit $6
)
select row.id::float8 as id, at, row.domain, application, ${KIND} as kind, ${REASON} as reason, ${SHOWN_EMAIL} as email, 1 as count,
  is_open_id as "isOpenId", proven, at >= since as visible
from row join owned using (domain) order by row.id`;

const EVENT_ROWS = `
with ${OWNED},
row as materialized (
  select id, at, domain, kind, reason, email, count from website_events
  where id > $4 and id <= $5 and domain = any($3::text[]) order by id limit $6
)
select row.id::float8 as id, at, domain, application, kind, reason, ${SHOWN_EMAIL} as email, count, false as "isOpenId", proven, at >= since as visible
from row join owned using (domain) order by row.id`;

const lastAt = (table: string) => `select at from ${table} where id <= $1 order by id desc limit 1`;

// $1 domains; $2 $3 and $4 $5: after and up to which number.
const DOMAINS_WITH_NEWS = `
select subject as domain from audit_log cross join lateral (select ${subjectOfRow('$1::text[]')} as subject) of_row
where id > $2 and id <= $3 and ${IS_EVENT} and subject = any($1::text[])
union select domain from website_events where id > $4 and id <= $5 and domain = any($1::text[])`;

// Rows of domains that are not registered, and of applications that do not exist, would be seen by no one. The address of an email is stored
// as long as the email is pending: when it was erased, the attempt to deliver it may still be in progress.
const INSERT = `
insert into website_events (domain, kind, reason, email, count)
select g.domain, g.kind, reason, case when g.mail is null or exists (select from outbox o where o.id = g.mail) then g.email end, count
from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::integer[], $6::uuid[]) with ordinality as g (domain, kind, reason, email, count, mail, n)
where exists (select from websites w where w.domain = g.domain) or exists (select from applications a where a.client_id = g.domain) order by n`;

/** The statements of events. All of them find rows by the primary keys. */
export class EventStore {
  readonly #core: pg.Pool;

  constructor(core: pg.Pool) {
    this.#core = core;
  }

  async insert(events: NewEvent[]): Promise<void> {
    const column = <Key extends keyof NewEvent>(key: Key) => events.map((event) => event[key]);
    const values = [column('domain'), column('kind'), column('reason'), column('email'), column('count'), column('mail')];
    await this.#query('events-insert', INSERT, values);
  }

  /** Returns which domains and client IDs an owner has, all of them or `domain` alone. */
  async domainsOf({ id, email, localhost }: Owner, domain: string | null): Promise<string[]> {
    const rows = await this.#query<{ domain: string }>('events-domains', DOMAINS, [email, localhost, domain, id]);
    return rows.map((row) => row.domain);
  }

  /** Returns a position up to which no row can appear any more, or null when a transaction keeps writing for seconds. */
  async position(): Promise<Position | null> {
    const [{ writers, ...position }] = await this.#query<Position & { writers: string[] }>('events-newest', NEWEST, []);
    return (await waitForWriters((text, values) => this.#core.query(text, values), writers)) ? position : null;
  }

  /** Returns the position before the events of the last `seconds`. */
  async startOf(seconds: number): Promise<Position> {
    const [[audit], [event]] = await Promise.all([
      this.#query<{ start: number }>('events-start-audit', startOf('audit_log'), [seconds]),
      this.#query<{ start: number }>('events-start', startOf('website_events'), [seconds]),
    ]);
    return { audit: audit.start, event: event.start };
  }

  /** Returns the rows of an owner's domains between two positions, up to the limits of one call. */
  async read(owner: Owner, domains: string[], after: Position, upTo: Position): Promise<{ audit: Source; event: Source }> {
    const [audit, event] = await Promise.all([
      this.#readSource('audit_log', AUDIT_ROWS, owner, domains, after.audit, upTo.audit),
      this.#readSource('website_events', EVENT_ROWS, owner, domains, after.event, upTo.event),
    ]);
    return { audit, event };
  }

  /** Returns those of the domains that have rows between two positions. */
  async domainsWithNews(domains: string[], after: Position, upTo: Position): Promise<Set<string>> {
    const values = [domains, after.audit, upTo.audit, after.event, upTo.event];
    const rows = await this.#query<{ domain: string }>('events-news', DOMAINS_WITH_NEWS, values);
    return new Set(rows.map(({ domain }) => domain));
  }

  async #readSource(table: string, text: string, owner: Owner, domains: string[], after: number, upTo: number): Promise<Source> {
    const scannedTo = Math.min(after + MAX_SCANNED, Math.max(after, upTo));
    const values = [owner.email, owner.localhost, domains, after, scannedTo, MAX_ROWS, owner.id];
    const rows = scannedTo > after ? await this.#query<EventRow>(`events-read-${table}`, text, values) : [];
    const last = rows.at(-1);
    if (rows.length === MAX_ROWS && last && last.id < upTo) return { rows, end: last.id, endAt: last.at };
    if (scannedTo >= upTo) return { rows, end: scannedTo, endAt: null };
    const [end] = await this.#query<{ at: Date }>(`events-last-${table}`, lastAt(table), [scannedTo]);
    return { rows, end: scannedTo, endAt: end?.at ?? new Date(0) };
  }

  async #query<Row extends object>(name: string, text: string, values: unknown[]): Promise<Row[]> {
    return (await this.#core.query<Row>({ name, text, values })).rows;
  }
}
