import { type ChildProcess, fork } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, realpathSync, rmSync, statSync, truncateSync } from 'node:fs';
import { extname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openDataDir, replaceFile } from '../../platform/data-dir.ts';
import type { Log } from '../../platform/log.ts';
import { keptSecret } from '../../platform/secrets.ts';
import {
  choosePort,
  databaseUrl,
  EmbeddedUnusable,
  ENVIRONMENT,
  prepareBinaries,
  prepareCluster,
  readPostmaster,
  serverArguments,
} from './cluster.ts';
import { identityOf, isPostmaster, lockDataDir, signal, waitForEnd } from './processes.ts';
import type { Command, Status } from './supervisor.ts';

const START_MS = 60_000;
const STOP_MS = 9_500;
const RESTART_MS = 100;
const MAX_LOG_BYTES = 10_000_000;
const PASSWORD = 'postgres-password';

// From source it is TypeScript, which runs with the parent's loader, since fork passes that on.
const SUPERVISOR = fileURLToPath(new URL(`./supervisor${extname(import.meta.url)}`, import.meta.url));

/**
 * Starts the embedded PostgreSQL of `dataDir` under a supervisor process, which restarts it on the same port when it fails, and stops
 * it when this process ends for any reason. A server that an earlier service left running is taken over.
 * @throws DataDirInUse, EmbeddedUnusable
 */
export async function startEmbedded(parts: { dataDir: string; log: Log }): Promise<{ url: string; stop(): Promise<void> }> {
  const { dataDir, log } = parts;
  ignoreLibpqVariables();
  openDataDir(dataDir);
  const release = lockDataDir(dataDir);
  try {
    const binaries = prepareBinaries();
    const password = keptSecret(dataDir, PASSWORD, 24);
    killPreviousSupervisor(dataDir);
    const directory = prepareCluster(dataDir, password, binaries);
    const previous = readPostmaster(directory);
    const port = previous && isPostmaster(previous.pid, directory) ? previous.port : await choosePort(dataDir);
    const { postgres: program, owner } = binaries;
    const run: Command = { type: 'run', program, args: serverArguments(directory, port), env: ENVIRONMENT, directory, owner };
    const supervision = new Supervision(dataDir, log, run);
    await supervision.start();
    return {
      url: databaseUrl(port, password),
      stop: async () => {
        await supervision.stop();
        release();
      },
    };
  } catch (error) {
    release();
    throw error;
  }
}

/** Removes PGSSLMODE, PGOPTIONS and the other variables that `pg` reads: they are meant for another server (PostgreSQL documentation, 34.15). */
function ignoreLibpqVariables(): void {
  for (const name of Object.keys(process.env)) if (name.startsWith('PG')) delete process.env[name];
}

/** Whether there is a cluster in `dataDir`. */
export const hasCluster = (dataDir: string): boolean => existsSync(join(dataDir, 'postgres'));

/** Returns the URL of the embedded PostgreSQL that another process runs on `dataDir`, or null when it does not accept connections. */
export function findEmbedded(dataDir: string): string | null {
  ignoreLibpqVariables();
  if (!hasCluster(dataDir)) return null;
  const directory = realpathSync(join(dataDir, 'postgres'));
  const running = readPostmaster(directory);
  if (!running?.ready || !isPostmaster(running.pid, directory)) return null;
  return databaseUrl(running.port, readFileSync(join(dataDir, PASSWORD), 'utf8').trim());
}

/** The supervisor process of one service, which is started again when it fails. */
class Supervision {
  readonly #dataDir: string;
  readonly #log: Log;
  readonly #run: Command;
  readonly #logFile: { path: string; fd: number };
  #stopping = false;
  #child: ChildProcess | undefined;

  constructor(dataDir: string, log: Log, run: Command) {
    this.#dataDir = dataDir;
    this.#log = log;
    this.#run = run;
    this.#logFile = openLogFile(join(dataDir, 'postgres.log'));
  }

  /** Resolves when PostgreSQL accepts connections. @throws EmbeddedUnusable */
  async start(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    try {
      await new Promise<void>((resolve, reject) => {
        timer = setTimeout(() => reject(new Error('did not start in time')), START_MS);
        let started = false;
        this.#fork((status) => {
          if (status === 'restarted') this.#log.warn('PostgreSQL had ended and was started again');
          if (status === 'failing' && started) this.#log.error('PostgreSQL does not start; see postgres.log in DATA_DIR');
          if (status === 'failing' && !started) reject(new Error('does not start'));
          if (status === 'ready') {
            started = true;
            resolve();
          }
        });
      });
    } catch (error) {
      this.#stopping = true;
      this.#child?.disconnect();
      const { path } = this.#logFile;
      throw new EmbeddedUnusable(`The embedded PostgreSQL ${(error as Error).message}. The end of ${path}:\n${lastLines(path)}`);
    } finally {
      clearTimeout(timer);
    }
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    const child = this.#child;
    if (child?.connected) child.send({ type: 'stop' } satisfies Command);
    if (child?.pid && !(await waitForEnd(child.pid, STOP_MS))) signal(child.pid, 'SIGKILL');
    rmSync(supervisorFile(this.#dataDir), { force: true });
    closeSync(this.#logFile.fd);
  }

  #fork(onStatus: (status: Status) => void): void {
    const { fd } = this.#logFile;
    const child = fork(SUPERVISOR, [], { detached: true, env: {}, stdio: ['ignore', fd, fd, 'ipc'] });
    this.#child = child;
    if (child.pid) replaceFile(supervisorFile(this.#dataDir), `${child.pid} ${identityOf(child.pid)}\n`);
    child.on('message', onStatus);
    child.on('error', (error) => this.#log.error({ err: error }, 'supervisor of PostgreSQL'));
    child.once('exit', async () => {
      if (this.#stopping) return;
      this.#log.warn('the supervisor of PostgreSQL had ended and was started again');
      await sleep(RESTART_MS);
      if (!this.#stopping) this.#fork(onStatus);
    });
    child.send(this.#run);
  }
}

const supervisorFile = (dataDir: string) => join(dataDir, 'postgres-supervisor');

/** Kills the supervisor of a service that has ended, so that there is only one. Its PostgreSQL keeps running and is taken over. */
function killPreviousSupervisor(dataDir: string): void {
  try {
    const [pid, ...identity] = readFileSync(supervisorFile(dataDir), 'utf8').trim().split(' ');
    if (Number(pid) > 0 && identityOf(Number(pid)) === identity.join(' ')) signal(Number(pid), 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

function openLogFile(path: string): { path: string; fd: number } {
  const fd = openSync(path, 'a', 0o600);
  if (statSync(path).size > MAX_LOG_BYTES) truncateSync(path);
  return { path, fd };
}

const lastLines = (path: string) => readFileSync(path, 'utf8').trimEnd().split('\n').slice(-10).join('\n');
