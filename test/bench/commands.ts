import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { openFakeService } from '../cli/fake-service.ts';
import { median } from './measure.ts';
import { compare, formatNumber, heading, row } from './report.ts';

const RUNS = 20;
const entry = join(import.meta.dirname, '../../dist/cli/main.js');

/** Measures the CPU time of commands, including that of Node.js, and of Node.js alone. */
export async function measureCommands(): Promise<void> {
  const home = await mkdtemp(join(tmpdir(), 'emailauth-bench-'));
  const server = await openFakeService((_, response) => response.end(JSON.stringify({ id: '1', email: 'you@example.com', name: null })));
  const env = { PATH: process.env.PATH, HOME: home, EMAILAUTH_HOST: server.url, EMAILAUTH_TOKEN: 'ea_live_something' };
  try {
    heading('The command line', 'CPU ms');
    const lines = ['--help', '--version', 'sites add --help', 'whoami'];
    const [node, ...commands] = await cpuOf([['-e', '0'], ...lines.map((line) => [entry, ...line.split(' ')])], env);
    row('node -e 0', formatNumber(node));
    lines.forEach((line, i) => {
      row(`emailauth ${line}`, formatNumber(commands[i]));
    });
    compare('emailauth --help, CPU ÷ node', commands[0] / node, 'at most', 1.5);
  } finally {
    await server.close();
    await rm(home, { recursive: true, force: true });
  }
}

/** Returns the median user and system time of each command line in milliseconds. They take turns, so that other load affects all alike. */
async function cpuOf(programs: string[][], env: Record<string, string | undefined>): Promise<number[]> {
  const times: number[][] = programs.map(() => []);
  for (let run = 0; run < RUNS; run++) {
    for (const [i, args] of programs.entries()) {
      const script = 'TIMEFORMAT="%U %S"; { time "$@" > /dev/null 2>&1; } 2>&1';
      const { stdout } = await promisify(execFile)('bash', ['-c', script, 'bash', process.execPath, ...args], { env });
      times[i].push(stdout.split(' ').reduce((sum, seconds) => sum + Number(seconds) * 1000, 0));
    }
  }
  return times.map(median);
}
