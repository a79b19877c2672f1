import type pg from 'pg';
import { METHODS } from '../../contract/methods.ts';
import { addSteps } from '../platform/db/activity-rows.ts';
import { ofSignIn } from '../platform/db/method-rows.ts';
import { startOf, waitForWriters, writersOf } from '../platform/db/row-numbers.ts';
import { managedBy } from '../websites/managers.ts';
import { shownAddress } from '../websites/visits.ts';
import { RECORDED_KINDS } from './explanations.ts';

/** A row of the activity log, as an event of a website or an application. */
export type EventRow = {
  /** Its number in the activity log. */
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
  signIn: string | null;
  /** Whether the domain is proven. */
  proven: boolean;
};

/** Rows of a range in the order in which it is read. `end`: the last number that was read; `more`: whether the range goes on. */
export type Piece = { rows: EventRow[]; end: number; more: boolean };

/** Whose events to read: those of the websites that an account manages, and of its applications. */
type Owner = { id: string; email: string };

/** A new row. `signIn`: the id of the sign-in that it is a step of; `mail`: the id of the pending email that it is about. */
export type NewEvent = {
  domain: string;
  kind: string;
  reason: string | null;
  email: string | null;
  signIn: string | null;
  count: number;
  mail: string | null;
};

/** Numbers that one call reads, and rows that it returns. */
const MAX_SCANNED = 100_000;
const MAX_ROWS = 200;

const IS_OWN = managedBy('w', '$1');

// $1 $3 the owner, $2 a domain or client_id, or null.
const SUBJECTS = `
select id from websites w where ${IS_OWN} and ($2::text is null or domain = $2)
union all select id from applications where user_id = $3 and ($2::text is null or client_id = $2)`;

/** The actions of the audit log that are events, and their kinds. A sign-in with a known method has the kind of its method. */
const KIND_OF_ACTION = {
  sign_in_requested: 'requested',
  signed_in: 'opened',
  address_proven: 'address_proven',
  token_verified: 'verified',
  application_signed_in: 'opened',
  code_exchanged: 'exchanged',
  callback_checked: 'callback_checked',
  website_proven: 'domain_proven',
};

const ACTIONS = Object.entries(KIND_OF_ACTION);

/** The kind and the reason of an event, of a row of the activity log. */
export const KIND = `coalesce(${ofSignIn((method) => METHODS[method].event.kind)}, case action ${ACTIONS.map(([action, kind]) => `when '${action}' then '${kind}'`).join(' ')} else action end)`;
export const REASON = `coalesce(result, ${ofSignIn((method) => METHODS[method].event.reason)})`;

/** The condition of rows of the activity log that are events. */
export const IS_EVENT = `action in (${[...Object.keys(KIND_OF_ACTION), ...RECORDED_KINDS].map((action) => `'${action}'`).join(', ')})`;

/** Selects the newest row, and the transactions that may still add a row before it. */
const NEWEST = `
select coalesce(max(id), 0)::float8 as newest, ${writersOf('audit_log', 'sign_in_steps')} as writers from activity_log`;

const SHOWN_EMAIL = shownAddress({ website: 'owned.website', email: 'row.email', at: 'row.at' });

// $1 $6 the owner, $2 its websites and applications, $3 after and $4 up to which number, $5 limit.
const ROWS = `
with owned as materialized (
  select id, id as website, domain, w.domain_since as since, proven_at is not null as proven, null as application
  from websites w where ${IS_OWN} and id = any($2::uuid[])
  union all
  select id, null, client_id, created_at, false, name from applications where user_id = $6 and id = any($2::uuid[])
),
row as materialized (
  select id, at, action, result, method, email, client_id, sign_in, count, coalesce(application_id, website_id) as subject from activity_log
  where id > $3 and id <= $4 and (website_id = any($2::uuid[]) or application_id = any($2::uuid[])) and ${IS_EVENT}
  order by id limit $5
)
select row.id::float8 as id, at, owned.domain, application, ${KIND} as kind, ${REASON} as reason, ${SHOWN_EMAIL} as email, coalesce(count, 1) as count,
  client_id is not null as "isOpenId", sign_in as "signIn", proven, at >= since as visible
from row join owned on owned.id = subject order by row.id`;

