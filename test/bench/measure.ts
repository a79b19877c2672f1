import { setTimeout as sleep } from 'node:timers/promises';
import { query } from '../support/postgres.ts';
import type { LoadResult } from './load.ts';
import { cpuSeconds, cpuSecondsOfTree } from './programs.ts';
import { CLIENT, type Contestant, SITE, type Stage } from './stage.ts';

/** The results of one round. CPU in seconds per 1,000; `walBytes`: of the write-ahead log, each. */
export type Round = { rate: number; p50: number; p99: number; serverCpu: number; postgresCpu: number; walBytes: number };

/** Measures whole sign-ins by that many concurrent visitors. */
export function measureSignIns(stage: Stage, contestant: Contestant, connections: number, seconds: number): Promise<Round> {
  const job = {
    do: 'sign-ins',
    port: contestant.port,
    connections,
    seconds,
    forwardUrl: `https://${SITE}/welcome`,
    linksPort: stage.linksPort,
  } as const;
  return measured(stage, contestant, () => stage.load(job));
}

/** Measures whole code flows (authorize, link, token, userinfo) by that many concurrent visitors. */
export function measureCodeFlows(stage: Stage, contestant: Contestant, connections: number, seconds: number): Promise<Round> {
  const job = { do: 'code-flows', port: contestant.port, connections, seconds, ...CLIENT, linksPort: stage.linksPort } as const;
  return measured(stage, contestant, () => stage.load(job));
}

/** Unused tokens of a contestant. */
export type Tokens = { name: string; next: number; end: number };

/** Inserts tokens as the contestant stores them, then runs VACUUM, ANALYZE and CHECKPOINT. */
export async function addTokens({ kind, databaseUrl }: Contestant, name: string, count: number): Promise<Tokens> {
  // The same text as tokenText in load.ts.
  const hash = `sha256(('${name}' || lpad(n::text, ${43 - name.length}, '0'))::bytea)`;
  const columns =
    kind === 'floor'
      ? `tokens (hash, email, expires_at) select ${hash}, 'visitor-' || n || '@mail.example', now() + interval '1 hour'`
      : `tokens (hash, domain, audience, email, browser, expires_at)
         select ${hash}, '${SITE}', '${SITE}', 'visitor-' || n || '@mail.example', sha256(n::text::bytea), now() + interval '1 hour'`;
  await query(databaseUrl, `insert into ${columns} from generate_series(0, ${count - 1}) n`);
  await query(databaseUrl, 'vacuum analyze tokens');
  return { name, next: 0, end: count };
}

/** Measures verify-token calls, each with an unused token. */
export async function measureVerify(
  stage: Stage,
  contestant: Contestant,
  tokens: Tokens,
  connections: number,
  seconds: number,
): Promise<Round> {
  const job = {
    do: 'verify',
    port: contestant.port,
    connections,
    seconds,
    tokens: { name: tokens.name, from: tokens.next, to: tokens.end },
    domain: SITE,
  } as const;
  return measured(stage, contestant, async () => {
    const result = await stage.load(job);
    tokens.next = result.used;
    return result;
  });
}

async function measured(stage: Stage, { program, databaseUrl }: Contestant, load: () => Promise<LoadResult>): Promise<Round> {
  const used = () => Promise.all([cpuSeconds(program.pid), cpuSecondsOfTree(stage.postgres), walPosition(databaseUrl)]);
  const before = await used();
  const { count, seconds, p50, p99, failures, firstFailure } = await load();
  if (failures > 0 || count === 0) throw new Error(`${failures} of ${failures + count} failed. The first one:\n${firstFailure}`);
  // Work that follows the last responses belongs to the round.
  await sleep(250);
  const after = await used();
  const [serverCpu, postgresCpu, walBytes] = after.map((figure, index) => (figure - before[index]) / count);
  return { rate: count / seconds, p50, p99, serverCpu: serverCpu * 1000, postgresCpu: postgresCpu * 1000, walBytes };
}

async function walPosition(databaseUrl: string): Promise<number> {
  const [{ bytes }] = await query(databaseUrl, "select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 as bytes");
  return Number(bytes);
}

/** Returns the medians of each value of the rounds. */
export function medianOf(rounds: Round[]): Round {
  const of = (key: keyof Round) => median(rounds.map((round) => round[key]));
  return {
    rate: of('rate'),
    p50: of('p50'),
    p99: of('p99'),
    serverCpu: of('serverCpu'),
    postgresCpu: of('postgresCpu'),
    walBytes: of('walBytes'),
  };
}

export function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  return sorted.length % 2 === 1 ? sorted[Math.floor(middle)] : (sorted[middle - 1] + sorted[middle]) / 2;
}
