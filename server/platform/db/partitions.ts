import type pg from 'pg';
import { SESSION_SETTINGS } from './client.ts';
import { LOCKS } from './locks.ts';
import { inShortTransaction } from './migration-steps.ts';

/** A table that is partitioned by ranges of time (docs/decisions/0022-partitions.md). */
export type PartitionedTable = {
  name: 'audit_log' | 'sign_in_steps' | 'sign_in_attempts' | 'tokens';
  /** The column of the ranges. */
  column: string;
  /** A UUID of version 7 (RFC 9562 §5.7) begins with its time. */
  type: 'time' | 'id';
  period: 'day' | 'month';
  /** How long before a partition is needed it is created. */
  aheadMs: number;
  /** Storage parameters of a partition. */
  storage: string;
  appendOnly?: true;
};

/** A partition with the range of its times; `from` of the first one is null. The default partition, which has all other rows, is not one. */
export type Partition = { name: string; from: Date | null; to: Date };

type Range = { from: Date; to: Date };

const DAY_MS = 86_400_000;
// Each row is updated within minutes, many of a page by one statement, and the new version fits into the same page.
const SHORT_LIVED = 'fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05';

export const AUDIT_LOG: PartitionedTable = {
  name: 'audit_log',
  column: 'at',
  type: 'time',
  period: 'month',
  aheadMs: 7 * DAY_MS,
  storage: 'fillfactor = 100',
  appendOnly: true,
};
export const STEPS: PartitionedTable = {
  name: 'sign_in_steps',
  column: 'at',
  type: 'time',
  period: 'day',
  aheadMs: DAY_MS,
  storage: 'fillfactor = 100',
};
export const ATTEMPTS: PartitionedTable = {
  name: 'sign_in_attempts',
  column: 'id',
  type: 'id',
  period: 'day',
  aheadMs: DAY_MS,
  storage: SHORT_LIVED,
};
export const TOKENS: PartitionedTable = {
  name: 'tokens',
  column: 'expires_at',
  type: 'time',
  period: 'day',
  aheadMs: DAY_MS,
  storage: SHORT_LIVED,
};

/** Returns the first UUID of version 7 of a time. @param time an SQL expression */
export const idAt = (time: string) => `(lpad(to_hex((extract(epoch from ${time}) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid`;

/** Of all processes that create or drop partitions, one does so at a time. */
const TAKE_PARTITION_LOCK = `select pg_advisory_xact_lock(${LOCKS.partitions})`;
/** A table that another transaction uses for long, such as a backup, is left to the next run. */
const MAX_TRIES = 5;

const LIST = `
select relname as name, pg_get_expr(relpartbound, pg_class.oid) as bounds from pg_inherits join pg_class on pg_class.oid = inhrelid
where inhparent = $1::regclass and not inhdetachpending`;
const BOUNDS = /^FOR VALUES FROM \((?:'([^']+)'|MINVALUE)\) TO \('([^']+)'\)$/;

/** Returns the partitions of a table, oldest first. */
export async function listPartitions(client: pg.ClientBase, { name }: PartitionedTable): Promise<Partition[]> {
  const { rows } = await client.query<{ name: string; bounds: string }>(LIST, [name]);
  const partitions = rows.flatMap((row) => {
    const [, from, to] = BOUNDS.exec(row.bounds) ?? [];
    return to === undefined ? [] : { name: row.name, from: from === undefined ? null : timeOf(from), to: timeOf(to) };
  });
  return partitions.sort((a, b) => a.to.getTime() - b.to.getTime());
}

/** Returns the time of a bound: a time as PostgreSQL writes it in UTC, or a UUID. */
function timeOf(bound: string): Date {
  const [, high, low] = /^([0-9a-f]{8})-([0-9a-f]{4})-/.exec(bound) ?? [];
  return high ? new Date(Number.parseInt(high + low, 16)) : new Date(`${bound.replace(' ', 'T').replace(/[+-]00(?::00)?$/, '')}Z`);
}

/**
 * Creates the partitions that are needed soon, while other transactions use the tables. Rows that went to the default partition, because
 * there was none for their time, are moved.
 * @param client a connection of its own
 * @returns the names of the new partitions
 * @throws an error of PostgreSQL when a table stays locked, or belongs to another role (42501)
 */
export async function createPartitions(client: pg.ClientBase): Promise<string[]> {
  await client.query(SESSION_SETTINGS);
  const created: string[] = [];
  for (const table of [AUDIT_LOG, STEPS, ATTEMPTS, TOKENS]) {
    if ((await missingRanges(client, table)).length === 0) continue;
    const names = await inShortTransaction(client, { maxTries: MAX_TRIES }, async () => {
      await client.query(TAKE_PARTITION_LOCK);
      const ranges = await missingRanges(client, table);
      for (const range of ranges) await create(client, table, range);
      return ranges.map((range) => nameOf(table, range));
    });
    created.push(...names);
  }
  return created;
}

async function missingRanges(client: pg.ClientBase, table: PartitionedTable): Promise<Range[]> {
  const last = (await listPartitions(client, table)).at(-1);
  if (!last) return [];
  const { rows } = await client.query<{ now: Date }>('select now()');
  const until = new Date(rows[0].now.getTime() + table.aheadMs);
  if (last.to > until) return [];
  const { rows: strays } = await client.query<{ first: string | null }>(
    `select min(${table.column}::text) as first from ${table.name}_default where ${table.column} >= ${literal(table, last.to)}`,
  );
  const [{ first }] = strays;
  return rangesFrom(table.period, last.to, { now: rows[0].now, until, first: first === null ? null : timeOf(first) });
}

/**
 * Returns the ranges that follow the last partition, which ends at `end`. Periods in which the service did not run are left out.
 * @param times.until the last range contains this time
 * @param times.first the first time of a row without a partition
 */
export function rangesFrom(period: 'day' | 'month', end: Date, times: { now: Date; until: Date; first: Date | null }): Range[] {
  const { now, until, first } = times;
  const begin = first && first < now ? first : now;
  const ranges: Range[] = [];
  for (let from = begin > end ? startOf(period, begin) : end; from <= until; from = next(period, from))
    ranges.push({ from, to: next(period, from) });
  return ranges;
}

const startOf = (period: 'day' | 'month', time: Date) =>
  new Date(Date.UTC(time.getUTCFullYear(), time.getUTCMonth(), period === 'day' ? time.getUTCDate() : 1));

const next = (period: 'day' | 'month', start: Date) =>
  new Date(
    Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + (period === 'month' ? 1 : 0), start.getUTCDate() + (period === 'day' ? 1 : 0)),
  );

