/**
 * `npm run measurements -- test/bench/instances.measure.ts`: whole sign-ins with one, two and four instances of two
 * workers each, behind HAProxy, on PgBouncer and a Patroni cluster with a synchronous standby. The rounds take turns.
 */
import { afterAll, beforeAll, test } from 'vitest';
import { startTopology, type Topology } from '../faults/topology.ts';
import { production } from '../support/harness.ts';
import type { LoadResult } from './load.ts';
import { median } from './measure.ts';
import { buildPrograms, cpuSeconds, cpuSecondsOfTree, killPrograms, messageOf, startProgram } from './programs.ts';
import { formatNumber, heading, row } from './report.ts';
import type { SinkPorts } from './sink.ts';
import { registerWebsite, SITE } from './stage.ts';

const COUNTS = [1, 2, 4];
const ROUNDS = 5;
const SECONDS = 6;
const AT_ONCE = 64;

let programs: Awaited<ReturnType<typeof buildPrograms>>;
let topology: Topology;
let load: (seconds: number) => Promise<LoadResult>;
beforeAll(async () => {
  programs = await buildPrograms(['sink', 'load']);
  const { smtp, links } = await messageOf<SinkPorts>(startProgram(programs.path('sink'), [], {}));
  topology = await startTopology(Math.max(...COUNTS), { ...production, SMTP_URL: `smtp://127.0.0.1:${smtp}` });
  await registerWebsite(topology.stage);
  const loader = startProgram(programs.path('load'), [], {});
  load = (seconds) => {
    const { port } = topology;
    const result = messageOf<LoadResult>(loader);
    loader.child.send({ do: 'sign-ins', port, connections: AT_ONCE, seconds, forwardUrl: `https://${SITE}/welcome`, linksPort: links });
    return result;
  };
}, 300_000);
afterAll(async () => {
  killPrograms();
  await topology?.stop();
  await programs.remove();
}, 60_000);

type Measured = { rate: number; p50: number; p99: number; serviceCpu: number; postgresCpu: number };

test('sign-ins by the number of instances', { timeout: 600_000 }, async () => {
  const rounds = new Map(COUNTS.map((count) => [count, [] as Measured[]]));
  await load(SECONDS);
  for (let round = 0; round < ROUNDS; round++)
    for (const [count, measured] of rounds) {
      await topology.use(count);
      measured.push(await measure());
    }
  heading(`Sign-ins, ${AT_ONCE} at once, by instances`, 'per s', 'ratio to one', 'p50 ms', 'p99 ms', 'service', 'PostgreSQL');
  const of = (count: number, key: keyof Measured) => median((rounds.get(count) ?? []).map((each) => each[key]));
  for (const count of COUNTS)
    row(
      `${count}, with ${2 * count} workers`,
      formatNumber(of(count, 'rate')),
      formatNumber(of(count, 'rate') / of(1, 'rate'), 2),
      formatNumber(of(count, 'p50'), 1),
      formatNumber(of(count, 'p99'), 1),
      formatNumber(of(count, 'serviceCpu'), 2),
      formatNumber(of(count, 'postgresCpu'), 2),
    );
});

async function measure(): Promise<Measured> {
  const before = await cpu();
  const { count, seconds, p50, p99, failures, firstFailure } = await load(SECONDS);
  if (failures > 0 || count === 0) throw new Error(`${failures} of ${failures + count} failed. The first one:\n${firstFailure}`);
  const [serviceCpu, postgresCpu] = (await cpu()).map((used, i) => ((used - before[i]) * 1000) / count);
  return { rate: count / seconds, p50, p99, serviceCpu, postgresCpu };
}

/** Returns the CPU seconds of all instances, and of both PostgreSQL servers. */
async function cpu(): Promise<[service: number, postgres: number]> {
  const processes = (await Promise.all(topology.cluster.members.map((member) => member.processes()))).flat();
  const [service, postgres] = await Promise.all([
    Promise.all(topology.instances.map(({ pid }) => cpuSecondsOfTree(pid))),
    Promise.all(processes.map((pid) => cpuSeconds(pid).catch(() => 0))),
  ]);
  return [sum(service), sum(postgres)];
}

const sum = (values: number[]) => values.reduce((total, value) => total + value, 0);
