import type { DatabaseFacts, Standby } from '../../diagnostics/deployment-database.ts';
import { READ_ONLY_CAUSE } from './client.ts';
import { placeOf } from './hosts.ts';
import { detectPooling, keepsPreparedStatements, openClient } from './pooling.ts';
import { MIN_VERSION } from './reach.ts';

export { MIN_VERSION };

const FACTS = `
select current_setting('server_version_num')::int / 10000 as version, ${READ_ONLY_CAUSE} as "readOnly",
  extract(timezone from timestamptz '2026-01-15Z') = 0 and extract(timezone from timestamptz '2026-07-15Z') = 0 as utc,
  extract(epoch from pg_postmaster_start_time()) || ' ' || (select oid from pg_database where datname = current_database()) as identity,
  extract(epoch from clock_timestamp())::float8 as now,
  current_setting('max_connections')::int as max,
  (select count(*)::int from pg_stat_activity where backend_type = 'client backend') as used`;

const STANDBYS = `
select application_name as name, state, sync_state in ('sync', 'quorum') is true as "isSynchronous",
  extract(epoch from replay_lag)::float8 as "lagSeconds"
from pg_stat_replication where application_name not like 'pg_basebackup%' or state is null`;

type Row = {
  version: number;
  readOnly: 'standby' | 'default_transaction_read_only' | null;
  utc: boolean;
  identity: string;
  now: number;
  max: number;
  used: number;
};

/** Returns what `emailauth doctor --deployment` reports about a database. Changes nothing, and never rejects. */
export async function examineDatabase(url: string): Promise<DatabaseFacts> {
  const place = placeOf(url);
  const client = openClient(url);
  try {
    await client.connect();
    const requestedAt = Date.now();
    const { rows } = await client.query<Row>(FACTS);
    const middle = (requestedAt + Date.now()) / 2_000;
    const [{ now, max, used, ...found }] = rows;
    const standbys = (await client.query<Standby>(STANDBYS)).rows;
    const pooling = await detectPooling(url);
    return {
      place,
      problem: null,
      ...found,
      clockAheadSeconds: middle - now,
      connections: { max, used },
      standbys,
      pooling,
      keepsPreparedStatements: pooling === 'transaction' ? await keepsPreparedStatements(url) : null,
    };
  } catch (error) {
    const { message, code = '' } = error as NodeJS.ErrnoException;
    return { place, problem: `${message || code}.` };
  } finally {
    void client.end().catch(() => {});
  }
}
