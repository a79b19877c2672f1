import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { openFakeService } from '../cli/fake-service.ts';
import { compare, formatNumber, heading, row } from './report.ts';

const RUNS = 11;
const entry = join(import.meta.dirname, '../../dist/cli/main.js');

/** Measures the CPU time of commands, including that of Node.js, and of Node.js alone. */
export async function measureCommands(): Promise<void> {
  const home = await mkdtemp(join(tmpdir(), 'emailauth-bench-'));
  const server = await openFakeService((_, response) => response.end(JSON.stringify({ id: '1', email: 'you@example.com', name: null })));
  const env = { PATH: process.env.PATH, HOME: home, EMAILAUTH_HOST: server.url, EMAILAUTH_TOKEN: 'ea_live_something' };
  try {
    heading('The command line', 'CPU ms');
    const nodeAlone = await cpuOf(['-e', '0'], env);
    row('node -e 0', formatNumber(nodeAlone));
    const times: Record<string, number> = {};
    for (const line of ['--help', '--version', 'sites add --help', 'whoami']) {
      times[line] = await cpuOf([entry, ...line.split(' ')], env);
      row(`emailauth ${line}`, formatNumber(times[line]));
    }
    compare('emailauth --help, CPU ms', times['--help'], 'at most', 150);
  } finally {
    await server.close();
    await rm(home, { recursive: true, force: true });
  }
}

/** Returns the median user and system time of several runs in milliseconds. */
async function cpuOf(args: string[], env: Record<string, string | undefined>): Promise<number> {
  const times: number[] = [];
  while (times.length < RUNS) {
    const script = 'TIMEFORMAT="%U %S"; { time "$@" > /dev/null 2>&1; } 2>&1';
    const { stdout } = await promisify(execFile)('bash', ['-c', script, 'bash', process.execPath, ...args], { env });
    times.push(stdout.split(' ').reduce((sum, seconds) => sum + Number(seconds) * 1000, 0));
  }
  return times.sort((a, b) => a - b)[RUNS >> 1];
}
