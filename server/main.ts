import { setTimeout as sleep } from 'node:timers/promises';
import { type Config, readConfig } from './config.ts';
import { prepareDatabase } from './db/prepare.ts';
import { createLog, flushLog, type Log } from './log.ts';

type Running = { config: Config; log: Log; url: string; drain(): void; stop(): Promise<void> };

/** A stop is over within 10 s after the drain, whatever hangs, and also when it is asked for during the start. */
const STOP_MS = 9_500;
const START_TO_STOP_MS = 1_500;
/** npm hands Ctrl-C on to a program that the terminal has told already: only a later one is the user's next. */
const NEXT_SIGNAL_MS = 1_000;

/**
 * Starts the whole service: settings, log, database, migrations, HTTP, jobs.
 * @param env the settings, such as process.env
 * @throws StartError with what the operator has to do
 */
export async function startService(env: Record<string, string | undefined>): Promise<Running> {
  const config = readConfig(env);
  const log = createLog(config);
  if (config.behindProxy && !config.metricsToken) log.info('/metrics answers 404: with a proxy in front it needs METRICS_TOKEN');
  // What serves is loaded while PostgreSQL starts.
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
 * The service as the whole of this process: says where to go, drains and stops on SIGTERM and Ctrl-C, and ends with 1 on a
 * fault that nobody foresaw, for the operator's supervisor to start it again. A second signal cuts the drain short, and the
 * one after the drain ends the process at once. Resolves with the exit code.
 */
export async function runService(env: Record<string, string | undefined>): Promise<number> {
  let running: Running | undefined;
  let stopAsked: (code: number) => void = () => {};
  const asked = new Promise<number>((resolve) => {
    stopAsked = resolve;
  });
  const drain = new AbortController();
  let draining = false;
  let lastSignal = 0;
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(name, () => {
      const isFirst = lastSignal === 0;
      if (Date.now() - lastSignal < NEXT_SIGNAL_MS) return;
      lastSignal = Date.now();
      if (isFirst) stopAsked(0);
      else if (draining) drain.abort();
      else process.exit(130);
    });
  }
  const fail = async (error: unknown) => {
    if (!running) console.error(error);
    running?.log.fatal({ err: error }, 'unforeseen fault');
    if (running) await flushLog(running.log);
    process.exit(1);
  };
  process.on('uncaughtException', fail);
  process.on('unhandledRejection', fail);

  const starting = startService(env);
  starting.then(
    (started) => {
      running = started;
      if (lastSignal === 0) welcome(started);
    },
    () => stopAsked(1),
  );
  const code = await asked;
  if (running && running.config.drainSeconds > 0) {
    draining = true;
    running.drain();
    running.log.info({ seconds: running.config.drainSeconds }, 'draining: /readyz answers 503, then the listener closes');
    await sleep(running.config.drainSeconds * 1000, null, { signal: drain.signal }).catch(() => {});
    draining = false;
  }
  // Asked while it starts, it may come to that end; what is cut off then ends with this process and is taken over by the next.
  const started = await Promise.race([starting, sleep(START_TO_STOP_MS, null, { ref: false })]);
  await Promise.race([started?.stop(), sleep(STOP_MS - START_TO_STOP_MS, null, { ref: false })]);
  return code;
}

async function loadServing(workers: number) {
  return workers > 1 ? { serve: (await import('./workers.ts')).serveInWorkers } : import('./serving.ts');
}

async function startEmbedded(dataDir: string, log: Log): Promise<{ url: string; stop(): Promise<void> }> {
  // Not needed, and not loaded, with DATABASE_URL.
  return (await import('./db/embedded/embedded.ts')).startEmbedded({ dataDir, log });
}

/** For the person at the terminal; in production the log says what matters. */
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
