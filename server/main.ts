import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { type Config, readConfig } from './platform/config.ts';
import { placeOf, userOf } from './platform/db/address.ts';
import { timeSettingsOf } from './platform/db/client.ts';
import { type DatabaseRoute, directRoute } from './platform/db/database.ts';
import { keepsPreparedStatements, type Reached, reachDatabase, refuseSharedSessions, refuseUnprivileged } from './platform/db/examine.ts';
import { migrateOn, onMigrationConnection } from './platform/db/migrate.ts';
import { createPartitions } from './platform/db/partitions.ts';
import { checkSecretKey } from './platform/db/secret-key.ts';
import { createLog, flushLog, type Log } from './platform/log.ts';
import { StartError } from './platform/start-error.ts';
import { sqlFunctions } from './signin/sql-functions.ts';

type Running = { config: Config; log: Log; url: string; drain(): boolean; stop(): Promise<void> };

/** Maximum duration of a stop after the drain, also when it begins during the start; serving.ts has all limits of a stop. */
const STOP_MS = 9_500;
const START_TO_STOP_MS = 1_500;
/** On Ctrl-C, the terminal and npm both send a signal. Signals within this time count as one. */
const SIGNAL_INTERVAL_MS = 1_000;

/**
 * Starts the service: settings, log, database, migrations, HTTP, jobs.
 * @param env the settings, such as process.env
 * @param signal completes a start under way with the workers that serve already
 * @throws StartError that says what the operator can do
 */
export async function startService(env: Record<string, string | undefined>, signal?: AbortSignal): Promise<Running> {
  const config = readConfig(env);
  const log = createLog(config);
  if (config.behindProxy && !config.metricsToken) log.info('/metrics responds with 404: with a proxy in front it requires METRICS_TOKEN');
  let stopEmbedded = async () => {};
  const openPostgres = async () => {
    if (config.databaseUrl) return prepareDatabase(config, null, log);
    const { url, stop } = await startEmbedded(config.dataDir, log);
    stopEmbedded = stop;
    return prepareDatabase(config, url, log);
  };
  try {
    // The code is loaded while PostgreSQL responds.
    const [route, { serve }] = await Promise.all([openPostgres(), loadServing(config.workers)]);
    const serving = await serve({ config, route, log, signal });
    if (!signal?.aborted) log.info({ mode: config.mode, host: config.host, port: config.port, workers: config.workers }, 'listening');
    return {
      config,
      log,
      url: config.publicUrl,
      drain: serving.drain,
      stop: async () => {
        await serving.stop();
        await stopEmbedded();
        log.info('stopped');
        await flushLog(log);
      },
    };
  } catch (error) {
    await stopEmbedded();
    await flushLog(log);
    throw error;
  }
}

/**
 * Runs the service as this whole process, until SIGTERM, SIGINT or, in a terminal, SIGHUP: then it drains and stops. A second signal ends
 * the drain, and a signal after the drain ends the process immediately. An unexpected error ends the process with code 1, so that the
 * operator's supervisor can restart it. Resolves with the exit code.
 */
export async function runService(env: Record<string, string | undefined>): Promise<number> {
  let running: Running | undefined;
  const signals = listenForSignals(() => running?.log.info('SIGHUP ignored: neither input nor output is a terminal'));
  const fail = async (error: unknown) => {
    if (!running) console.error(error);
    running?.log.fatal({ err: error }, 'unexpected error');
    if (running) await flushLog(running.log);
    process.exit(1);
  };
  process.on('uncaughtException', fail);
  process.on('unhandledRejection', fail);

  const stopping = new AbortController();
  const starting = startService(env, stopping.signal);
  starting.then(
    (started) => {
      running = started;
      if (!signals.received()) welcome(started);
    },
    () => signals.requestStop(1),
  );
  const code = await signals.stopRequested;
  stopping.abort();
  // A start under way may finish first. What is cut off ends with this process, and the next start continues it.
  const started = await Promise.race([starting, sleep(START_TO_STOP_MS, null, { ref: false })]);
  if (started) await drain(started, signals);
  await Promise.race([started?.stop(), sleep(STOP_MS - START_TO_STOP_MS, null, { ref: false })]);
  return code;
}

type Signals = {
  /** Resolves with the exit code at the first signal, or at requestStop. */
  stopRequested: Promise<number>;
  requestStop(code: number): void;
  received(): boolean;
  /** Set while a further signal ends this wait instead of the process. */
  interruptible: AbortController | null;
};

/** Whether the process has a terminal, with which it ends. Node.js does not keep the `nohup` of a process: it handles SIGHUP again. */
const hasTerminal = () => process.stdin.isTTY === true || process.stdout.isTTY === true;

/** @param onHangUp called at a SIGHUP that does not stop the service */
function listenForSignals(onHangUp: () => void): Signals {
  let requestStop: (code: number) => void = () => {};
  const stopRequested = new Promise<number>((resolve) => {
    requestStop = resolve;
  });
  let lastSignal = 0;
  const signals: Signals = { stopRequested, requestStop, received: () => lastSignal !== 0, interruptible: null };
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(name, () => {
      if (name === 'SIGHUP' && !hasTerminal()) return onHangUp();
      const isFirst = lastSignal === 0;
      if (Date.now() - lastSignal < SIGNAL_INTERVAL_MS) return;
      lastSignal = Date.now();
      if (isFirst) requestStop(0);
      else if (signals.interruptible) signals.interruptible.abort();
      else process.exit(130);
    });
  }
  return signals;
}

