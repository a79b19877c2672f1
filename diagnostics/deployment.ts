import { isIP } from 'node:net';
import { About } from '../contract/service.ts';
import { isThisMachine } from '../contract/urls.ts';
import { type Finding, fail, oneLine, pass, skip } from './check.ts';
import type { Dns } from './dns.ts';
import { describeNetworkError, isLocalProblem } from './request.ts';
import { MAX_CLOCK_DIFFERENCE_SECONDS } from './service.ts';

/** An address of documentation (RFC 5737), which no client has. */
const FORGED_ADDRESS = '192.0.2.77';
const MIN_FREE_SHARE = 0.1;
const MIN_FREE_BYTES = 1e9;
const GIGABYTE = 1e9;

/** Returns whether the host of PUBLIC_URL has an address. */
export async function checkPublicName(publicUrl: string, dns: Dns): Promise<Finding> {
  const { hostname } = new URL(publicUrl);
  if (isThisMachine(hostname)) return skip(`PUBLIC_URL is ${publicUrl}, on this machine.`, 'Set PUBLIC_URL to the address for visitors.');
  if (isIP(hostname)) return pass(`PUBLIC_URL is the address ${hostname}.`);
  const addresses = await dns.addresses(hostname);
  if (addresses.length > 0) return pass(`${hostname} has the address ${addresses.map((address) => oneLine(address, 40)).join(', ')}.`);
  return fail(`${hostname} has no address in the DNS.`, `Add an A or AAAA record for ${hostname} that leads to the proxy of the service.`);
}

/** Sends two requests through the proxies in front of the service. One of them has a made-up X-Forwarded-For. */
export async function checkProxy(settings: ProxySettings, signal: AbortSignal): Promise<Finding> {
  const request = async (headers: Record<string, string>) => {
    const response = await fetch(`${settings.publicUrl}/api/about`, { headers, redirect: 'error', signal });
    return About.safeParse(await response.json()).data?.request ?? null;
  };
  try {
    const plain = await request({});
    const forged = await request({ 'X-Forwarded-For': FORGED_ADDRESS });
    if (!plain || !forged) return skip('The service does not report how requests arrive.', 'Upgrade it to the version of this program.');
    return evaluateProxy({ plain, forged }, settings);
  } catch (error) {
    if (error instanceof SyntaxError)
      return fail(`${settings.publicUrl} does not answer as an Email Auth service.`, 'Let the proxy pass all paths on.');
    const problem = describeNetworkError(error, settings.publicUrl);
    return isLocalProblem(problem)
      ? skip(problem.detail)
      : fail(problem.detail, problem.fix || 'Check that the proxy and the service run.');
  }
}

type ProxySettings = { publicUrl: string; trustProxy: number };
type Arrived = NonNullable<About['request']>;

const APPEND =
  'Let the proxy append the address: `option forwardfor` of HAProxy, `proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for` of nginx.';

/** Returns the finding for how a plain request and one with a forged X-Forwarded-For have arrived. */
export function evaluateProxy({ plain, forged }: Record<'plain' | 'forged', Arrived>, { publicUrl, trustProxy }: ProxySettings): Finding {
  const count = plain.forwarded;
  const proxies = count === 1 ? '1 proxy appends' : `${count} proxies append`;
  if (forged.address === FORGED_ADDRESS) {
    const detail = `The service counts the address that a client claims in X-Forwarded-For: TRUST_PROXY is ${trustProxy}, and ${proxies} the address.`;
    return fail(
      detail,
      count > 0 ? `Set TRUST_PROXY=${count}.` : publicUrl.startsWith('https:') ? APPEND : `Without a proxy, set TRUST_PROXY=0. ${APPEND}`,
    );
  }
  if (count > trustProxy) {
    return fail(
      `${proxies} the address, but TRUST_PROXY is ${trustProxy}: all visitors share the limits of a proxy.`,
      `Set TRUST_PROXY=${count}.`,
    );
  }
  if (count < trustProxy)
    return fail(`TRUST_PROXY is ${trustProxy}, but ${proxies} the address.`, count === 0 ? APPEND : `Set TRUST_PROXY=${count}.`);
  if (count === 0 && publicUrl.startsWith('https:')) return fail('The proxy that terminates TLS sends no X-Forwarded-For.', APPEND);
  if (!plain.isHostPublic) {
    const fix = `Let the proxy pass Host on (\`proxy_set_header Host $http_host\` of nginx), or correct PUBLIC_URL.`;
    return fail(`Requests to ${publicUrl} arrive with another Host.`, fix);
  }
  if (count === 0) return pass('No proxy is in front of the service.');
  return pass(`${proxies} the address of the client, and a forged one is ignored.`);
}

