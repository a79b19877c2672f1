import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, inject } from 'vitest';
import { Client } from './client.ts';
import { type NameServer, openNameServer } from './dns.ts';
import { type Mailbox, openMailbox } from './mailbox.ts';
import { createDatabase, query } from './postgres.ts';
import { entry, program } from './program.ts';
import { serviceUrlOf } from './slow-database.ts';
import { freePort, waitUntil } from './waiting.ts';

/** One running process of the service. */
export type Service = {
  /** Its PUBLIC_URL. */
  url: string;
  port: number;
  pid: number;
  /** Everything it wrote to stdout and stderr. */
  output(): string;
  /**
   * Returns a client with an empty cookie jar.
   * @param address its network address, for a service with TRUST_PROXY; by default a new one for each client of `useProduction()`
   */
  client(address?: string): Client;
  /** Resolves once /readyz returns 200. */
  ready(timeoutMs?: number): Promise<void>;
  /** Sends SIGKILL and waits for the end of the process; workers and an embedded PostgreSQL are not ended. */
  kill(): Promise<void>;
  /** Sends SIGTERM and waits for the end; `output` is complete then. @returns the exit code */
  stop(): Promise<number | null>;
  /** Returns the CPU time that the process has used, in ms, which other load hardly changes. Linux only. */
  cpuMs(): number;
  signal(name: NodeJS.Signals): void;
};

/** How Node.js, or another `command`, runs the service; the built service by default. `withStdin`: with a pipe, which ends with this process. */
type Program = { command?: string; args?: string[]; cwd?: string; withStdin?: boolean };

/** A database and an SMTP server for one test file, and the service on them. */
export type Stage = {
  databaseUrl: string;
  dataDir: string;
  mailbox: Mailbox;
  /** Starts another instance, on a free port unless `settings` has PORT, and waits until it is ready. */
  start(settings?: Record<string, string>, program?: Program): Promise<Service>;
  query(sql: string, values?: unknown[]): Promise<Record<string, unknown>[]>;
  close(): Promise<void>;
};

/** Settings of an instance in production mode on the loopback: production limits, no inbox, no demo. */
export const production = { NODE_ENV: 'production', ADMIN_PASSWORD: 'a password for the tests' };

/** What the test files of one worker share: a service that reads DNS from `names`, its database and its SMTP server. */
type Shared = { stage: Stage; service: Service; names: NameServer };

const shared: { ground?: Promise<{ stage: Stage; names: NameServer }>; local?: Promise<Service>; production?: Promise<Service> } = {};

/**
 * Returns the service in local mode that the test files of a worker share; call it at the top of a file. Rows, emails and DNS names of
 * other files are there too, so that a test reads only those of its own domains and addresses, and changes no table as a whole. What
 * `stage.start` starts besides ends with the file.
 */
export async function useService(): Promise<Shared> {
  const { stage, names, start } = await useGround();
  shared.local ??= start();
  return { stage, names, service: await shared.local };
}

/** As `useService`, in production mode, with its limits: each client has a network address of its own. */
export async function useProduction(): Promise<Shared> {
  const { stage, names, start } = await useGround();
  shared.production ??= start({ ...production, TRUST_PROXY: '1' });
  const service = await shared.production;
  return { stage, names, service: { ...service, client: (address = freshNetworkAddress()) => service.client(address) } };
}

/** Returns an IPv4 address that no other test uses. */
export const freshNetworkAddress = () => `${randomInt(11, 127)}.${[...randomBytes(3)].join('.')}`;

/** Returns the shared database, mail server and name server, and a function that starts a shared service on them. */
async function useGround() {
  shared.ground ??= openGround();
  const { stage, names } = await shared.ground;
  const start = (settings = {}) =>
    stage.start({ DNS_SERVERS: names.address, ...settings }, { args: [...endsWithParent, ...program], withStdin: true });
  const started: Service[] = [];
  const ofFile: Stage = {
    ...stage,
    async start(...given) {
      const other = await stage.start(...given);
      started.push(other);
      return other;
    },
    async close() {
      await Promise.all(started.map((other) => other.kill()));
      stage.mailbox.behave({ kind: 'accept' });
    },
  };
  afterAll(ofFile.close);
  return { stage: ofFile, names, start };
}

const HOURLY_JOBS = ['clean-up-accounts', 'clean-up-uploads', 'maintain-partitions', 'maintain-provider-keys', 'release-unclaimed'];
/** At their minute of an hour, the services would remove the rows that a test has made old. */
const POSTPONE_HOURLY_JOBS = `
select graphile_worker.add_job(task, job_key => task, max_attempts => 1, run_at => now() + interval '1 day') from unnest($1::text[]) task`;

async function openGround() {
  const [stage, names] = await Promise.all([openStage(), openNameServer()]);
  await stage.query(POSTPONE_HOURLY_JOBS, [HOURLY_JOBS]);
  process.once('exit', () => rmSync(stage.dataDir, { recursive: true, force: true }));
  return { stage, names };
}

