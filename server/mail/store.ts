import type pg from 'pg';
import { mailboxOf } from '../../contract/emails.ts';
import { RESERVED_MAILS } from '../../contract/limits.ts';
import { RATE_LIMITS } from '../../contract/rate-limits.ts';
import { addActivity, addSteps } from '../platform/db/activity-rows.ts';
import { batched } from '../platform/db/batch.ts';
import { addHits, counters, windowOf } from '../platform/db/rate-limits.ts';
import { LEASE_SECONDS, type Mail, type MailKind } from './mail.ts';

const { mails_to_mailbox: MAILBOX } = RATE_LIMITS;

/** When an email that got a temporary failure is tried again, in seconds after it was requested. */
const RETRY_SECONDS = [5, 15, 30, 60, 120, 240, 310, 330, 420, 540];
/** For an email that could not be tried: by then the server may be back, or a connection free. */
export const POSTPONE_SECONDS = 5;

/** `expired`: how many emails were deleted unsent. */
type Leased = { mails: Mail[]; expired: number };

/** An email that is still to send, as the admin pages list it. */
export type PendingEmail = { id: string; kind: string; recipient: string; tries: number; createdAt: Date; dueAt: Date; expiresAt: Date };

// By the primary key, whose order is that of the requests: few rows wait, and an index on due_at would be written by every sign-in.
const CLAIM = `
with dead as (
  delete from outbox where id in (
    select id from outbox where due_at <= now() and expires_at <= now() order by id limit 200 for update skip locked)
  returning id, kind, recipient, data->>'website' as website, case when data ? 'unconfirmed' then 'unconfirmed' end as reason
),
events as (
  ${addSteps(
    { action: "'mail_expired'", subject: 'website', result: 'reason', email: 'recipient', signIn: 'id' },
    `dead where kind in ('sign_in', 'app_sign_in')`,
  )}
),
due as (
  select id from outbox where due_at <= now() and expires_at > now() order by id limit $1 for update skip locked
),
claimed as (
  update outbox o set due_at = now() + make_interval(secs => $2)
  from due where o.id = due.id
  returning o.id, o.kind, o.recipient, o.language, o.data
)
select coalesce((select json_agg(claimed) from claimed), '[]') as mails, (select count(*)::integer from dead) as expired`;

/** Emails that the request statement has counted; every other kind is a notice. */
const COUNTED_AT_REQUEST: readonly MailKind[] = [
  'sign_in',
  'app_sign_in',
  'portal_sign_in',
  'registered',
  'invited_owner',
  'invited_member',
];

// The counter is that of sign-in emails, whose reserve is left to them. The mark in `data` keeps a retry from being counted again.
// $1 id, $2 mailbox, $3 limit.
const ADMIT = `
with mail as (
  select id from outbox where id = $1 and not data ? 'counted' for update
),
hit as (${addHits({ key: counters.mailbox('$2::text'), windowEnd: windowOf(MAILBOX), from: 'from mail' })})
update outbox o set
  data = o.data || case when admitted then '{"counted": "yes"}'::jsonb else '{"postponed": "yes"}' end,
  due_at = case when admitted then o.due_at else resets_at end
from (select hits <= $3 as admitted, resets_at from hit) counted where o.id = $1
returning admitted`;

/**
 * Deletes emails that are done. The delivery of a website's email is an event of the website. No flush of the write-ahead log is waited for:
 * after a crash of PostgreSQL, emails of its last moment are sent again with the same Message-ID.
 * $1 ids; $2 kinds and $3 reasons of the events.
 */
const REMOVE = `
with removed as (
  delete from outbox using (select set_config('synchronous_commit', 'off', true)) asynchronous where id = any($1::uuid[])
  returning id, kind, recipient, data->>'website' as website
)
${addSteps(
  { action: '($2::text[])[n]', subject: 'website', result: '($3::text[])[n]', email: 'recipient', signIn: 'id' },
  `removed cross join array_position($1::uuid[], id) as n where kind in ('sign_in', 'app_sign_in')`,
)}`;

// $1 ids; $2 whether the mail server may have the email; $3 RETRY_SECONDS.
const RETRY = `
update outbox o set tries = tries + 1, data = case when ended.unconfirmed then data || '{"unconfirmed": "yes"}'::jsonb else data end,
  due_at = coalesce(
    (select min(created_at + make_interval(secs => s)) from unnest($3::integer[]) s where created_at + make_interval(secs => s) > now() + interval '1 second'),
    least(expires_at, now() + interval '30 minutes'))
from unnest($1::uuid[], $2::boolean[]) as ended (id, unconfirmed) where o.id = ended.id`;

const RENEW = `
update outbox set due_at = now() + interval '${LEASE_SECONDS} seconds', data = data || '{"held": "yes"}' where id = any($1::uuid[])`;

const POSTPONE = `
update outbox o set due_at = now() + make_interval(secs => g.seconds)
from unnest($1::uuid[], $2::integer[]) as g (id, seconds) where o.id = g.id`;

const OVERDUE = `
select exists (select from outbox where tries = 0 and created_at < now() - interval '1 minute' and expires_at > now()
  and not data ? 'postponed' and not (data ? 'held' and due_at > now())) as overdue`;

const DEPTH = `
select count(*) as mails, coalesce(extract(epoch from now() - min(created_at) filter (where not data ? 'postponed')), 0)::float8 as oldest
from outbox`;