/** Returns a bound as an SQL literal. */
function literal({ type }: PartitionedTable, time: Date): string {
  return type === 'time'
    ? `'${time.toISOString()}'::timestamptz`
    : `'${time.getTime().toString(16).padStart(12, '0')}${'0'.repeat(20)}'::uuid`;
}

const nameOf = ({ name, period }: PartitionedTable, { from }: Range) =>
  `${name}_${from
    .toISOString()
    .slice(0, period === 'day' ? 10 : 7)
    .replaceAll('-', '')}`;

/**
 * Creates a partition. Attaching it waits for the transactions that use the default partition, not for those of the others. One whose time
 * has come keeps all transactions waiting: the rows of its range go to the default partition, which must not get another one meanwhile.
 */
async function create(client: pg.ClientBase, table: PartitionedTable, range: Range): Promise<void> {
  const { name, column, storage, appendOnly } = table;
  const [partition, from, to] = [nameOf(table, range), literal(table, range.from), literal(table, range.to)];
  const where = `${column} >= ${from} and ${column} < ${to}`;
  const inUse = `${literal({ ...table, type: 'time' }, range.from)} < now() + interval '2 hours' or exists (select from ${name}_default where ${where})`;
  const { rows } = await client.query<{ inUse: boolean }>(`select ${inUse} as "inUse"`);
  if (rows[0].inUse) await client.query(`lock table ${name} in access exclusive mode`);
  await client.query(`create table ${partition} (like ${name} including defaults including constraints) with (${storage})`);
  if (rows[0].inUse) {
    if (appendOnly) await client.query(`alter table ${name}_default disable trigger user`);
    await client.query(
      `with moved as (delete from ${name}_default where ${where} returning *) insert into ${partition} select * from moved`,
    );
    if (appendOnly) await client.query(`alter table ${name}_default enable trigger user`);
  }
  if (appendOnly)
    await client.query(`create trigger ${name}_append_only before update or delete or truncate on ${partition}
      for each statement execute function refuse_change()`);
  await client.query(`alter table ${name} attach partition ${partition} for values from (${from}) to (${to})`);
}

/**
 * Drops a partition with its rows. Other transactions that use the table wait until the end of the transaction, which is short: files are
 * removed after it.
 * @param keep SQL condition of rows to keep, which move to the default partition; it has an index
 * @throws an error of PostgreSQL when the table stays locked, or belongs to another role (42501)
 */
export async function dropPartition(
  client: pg.ClientBase,
  { name }: PartitionedTable,
  partition: string,
  keep: string | null,
): Promise<void> {
  const dropped = client.escapeIdentifier(partition);
  await inShortTransaction(client, { maxTries: MAX_TRIES }, async () => {
    await client.query(TAKE_PARTITION_LOCK);
    await client.query(`lock table ${name} in access exclusive mode`);
    await client.query(`alter table ${name} detach partition ${dropped}`);
    if (keep !== null) await client.query(`set local enable_seqscan = off; insert into ${name} select * from ${dropped} where ${keep}`);
    await client.query(`drop table ${dropped}`);
  });
}
