import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, readdir, readlink, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { idOf, isAvailable, query } from '../support/postgres.ts';
import { freePort, waitUntil } from '../support/waiting.ts';

const BINARIES = '/usr/lib/postgresql/15/bin';

/** Whether Patroni, etcd and PostgreSQL 15 are installed. On Debian: apt-get install patroni python3-etcd etcd-server postgresql-15. */
export const hasPatroni = ['/usr/bin/patroni', '/usr/bin/etcd', `${BINARIES}/postgres`].every((path) => existsSync(path));

/** One server of the cluster. */
export type Member = {
  name: string;
  port: number;
  /** Port of Patroni's REST API, whose `/primary` returns 200 on the leader only. */
  apiPort: number;
  url(database: string): string;
  /** Returns the ids of its PostgreSQL processes. */
  processes(): Promise<number[]>;
  /** Sends SIGKILL to Patroni and to its PostgreSQL, as a power failure does. */
  kill(): Promise<void>;
};

/** PostgreSQL with one synchronous standby, led by Patroni. */
export type PatroniCluster = {
  members: readonly Member[];
  leader(): Promise<Member>;
  stop(): Promise<void>;
};

/** Starts etcd and two servers, and waits until the second one is the synchronous standby of the first one. */
export async function startPatroni(): Promise<PatroniCluster> {
  const home = await mkdtemp(join(tmpdir(), 'emailauth-patroni-'));
  await chmod(home, 0o777);
  const owner = process.getuid?.() === 0 ? { uid: await idOf('-u'), gid: await idOf('-g') } : {};
  const children: ChildProcess[] = [];
  let log = '';
  const run = (program: string, args: string[]) => {
    const child = spawn(program, args, { ...owner, cwd: home, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk) => {
        log = (log + chunk).slice(-20_000);
      });
    }
    children.push(child);
    return child;
  };

  const [etcdPort, peerPort] = [await freePort(), await freePort()];
  const [client, peer] = [`http://127.0.0.1:${etcdPort}`, `http://127.0.0.1:${peerPort}`];
  run('/usr/bin/etcd', [
    ...['--data-dir', join(home, 'etcd'), '--listen-client-urls', client, '--advertise-client-urls', client],
    ...['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer, '--initial-cluster', `default=${peer}`],
  ]);
  const members = await Promise.all(['alpha', 'beta'].map((name) => configure(home, name, etcdPort)));
  const started = members.map(({ name, port, apiPort, file, dataDirectory }): Member => {
    const patroni = run('/usr/bin/patroni', [file]);
    return {
      name,
      port,
      apiPort,
      url: (database) => `postgres://postgres:postgres@127.0.0.1:${port}/${database}`,
      processes: () => serversOf(dataDirectory),
      async kill() {
        // Patroni first, which would start PostgreSQL again.
        await end(patroni);
        for (const pid of await serversOf(dataDirectory)) kill(pid);
      },
    };
  });

  const isLeader = ({ apiPort }: Member) => isOk(`http://127.0.0.1:${apiPort}/primary`);
  const leader = async () => {
    for (const member of started) if (await isLeader(member)) return member;
    throw new Error('The cluster has no leader');
  };
  const stop = async () => {
    // etcd is the first child and is stopped last.
    for (const child of children.reverse()) await end(child);
    for (const { dataDirectory } of members) for (const pid of await serversOf(dataDirectory)) kill(pid);
    await rm(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  };
  try {
    await waitUntil('the standby is synchronous', 120_000, async () => {
      const synchronous = await Promise.all(started.map(({ apiPort }) => isOk(`http://127.0.0.1:${apiPort}/synchronous`)));
      const available = await Promise.all(started.map(({ url }) => isAvailable(url('postgres'))));
      return (synchronous.includes(true) && available.every(Boolean)) || `the log ends with:\n${log.slice(-3000)}`;
    });
  } catch (error) {
    await stop();
    throw error;
  }
  return { members: started, leader, stop };
}

/** Waits until a member accepts writes. @returns the time of that, of `performance.now` */
export async function promotionOf(member: Member): Promise<number> {
  await waitUntil(`${member.name} is promoted`, 120_000, async () => {
    const rows = await query(member.url('postgres'), 'select pg_is_in_recovery() as standby').catch(() => []);
    return rows[0]?.standby === false;
  });
  return performance.now();
}

async function configure(home: string, name: string, etcdPort: number) {
  const [port, apiPort] = [await freePort(), await freePort()];
  const dataDirectory = join(home, name);
  const password = 'postgres';
  const configuration = {
    scope: 'emailauth',
    name,
    restapi: { listen: `127.0.0.1:${apiPort}`, connect_address: `127.0.0.1:${apiPort}` },
    etcd3: { host: `127.0.0.1:${etcdPort}` },
    bootstrap: {
      // 20 s is the least that Patroni accepts.
      dcs: { ttl: 20, loop_wait: 1, retry_timeout: 3, synchronous_mode: true, postgresql: { parameters: { max_connections: 300 } } },
      initdb: [{ encoding: 'UTF8' }],
      pg_hba: ['host all all 127.0.0.1/32 scram-sha-256', 'host replication all 127.0.0.1/32 scram-sha-256'],
    },
    postgresql: {
      listen: `127.0.0.1:${port}`,
      connect_address: `127.0.0.1:${port}`,
      data_dir: dataDirectory,
      pgpass: join(home, `${name}.pgpass`),
      bin_dir: BINARIES,
      authentication: { superuser: { username: 'postgres', password }, replication: { username: 'replicator', password } },
      parameters: { unix_socket_directories: home },
    },
  };
  const file = join(home, `${name}.yml`);
  // JSON is YAML.
  await writeFile(file, JSON.stringify(configuration));
  await chmod(file, 0o644);
  return { name, port, apiPort, file, dataDirectory };
}

async function isOk(url: string): Promise<boolean> {
  return fetch(url, { signal: AbortSignal.timeout(2_000) }).then(
    ({ ok }) => ok,
    () => false,
  );
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}

/** Returns the PostgreSQL processes of a data directory, which is the working directory of all of them. */
async function serversOf(dataDirectory: string): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const directories = await Promise.all(pids.map((pid) => readlink(`/proc/${pid}/cwd`).catch(() => '')));
  return pids.filter((_, i) => directories[i] === dataDirectory).map(Number);
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The process has ended meanwhile.
  }
}
