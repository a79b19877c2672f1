import { setTimeout as sleep } from 'node:timers/promises';
import { type Config, readConfig } from './config.ts';
import { prepareDatabase } from './db/prepare.ts';
import { createLog, flushLog, type Log } from './log.ts';

type Running = { config: Config; log: Log; url: string; drain(): void; stop(): Promise<void> };

/** Maximum duration of a stop after the drain, also when it begins during the start. */
const STOP_MS = 9_500;
const START_TO_STOP_MS = 1_500;
/** On Ctrl-C, the terminal and npm both send a signal. Signals within this time count as one. */
const SIGNAL_INTERVAL_MS = 1_000;

/**
 * Starts the service: settings, log, database, migrations, HTTP, jobs.
 * @param env the settings, such as process.env
 * @throws StartError that says what the operator can do
 */
export async function startService(env: Record<string, string | undefined>): Promise<Running> {
  const config = readConfig(env);
  const log = createLog(config);
  if (config.behindProxy && !config.metricsToken) log.info('/metrics responds with 404: with a proxy in front it requires METRICS_TOKEN');
  // Imported while PostgreSQL starts.
  const [embedded, { serve }] = await Promise.all([
    config.databaseUrl ? null : startEmbedded(config.dataDir, log),
    loadServing(config.workers),
  ]);
  try {
    const route = await prepareDatabase(config, embedded?.url ?? null, log);
    const serving = await serve({ config, route, log });
    log.info({ mode: config.mode, host: config.host, port: config.port, workers: config.workers }, 'listening');
    return {
      config,
      log,
      url: config.publicUrl,
      drain: serving.drain,
      stop: async () => {
        await serving.stop();
        await embedded?.stop();
        log.info('stopped');
        await flushLog(log);
      },
    };
  } catch (error) {
    await embedded?.stop();
    await flushLog(log);
    throw error;
  }
}

/**
 * Runs the service as this whole process, until SIGTERM, SIGINT or SIGHUP: then it drains and stops. A second signal ends the drain,
 * and a signal after the drain ends the process immediately. An unexpected error ends the process with code 1, so that the
 * operator's supervisor can restart it. Resolves with the exit code.
 */
export async function runService(env: Record<string, string | undefined>): Promise<number> {
  const signals = listenForSignals();
  let running: Running | undefined;
  const fail = async (error: unknown) => {
    if (!running) console.error(error);
    running?.log.fatal({ err: error }, 'unexpected error');
    if (running) await flushLog(running.log);
    process.exit(1);
  };
  process.on('uncaughtException', fail);
  process.on('unhandledRejection', fail);

  const starting = startService(env);
  starting.then(
    (started) => {
      running = started;
      if (!signals.received()) welcome(started);
    },
    () => signals.requestStop(1),
  );
  const code = await signals.stopRequested;
  if (running) await drain(running, signals);
  // A start under way may finish first. What is cut off ends with this process, and the next start continues it.
  const started = await Promise.race([starting, sleep(START_TO_STOP_MS, null, { ref: false })]);
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

function listenForSignals(): Signals {
  let requestStop: (code: number) => void = () => {};
  const stopRequested = new Promise<number>((resolve) => {
    requestStop = resolve;
  });
  let lastSignal = 0;
  const signals: Signals = { stopRequested, requestStop, received: () => lastSignal !== 0, interruptible: null };
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(name, () => {
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

/** Serves on for DRAIN_SECONDS while /readyz responds with 503, or until another signal. */
async function drain(running: Running, signals: Signals): Promise<void> {
  const { drainSeconds } = running.config;
  if (drainSeconds === 0) return;
  signals.interruptible = new AbortController();
  running.drain();
  running.log.info({ seconds: drainSeconds }, 'draining: /readyz responds with 503, then the listener closes');
  await sleep(drainSeconds * 1000, null, { signal: signals.interruptible.signal }).catch(() => {});
  signals.interruptible = null;
}

async function loadServing(workers: number) {
  return workers > 1 ? { serve: (await import('./workers.ts')).serveInWorkers } : import('./serving.ts');
}

async function startEmbedded(dataDir: string, log: Log): Promise<{ url: string; stop(): Promise<void> }> {
  // Not imported with DATABASE_URL, which does not need it.
  return (await import('./db/embedded/embedded.ts')).startEmbedded({ dataDir, log });
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