const PENDING = `
select id, kind, recipient, tries, created_at as "createdAt", due_at as "dueAt", expires_at as "expiresAt"
from outbox where expires_at > now() and id < coalesce($2::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
  and (position(lower($3) in recipient) > 0 or position(lower($3) in kind) > 0) order by id desc limit $1`;

const RETRY_NOW = `
with mail as (select id, data from outbox where id = $1 and expires_at > now() for update),
moved as (update outbox o set due_at = now() from mail where o.id = mail.id and o.due_at > now() + make_interval(secs => $2)),
audit as (${addActivity({ action: "'mail_retried'", domain: "data->>'domain'" }, 'mail')})
select id from mail`;

/** An email that is done. `refusal`: the code with which the mail server permanently refused it; null: accepted. */
type Ended = { id: string; refusal: string | null };
/** `oldestSeconds`: 0 when nothing waits. */
export type OutboxDepth = { mails: number; oldestSeconds: number };
type Postponed = { id: string; seconds: number };
/** `unconfirmed`: the mail server had the whole email and did not reply. */
type Tried = { id: string; unconfirmed: boolean };

/** The queue of pending emails. Every clock in it is the database's; `due_at` in the future is also the lease of the process that holds the email. */
export class OutboxStore {
  readonly #core: pg.Pool;
  readonly #noticeLimit: number;
  /** Deletes an email that was sent or permanently refused, and adds the event of its website. */
  readonly remove: (ended: Ended) => Promise<void>;
  /** Counts a try and makes an email due at the next of RETRY_SECONDS. */
  readonly retryLater: (tried: Tried) => Promise<void>;
  /** Renews the lease of an email that the mail server takes long to accept. */
  readonly renew: (id: string) => Promise<void>;
  /** Makes an email due in some seconds, without counting a try. */
  readonly postpone: (postponed: Postponed) => Promise<void>;

  /** @param limitFactor multiplies the rate limit of notices; 100 in local mode */
  constructor(core: pg.Pool, limitFactor: number) {
    this.#core = core;
    this.#noticeLimit = (MAILBOX.points - RESERVED_MAILS) * limitFactor;
    this.remove = batched('outbox-remove', (ended: Ended[]) => this.#execute('outbox-remove', REMOVE, columnsOf(ended)));
    this.retryLater = batched('outbox-retry', (tried: Tried[]) =>
      this.#execute('outbox-retry', RETRY, [tried.map(({ id }) => id), tried.map(({ unconfirmed }) => unconfirmed), RETRY_SECONDS]),
    );
    this.renew = batched('outbox-renew', (ids: string[]) => this.#execute('outbox-renew', RENEW, [ids]));
    this.postpone = batched('outbox-postpone', (mails: Postponed[]) =>
      this.#execute('outbox-postpone', POSTPONE, [mails.map(({ id }) => id), mails.map(({ seconds }) => seconds)]),
    );
  }

  /** Leases the oldest emails that are due, up to `limit`, and deletes up to 200 that are due and expired. */
  async claim(limit: number): Promise<Leased> {
    return (await this.#core.query<Leased>({ name: 'outbox-claim', text: CLAIM, values: [limit, LEASE_SECONDS] })).rows[0];
  }

  /**
   * Counts a notice for the limit of its mailbox, once for all its tries; other emails were counted when they were requested. A
   * notice over the limit becomes due when the mailbox's hour ends.
   * @returns whether the email may be sent
   */
  async admit({ id, kind, recipient }: Mail): Promise<boolean> {
    if (COUNTED_AT_REQUEST.includes(kind)) return true;
    const values = [id, mailboxOf(recipient), this.#noticeLimit];
    const { rows } = await this.#core.query<{ admitted: boolean }>({ name: 'outbox-admit', text: ADMIT, values });
    return rows[0]?.admitted ?? true;
  }

  /** Returns the number of pending emails, and the age of the oldest one in seconds, without those that a limit postponed. */
  async depth(): Promise<OutboxDepth> {
    const { rows } = await this.#core.query<{ mails: string; oldest: number }>({ name: 'outbox-depth', text: DEPTH });
    return { mails: Number(rows[0].mails), oldestSeconds: rows[0].oldest };
  }

  /** Returns whether an email that has not expired has waited more than a minute for its first try, without being sent now or postponed by a limit. */
  async overdue(): Promise<boolean> {
    return (await this.#core.query<{ overdue: boolean }>({ name: 'outbox-overdue', text: OVERDUE })).rows[0].overdue;
  }

  /** Returns the newest pending emails, up to `max`, or those after the id `before`; without expired ones; `q`: only those whose recipient or kind contains it. */
  async pending(max: number, before: string | undefined, q: string): Promise<PendingEmail[]> {
    return (await this.#core.query<PendingEmail>({ name: 'outbox-pending', text: PENDING, values: [max, before ?? null, q] })).rows;
  }

  /**
   * Makes an email due, together with its audit row. One within its lease, or due by then, keeps its time.
   * @returns false when it is not pending
   */
  async retryNow(id: string): Promise<boolean> {
    return (await this.#core.query({ name: 'outbox-retry-now', text: RETRY_NOW, values: [id, LEASE_SECONDS] })).rowCount === 1;
  }

  async #execute(name: string, text: string, values: unknown[]): Promise<undefined[]> {
    await this.#core.query({ name, text, values });
    return [];
  }
}

const columnsOf = (ended: Ended[]) => [
  ended.map(({ id }) => id),
  ended.map(({ refusal }) => (refusal === null ? 'mail_accepted' : 'mail_refused')),
  ended.map(({ refusal }) => refusal),
];
