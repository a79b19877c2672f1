import { type Finding, fail, pass, skip } from './check.ts';

/** What was found at a database URL; `problem` alone when the server did not answer. */
export type DatabaseFacts =
  | { place: string; problem: string }
  | {
      place: string;
      problem: null;
      version: number;
      /** Why the server accepts no writes; null: it accepts them. */
      readOnly: 'standby' | 'default_transaction_read_only' | null;
      pooling: 'session' | 'transaction' | 'statement';
      /** Null: not a pooler in transaction mode. */
      keepsPreparedStatements: boolean | null;
      /** Sessions have the time zone UTC. */
      utc: boolean;
      /** Equal for two URLs if and only if they lead to the same database of the same server. */
      identity: string;
      /** How far this machine's clock is ahead of the server's. */
      clockAheadSeconds: number;
      connections: { max: number; used: number };
      standbys: Standby[];
    };

/** A standby as pg_stat_replication reports it; fields are null where the role may not see them. */
export type Standby = { name: string | null; state: string | null; isSynchronous: boolean; lagSeconds: number | null };

type Settings = { directFacts: DatabaseFacts | null; preparedStatements: boolean; minVersion: number; workers: number };

const CONNECTIONS_OF_A_PROCESS = 19;
const MAX_CLOCK_DIFFERENCE_SECONDS = 60;
const MAX_LAG_SECONDS = 60;

const READ_ONLY = {
  standby: ['it is a standby', 'Promote it, or give the address of the primary in DATABASE_URL.'],
  default_transaction_read_only: ['default_transaction_read_only is on', 'Turn it off for the server, the database and the role.'],
} as const;

/** Returns whether the service can use the database: reachable, new enough, writable, with enough connections. */
export function evaluateDatabase(facts: DatabaseFacts, { minVersion, workers }: Pick<Settings, 'minVersion' | 'workers'>): Finding {
  const { place, problem } = facts;
  if (problem !== null) return fail(`${place} cannot be used: ${problem}`, 'Check DATABASE_URL, and whether PostgreSQL runs.');
  const { version, readOnly, connections } = facts;
  if (version < minVersion) return fail(`${place} is PostgreSQL ${version}.`, `Upgrade it to version ${minVersion} or newer.`);
  if (readOnly) return fail(`${place} is read-only: ${READ_ONLY[readOnly][0]}.`, READ_ONLY[readOnly][1]);
  const needed = CONNECTIONS_OF_A_PROCESS * workers;
  if (facts.pooling === 'session' && connections.max < needed) {
    return fail(
      `${place} allows ${connections.max} connections, and one instance opens up to ${needed}.`,
      'Raise max_connections, or put PgBouncer in front (docs/operations.md, Poolers).',
    );
  }
  return pass(`${place} is PostgreSQL ${version} and accepts writes; ${connections.used} of ${connections.max} connections are in use.`);
}

/** Returns whether DATABASE_URL and DATABASE_DIRECT_URL lead to the same database in modes that the service supports. */
export function evaluatePooler(
  facts: DatabaseFacts,
  { directFacts, preparedStatements }: Pick<Settings, 'directFacts' | 'preparedStatements'>,
): Finding {
  if (facts.problem !== null) return skip('DATABASE_URL does not answer.');
  if (directFacts) {
    const { place, problem } = directFacts;
    if (problem !== null) return fail(`${place} cannot be used: ${problem}`, 'Check DATABASE_DIRECT_URL.');
    const fix = 'Give the address of PostgreSQL itself in DATABASE_DIRECT_URL.';
    if (directFacts.pooling !== 'session') return fail(`DATABASE_DIRECT_URL leads through a pooler in ${directFacts.pooling} mode.`, fix);
    if (directFacts.identity !== facts.identity) return fail('DATABASE_URL and DATABASE_DIRECT_URL lead to two different databases.', fix);
  }
  const { place, pooling, keepsPreparedStatements, utc } = facts;
  if (pooling === 'session') return pass(`${place} gives every connection a session of its own.`);
  const mode = `${place} leads through a pooler in ${pooling} mode`;
  if (pooling === 'statement')
    return fail(`${mode}, which has no transactions.`, 'Set it to transaction mode (PgBouncer: pool_mode = transaction).');
  if (!directFacts) {
    return fail(
      `${mode}, where locks, LISTEN and migrations do not work.`,
      'Give the address of PostgreSQL itself in DATABASE_DIRECT_URL.',
    );
  }
  if (preparedStatements && keepsPreparedStatements === false) {
    const fix = 'Set DATABASE_PREPARED_STATEMENTS=off, or use PgBouncer from 1.21 with max_prepared_statements above 0.';
    return fail(`${mode} that does not keep prepared statements.`, fix);
  }
  if (!utc) return fail(`${mode}, and its sessions do not have the time zone UTC.`, "Run in PostgreSQL: alter role … set timezone = 'UTC'");
  return pass(`${mode}, and DATABASE_DIRECT_URL past it.`);
}

/** Returns whether this machine's clock agrees with that of PostgreSQL, by which links and tokens expire. */
export function evaluateDatabaseClock(facts: DatabaseFacts): Finding {
  if (facts.problem !== null) return skip('DATABASE_URL does not answer.');
  const seconds = Math.round(facts.clockAheadSeconds);
  const difference = Math.abs(seconds);
  if (difference <= MAX_CLOCK_DIFFERENCE_SECONDS) return pass(`This machine's clock and that of PostgreSQL differ by ${difference} s.`);
  return fail(
    `This machine's clock is ${difference} s ${seconds > 0 ? 'ahead of' : 'behind'} that of PostgreSQL, by which links and tokens expire.`,
    'Set both by a time server, for instance with `timedatectl set-ntp true`.',
  );
}

/** Returns whether standbys follow the primary. */
export function evaluateReplication(facts: DatabaseFacts): Finding {
  if (facts.problem !== null) return skip('DATABASE_URL does not answer.');
  if (facts.readOnly === 'standby') return fail('DATABASE_URL leads to a standby.', READ_ONLY.standby[1]);
  const { standbys } = facts;
  const advice = 'With a synchronous standby, a failure of the server loses nothing; without one, what follows the last backup.';
  if (standbys.length === 0) return skip('No standby follows this PostgreSQL.', advice);
  if (standbys.every(({ state }) => state === null)) {
    return skip('This role may not see the standbys.', 'Run in PostgreSQL: grant pg_monitor to the role of DATABASE_URL.');
  }
  const late = standbys.filter(({ state, lagSeconds }) => state !== 'streaming' || (lagSeconds ?? 0) > MAX_LAG_SECONDS);
  if (late.length > 0) {
    const described = late.map(
      ({ name, state, lagSeconds }) => `${name} (${state}${lagSeconds ? `, ${Math.round(lagSeconds)} s late` : ''})`,
    );
    return fail(`Standbys do not follow: ${described.join(', ')}.`, 'See the log of the standby; it may need a new base backup.');
  }
  const synchronous = standbys.filter(({ isSynchronous }) => isSynchronous).length;
  const detail = `${standbys.length} of ${standbys.length} standbys follow, ${synchronous} of them synchronously.`;
  return pass(detail, synchronous === 0 ? 'A failure of the primary can lose the last moments: see synchronous_standby_names.' : '');
}
