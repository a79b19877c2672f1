import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openStage } from './harness.ts';
import { waitUntil } from './waiting.ts';

const LOSSES = 50;

test(`after ${LOSSES} lost database connections no object has collected listeners`, { timeout: 180_000 }, async () => {
  const stage = await openStage();
  const service = await stage.start({ NODE_OPTIONS: `--import=${join(import.meta.dirname, 'listener-counts.mjs')}` });
  const jobsConnections = async () => {
    const sql = "select pid from pg_stat_activity where application_name = 'emailauth-jobs' and datname = current_database()";
    return (await stage.query(sql)).map(({ pid }) => pid);
  };
  let lost: unknown[] = [];
  for (let i = 0; i < LOSSES; i++) {
    await waitUntil('the jobs have connections again', 20_000, async () => {
      const now = await jobsConnections();
      return now.length > 0 && !now.some((pid) => lost.includes(pid)) && (await service.client().get('/readyz')).status === 200;
    });
    await service.client().get('/api/verify-token?token=nothing');
    lost = await jobsConnections();
    await stage.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    );
  }
  await service.ready();
  expect(service.output()).not.toContain('MaxListenersExceededWarning');
  expect(service.output().match(/^listeners: .*$/gm) ?? []).toEqual([]);
  await stage.close();
});
