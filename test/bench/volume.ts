import { query } from '../support/postgres.ts';
import { fill } from './growth.ts';
import { measureSignIns } from './measure.ts';
import { compare, formatNumber, heading, row } from './report.ts';
import { type Contestant, registerWebsite, type Stage } from './stage.ts';

/**
 * Measures what one sign-in writes: write-ahead log and its flushes, and the growth of each table with its indexes. No checkpoint
 * happens meanwhile, after which the log would also have an image of each page that changes.
 */
export async function measureVolume(stage: Stage, connections: number, seconds: number): Promise<void> {
  const service = await stage.start('service', await stage.createDatabase('service', 'volume'));
  await registerWebsite(service);
  await measureSignIns(stage, service, connections, seconds);
  const run = async <Row>(sql: string) => (await query(service.databaseUrl, sql)) as Row[];
  await run('create extension if not exists pg_walinspect');
  const before = await read(run);
  await measureSignIns(stage, service, connections, 2 * seconds);
  const after = await read(run);
  const count = after.attempts - before.attempts;
  const parts = await run<{ part: string; bytes: number; records: number }>(walParts(before.position, after.position));
  const [wal, images, flushes] = (['wal', 'images', 'flushes'] as const).map((figure) => (after[figure] - before[figure]) / count);
  heading(`Writes of a sign-in (${formatNumber(count)} of ${connections} at once)`, 'a sign-in');
  row('WAL, bytes', formatNumber(wal));
  compare('write-ahead log of a sign-in, bytes', wal, 'at most', 1_900);
  row('WAL records', formatNumber(parts.reduce((sum, { records }) => sum + records, 0) / count, 1));
  row('images of pages in the WAL', formatNumber(images, 2));
  row('flushes of the WAL', formatNumber(flushes, 2));
  for (const [name, size] of after.sizes) {
    const grown = (size - (before.sizes.get(name) ?? 0)) / count;
    if (grown >= 1) row(`table ${name} with indexes, bytes`, formatNumber(grown));
  }
  heading('Records of the WAL by what they change', 'bytes', 'records');
  for (const { part, bytes, records } of parts)
    if (bytes / count >= 1) row(part, formatNumber(bytes / count), formatNumber(records / count, 2));
  await measureImages(stage, service, { connections, seconds }, run);
}

/** How many rows make most changes of the indexes go to pages of their own. */
const GROWN_ROWS = 200_000;

/** Measures the log of large tables after a checkpoint, which then has an image of each page that changes, without and with compression of the images. */
async function measureImages(stage: Stage, service: Contestant, load: { connections: number; seconds: number }, run: Run): Promise<void> {
  for (const insert of fill(GROWN_ROWS, GROWN_ROWS)) await run(insert);
  // Autovacuum would write to the log meanwhile.
  await run('vacuum analyze');
  heading(`After a checkpoint, with ${formatNumber(GROWN_ROWS)} more rows, by wal_compression`, 'WAL, bytes', 'images', 'CPU s/1,000');
  for (let round = 0; round < 2; round++)
    for (const compression of ['off', 'pglz']) {
      await run(`alter system set wal_compression = '${compression}'`);
      await run('select pg_reload_conf()');
      await run('checkpoint');
      const before = await read(run);
      const { postgresCpu } = await measureSignIns(stage, service, load.connections, load.seconds);
      const after = await read(run);
      const count = after.attempts - before.attempts;
      const [wal, images] = [after.wal - before.wal, after.images - before.images].map((figure) => figure / count);
      row(`${compression}, ${formatNumber(count)} sign-ins`, formatNumber(wal), formatNumber(images, 2), formatNumber(postgresCpu, 2));
    }
  await run('alter system reset wal_compression');
  await run('select pg_reload_conf()');
  await measureSlices(stage, service, load, run);
}

const SLICES = 8;

/** Measures how the images become fewer with each sign-in since the checkpoint, as most pages have been changed before. */
async function measureSlices(stage: Stage, service: Contestant, load: { connections: number; seconds: number }, run: Run): Promise<void> {
  heading('With these rows, by sign-ins since the checkpoint', 'from', 'WAL, bytes', 'images');
  await run('checkpoint');
  let before = await read(run);
  const first = before.attempts;
  for (let slice = 0; slice < SLICES; slice++) {
    await measureSignIns(stage, service, load.connections, load.seconds);
    const after = await read(run);
    const count = after.attempts - before.attempts;
    const [wal, images] = [after.wal - before.wal, after.images - before.images].map((figure) => figure / count);
    row(`${formatNumber(count)} sign-ins`, formatNumber(before.attempts - first), formatNumber(wal), formatNumber(images, 2));
    before = after;
  }
}

type Run = <Row>(sql: string) => Promise<Row[]>;

/** Selects the bytes and records of the WAL between two positions by relation and kind of record. A record counts for its first block. */
const walParts = (from: string, to: string) => `
with record as (
  select start_lsn, resource_manager || ' ' || record_type as kind, record_length from pg_get_wal_records_info('${from}', '${to}')
),
block as (
  select distinct on (start_lsn) start_lsn, coalesce(relname, 'relation ' || b.relfilenode) as relation
  from pg_get_wal_block_info('${from}', '${to}') b
    left join pg_class c on pg_relation_filenode(c.oid) = b.relfilenode and b.reldatabase = (select oid from pg_database where datname = current_database())
  order by start_lsn, block_id
)
select coalesce(relation || ': ', '') || kind as part, sum(record_length)::float8 as bytes, count(*)::float8 as records
from record left join block using (start_lsn) group by 1 order by 2 desc`;

type Volume = {
  position: string;
  attempts: number;
  wal: number;
  images: number;
  flushes: number;
  sizes: Map<string, number>;
};

// The bytes are those between two positions: pg_stat_wal lacks what connections have not reported yet.
const WAL = `select pg_current_wal_lsn()::text as position, pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 as wal, wal_fpi::float8 as images,
  (select coalesce(sum(fsyncs), 0)::float8 from pg_stat_io where object = 'wal') as flushes from pg_stat_wal`;
const SIZES = `select relname as name, pg_total_relation_size(oid)::float8 as size from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace`;

async function read(run: <Row>(sql: string) => Promise<Row[]>): Promise<Volume> {
  // The statistics of a connection are reported once a second at most.
  await run('select pg_stat_force_next_flush(), pg_sleep(1.5)');
  const [{ attempts }] = await run<{ attempts: number }>('select count(*)::float8 as attempts from sign_in_attempts');
  const [wal] = await run<Omit<Volume, 'attempts' | 'sizes'>>(WAL);
  const sizes = await run<{ name: string; size: number }>(SIZES);
  return { attempts, ...wal, sizes: new Map(sizes.map(({ name, size }) => [name, size])) };
}
