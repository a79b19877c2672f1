import type pg from 'pg';

/** Runs a prepared statement inside the transaction. */
export type Ask = <Row extends pg.QueryResultRow>(name: string, text: string, values: unknown[]) => Promise<Row[]>;

/** Runs `work` in one READ COMMITTED transaction, which is rolled back when it throws. */
export async function inTransaction<Result>(pool: pg.Pool, work: (ask: Ask) => Promise<Result>): Promise<Result> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    const result = await work(async (name, text, values) => (await client.query({ name, text, values })).rows);
    await client.query('commit');
    client.release();
    return result;
  } catch (error) {
    // Closes the connection, which rolls back even if the server does not answer, and lets the pool see the cause.
    client.release(error as Error);
    throw error;
  }
}
