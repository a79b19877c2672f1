/**
 * `npm run bench`: compares the speed of the built service in production mode with a minimal server (the floor). Rounds of both
 * alternate on one PostgreSQL and one mail server, and their medians are compared. See docs/performance.md.
 *
 *   --quick        fewer and shorter rounds (under a minute)
 *   --conc 1,16,64 numbers of concurrent visitors of part A
 *   --growth N     also with N rows in every table and N open links, beside an empty database
 *   --only a,b,d   only these parts; `--only cli` needs no database
 *   --only oidc    whole code flows of OpenID Connect, beside a bare oidc-provider
 *   --only volume  what a sign-in writes: write-ahead log and tables
 *   --only pages   the CPU time of the pages that the service renders
 *   --only input   the cost of hostile input for every route, as a Markdown table
 *   --stats N      instead: the statistics over the audit log of N sign-ins
 *   --rows N       instead: sign-in and verify beside an empty database with N rows in each large table and up to a million open links,
 *                  and verify while a partition of up to a million tokens is dropped
 */

import { cpus, loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { measureCommands } from './commands.ts';
import { measureGrowth } from './growth.ts';
import { measureInput } from './input.ts';
import { addTokens, measureSignIns, measureVerify, median, medianOf, type Round, type Tokens } from './measure.ts';
import { compareCodeFlows } from './oidc.ts';
import { measurePages } from './pages.ts';
import { memoryOf, peakMemoryOf } from './programs.ts';
import { compare, cpuOf, formatNumber, heading, printTargets, roundHeading, roundRow, row } from './report.ts';
import { type Contestant, openStage, registerWebsite, type Stage } from './stage.ts';
import { measureStats } from './stats.ts';
import { measureVolume } from './volume.ts';

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean' },
    conc: { type: 'string', default: '1,16,64' },
    growth: { type: 'string', default: '0' },
    only: { type: 'string', default: 'a,b,d,cli' },
    stats: { type: 'string', default: '0' },
    rows: { type: 'string', default: '0' },
  },
});
const rounds = options.quick ? 2 : 5;
const seconds = options.quick ? { signIns: 2, verify: 1.5, alone: 1 } : { signIns: 4, verify: 2, alone: 2 };
const AT_ONCE = 64;
const IDLE_MS = 10_000;
const parts = options.only.split(',');
const concurrencies = options.conc.split(',').map(Number);

/** Targets of a number of concurrent visitors or connections: ratios to the floor. */
type Targets = { rate?: number; cpu?: number; p50?: number };
const SIGN_IN_TARGETS: Record<number, Targets> = { 1: { cpu: 1, p50: 1 }, 16: { rate: 2.4 }, 64: { rate: 3, cpu: 0.3 } };
const VERIFY_TARGETS: Record<number, Targets> = { 1: { rate: 1 }, 32: { rate: 4 } };

// Other load on the machine affects the ratios too.
console.log(`${cpus().length} CPUs, load average before: ${formatNumber(loadavg()[0], 1)}`);
if (parts.includes('cli') && Number(options.stats) + Number(options.rows) === 0) await measureCommands();
if (options.only === 'cli') {
  printTargets();
  process.exit();
}
const stage = await openStage();
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, async () => {
    await stage.close();
    process.exit(130);
  });
try {
  if (Number(options.stats) > 0) await measureStats(stage, Number(options.stats));
  else if (Number(options.rows) > 0) await measureRows(stage, Number(options.rows));
  else if (options.only === 'input') await measureInput(stage);
  else if (options.only === 'volume') await measureVolume(stage, AT_ONCE, seconds.signIns);
  else if (options.only === 'pages') await measurePages(stage, { rounds, requests: options.quick ? 800 : 2400 });
  else if (options.only === 'oidc') await compareCodeFlows(stage, { rounds, connections: AT_ONCE, seconds: seconds.signIns });
  else await bench(stage);
  printTargets();
} finally {
  await stage.close();
}

function measureRows(stage: Stage, rows: number): Promise<void> {
  const part = Math.min(rows, 1_000_000);
  return measureGrowth(stage, { rows, open: part, dropped: part, rounds, connections: AT_ONCE, seconds });
}

async function bench(stage: Stage): Promise<void> {
  const service = await stage.start('service', await stage.createDatabase('service', 'service'));
  const started = performance.now();
  const floor = await stage.start('floor', await stage.createDatabase('floor', 'floor'));
  await registerWebsite(service);

  if (parts.includes('d')) await startAndMemory(stage, service, floor, started);
  await measureSignIns(stage, service, AT_ONCE, seconds.signIns);
  await measureSignIns(stage, floor, AT_ONCE, seconds.signIns);
  if (parts.includes('a')) for (const visitors of concurrencies) await signIns(stage, service, floor, visitors);
  if (parts.includes('b')) await verifications(stage, service, floor);
  if (parts.includes('a') || parts.includes('b')) await peakMemory(service, floor);
  const grownRows = Number(options.growth);
  if (grownRows > 0) await measureGrowth(stage, { rows: grownRows, open: grownRows, dropped: 0, rounds, connections: AT_ONCE, seconds });
}