/**
 * Arguments of Node.js for a process that ends with its parent, however that ends. Killed, since an exit writes the rest of the log, and
 * pino repeats that for ever where nobody reads it.
 */
const endsWithParent = ['--import=data:text/javascript,process.stdin.resume().on("end",()=>process.kill(process.pid,"SIGKILL"))'];

/**
 * Creates a database and an SMTP server.
 * @param options.clusterUrl a cluster other than the shared one; its database is empty
 * @param options.empty for tests of first starts and migrations; by default the database is migrated
 * @param options.seesOutages whether clients of its services return a 503 instead of repeating the request
 */
export async function openStage(options: { clusterUrl?: string; empty?: boolean; seesOutages?: boolean } = {}): Promise<Stage> {
  if (!existsSync(entry)) throw new Error('dist/cli/main.js is missing. Run `npm run build` first, or run `npm test`.');
  const { clusterUrl, empty } = options;
  const databaseUrl = await createDatabase(clusterUrl ?? inject('clusterUrl'), clusterUrl || empty ? undefined : inject('templateUrl'));
  const mailbox = await openMailbox();
  const secretKey = randomBytes(32).toString('hex');
  const dataDir = await mkdtemp(join(tmpdir(), 'emailauth-test-'));
  // An embedded PostgreSQL in it runs as another user when the tests run as root.
  await chmod(dataDir, 0o711);
  const serviceUrl = await serviceUrlOf(databaseUrl);
  const running = new Set<ChildProcess>();

  async function start(settings: Record<string, string> = {}, other?: Program): Promise<Service> {
    const port = Number(settings.PORT ?? (await freePort()));
    const url = settings.PUBLIC_URL ?? `http://localhost:${port}`;
    const child = spawn(other?.command ?? process.execPath, [...(other?.args ?? program), 'start'], {
      cwd: other?.cwd,
      stdio: [other?.withStdin ? 'pipe' : 'ignore', 'pipe', 'pipe'],
      env: {
        PATH: process.env.PATH,
        HOME: process.env.HOME,
        PORT: String(port),
        HOST: '127.0.0.1',
        PUBLIC_URL: url,
        DATABASE_URL: serviceUrl,
        SMTP_URL: mailbox.url,
        MAIL_FROM: 'Email Auth <no-reply@emailauth.example>',
        SECRET_KEY: secretKey,
        DATA_DIR: dataDir,
        // Only the tests of the drain have a load balancer.
        DRAIN_SECONDS: '0',
        // Only its own tests have name servers and mail providers.
        EVP: 'off',
        ...settings,
      },
    });
    running.add(child);
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (chunk) => {
        output += chunk;
      });
    }
    const exited = once(child, 'exit').then(([code]) => {
      running.delete(child);
      return code as number | null;
    });
    const closed = once(child, 'close');
    const service: Service = {
      url,
      port,
      pid: child.pid as number,
      output: () => output,
      client: (networkAddress) =>
        Object.assign(new Client(`http://${new URL(url).hostname}:${port}`), {
          networkAddress,
          retriesUnavailable: !options.seesOutages,
          explain: async (error: Error) => {
            // A connection breaks a moment before the process that held it has ended.
            if (Object(error).code === 'ECONNRESET') await Promise.race([exited, sleep(1000)]);
            if (child.exitCode)
              error.message += `\nThe service had ended with exit code ${child.exitCode}. It wrote:\n${output.slice(-5000)}`;
            return error;
          },
        }),
      ready: (timeoutMs = 110_000) =>
        waitUntil(`${url} is ready`, timeoutMs, async () => {
          if (!running.has(child)) throw new Error(`The service ended. It wrote:\n${output}`);
          const status = await fetch(`http://localhost:${port}/readyz`).then(
            (response) => response.status,
            () => 0,
          );
          return status === 200 || `/readyz returns ${status}`;
        }),
      async kill() {
        child.kill('SIGKILL');
        await exited;
      },
      async stop() {
        child.kill('SIGTERM');
        await closed;
        return exited;
      },
      cpuMs: () => cpuMsOf(child.pid as number),
      signal: (name) => void child.kill(name),
    };
    await service.ready().catch(async (error) => {
      child.kill('SIGKILL');
      await exited;
      throw error;
    });
    return service;
  }

  return {
    databaseUrl,
    dataDir,
    mailbox,
    start,
    query: (sql, values) => query(databaseUrl, sql, values),
    async close() {
      const ends = [...running].map((child) => once(child, 'exit'));
      for (const child of running) child.kill('SIGKILL');
      await Promise.all(ends);
      await mailbox.down();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** proc(5): utime and stime are fields 14 and 15, in ticks of 10 ms; the command in parentheses is field 2. */
function cpuMsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}
