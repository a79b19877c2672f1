/** Program: one of several serving processes (WORKERS). The primary says what to serve and when to stop. */
import type { Config } from './config.ts';
import { createLog, flushLog } from './log.ts';
import { serve } from './serving.ts';
import type { FromWorker, ToWorker } from './workers.ts';

const tell = (what: FromWorker) => new Promise<void>((resolve) => (process.send ? process.send(what, () => resolve()) : resolve()));
// The primary hears the same signal and decides.
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => {});

process.once('message', async ({ config: sent, route }: Extract<ToWorker, { do: 'serve' }>) => {
  const config: Config = { ...sent, secretKey: Buffer.from(sent.secretKey) };
  const log = createLog(config);
  const fail = async (error: unknown) => {
    log.fatal({ err: error }, 'worker failed');
    await flushLog(log);
    process.exit(1);
  };
  process.on('uncaughtException', fail);
  process.on('unhandledRejection', fail);
  try {
    const serving = await serve({ config, route, log });
    process.on('message', async (order: ToWorker) => {
      if (order.do === 'drain') serving.drain();
      if (order.do !== 'stop') return;
      await serving.stop();
      await flushLog(log);
      process.exit(0);
    });
    await tell({ is: 'serving' });
  } catch (error) {
    const known = error instanceof Error && 'exitCode' in error;
    if (!known) log.error({ err: error }, 'worker cannot start');
    await flushLog(log);
    await tell({ is: 'failed', why: (error as Error).message });
    process.exit(1);
  }
});

await tell({ is: 'listening to orders' });
