import { execFileSync } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import type { Service } from './harness.ts';

/** Returns the CPU time that all threads of a process have used, in ms, which other load hardly changes. Linux only. */
export async function cpuMilliseconds(pid: number): Promise<number> {
  const threads = await readdir(`/proc/${pid}/task`);
  // proc(5): the first number is the time on a CPU in ns.
  const times = await Promise.all(threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').catch(() => '0')));
  return times.reduce((sum, text) => sum + Number(text.split(' ')[0]), 0) / 1e6;
}

/**
 * Returns the CPU time in ms that 1,000 requests without input cost a service at present: a bound for the cost of one request that holds
 * on any machine. On a core of 2024 it is about 80 ms.
 */
export async function ordinaryCost({ pid, client }: Pick<Service, 'pid' | 'client'>): Promise<number> {
  const sender = client();
  const sendAll = async () => {
    for (let sent = 0; sent < 1_000; sent++) await sender.get('/api/languages');
  };
  // V8 compiles the code during the first ones, which would raise the bound on a fast machine.
  await sendAll();
  const before = await cpuMilliseconds(pid);
  await sendAll();
  return (await cpuMilliseconds(pid)) - before;
}

/** Returns the CPU time in ms of a start of Node.js without a program at present, 100 to 140 ms on a core of 2024: the mean of ten. */
export function nodeStartCost(): number {
  const script = 'const { user, system } = process.cpuUsage(); (user + system) / 1000';
  const costs = Array.from({ length: 10 }, () => Number(execFileSync(process.execPath, ['-p', script], { encoding: 'utf8' })));
  return costs.reduce((sum, cost) => sum + cost) / costs.length;
}
