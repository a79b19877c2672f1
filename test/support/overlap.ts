import pg from 'pg';
import type { HttpResponse } from './client.ts';
import type { Stage } from './harness.ts';
import { waitUntil } from './waiting.ts';

/** Two requests and the statement whose lock both must wait for. */
export type Overlap = { lock: [sql: string, values?: unknown[]]; first(): Promise<HttpResponse>; second(): Promise<HttpResponse> };

const MAX_TRIES = 10;

/**
 * Runs two requests that both wait in PostgreSQL, the second while the first waits, and then lets them go on.
 * @param prepare makes what the requests are about. A statement of the service times out after 2.5 s: on a busy machine the
 * first request may get 503 before the second waits, and then both are repeated with new data
 * @returns what `prepare` returned, and the responses
 */
export async function runOverlapping<Case extends Overlap>(
  stage: Stage,
  prepare: () => Promise<Case>,
): Promise<Case & { responses: [HttpResponse, HttpResponse] }> {
  for (let tries = 1; ; tries++) {
    const prepared = await prepare();
    const responses = await runOnce(stage, prepared);
    if (tries === MAX_TRIES || responses.every(({ status }) => status !== 503)) return { ...prepared, responses };
  }
}

async function runOnce(stage: Stage, { lock, first, second }: Overlap): Promise<[HttpResponse, HttpResponse]> {
  const holder = new pg.Client(stage.databaseUrl);
  await holder.connect();
  let ended = false;
  const untilWaiting = (count: number) =>
    waitUntil(`${count} of the requests wait for the lock`, 30_000, async () => {
      const sql = "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
      return ended || (await holder.query(sql)).rowCount === count;
    });
  const begin = (send: () => Promise<HttpResponse>) =>
    send().finally(() => {
      ended = true;
    });
  try {
    await holder.query('begin');
    await holder.query(...lock);
    const one = begin(first);
    await untilWaiting(1);
    const two = begin(second);
    await untilWaiting(2);
    await holder.query('commit');
    return await Promise.all([one, two]);
  } finally {
    await holder.end();
  }
}

/**
 * Runs `round` `count` times. A round whose request got 503, because it waited too long for PostgreSQL on a busy machine, is repeated,
 * at most a tenth of them.
 * @param round throws an Error with ` 503: ` then
 */
export async function runRounds(count: number, round: (i: number) => Promise<void>): Promise<void> {
  let repeats = 0;
  for (let i = 0; i < count + repeats; i++) {
    await round(i).catch((error: Error) => {
      if (!error.message.includes(' 503: ') || repeats >= count / 10) throw error;
      repeats++;
    });
  }
}
