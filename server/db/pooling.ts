import { randomUUID } from 'node:crypto';
import pg from 'pg';

/** What a connection is: one session of PostgreSQL, or one only for the length of a transaction or of a statement. */
export type Pooling = 'session' | 'transaction' | 'statement';

const CONNECT_MS = 2_500;
const ANSWER_MS = 5_000;
/** Behind a busy pooler two transactions may by chance come to the same server; not so often in a row. */
const ROUNDS = 10;
/** How often `keepsPreparedStatements` tries to come to a server a second time. */
const TRIES = 20;

/**
 * Tells whether a pooler shares sessions between its clients. Two clients leave a mark in their sessions, and one of them holds a
 * transaction while both look for their own mark: with a session each, both always find it.
 */
export async function detectPooling(url: string): Promise<Pooling> {
  return withTwoClients(url, async (first, second) => {
    try {
      await second.query('begin');
      await second.query('commit');
    } catch (error) {
      // PgBouncer in statement mode, where there are no transactions.
      if (/statement pooling/.test((error as Error).message)) return 'statement';
      throw error;
    }
    const marks = { first: randomUUID(), second: randomUUID() };
    await leaveMark(first, marks.first);
    await leaveMark(second, marks.second);
    for (let round = 0; round < ROUNDS; round++) {
      // Without a transaction in the way first: the pooler may have a single server connection.
      if ((await readMark(first)) !== marks.first) return 'transaction';
      await second.query('begin');
      if ((await readMark(second)) !== marks.second || (await readMark(first)) !== marks.first) return 'transaction';
      await second.query('commit');
    }
    return 'session';
  });
}

/** Whether a pooler in transaction mode carries named prepared statements to whichever server runs them, as PgBouncer from 1.21 on can. */
export async function keepsPreparedStatements(url: string): Promise<boolean> {
  const statement = { name: `emailauth-${randomUUID()}`, text: 'select 1' };
  const prepared = new Set<number>();
  return withTwoClients(url, async (first, second) => {
    try {
      for (let tries = 0; tries < TRIES && prepared.size < 2; tries++) {
        await first.query('begin');
        prepared.add(await backendOf(first));
        await first.query(statement);
        await first.query('commit');
        await second.query('begin');
        const shared = prepared.has(await backendOf(second));
        if (shared) await second.query(statement);
        await second.query('commit');
        if (shared) return true;
      }
      return true;
    } catch (error) {
      // It is there already from the other client, or it was left on another server.
      if (['42P05', '26000'].includes(String((error as NodeJS.ErrnoException).code))) return false;
      throw error;
    }
  });
}

const leaveMark = (client: pg.Client, mark: string) => client.query("select set_config('emailauth.session', $1, false)", [mark]);

async function readMark(client: pg.Client): Promise<string | null> {
  return (await client.query("select current_setting('emailauth.session', true) as mark")).rows[0].mark;
}

async function backendOf(client: pg.Client): Promise<number> {
  return (await client.query('select pg_backend_pid() as pid')).rows[0].pid;
}

async function withTwoClients<Result>(url: string, run: (first: pg.Client, second: pg.Client) => Promise<Result>): Promise<Result> {
  const clients = [openClient(url), openClient(url)] as const;
  try {
    for (const client of clients) await client.connect();
    return await run(...clients);
  } finally {
    for (const client of clients) void client.end().catch(() => {});
  }
}

/** A connection for the start alone, with limits of time. Errors show at the statements. */
export function openClient(url: string): pg.Client {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: ANSWER_MS,
    application_name: 'emailauth-start',
  });
  return client.on('error', () => {});
}
