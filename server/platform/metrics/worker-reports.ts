import cluster, { type Worker } from 'node:cluster';
import { setTimeout as sleep } from 'node:timers/promises';
import { AggregatorRegistry } from 'prom-client';
import type { Report } from './metrics.ts';

/** From a worker to the primary: a request for the reports of all workers. */
export type ReportsFromWorker = { type: 'collect' };
/** From the primary to the worker that requested them. */
export type ReportsToWorker = { type: 'reports'; reports: Report[][] };

/** How long the workers may take for their reports; after it their previous ones count. */
export const COLLECT_MS = 1_000;

/** The response of a worker to prom-client. */
type Response = { type: 'prom-client:getMetricsRes'; metrics?: Report[][] };

/**
 * The reports of all workers, in the primary. prom-client collects them; it fails when a worker does not respond, and forgets a worker
 * that ended. Here the previous report of a silent worker counts, and the counts of an ended one remain, so that no sum ever falls.
 */
export class WorkerReports {
  readonly #latest = new Map<Worker, Report[]>();
  #ended: Promise<Report[]> = Promise.resolve([]);
  readonly #aggregator: AggregatorRegistry<'text/plain; version=0.0.4; charset=utf-8'>;

  constructor() {
    cluster.on('message', (worker: Worker, { type, metrics }: Response) => {
      if (type !== 'prom-client:getMetricsRes' || !metrics) return;
      // Taken from the message before prom-client reads it, which keeps what it gets until every worker has responded.
      const report = metrics.splice(0).flat();
      if (!worker.isDead()) this.#latest.set(worker, report);
    });
    // After that listener, since the constructor adds prom-client's.
    this.#aggregator = new AggregatorRegistry();
  }

  /** Returns a report of every worker, and one of those that ended. */
  async collect(): Promise<Report[][]> {
    const collected = this.#aggregator.clusterMetrics().catch(() => {});
    await Promise.race([collected, sleep(COLLECT_MS, null, { ref: false })]);
    return [...this.#latest.values(), await this.#ended];
  }

  /** Keeps the counts of a worker that ended. */
  keep(worker: Worker): void {
    const report = this.#latest.get(worker) ?? [];
    this.#latest.delete(worker);
    const counts = report.filter(({ type }) => type === 'counter' || type === 'histogram');
    this.#ended = this.#ended.then(
      (ended) => AggregatorRegistry.aggregate([ended, counts]).getMetricsAsJSON() as unknown as Promise<Report[]>,
    );
  }
}