/** Continues to serve for DRAIN_SECONDS while /readyz responds with 503, or until another signal. */
async function drain(running: Running, signals: Signals): Promise<void> {
  const { drainSeconds } = running.config;
  if (drainSeconds === 0 || !running.drain()) return;
  signals.interruptible = new AbortController();
  running.log.info({ seconds: drainSeconds }, 'draining: /readyz responds with 503, then the listener closes');
  await sleep(drainSeconds * 1000, null, { signal: signals.interruptible.signal }).catch(() => {});
  signals.interruptible = null;
}

async function loadServing(workers: number) {
  return workers > 1 ? { serve: (await import('./workers.ts')).serveInWorkers } : import('./serving.ts');
}

async function startEmbedded(dataDir: string, log: Log): Promise<{ url: string; stop(): Promise<void> }> {
  // Not imported with DATABASE_URL, which does not need it.
  return (await import('./operations/embedded/embedded.ts')).startEmbedded({ dataDir, log });
}

/** Prints the addresses of a service in local mode. */
function welcome({ config, url }: Running): void {
  if (config.mode !== 'local') return;
  const lines = [
    ['Web', url],
    ['Demo site', `${url}/demo`],
    ...(config.smtpUrl ? [] : [['Inbox', `${url}/dev/inbox`]]),
    ['Login statistics', `${url}/iladmin`],
    ['Admin password', config.adminPassword ?? 'none'],
  ];
  const text = lines.map(([name, value]) => `  ${name.padEnd(18)}${value}`).join('\n');
  process.stdout.write(`\nEmail Auth runs in local mode.\n\n${text}\n\nCtrl-C stops it.\n`);
}

/**
 * Waits for the database, detects how to connect to it, and migrates its schema.
 * @param embeddedUrl the embedded PostgreSQL, when DATABASE_URL is not set
 * @throws StartError when it cannot be used with these settings
 */
async function prepareDatabase(config: Config, embeddedUrl: string | null, log: Log): Promise<DatabaseRoute> {
  const route = embeddedUrl ? await reachEmbedded(embeddedUrl, log) : await findRoute(config, log);
  const { directUrl: url } = route;
  await onMigrationConnection(url, async (client) => {
    const ran = await migrateOn(client, { url, functions: sqlFunctions, report: (line) => log.info(line) });
    if (ran.length > 0) log.info({ migrations: ran }, 'migrated');
    await checkSecretKey(client, config.secretKey, config.previousSecretKey);
    await createNeededPartitions(client, log);
  });
  return route;
}

/** Creates the partitions of today, which after a long pause do not exist. Without them rows go to the default partitions. */
async function createNeededPartitions(client: pg.ClientBase, log: Log): Promise<void> {
  try {
    const created = await createPartitions(client);
    if (created.length > 0) log.info({ partitions: created }, 'partitions created');
  } catch (error) {
    log.info({ err: error }, 'partitions: none could be created yet; a job tries again');
  }
}

async function reachEmbedded(url: string, log: Log): Promise<DatabaseRoute> {
  await reachDatabase({ url, setting: null }, log);
  return directRoute(url);
}

async function findRoute({ databaseUrl, databaseDirectUrl, preparedStatements }: Config, log: Log): Promise<DatabaseRoute> {
  const url = databaseUrl as string;
  const directUrl = databaseDirectUrl ?? url;
  const target = { url, setting: 'DATABASE_URL' } as const;
  const pooled = await reachDatabase(target, log);
  if (databaseDirectUrl) {
    const directTarget = { url: directUrl, setting: 'DATABASE_DIRECT_URL' } as const;
    const direct = await reachDatabase(directTarget, log);
    refuseSharedSessions(directTarget, direct.pooling);
    refuseUnprivileged(directTarget, direct.missingGrant);
    if (direct.identity !== pooled.identity) {
      const places = `DATABASE_URL (${placeOf(url)}) and DATABASE_DIRECT_URL (${placeOf(directUrl)})`;
      throw new StartError(`${places} lead to two different databases. Give the same database of the same server in both.`);
    }
  } else {
    refuseUnprivileged(target, pooled.missingGrant);
  }
  if (pooled.pooling === 'session') return { url, directUrl, sessions: true, preparedStatements };
  if (pooled.pooling === 'statement' || !databaseDirectUrl) refuseSharedSessions(target, pooled.pooling);
  await refuseUnprepared(url, pooled, preparedStatements);
  log.info({ preparedStatements }, 'DATABASE_URL leads through a pooler in transaction mode');
  return { url, directUrl, sessions: false, preparedStatements };
}

/**
 * Refuses a pooler in transaction mode that does not keep prepared statements, or behind which times are not written as ISO 8601
 * in UTC: the settings of a session cannot be changed there. @throws StartError
 */
async function refuseUnprepared(url: string, { hasTimeSettings }: Reached, preparedStatements: boolean): Promise<void> {
  const found = `DATABASE_URL (${placeOf(url)}) leads through a pooler in transaction mode`;
  if (preparedStatements && !(await keepsPreparedStatements(url))) {
    throw new StartError(
      `${found} that does not keep prepared statements. Set DATABASE_PREPARED_STATEMENTS=off, or use PgBouncer 1.21 or later with ` +
        'max_prepared_statements above 0.',
    );
  }
  if (!hasTimeSettings) {
    throw new StartError(`${found}, and its time zone is not UTC or its DateStyle is not ISO. Run: ${timeSettingsOf(userOf(url) || '…')}`);
  }
}
