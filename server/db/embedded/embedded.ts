import { type ChildProcess, fork } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { extname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { keptSecret } from '../../kept-secrets.ts';
import type { Log } from '../../log.ts';
import { EmbeddedUnusable, prepareBinaries } from './binaries.ts';
import { choosePort, databaseUrl, ENVIRONMENT, prepareCluster, readPostmaster, serverArguments } from './cluster.ts';
import { lockDataDir } from './lock.ts';
import { identityOf, isPostmaster, signal, waitForEnd } from './processes.ts';
import type { Order, Report } from './supervisor.ts';

const START_MS = 60_000;
const STOP_MS = 9_500;
const LOG_BYTES = 10_000_000;
const PASSWORD = 'postgres-password';

// From source it is TypeScript, which the parent's loader, handed on by fork, runs.
const SUPERVISOR = fileURLToPath(new URL(`./supervisor${extname(import.meta.url)}`, import.meta.url));

/**
 * Starts the embedded PostgreSQL of `dataDir` under a supervising process, which starts it again when it dies, on the
 * same port, and stops it when this process ends, however that happens. What an earlier service left behind is taken over.
 * @throws DataDirInUse, EmbeddedUnusable
 */
export async function startEmbedded(parts: { dataDir: string; log: Log }): Promise<{ url: string; stop(): Promise<void> }> {
  const { dataDir, log } = parts;
  mkdirSync(dataDir, { recursive: true });
  const release = lockDataDir(dataDir);
  try {
    const binaries = prepareBinaries();
    const password = keptSecret(dataDir, PASSWORD, 24);
    endLeftSupervisor(dataDir);
    const directory = prepareCluster(dataDir, password, binaries);
    const left = readPostmaster(directory);
    const port = left && isPostmaster(left.pid, directory) ? left.port : await choosePort(dataDir);
    const { postgres: program, owner } = binaries;
    const order: Order = { do: 'run', program, args: serverArguments(directory, port), env: ENVIRONMENT, directory, owner };
    const stop = await supervise({ dataDir, log, order });
    return {
      url: databaseUrl(port, password),
      stop: async () => {
        await stop();
        release();
      },
    };
  } catch (error) {
    release();
    throw error;
  }
}

/** Whether there is a cluster in `dataDir`. */
export const hasCluster = (dataDir: string): boolean => existsSync(join(dataDir, 'postgres'));

/** The URL of the embedded PostgreSQL that another process keeps running on `dataDir`; null: it takes no connections. */
export function findEmbedded(dataDir: string): string | null {
  if (!hasCluster(dataDir)) return null;
  const directory = realpathSync(join(dataDir, 'postgres'));
  const running = readPostmaster(directory);
  if (!running?.ready || !isPostmaster(running.pid, directory)) return null;
  return databaseUrl(running.port, readFileSync(join(dataDir, PASSWORD), 'utf8').trim());
}

/** Runs the supervisor, and another one when it dies. Resolves once PostgreSQL takes connections. @returns its end */
async function supervise(parts: { dataDir: string; log: Log; order: Order }): Promise<() => Promise<void>> {
  const { dataDir, log, order } = parts;
  const logFile = openLogFile(join(dataDir, 'postgres.log'));
  let started = false;
  let stopping = false;
  let child: ChildProcess;

  await new Promise<void>((resolve, reject) => {
    const tooLate = setTimeout(() => fail('did not start in time'), START_MS);
    const fail = (what: string) => {
      stopping = true;
      clearTimeout(tooLate);
      child.disconnect();
      reject(new EmbeddedUnusable(`The embedded PostgreSQL ${what}. The end of ${logFile.path}:\n${logFile.tail()}`));
    };
    const begin = () => {
      child = fork(SUPERVISOR, [], { detached: true, env: {}, stdio: ['ignore', logFile.fd, logFile.fd, 'ipc'] });
      if (child.pid) keepSupervisor(dataDir, child.pid);
      child.on('message', (report: Report) => {
        if (report.is === 'restarted') log.warn('PostgreSQL had ended and was started again');
        if (report.is === 'failing' && started) log.error('PostgreSQL does not start; see postgres.log in DATA_DIR');
        if (report.is === 'failing' && !started) fail('does not start');
        if (report.is === 'ready') {
          started = true;
          clearTimeout(tooLate);
          resolve();
        }
      });
      child.on('error', (error) => log.error({ err: error }, 'supervisor of PostgreSQL'));
      child.once('exit', async () => {
        if (stopping) return;
        log.warn('the supervisor of PostgreSQL had ended and was started again');
        await sleep(100);
        if (!stopping) begin();
      });
      child.send(order);
    };
    begin();
  });

  return async () => {
    stopping = true;
    const { pid } = child;
    if (child.connected) child.send({ do: 'stop' } satisfies Order);
    if (pid && !(await waitForEnd(pid, STOP_MS))) signal(pid, 'SIGKILL');
    rmSync(supervisorFile(dataDir), { force: true });
    closeSync(logFile.fd);
  };
}

const supervisorFile = (dataDir: string) => join(dataDir, 'postgres-supervisor');
const keepSupervisor = (dataDir: string, pid: number) => writeFileSync(supervisorFile(dataDir), `${pid} ${identityOf(pid)}\n`);

/** Ends the supervisor of a service that is gone, so that it does not work against the next one. PostgreSQL itself is taken over. */
function endLeftSupervisor(dataDir: string): void {
  try {
    const [pid, ...identity] = readFileSync(supervisorFile(dataDir), 'utf8').trim().split(' ');
    if (Number(pid) > 0 && identityOf(Number(pid)) === identity.join(' ')) signal(Number(pid), 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

function openLogFile(path: string): { path: string; fd: number; tail(): string } {
  const fd = openSync(path, 'a', 0o600);
  if (statSync(path).size > LOG_BYTES) truncateSync(path);
  return { path, fd, tail: () => readFileSync(path, 'utf8').trimEnd().split('\n').slice(-10).join('\n') };
}
