import { readdir, readFile } from 'node:fs/promises';

/** Returns the CPU time that all threads of a process have used, in ms, which other load hardly changes. Linux only. */
export async function cpuMilliseconds(pid: number): Promise<number> {
  const threads = await readdir(`/proc/${pid}/task`);
  // proc(5): the first number is the time on a CPU in ns.
  const times = await Promise.all(threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').catch(() => '0')));
  return times.reduce((sum, text) => sum + Number(text.split(' ')[0]), 0) / 1e6;
}
