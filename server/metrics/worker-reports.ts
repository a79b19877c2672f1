import type { Worker } from 'node:cluster';
import { Fault } from '../../contract/errors.ts';
import { addUp, countsOf, type ProcessReport, reportProcess } from './report.ts';

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
    if (length < MAX_ENDED) return;
    const sum = await addUp(this.#ended.slice(0, length));
    this.#ended = [sum, ...this.#ended.slice(length)];
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