async function signIns(stage: Stage, service: Contestant, floor: Contestant, visitors: number): Promise<void> {
  roundHeading(`A. Whole sign-ins, ${visitors} at once`);
  const both = await takeTurns(service, floor, (contestant) => measureSignIns(stage, contestant, visitors, seconds.signIns));
  compareRounds(`sign-in, ${visitors} at once`, both, 'floor: Express, three statements, nodemailer', SIGN_IN_TARGETS[visitors] ?? {});
}

async function verifications(stage: Stage, service: Contestant, floor: Contestant): Promise<void> {
  const usedUp = (contestant: Contestant, perSecond: number) =>
    addTokens(contestant, contestant.kind, Math.ceil(perSecond * (rounds + 1) * (seconds.verify + seconds.alone / 4)));
  const tokens = new Map([
    [service, await usedUp(service, 40_000)],
    [floor, await usedUp(floor, 15_000)],
  ]);
  for (const [connections, targets] of Object.entries(VERIFY_TARGETS)) {
    const alone = connections === '1';
    const verify = (contestant: Contestant) =>
      measureVerify(stage, contestant, tokens.get(contestant) as Tokens, Number(connections), alone ? seconds.alone : seconds.verify);
    roundHeading(`B. verify-token, ${connections} at once`);
    await verify(service);
    await verify(floor);
    compareRounds(`verify-token, ${connections} at once`, await takeTurns(service, floor, verify), 'L2: Express, one UPDATE', targets);
  }
}

/** Prints the rounds of the service and of what it is compared with, and records the ratios that have targets. */
function compareRounds(what: string, rounds: readonly [Round, Round], floorName: string, { rate, cpu, p50 }: Targets): void {
  const [ours, least] = rounds;
  roundRow('service', ours);
  roundRow(floorName, least);
  row(
    '  ratio',
    ...[ours.rate / least.rate, ours.p50 / least.p50, ours.p99 / least.p99].map((ratio) => formatNumber(ratio, 2)),
    ...[cpuOf(ours) / cpuOf(least), ours.serverCpu / least.serverCpu, ours.postgresCpu / least.postgresCpu].map((ratio) =>
      formatNumber(ratio, 2),
    ),
  );
  if (rate) compare(`${what}: calls/s ÷ floor`, ours.rate / least.rate, 'at least', rate);
  if (cpu) compare(`${what}: CPU ÷ floor`, cpuOf(ours) / cpuOf(least), 'at most', cpu);
  if (p50) compare(`${what}: p50 ÷ floor`, ours.p50 / least.p50, 'at most', p50);
}

async function peakMemory(service: Contestant, floor: Contestant): Promise<void> {
  heading('Peak memory, MB', 'service', 'floor');
  const [ours, least] = await Promise.all([service, floor].map(({ program }) => peakMemoryOf(program.pid)));
  row('resident', formatNumber(ours), formatNumber(least));
  compare('peak memory, MB', ours, 'at most', 180);
}

async function startAndMemory(stage: Stage, service: Contestant, floor: Contestant, started: number): Promise<void> {
  heading('D. Start and memory', 'service', 'floor');
  const starts = { service: [] as number[], floor: [] as number[] };
  for (let n = 0; n < rounds; n++)
    for (const [kind, { databaseUrl }] of [
      ['service', service],
      ['floor', floor],
    ] as const) {
      const again = await stage.start(kind, databaseUrl);
      await again.program.stop(kind === 'floor' ? 'SIGKILL' : 'SIGTERM');
      starts[kind].push(again.startMs);
    }
  const [ours, least] = [median(starts.service), median(starts.floor)];
  row('start to the first 200, ms', formatNumber(ours), formatNumber(least));
  const dataDir = await stage.directory();
  const first = await stage.startEmbedded(dataDir);
  await first.stop();
  const second = await stage.startEmbedded(dataDir);
  await second.stop();
  row('  with an embedded database, first time', formatNumber(first.startMs));
  row('  with an embedded database that is there', formatNumber(second.startMs));
  await sleep(Math.max(0, started + IDLE_MS - performance.now()));
  const [memory, leastMemory] = await Promise.all([service, floor].map(({ program }) => memoryOf(program.pid)));
  row(`memory after ${IDLE_MS / 1000} s, MB`, formatNumber(memory), formatNumber(leastMemory));
  compare('start ÷ floor', ours / least, 'at most', 2);
  compare('start with an embedded database, s', second.startMs / 1000, 'at most', 3);
  compare('idle memory, MB', memory, 'at most', 85);
}

/** Runs rounds of both in turn and returns the medians. */
async function takeTurns(
  service: Contestant,
  floor: Contestant,
  measure: (contestant: Contestant) => Promise<Round>,
): Promise<[Round, Round]> {
  const ours: Round[] = [];
  const least: Round[] = [];
  for (let n = 0; n < rounds; n++) {
    ours.push(await measure(service));
    least.push(await measure(floor));
  }
  return [medianOf(ours), medianOf(least)];
}
