import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { DatabaseClient } from './client.ts';

/** How long a connection keeps one session of PostgreSQL: always, or for a transaction or statement only. */
export type Pooling = 'session' | 'transaction' | 'statement';

const CONNECT_MS = 2_500;
const ANSWER_MS = 5_000;
/** Behind a busy pooler, two transactions may run on the same server connection by chance, but not this often in a row. */
const ROUNDS = 10;
/** How often `keepsPreparedStatements` tries to reach a server connection a second time. */
const MAX_TRIES = 20;

/**
 * Detects whether a pooler shares sessions between its clients. Two clients set a mark in their sessions, and one of them holds a
 * transaction open while both read their own mark: if each has its own session, both always find it.
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
    await setMark(first, marks.first);
    await setMark(second, marks.second);
    for (let round = 0; round < ROUNDS; round++) {
      // First without an open transaction, since the pooler may have only one server connection.
      if ((await readMark(first)) !== marks.first) return 'transaction';
      await second.query('begin');
      if ((await readMark(second)) !== marks.second || (await readMark(first)) !== marks.first) return 'transaction';
      await second.query('commit');
    }
    return 'session';
  });
}

/** Whether a pooler in transaction mode prepares named statements on every server connection that runs them, as PgBouncer 1.21 can. */
export async function keepsPreparedStatements(url: string): Promise<boolean> {
  const statement = { name: `emailauth-${randomUUID()}`, text: 'select 1' };
  const prepared = new Set<number>();
  return withTwoClients(url, async (first, second) => {
    try {
      for (let tries = 0; tries < MAX_TRIES && prepared.size < 2; tries++) {
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
      // The other client has prepared it already, or it is only known on another server connection.
      if (['42P05', '26000'].includes(String((error as NodeJS.ErrnoException).code))) return false;
      throw error;
    }
  });
}

const setMark = (client: pg.Client, mark: string) => client.query("select set_config('emailauth.session', $1, false)", [mark]);

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

/** Creates a client with time-outs, for checks at the start. Errors are reported by its statements only. */
export function openClient(url: string): pg.Client {
  const client = new DatabaseClient({
    connectionString: url,
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: ANSWER_MS,
    application_name: 'emailauth-start',
  });
  return client.on('error', () => {});
}
