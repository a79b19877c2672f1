import type { Report } from './instruments.ts';
import { counters, gauges, histograms, sharedGauges } from './metrics.ts';

/** Every metric of one process. */
export type ProcessReport = Report[];

type Library = typeof import('prom-client');

let library: Promise<Library> | undefined;

/** prom-client is imported at the first use, which the start of the service does not wait for. */
function loadLibrary(): Promise<Library> {
  library ??= import('prom-client').then((loaded) => {
    loaded.collectDefaultMetrics();
    return loaded;
  });
  return library;
}

/** Returns the metrics of this process, with those of Node.js. */
export async function reportProcess(): Promise<ProcessReport> {
  const { register } = await loadLibrary();
  const defaults = ((await register.getMetricsAsJSON()) as unknown as Report[]).map((metric) =>
    // Several processes have no common start; that of the newest one shows a restart.
    metric.name === 'process_start_time_seconds' ? { ...metric, aggregator: 'max' } : metric,
  );
  const read = await Promise.all(gauges.map((gauge) => gauge.report()));
  return [...defaults, ...read, ...[...counters, ...histograms].map((instrument) => instrument.report())];
}

/** Returns what only grows in a report. It still counts after its process has ended. */
export const countsOf = (report: ProcessReport): ProcessReport => report.filter(({ type }) => type === 'counter' || type === 'histogram');

/** Returns several reports as one. */
export async function addUp(reports: ProcessReport[]): Promise<ProcessReport> {
  const { AggregatorRegistry } = await loadLibrary();
  return (await AggregatorRegistry.aggregate(reports).getMetricsAsJSON()) as unknown as ProcessReport;
}

/** Returns the text for Prometheus: the reports of the processes as one, and the metrics of the database. */
export async function formatReports(reports: ProcessReport[]): Promise<{ contentType: string; text: string }> {
  const { AggregatorRegistry } = await loadLibrary();
  const shared = await Promise.all(sharedGauges.map((gauge) => gauge.report()));
  const registry = AggregatorRegistry.aggregate([...reports, shared]);
  return { contentType: registry.contentType, text: await registry.metrics() };
}
