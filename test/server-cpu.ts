import { readdir, readFile } from 'node:fs/promises';

/** CPU time that all threads of a process have used, in ms. Unlike time on a clock, other load on the machine hardly changes it. Linux only. */
export async function cpuMilliseconds(pid: number): Promise<number> {
  const threads = await readdir(`/proc/${pid}/task`);
  // proc(5): the first number is the time on a CPU in ns.
  const times = await Promise.all(threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').catch(() => '0')));
  return times.reduce((sum, text) => sum + Number(text.split(' ')[0]), 0) / 1e6;
}