// $1 websites and applications; $2 after and $3 up to which number. By the numbers, which are few between two calls: a search for each
// website of an account with thousands would read more.
const WITH_NEWS = `
select distinct subject as id from activity_log cross join lateral (select coalesce(application_id, website_id) as subject) of_row
where activity_log.id > $2 and activity_log.id <= $3 and ${IS_EVENT} and subject = any($1::uuid[])`;

// The address of an email is stored as long as the email is pending: when it was erased, the attempt to deliver it may still be in progress.
const INSERT = addSteps(
  {
    action: 'kind',
    subject: 'domain',
    result: 'reason',
    email: 'case when mail is null or exists (select from outbox o where o.id = mail) then email end',
    signIn: 'sign_in',
    count: 'nullif(count, 1)',
  },
  'unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::integer[], $6::uuid[], $7::uuid[]) as g (domain, kind, reason, email, count, mail, sign_in)',
);

/** The statements of events. */
export class EventStore {
  readonly #core: pg.Pool;

  constructor(core: pg.Pool) {
    this.#core = core;
  }

  async insert(events: NewEvent[]): Promise<void> {
    const column = <Key extends keyof NewEvent>(key: Key) => events.map((event) => event[key]);
    const values = (['domain', 'kind', 'reason', 'email', 'count', 'mail', 'signIn'] as const).map(column);
    await this.#query('events-insert', INSERT, values);
  }

  /** Returns the ids of the websites and applications of an owner, or of the one that has this domain or client ID. */
  async subjectsOf({ id, email }: Owner, domain: string | null): Promise<string[]> {
    const rows = await this.#query<{ id: string }>('events-subjects', SUBJECTS, [email, domain, id]);
    return rows.map((row) => row.id);
  }

  /** Returns a number up to which no row can appear any more, or null when a transaction keeps writing for seconds. */
  async newest(): Promise<number | null> {
    const [{ writers, newest }] = await this.#query<{ newest: number; writers: string[] }>('events-newest', NEWEST, []);
    return (await waitForWriters((text, values) => this.#core.query(text, values), writers)) ? newest : null;
  }

  /** Returns the number before the events of the last `seconds`. */
  async startOf(seconds: number): Promise<number> {
    return (await this.#query<{ start: number }>('events-start', startOf('activity_log'), [seconds]))[0].start;
  }

  /** Returns the rows of an owner's websites and applications between two numbers, oldest first, up to the limits of one call. */
  async read(owner: Owner, subjects: string[], after: number, upTo: number): Promise<Piece> {
    const end = Math.min(after + MAX_SCANNED, Math.max(after, upTo));
    if (end === after) return { rows: [], end, more: false };
    const values = [owner.email, subjects, after, end, MAX_ROWS, owner.id];
    const rows = await this.#query<EventRow & { visible: boolean }>('events-read', ROWS, values);
    const last = rows.length === MAX_ROWS ? rows[MAX_ROWS - 1].id : end;
    return { rows: rows.filter(({ visible }) => visible), end: last, more: last < upTo };
  }

  /** Returns those of the websites and applications that have rows between two numbers. */
  async withNews(subjects: string[], after: number, upTo: number): Promise<Set<string>> {
    const rows = await this.#query<{ id: string }>('events-news', WITH_NEWS, [subjects, after, upTo]);
    return new Set(rows.map(({ id }) => id));
  }

  async #query<Row extends object>(name: string, text: string, values: unknown[]): Promise<Row[]> {
    return (await this.#core.query<Row>({ name, text, values })).rows;
  }
}
