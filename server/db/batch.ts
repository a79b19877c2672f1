/** Largest number of rows one statement takes. */
const MAX_ROWS = 64;
/** Statements of one kind that may be under way at once. One alone makes the next one fuller: half the commits of two. */
const MAX_IN_FLIGHT = 1;

type Waiting<Row, Result> = { row: Row; resolve: (result: Result) => void; reject: (error: unknown) => void };

/**
 * Micro-batching: what arrives in one turn of the event loop goes out together at its end, and what arrives while statements
 * are under way goes out together in the next one. A row alone waits for nobody. The answer comes after the commit, as ever.
 * @param run executes one statement for all rows and returns their results in the same order
 * @param options.order the order in which a batch locks its rows, where other processes may lock the same ones
 * @param options.lingerMs how long a statement waits for company after one that had some: each costs a commit, however few its rows
 * @returns a function that takes one row and gives its result
 */
export function batched<Row, Result>(
  run: (rows: Row[]) => Promise<Result[]>,
  options: { order?: (a: Row, b: Row) => number; lingerMs?: number } = {},
): (row: Row) => Promise<Result> {
  const { order, lingerMs = 0 } = options;
  let waiting: Waiting<Row, Result>[] = [];
  let inFlight = 0;
  let scheduled = false;
  let crowded = false;

  const flush = async () => {
    const batch = waiting.slice(0, MAX_ROWS);
    if (order) batch.sort((a, b) => order(a.row, b.row));
    waiting = waiting.slice(MAX_ROWS);
    crowded = batch.length > 1;
    inFlight++;
    try {
      const results = await run(batch.map(({ row }) => row));
      batch.forEach(({ resolve }, index) => void resolve(results[index]));
    } catch (error) {
      if ((isRefusedInput(error) || isDeadlock(error)) && batch.length > 1) await oneByOne(batch);
      else fail(batch, error);
    } finally {
      inFlight--;
      flushSoon();
    }
  };

  const flushSoon = () => {
    if (scheduled || inFlight >= MAX_IN_FLIGHT || waiting.length === 0) return;
    scheduled = true;
    const go = () => {
      scheduled = false;
      if (waiting.length > 0) void flush();
      flushSoon();
    };
    if (crowded && lingerMs > 0 && waiting.length < MAX_ROWS) setTimeout(go, lingerMs);
    else setImmediate(go);
  };

  // What waits behind a database that does not answer must not begin its own wait only then.
  const fail = (batch: Waiting<Row, Result>[], error: unknown) => {
    const refused = isRefusedInput(error) || isDeadlock(error) ? batch : [...batch, ...waiting.splice(0)];
    for (const { reject } of refused) reject(error);
  };

  // One row that PostgreSQL refuses must not take its neighbours down with it.
  const oneByOne = async (batch: Waiting<Row, Result>[]) => {
    for (const { row, resolve, reject } of batch) await run([row]).then(([result]) => resolve(result), reject);
  };

  return (row) =>
    new Promise((resolve, reject) => {
      waiting.push({ row, resolve, reject });
      flushSoon();
    });
}

/** SQLSTATE class 22: the data is at fault, not the database. */
function isRefusedInput(error: unknown): boolean {
  return sqlStateOf(error).startsWith('22');
}

/** SQLSTATE 40P01: two statements met the same rows in different order, and this one was taken back. */
function isDeadlock(error: unknown): boolean {
  return sqlStateOf(error) === '40P01';
}

function sqlStateOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string' ? error.code : '';
}
