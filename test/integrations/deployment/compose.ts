import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '../../support/client.ts';
import { type Cluster, createCluster, query } from '../../support/postgres.ts';
import { freePort, waitUntil } from '../../support/waiting.ts';
import { deployFolder, run, yamlParser } from './tools.ts';

/** A service of compose.yaml; the parts that the tests use. */
type ComposeService = {
  environment?: Record<string, string>;
  command?: string[];
  healthcheck?: { test: string[] };
  read_only?: boolean;
  cap_drop?: string[];
  security_opt?: string[];
  build?: unknown;
};

export type ComposeFile = { services: Record<string, ComposeService>; configs: Record<string, { file: string }> };

/**
 * Reads compose.yaml and replaces its variables, as `docker compose` does.
 * @param variables the content of .env; null: variables stay
 * @throws Error for a required variable that is missing
 */
export async function readCompose(variables: Record<string, string> | null): Promise<ComposeFile> {
  const parse = await yamlParser();
  const [file] = parse(await readFile(join(deployFolder, 'compose.yaml'), 'utf8'));
  return (variables ? interpolated(file, variables) : file) as ComposeFile;
}

function interpolated(value: unknown, variables: Record<string, string>): unknown {
  if (typeof value === 'string') {
    return value.replace(/\$\$|\$\{(\w+)(?::([-?])([^}]*))?\}/g, (whole, name, kind, rest) => {
      if (whole === '$$') return '$';
      if (variables[name]) return variables[name];
      if (kind === '?') throw new Error(rest);
      return kind === '-' ? rest : '';
    });
  }
  if (Array.isArray(value)) return value.map((item) => interpolated(item, variables));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, interpolated(item, variables)]));
}

/** What compose.yaml describes besides the service, started with the programs of this machine. */
export type ComposedPrograms = {
  /** Replaces the host names of the networks of compose.yaml with the addresses here. */
  here(text: string): string;
  cluster: Cluster;
  /** Returns whether the health check of compose.yaml for PgBouncer succeeds. */
  isPoolerHealthy(): Promise<boolean>;
  /** Starts Caddy with server/deploy/Caddyfile. Resolves with the certificate of its authority once it serves `domain`. */
  startCaddy(domain: string): Promise<string>;
  stop(): Promise<void>;
};

/**
 * Starts PostgreSQL and PgBouncer with the settings of compose.yaml, on free ports.
 * @param ports of the two instances, of the SMTP server
 */
export async function startComposed(compose: ComposeFile, ports: { instances: number[]; smtp: number }): Promise<ComposedPrograms> {
  const home = await mkdtemp(join(tmpdir(), 'emailauth-compose-'));
  await chmod(home, 0o711);
  const children: ChildProcess[] = [];
  const cluster = await createCluster({ settings: { fsync: 'off' } });
  const { POSTGRES_USER, POSTGRES_PASSWORD, POSTGRES_DB } = compose.services.postgres.environment as Record<string, string>;
  await query(cluster.url('postgres'), `create role ${POSTGRES_USER} login password '${POSTGRES_PASSWORD}'`);
  await query(cluster.url('postgres'), `create database ${POSTGRES_DB} owner ${POSTGRES_USER}`);
  const postgresPort = new URL(cluster.url('postgres')).port;
  const poolerPort = await freePort();
  const names: [string, string][] = [
    ['pgbouncer:6432', `127.0.0.1:${poolerPort}`],
    ['postgres:5432', `127.0.0.1:${postgresPort}`],
    ['mail:1025', `127.0.0.1:${ports.smtp}`],
    ...ports.instances.map((port, index): [string, string] => [`emailauth-${index + 1}:4400`, `127.0.0.1:${port}`]),
  ];
  const here = (text: string) => names.reduce((text, [from, to]) => text.replaceAll(from, to), text);

  /** @param settings of spawn */
  async function start(name: string, command: string[], settings: object, isUp: () => Promise<boolean>) {
    let log = '';
    const child = spawn(command[0], command.slice(1), { stdio: ['ignore', 'pipe', 'pipe'], ...settings });
    children.push(child);
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (chunk) => {
        log = (log + chunk).slice(-5000);
      });
    }
    await waitUntil(`${name} is up`, 60_000, async () => {
      if (child.exitCode !== null) throw new Error(`${name} ended. It wrote:\n${log}`);
      return (await isUp().catch(() => false)) || `its log ends with:\n${log}`;
    });
  }

  const { command = [], environment, healthcheck } = compose.services.pgbouncer;
  const isPoolerHealthy = async () => {
    const [, ...test] = (healthcheck?.test ?? []).map((text) => text.replace('6432', String(poolerPort)));
    return run(test[0], test.slice(1)).then(
      () => true,
      () => false,
    );
  };
  const ini = (await readFile(join(deployFolder, compose.configs.pgbouncer.file), 'utf8'))
    .replace('host=postgres port=5432', `host=127.0.0.1 port=${postgresPort}`)
    .replace('listen_addr = *', 'listen_addr = 127.0.0.1')
    .replace('listen_port = 6432', `listen_port = ${poolerPort}`)
    .replaceAll('/tmp/', `${home}/pooler/`);
  await mkdir(join(home, 'pooler'));
  await writeFile(join(home, 'compose.ini'), ini);
  // PgBouncer does not run as root.
  const owner = process.getuid?.() === 0 ? { uid: await idOf('-u'), gid: await idOf('-g') } : undefined;
  if (owner) await chown(join(home, 'pooler'), owner.uid, owner.gid);
  const poolerCommand = command.map((text) =>
    text.replaceAll('/tmp/', `${home}/pooler/`).replace('/etc/pgbouncer/compose.ini', `${home}/compose.ini`),
  );
  const path = `${process.env.PATH}:/usr/sbin`;
  await start('PgBouncer', poolerCommand, { ...owner, env: { ...environment, PATH: path } }, isPoolerHealthy);

  return {
    here,
    cluster,
    isPoolerHealthy,
    async startCaddy(domain) {
      const certificate = join(home, 'caddy/pki/authorities/local/root.crt');
      const file = join(home, 'Caddyfile');
      const options = `{\n\tadmin off\n\tskip_install_trust\n\thttp_port ${await freePort()}\n\tstorage file_system ${home}/caddy\n}\n`;
      await copyFile(join(deployFolder, compose.configs.caddyfile.file), file);
      await writeFile(file, options + (await readFile(file, 'utf8')));
      const { INSTANCES } = compose.services.caddy.environment as Record<string, string>;
      const env = { PATH: path, HOME: home, DOMAIN: domain, INSTANCES: here(INSTANCES) };
      const isUp = async () => (await new Client(`https://${domain}`, await readFile(certificate, 'utf8')).get('/readyz')).status === 200;
      await start('Caddy', ['caddy', 'run', '--adapter', 'caddyfile', '--config', file], { env }, isUp);
      return readFile(certificate, 'utf8');
    },
    async stop() {
      for (const child of children) {
        const gone = once(child, 'exit');
        if (child.exitCode === null && child.kill('SIGTERM')) await gone;
      }
      await cluster.remove();
      await rm(home, { recursive: true, force: true });
    },
  };
}

async function idOf(flag: '-u' | '-g'): Promise<number> {
  return Number((await run('id', [flag, 'postgres'])).stdout);
}
