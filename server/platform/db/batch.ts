import type { HistogramSeries } from '../metrics/metrics.ts';
import { batchRows, batchSeconds } from '../metrics/metrics.ts';
import { isDeadlock, isInvalid } from './client.ts';

/** Rows in one statement. */
const MAX_ROWS = 64;

type WaitingRow<Row, Result> = {
  row: Row;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
};

type Options<Row> = {
  /** The order in which a batch locks its rows, where other processes may lock the same ones. */
  order?: (a: Row, b: Row) => number;
};

/**
 * Returns a function that takes one row and resolves to its result. Rows that arrive in one turn of the event loop share a
 * statement, and so do rows that arrive while the previous statement runs. A single row does not wait. The result comes after the
 * commit.
 * @param name of the statement, in the metrics
 * @param run executes one statement for all rows and returns their results in the same order
 */
export function batched<Row, Result>(
  name: string,
  run: (rows: Row[]) => Promise<Result[]>,
  options: Options<Row> = {},
): (row: Row) => Promise<Result> {
  const batcher = new Batcher(name, run, options);
  return (row) => batcher.add(row);
}

class Batcher<Row, Result> {
  readonly #run: (rows: Row[]) => Promise<Result[]>;
  readonly #options: Options<Row>;
  readonly #rows: HistogramSeries;
  readonly #seconds: HistogramSeries;
  #waiting: WaitingRow<Row, Result>[] = [];
  /** One statement runs at a time: two would have half the rows each, and twice the commits. */
  #running = false;
  #scheduled = false;

  constructor(name: string, run: (rows: Row[]) => Promise<Result[]>, options: Options<Row>) {
    this.#rows = batchRows.with(name);
    this.#seconds = batchSeconds.with(name);
    this.#run = run;
    this.#options = options;
  }

  add(row: Row): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ row, resolve, reject });
      this.#schedule();
    });
  }

  async #execute(batch: WaitingRow<Row, Result>[]): Promise<Result[]> {
    const start = performance.now();
    this.#rows.observe(batch.length);
    try {
      return await this.#run(batch.map(({ row }) => row));
    } finally {
      this.#seconds.observe((performance.now() - start) / 1000);
    }
  }

  #schedule(): void {
    if (this.#scheduled || this.#running || this.#waiting.length === 0) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      if (this.#waiting.length > 0) void this.#flush();
    });
  }

  async #flush(): Promise<void> {
    const batch = this.#waiting.slice(0, MAX_ROWS);
    const { order } = this.#options;
    if (order) batch.sort((a, b) => order(a.row, b.row));
    this.#waiting = this.#waiting.slice(MAX_ROWS);
    this.#running = true;
    try {
      const results = await this.#execute(batch);
      batch.forEach(({ resolve }, index) => void resolve(results[index]));
    } catch (error) {
      if (isDeadlock(error) || (isInvalid(error) && batch.length > 1)) await this.#runOneByOne(batch);
      else this.#reject(batch, error);
    } finally {
      this.#running = false;
      this.#schedule();
    }
  }

  /** Runs each row in a statement of its own. One that PostgreSQL refuses does not fail the others; after a deadlock, one alone is tried again. */
  async #runOneByOne(batch: WaitingRow<Row, Result>[]): Promise<void> {
    for (const waiting of batch) await this.#execute([waiting]).then(([result]) => waiting.resolve(result), waiting.reject);
  }

  /** When the database does not respond, the waiting rows fail too: their own wait must not begin only now. */
  #reject(batch: WaitingRow<Row, Result>[], error: unknown): void {
    const failed = isInvalid(error) ? batch : [...batch, ...this.#waiting.splice(0)];
    for (const { reject } of failed) reject(error);
  }
}
