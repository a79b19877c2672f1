import type pg from 'pg';
import { batched } from '../db/batch.ts';
import type { Mail } from './mail.ts';

/** When a mail that met a temporary refusal is tried again, in seconds after it was asked for. */
export const RETRY_SECONDS = [5, 15, 30, 60, 120, 240, 310, 330, 420, 540];
/** How long a process that holds a mail has for it, before others may take it over. */
export const LEASE_SECONDS = 25;

/** @property expired how many mails were deleted unsent */
export type Claim = { mails: Mail[]; expired: number };

/** A mail in the queue, as people see it. */
export type OwedMail = { id: string; kind: string; recipient: string; tries: number; createdAt: Date; dueAt: Date; expiresAt: Date };

/** The queue of owed mails. Every clock in it is the database's; `due_at` in the future is also the lease of whoever holds the mail. */
export type OutboxStore = {
  /** Leases up to `limit` mails that are due, the oldest, and deletes up to 200 that are due and expired. */
  claim(limit: number): Promise<Claim>;
  /** For mails that are sent, or refused for good. */
  remove(id: string): Promise<void>;
  /** To the next time of RETRY_SECONDS. */
  retryLater(id: string): Promise<void>;
  /** By some seconds, without counting a try. */
  postpone(mail: { id: string; seconds: number }): Promise<void>;
  depth(): Promise<number>;
  /** Whether a mail that has not expired waits for its first try for longer than a minute, without having been postponed by a limit. */
  overdue(): Promise<boolean>;
  /** The newest `most`, or those after the id `before`, without what expired. */
  owed(most: number, before?: string): Promise<OwedMail[]>;
  /** Makes a mail due, together with its audit row; one within its lease, or due by then, keeps its time. @returns false when it is not owed */
  retryNow(id: string): Promise<boolean>;
};

const CLAIM = `
with dead as (
  delete from outbox where id in (
    select id from outbox where due_at <= now() and expires_at <= now() order by due_at limit 200 for update skip locked)
  returning id
),
due as (
  select id from outbox where due_at <= now() and expires_at > now() order by due_at limit $1 for update skip locked
),
claimed as (
  update outbox o set due_at = now() + make_interval(secs => $2)
  from due where o.id = due.id
  returning o.id, o.kind, o.recipient, o.language, o.data
)
select coalesce((select json_agg(claimed) from claimed), '[]') as mails, (select count(*)::integer from dead) as expired`;

const RETRY = `
update outbox set tries = tries + 1, due_at = coalesce(
  (select min(created_at + make_interval(secs => s)) from unnest($2::integer[]) s where created_at + make_interval(secs => s) > now() + interval '1 second'),
  least(expires_at, now() + interval '30 minutes'))
where id = any($1::uuid[])`;

const POSTPONE = `
update outbox o set due_at = now() + make_interval(secs => g.seconds)
from unnest($1::uuid[], $2::integer[]) as g (id, seconds) where o.id = g.id`;

const OVERDUE = `
select exists (select from outbox where tries = 0 and created_at < now() - interval '1 minute' and expires_at > now()
  and not data ? 'postponed') as overdue`;
const OWED = `
select id, kind, recipient, tries, created_at as "createdAt", due_at as "dueAt", expires_at as "expiresAt"
from outbox where expires_at > now() and id < coalesce($2::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff') order by id desc limit $1`;

const RETRY_NOW = `
with mail as (select id, data from outbox where id = $1 and expires_at > now() for update),
moved as (update outbox o set due_at = now() from mail where o.id = mail.id and o.due_at > now() + make_interval(secs => $2)),
audit as (insert into audit_log (action, domain) select 'mail_retried', data->>'domain' from mail)
select id from mail`;

export function createOutboxStore(core: pg.Pool): OutboxStore {
  const remove = batched<string, void>(
    async (ids) => {
      await core.query({ name: 'outbox-remove', text: 'delete from outbox where id = any($1::uuid[])', values: [ids] });
      return [];
    },
    { lingerMs: 4 },
  );
  const retryLater = batched<string, void>(async (ids) => {
    await core.query({ name: 'outbox-retry', text: RETRY, values: [ids, RETRY_SECONDS] });
    return [];
  });
  const postpone = batched<{ id: string; seconds: number }, void>(async (mails) => {
    const values = [mails.map(({ id }) => id), mails.map(({ seconds }) => seconds)];
    await core.query({ name: 'outbox-postpone', text: POSTPONE, values });
    return [];
  });

  return {
    async claim(limit) {
      return (await core.query<Claim>({ name: 'outbox-claim', text: CLAIM, values: [limit, LEASE_SECONDS] })).rows[0];
    },
    remove,
    retryLater,
    postpone,
    async depth() {
      const { rows } = await core.query<{ count: string }>({ name: 'outbox-depth', text: 'select count(*) from outbox' });
      return Number(rows[0].count);
    },
    async overdue() {
      const { rows } = await core.query<{ overdue: boolean }>({ name: 'outbox-overdue', text: OVERDUE });
      return rows[0].overdue;
    },
    async owed(most, before) {
      return (await core.query<OwedMail>({ name: 'outbox-owed', text: OWED, values: [most, before ?? null] })).rows;
    },
    async retryNow(id) {
      return (await core.query({ name: 'outbox-retry-now', text: RETRY_NOW, values: [id, LEASE_SECONDS] })).rowCount === 1;
    },
  };
}
