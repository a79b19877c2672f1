import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { serverSettings } from '../../server/operations/embedded/cluster.ts';
import { type Cluster, createCluster, query } from '../support/postgres.ts';
import { freePort } from '../support/waiting.ts';
import type { LoadJob, LoadResult } from './load.ts';
import { buildPrograms, killPrograms, messageOf, type Program, startProgram } from './programs.ts';
import type { SinkPorts } from './sink.ts';

const service = join(import.meta.dirname, '../../dist/cli/main.js');

/** The website that visitors sign in to. */
export const SITE = 'shop.example';

const FLOOR_TABLES = `
create table attempts (
  hash bytea primary key, browser bytea not null, email text not null, forward_url text not null,
  expires_at timestamptz not null, consumed_at timestamptz
);
create table tokens (hash bytea primary key, email text not null, expires_at timestamptz not null, used_at timestamptz)`;

const OIDC_FLOOR_TABLES = `
create table attempts (
  hash bytea primary key, browser bytea not null, email text not null, uid text not null,
  expires_at timestamptz not null, consumed_at timestamptz
);
create table records (
  model text, id text, payload jsonb not null, grant_id text, user_code text, uid text,
  expires_at timestamptz, consumed_at timestamptz, primary key (model, id)
);
create index on records (grant_id);
create index on records (uid);
create index on records (user_code)`;

// The settings of the embedded server, and no checkpoint during a round.
const POSTGRES = { ...serverSettings(), max_wal_size: '4GB', checkpoint_timeout: '30min' };

/** The client of the code flows, which the registered website is, and its redirect URI. */
export const CLIENT = { clientId: `https://${SITE}`, redirectUri: `https://${SITE}/callback` };

/**
 * The servers under test: the service, the minimal server of floor.ts, and that of oidc-floor.ts with the emailed link and with its
 * trivial sign-in.
 */
type Kind = 'service' | 'floor' | 'oidc-floor' | 'oidc-trivial';

/** A server under test with its database. */
export type Contestant = {
  kind: Kind;
  port: number;
  databaseUrl: string;
  program: Program;
  /** From the start of the process to its first 200, in ms. */
  startMs: number;
};

/** A PostgreSQL cluster, a mail server and a load client that all contestants share. */
export type Stage = {
  cluster: Cluster;
  /** The postmaster's process id. */
  postgres: number;
  linksPort: number;
  createDatabase(kind: Kind, name: string): Promise<string>;
  /** Starts a server on an existing database and waits for its first 200. */
  start(kind: Kind, databaseUrl: string, settings?: Record<string, string>): Promise<Contestant>;
  /** Starts the service with an embedded PostgreSQL in a directory. @returns ms to its first 200 */
  startEmbedded(dataDir: string): Promise<{ startMs: number; stop(): Promise<void> }>;
  load(job: LoadJob): Promise<LoadResult>;
  /** Creates a directory that `close` removes. */
  directory(): Promise<string>;
  close(): Promise<void>;
};

export async function openStage(): Promise<Stage> {
  if (!existsSync(service)) throw new Error('dist/cli/main.js is missing: run `npm run build` first.');
  const programs = await buildPrograms(['sink', 'load', 'floor', 'oidc-floor']);
  const directories: string[] = [];
  const cluster = await createCluster({ settings: POSTGRES });
  const [{ lock }] = await query(cluster.url('postgres'), "select pg_read_file('postmaster.pid') as lock");
  const postgres = Number.parseInt(String(lock), 10);

  const sink = startProgram(programs.path('sink'), [], {});
  const { smtp, links } = await messageOf<SinkPorts>(sink);
  const loader = startProgram(programs.path('load'), [], {});
  const smtpUrl = `smtp://127.0.0.1:${smtp}`;

  const serviceSettings = (port: number) => ({
    NODE_ENV: 'production',
    HOST: '127.0.0.1',
    PORT: String(port),
    PUBLIC_URL: `http://127.0.0.1:${port}`,
    SMTP_URL: smtpUrl,
    MAIL_FROM: 'Email Auth <no-reply@emailauth.example>',
    TRUST_PROXY: '1',
    DRAIN_SECONDS: '0',
  });

  const floorSettings = (kind: Kind, port: number) => ({
    NODE_ENV: 'production',
    PORT: String(port),
    SMTP_URL: smtpUrl,
    CLIENT_ID: CLIENT.clientId,
    REDIRECT_URI: CLIENT.redirectUri,
    LOGIN: kind === 'oidc-trivial' ? 'trivial' : 'email',
  });

  return {
    cluster,
    postgres,
    linksPort: links,
    async createDatabase(kind, name) {
      await query(cluster.url('postgres'), `create database ${name}`);
      if (kind === 'floor') await query(cluster.url(name), FLOOR_TABLES);
      else if (kind !== 'service') await query(cluster.url(name), OIDC_FLOOR_TABLES);
      return cluster.url(name);
    },
    async start(kind, databaseUrl, settings = {}) {
      const port = await freePort();
      const own = kind === 'service' ? serviceSettings(port) : floorSettings(kind, port);
      const began = performance.now();
      const path = kind === 'service' ? service : programs.path(kind === 'floor' ? 'floor' : 'oidc-floor');
      const program = startProgram(path, kind === 'service' ? ['start'] : [], {
        ...own,
        DATABASE_URL: databaseUrl,
        SECRET_KEY: 'a key of at least thirty-two bytes for the bench',
        ...settings,
      });
      await firstOk(program, port, kind.startsWith('oidc-') ? '/.well-known/openid-configuration' : undefined);
      return { kind, port, databaseUrl, program, startMs: performance.now() - began };
    },
    async startEmbedded(dataDir) {
      const port = await freePort();
      const began = performance.now();
      const program = startProgram(service, ['start'], { ...serviceSettings(port), DATA_DIR: dataDir });
      await firstOk(program, port);
      return { startMs: performance.now() - began, stop: () => program.stop() };
    },
    async load(job) {
      const answered = messageOf<LoadResult>(loader);
      loader.child.send(job);
      return answered;
    },
    async directory() {
      const directory = await mkdtemp(join(tmpdir(), 'emailauth-bench-'));
      // Run by root, PostgreSQL runs as another user.
      await chmod(directory, 0o711);
      directories.push(directory);
      return directory;
    },
    async close() {
      killPrograms();
      await cluster.remove();
      await programs.remove();
      for (const directory of directories) await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Inserts the website as claimed by its owner, so that no limit of recipients applies. */
export async function registerWebsite({ databaseUrl }: Pick<Contestant, 'databaseUrl'>): Promise<void> {
  await query(
    databaseUrl,
    `insert into websites (id, domain, email, claimed_at) values (gen_random_uuid(), '${SITE}', 'owner@${SITE}', now())`,
  );
}

/** Polls until a call returns 200. The default one needs the database. */
async function firstOk(program: Program, port: number, path = '/api/verify-token?token=none'): Promise<void> {
  for (const end = Date.now() + 60_000; Date.now() < end; await sleep(3)) {
    if (program.child.exitCode !== null) break;
    if ((await statusOf(port, path)) === 200) return;
  }
  throw new Error(`A server did not start. It wrote:\n${program.output()}`);
}

async function statusOf(port: number, path: string): Promise<number> {
  const asking = request({ port, host: '127.0.0.1', path, timeout: 1000, agent: false });
  asking.end();
  try {
    const [response] = await once(asking, 'response');
    response.resume();
    return response.statusCode;
  } catch {
    return 0;
  }
}
