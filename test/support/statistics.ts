import { rollUp } from '../../server/activity/stats.ts';
import type { Stage } from './harness.ts';
import { waitUntil } from './waiting.ts';

/** Adds everything that has happened to the statistics, as the service does every minute. */
export async function countNow(stage: Pick<Stage, 'query'>): Promise<void> {
  const query = async (text: string, values?: unknown[]) => ({ rows: await stage.query(text, values) }) as never;
  const [{ newest }] = await stage.query('select max(id) as newest from audit_log');
  // The service may be adding the rows: its commit is waited for then.
  await waitUntil('the statistics are complete', 60_000, async () => {
    await rollUp(query, { signal: new AbortController().signal, maxMs: 60_000 });
    const [{ complete }] = await stage.query(
      'select coalesce(least(r.last_audit_id, v.last_audit_id) >= $1::bigint, true) as complete from roll_up r, visitor_roll_up v',
      [newest],
    );
    return complete === true;
  });
}
