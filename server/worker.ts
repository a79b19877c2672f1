/** Program: one of the worker processes (WORKERS). The primary sends the settings, and when to drain and stop. */
import type { Config } from './platform/config.ts';
import { createLog, flushLog } from './platform/log.ts';
// Answers the primary, which asks every worker for its metrics, also while it starts.
import './platform/metrics/reports.ts';
import { StartError } from './platform/start-error.ts';
import { serve } from './serving.ts';
import type { FromWorker, ToWorker } from './workers.ts';

const report = (message: FromWorker) => new Promise<void>((resolve) => (process.send ? process.send(message, () => resolve()) : resolve()));
// The primary receives the same signal and decides.
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => {});

process.on('message', (command: ToWorker) => {
  if (command.type === 'serve') void start(command);
});
await report({ type: 'ready' });

async function start({ config: received, route }: Extract<ToWorker, { type: 'serve' }>): Promise<void> {
  const config: Config = {
    ...received,
    secretKey: Buffer.from(received.secretKey),
    previousSecretKey: received.previousSecretKey && Buffer.from(received.previousSecretKey),
  };
  const log = createLog(config);
  const fail = async (error: unknown) => {
    log.fatal({ err: error }, 'worker failed');
    await flushLog(log);
    process.exit(1);
  };
  process.on('uncaughtException', fail);
  process.on('unhandledRejection', fail);
  const serving = serve({ config, route, log });
  process.on('message', async (command: ToWorker) => {
    if (command.type === 'drain') await serving.then(({ drain }) => drain()).catch(() => {});
    if (command.type !== 'stop') return;
    // A start under way finishes first, because requests may have been accepted already.
    await serving.then(({ stop }) => stop()).catch(() => {});
    await flushLog(log);
    process.exit(0);
  });
  try {
    await serving;
    await report({ type: 'serving' });
  } catch (error) {
    if (!(error instanceof StartError)) log.error({ err: error }, 'worker cannot start');
    await flushLog(log);
    await report({ type: 'failed', message: (error as Error).message });
    process.exit(1);
  }
}
