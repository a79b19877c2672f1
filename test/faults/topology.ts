import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Client } from '../support/client.ts';
import { hasHaproxy } from '../support/haproxy.ts';
import { openStage, type Service, type Stage } from '../support/harness.ts';
import { hasPgBouncer, startPgBouncer } from '../support/pgbouncer.ts';
import { freePort, waitUntil } from '../support/waiting.ts';
import { hasPatroni, type PatroniCluster, startPatroni } from './patroni.ts';

/** Whether the programs of the topology are installed; without one its tests are skipped with a warning. */
export const hasTopology = hasPatroni && hasHaproxy && hasPgBouncer;
if (!hasTopology) {
  console.warn(
    '\n!! The topology is not tested: on Debian, apt-get install patroni python3-etcd etcd-server postgresql-15 pgbouncer haproxy\n',
  );
}

/** Instances of the service behind HAProxy, on PgBouncer, on HAProxy, on a cluster of Patroni. */
export type Topology = {
  cluster: PatroniCluster;
  stage: Stage;
  instances: readonly Service[];
  /** The port of HAProxy. */
  port: number;
  /** Returns a client of HAProxy, as a browser of another network. */
  client(): TopologyClient;
  /** Sends requests to the first `count` instances only. */
  use(count: number): Promise<void>;
  stop(): Promise<void>;
};

/** A client that sends its address as a proxy in front of HAProxy does. */
export class TopologyClient extends Client {
  readonly #address = Array.from({ length: 3 }, () => 1 + Math.floor(Math.random() * 250)).join('.');

  override send(path: string, { headers = {}, ...options }: Parameters<Client['send']>[1] = {}) {
    return super.send(path, { ...options, headers: { 'X-Forwarded-For': `10.${this.#address}`, ...headers } });
  }
}

/** Starts everything. @param count instances, of two workers each @param instanceSettings in addition to those of the topology */
export async function startTopology(count: number, instanceSettings: Record<string, string> = {}): Promise<Topology> {
  const cluster = await startPatroni();
  const databaseProxy = await startProxy(
    `option httpchk GET /primary
  default-server inter 500ms fall 2 rise 1 on-marked-down shutdown-sessions
  ${cluster.members.map(({ name, port, apiPort }) => `server ${name} 127.0.0.1:${port} check port ${apiPort}`).join('\n  ')}`,
    'tcp',
  );
  const url = `postgres://postgres:postgres@127.0.0.1:${databaseProxy.port}/postgres`;
  await waitUntil('HAProxy leads to the leader', 60_000, async () => (await databaseProxy.upCount()) === 1);
  const stage = await openStage({ seesOutages: true, clusterUrl: url });
  const pooler = await startPgBouncer(url, 'transaction', { server_login_retry: 1, query_wait_timeout: 3 });
  const ports = await Promise.all(Array.from({ length: count }, freePort));
  const proxy = await startProxy(
    `option httpchk GET /readyz
  default-server inter 500ms fall 2 rise 1
  ${ports.map((port, i) => `server instance${i} 127.0.0.1:${port} check`).join('\n  ')}`,
    'http',
  );
  const settings = {
    PUBLIC_URL: `http://127.0.0.1:${proxy.port}`,
    DATABASE_URL: pooler.url(stage.databaseUrl),
    DATABASE_DIRECT_URL: stage.databaseUrl,
    // Debian's PgBouncer 1.18 does not support them.
    DATABASE_PREPARED_STATEMENTS: 'off',
    TRUST_PROXY: '1',
    WORKERS: '2',
    ...instanceSettings,
  };
  const instances = await Promise.all(ports.map((port) => stage.start({ ...settings, PORT: String(port) })));
  const areUp = (up: number) => waitUntil('HAProxy reports the instances as up', 60_000, async () => (await proxy.upCount()) === up);
  await areUp(count);
  return {
    cluster,
    stage,
    instances,
    port: proxy.port,
    client: () => new TopologyClient(settings.PUBLIC_URL),
    async use(used) {
      for (let i = 0; i < count; i++) await proxy.run(`set server main/instance${i} state ${i < used ? 'ready' : 'maint'}`);
      await areUp(used);
    },
    async stop() {
      await Promise.all(instances.map((instance) => instance.stop()));
      await proxy.stop();
      await pooler.stop();
      await stage.close();
      await databaseProxy.stop();
      await cluster.stop();
    },
  };
}

type Proxy = {
  port: number;
  upCount(): Promise<number>;
  /** Runs a command of HAProxy's runtime API. */
  run(command: string): Promise<void>;
  stop(): Promise<void>;
};

/** Starts HAProxy with one backend. @param servers its lines */
async function startProxy(servers: string, mode: 'http' | 'tcp'): Promise<Proxy> {
  const [port, statsPort] = [await freePort(), await freePort()];
  const directory = await mkdtemp(join(tmpdir(), 'emailauth-topology-'));
  const file = join(directory, 'haproxy.cfg');
  await writeFile(
    file,
    `global
  stats socket ${join(directory, 'admin.sock')} level admin
defaults
  timeout connect 2s
  timeout client 1m
  timeout server 1m
  # A busy instance is not down.
  timeout check 5s
listen main
  bind 127.0.0.1:${port}
  mode ${mode}
  ${servers}
listen stats
  bind 127.0.0.1:${statsPort}
  mode http
  stats enable
  stats uri /
`,
  );
  const child: ChildProcess = spawn('haproxy', ['-db', '-f', file], { stdio: 'ignore' });
  const ended = once(child, 'exit');
  return {
    port,
    async upCount() {
      if (child.exitCode !== null) throw new Error('HAProxy ended');
      const csv = await fetch(`http://127.0.0.1:${statsPort}/;csv`).then(
        (response) => response.text(),
        () => '',
      );
      // Field 2 is the server, field 18 its state.
      const lines = csv.split('\n').map((line) => line.split(','));
      return lines.filter(([name, server, ...rest]) => name === 'main' && !/END$/.test(server) && rest[15]?.startsWith('UP')).length;
    },
    async run(command) {
      const socket = connect(join(directory, 'admin.sock')).end(`${command}\n`);
      const response = await text(socket);
      if (response.trim() !== '') throw new Error(`HAProxy: ${response}`);
    },
    async stop() {
      child.kill('SIGKILL');
      await ended;
      await rm(directory, { recursive: true, force: true });
    },
  };
}
