/** Largest number of rows one statement takes. */
const MOST_ROWS = 64;
/** Statements of one kind that may be under way at once. */
const MOST_IN_FLIGHT = 2;

type Waiting<Row, Result> = { row: Row; resolve: (result: Result) => void; reject: (error: unknown) => void };

/**
 * Micro-batching: a row alone goes out at once, and what arrives while statements are under way goes out together in the
 * next one. The answer comes after the commit, as ever.
 * @param run executes one statement for all rows and returns their results in the same order
 * @returns a function that takes one row and gives its result
 */
export function batched<Row, Result>(run: (rows: Row[]) => Promise<Result[]>): (row: Row) => Promise<Result> {
  let waiting: Waiting<Row, Result>[] = [];
  let inFlight = 0;

  const flush = async () => {
    const batch = waiting.slice(0, MOST_ROWS);
    waiting = waiting.slice(MOST_ROWS);
    inFlight++;
    try {
      const results = await run(batch.map(({ row }) => row));
      batch.forEach(({ resolve }, index) => void resolve(results[index]));
    } catch (error) {
      if (isRefusedInput(error) && batch.length > 1) await oneByOne(batch);
      else fail(batch, error);
    } finally {
      inFlight--;
      if (waiting.length > 0) void flush();
    }
  };

  // What waits behind a database that does not answer must not begin its own wait only then.
  const fail = (batch: Waiting<Row, Result>[], error: unknown) => {
    const refused = isRefusedInput(error) ? batch : [...batch, ...waiting.splice(0)];
    for (const { reject } of refused) reject(error);
  };

  // One row that PostgreSQL refuses must not take its neighbours down with it.
  const oneByOne = async (batch: Waiting<Row, Result>[]) => {
    for (const { row, resolve, reject } of batch) await run([row]).then(([result]) => resolve(result), reject);
  };

  return (row) =>
    new Promise((resolve, reject) => {
      waiting.push({ row, resolve, reject });
      if (inFlight < MOST_IN_FLIGHT) void flush();
    });
}

/** SQLSTATE class 22: the data is at fault, not the database. */
function isRefusedInput(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string' && error.code.startsWith('22');
}
