import { query } from '../postgres.ts';
import { measureSignIns } from './measure.ts';
import { formatNumber, heading, row } from './report.ts';
import { registerWebsite, type Stage } from './stage.ts';

/**
 * Measures what one sign-in writes: write-ahead log and its flushes, and the growth of each table with its indexes. No checkpoint
 * happens meanwhile, after which the log would also have an image of each page that changes.
 */
export async function measureVolume(stage: Stage, connections: number, seconds: number): Promise<void> {
  const service = await stage.start('service', await stage.createDatabase('service', 'volume'));
  await registerWebsite(service);
  await measureSignIns(stage, service, connections, seconds);
  const run = async <Row>(sql: string) => (await query(service.databaseUrl, sql)) as Row[];
  const before = await read(run);
  await measureSignIns(stage, service, connections, 2 * seconds);
  const after = await read(run);
  const count = after.attempts - before.attempts;
  const perSignIn = (of: (found: Volume) => number) => (of(after) - of(before)) / count;

  heading(`Writes of a sign-in (${formatNumber(count)} of ${connections} at once)`, 'a sign-in');
  row('WAL, bytes', formatNumber(perSignIn(({ wal }) => wal)));
  row(
    'WAL records',
    formatNumber(
      perSignIn(({ records }) => records),
      1,
    ),
  );
  row(
    'images of pages in the WAL',
    formatNumber(
      perSignIn(({ images }) => images),
      2,
    ),
  );
  row(
    'flushes of the WAL',
    formatNumber(
      perSignIn(({ flushes }) => flushes),
      2,
    ),
  );
  for (const [name, size] of after.sizes) {
    const grown = (size - (before.sizes.get(name) ?? 0)) / count;
    if (grown >= 1) row(`table ${name} with indexes, bytes`, formatNumber(grown));
  }
}

type Volume = { attempts: number; wal: number; images: number; records: number; flushes: number; sizes: Map<string, number> };

const WAL = `select wal_records::float8 as records, wal_bytes::float8 as wal, wal_fpi::float8 as images,
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
