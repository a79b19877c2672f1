import cluster from 'node:cluster';
import { on } from 'node:events';
import { AggregatorRegistry, collectDefaultMetrics, type Metric, register } from 'prom-client';
import { Fault } from '../../../contract/errors.ts';
import { counters, gauges, histograms, type Report, sharedGauges } from './metrics.ts';
import { COLLECT_MS, type ReportsFromWorker } from './worker-reports.ts';

collectDefaultMetrics();
// Several processes have no common start; that of the newest one shows a restart.
Object.assign(register.getSingleMetric('process_start_time_seconds') as object, { aggregator: 'max' });
for (const instrument of [...gauges, ...counters, ...histograms])
  register.registerMetric({ name: instrument.name, get: () => instrument.report() } as unknown as Metric);
// In a worker, prom-client responds to the primary with the metrics of `register` from now on.
if (cluster.isWorker) new AggregatorRegistry();

/** Returns the text for Prometheus: the metrics of all processes as one, and those of the database. @throws Fault unavailable */
export async function formatMetrics(): Promise<{ contentType: string; text: string }> {
  const reports = cluster.isWorker ? await askPrimary() : [(await register.getMetricsAsJSON()) as unknown as Report[]];
  const shared = await Promise.all(sharedGauges.map((gauge) => gauge.report()));
  const registry = AggregatorRegistry.aggregate([...reports, shared]);
  return { contentType: registry.contentType, text: await registry.metrics() };
}

/** Returns the reports of all workers. @throws Fault unavailable */
async function askPrimary(): Promise<Report[][]> {
  const messages = on(process, 'message', { signal: AbortSignal.timeout(2 * COLLECT_MS) });
  process.send?.({ type: 'collect' } satisfies ReportsFromWorker);
  try {
    for await (const [message] of messages) if (message.type === 'reports') return message.reports;
  } catch {
    // The primary did not respond in time.
  }
  throw new Fault('unavailable', { retryAfter: 2 });
}
