import type { Worker } from 'node:cluster';
import { Fault } from '../../contract/errors.ts';
import type { Report } from './metrics.ts';
import { counters, gauges, histograms, sharedGauges } from './metrics.ts';

/** Every metric of one process. */
type ProcessReport = Report[];

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
async function reportProcess(): Promise<ProcessReport> {
  const { register } = await loadLibrary();
  const defaults = ((await register.getMetricsAsJSON()) as unknown as Report[]).map((metric) =>
    // Several processes have no common start; that of the newest one shows a restart.
    metric.name === 'process_start_time_seconds' ? { ...metric, aggregator: 'max' } : metric,
  );
  const read = await Promise.all(gauges.map((gauge) => gauge.report()));
  return [...defaults, ...read, ...[...counters, ...histograms].map((instrument) => instrument.report())];
}

/** Returns what only grows in a report. It still counts after its process has ended. */
const countsOf = (report: ProcessReport): ProcessReport => report.filter(({ type }) => type === 'counter' || type === 'histogram');

/** Returns several reports as one. */
async function addUp(reports: ProcessReport[]): Promise<ProcessReport> {
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

/** How long the other workers may take for their reports; after it their previous ones count. */
const REPORT_MS = 1_000;
/** Reports of ended workers that are kept before they become one. */
const MAX_ENDED = 10;

/** From the primary to a worker: a request for its report, or the reports that it asked for. */
export type ReportsToWorker = { type: 'report' } | { type: 'reports'; id: number; reports: ProcessReport[] };
/** From a worker to the primary. */
export type ReportsFromWorker = { type: 'collect'; id: number } | { type: 'report'; report: ProcessReport };

type Collecting = { asker: Worker; id: number; missing: Set<Worker>; timer: NodeJS.Timeout };

/** Collects the reports of all workers, in the primary. The counts of a worker that ended remain, so that no sum ever falls. */
export class WorkerReports {
  readonly #latest = new Map<Worker, ProcessReport>();
  #ended: ProcessReport[] = [];
  #isAddingUp = false;
  #collections = new Set<Collecting>();

  /** Asks every worker for its report, for the one that asked. */
  collect(asker: Worker, id: number, workers: Iterable<Worker>): void {
    const missing = new Set([...workers].filter((worker) => worker.isConnected()));
    const timer = setTimeout(() => this.#finish(collecting), REPORT_MS);
    const collecting: Collecting = { asker, id, missing, timer };
    this.#collections.add(collecting);
    for (const worker of missing) worker.send({ type: 'report' } satisfies ReportsToWorker);
  }

  /** Takes the report of a worker, for every collection that waits for it. */
  take(worker: Worker, report: ProcessReport): void {
    this.#latest.set(worker, report);
    this.#received(worker);
  }

  /** Keeps the counts of a worker that ended. */
  async keep(worker: Worker): Promise<void> {
    const report = this.#latest.get(worker);
    this.#latest.delete(worker);
    this.#received(worker);
    if (!report) return;
    this.#ended.push(countsOf(report));
    const { length } = this.#ended;
    if (length < MAX_ENDED || this.#isAddingUp) return;
    this.#isAddingUp = true;
    const sum = await addUp(this.#ended.slice(0, length));
    this.#ended = [sum, ...this.#ended.slice(length)];
    this.#isAddingUp = false;
  }

  #received(worker: Worker): void {
    for (const collecting of this.#collections) {
      collecting.missing.delete(worker);
      if (collecting.missing.size === 0) this.#finish(collecting);
    }
  }

  #finish(collecting: Collecting): void {
    clearTimeout(collecting.timer);
    this.#collections.delete(collecting);
    const { asker, id } = collecting;
    const reports = [...this.#latest.values(), ...this.#ended];
    if (asker.isConnected()) asker.send({ type: 'reports', id, reports } satisfies ReportsToWorker);
  }
}

/** The reports that this process waits for, if it is a worker. */
let waiting: Map<number, (reports: ProcessReport[]) => void> | null = null;
let lastId = 0;

/** Makes this process a worker, which sends its report to the primary and asks it for those of the others. */
export function joinWorkers(): void {
  const asked = new Map<number, (reports: ProcessReport[]) => void>();
  waiting = asked;
  process.on('message', async (message: ReportsToWorker) => {
    if (message.type === 'report') process.send?.({ type: 'report', report: await reportProcess() } satisfies ReportsFromWorker);
    if (message.type === 'reports') asked.get(message.id)?.(message.reports);
  });
}

/** Returns the reports of this process and, in a worker, of all other workers. */
export async function reportAll(): Promise<ProcessReport[]> {
  const asked = waiting;
  if (!asked) return [await reportProcess()];
  const id = ++lastId;
  try {
    return await new Promise((resolve, reject) => {
      asked.set(id, resolve);
      setTimeout(reject, 2 * REPORT_MS, new Fault('unavailable', { retryAfter: 2 })).unref();
      process.send?.({ type: 'collect', id } satisfies ReportsFromWorker);
    });
  } finally {
    asked.delete(id);
  }
}