/** Returns the finding for the space on the disk of DATA_DIR. */
export function evaluateDisk(dataDir: string, { freeBytes, bytes }: { freeBytes: number; bytes: number }): Finding {
  const free = `${(freeBytes / GIGABYTE).toFixed(1)} of ${(bytes / GIGABYTE).toFixed(1)} GB`;
  if (freeBytes >= MIN_FREE_BYTES && freeBytes >= bytes * MIN_FREE_SHARE) return pass(`${free} are free on the disk of ${dataDir}.`);
  return fail(`Only ${free} are free on the disk of ${dataDir}.`, 'Make space: a full disk stops writes, and so every sign-in.');
}

const MAX_BACKUP_HOURS = 26;
const HOUR_MS = 3_600_000;

/** Returns the finding for the newest file of a directory with backups. @param newest null: there is none */
export function evaluateBackup(directory: string, newest: { name: string; writtenAt: number; bytes: number } | null, now: number): Finding {
  const fix = 'Check what runs `emailauth backup` every day (docs/operations.md, Backup and restore).';
  if (!newest) return fail(`${directory} has no backup (*.tar, *.tar.gz and so on).`, fix);
  const { name, writtenAt, bytes } = newest;
  const hours = Math.floor((now - writtenAt) / HOUR_MS);
  if (bytes === 0) return fail(`The newest backup, ${oneLine(name)}, is empty.`, fix);
  if (hours > MAX_BACKUP_HOURS) return fail(`The newest backup, ${oneLine(name)}, is ${hours} hours old.`, fix);
  return pass(`The newest backup, ${oneLine(name)}, is ${hours} hours old.`);
}

/** What was found at a database URL; `problem` alone when the server did not respond. */
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
      /** Sessions have the time zone UTC and the DateStyle ISO. */
      hasTimeSettings: boolean;
      /** Equal for two URLs if and only if they lead to the same database of the same server. */
      identity: string;
      /** How far this machine's clock is ahead of the server's. */
      clockAheadSeconds: number;
      connections: { max: number; used: number };
      standbys: Standby[];
    };

/** A standby as pg_stat_replication reports it; fields are null where the role may not see them. */
export type Standby = { name: string | null; state: string | null; isSynchronous: boolean; lagSeconds: number | null };

const CONNECTIONS_OF_A_PROCESS = 19;
const MAX_LAG_SECONDS = 60;

const READ_ONLY = {
  standby: ['it is a standby', 'Promote it, or give the address of the primary in DATABASE_URL.'],
  default_transaction_read_only: ['default_transaction_read_only is on', 'Turn it off for the server, the database and the role.'],
} as const;

/** Returns whether the service can use the database: reachable, new enough, writable, with enough connections. */
export function evaluateDatabase(facts: DatabaseFacts, { minVersion, workers }: { minVersion: number; workers: number }): Finding {
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
  { directFacts, preparedStatements }: { directFacts: DatabaseFacts | null; preparedStatements: boolean },
): Finding {
  if (facts.problem !== null) return skip('DATABASE_URL does not answer.');
  if (directFacts) {
    const { place, problem } = directFacts;
    if (problem !== null) return fail(`${place} cannot be used: ${problem}`, 'Check DATABASE_DIRECT_URL.');
    const fix = 'Give the address of PostgreSQL itself in DATABASE_DIRECT_URL.';
    if (directFacts.pooling !== 'session') return fail(`DATABASE_DIRECT_URL leads through a pooler in ${directFacts.pooling} mode.`, fix);
    if (directFacts.identity !== facts.identity) return fail('DATABASE_URL and DATABASE_DIRECT_URL lead to two different databases.', fix);
  }
  const { place, pooling, keepsPreparedStatements, hasTimeSettings } = facts;
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
  if (!hasTimeSettings) {
    const fix = "Run in PostgreSQL: alter role … set timezone = 'UTC'; alter role … set datestyle = 'ISO, MDY'";
    return fail(`${mode}, and its sessions do not have the time zone UTC and the DateStyle ISO.`, fix);
  }
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
