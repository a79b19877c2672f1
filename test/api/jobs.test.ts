// A stage of its own: it changes jobs and locks a table.
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openJobsPool } from '../../server/operations/jobs/store.ts';
import { openStage, type Service, type Stage } from '../support/harness.ts';
import { addWebsite, visitorToken } from '../support/sign-ins.ts';
import { waitUntil } from '../support/waiting.ts';

/** Longer than the statement timeout of a job, also on a busy machine. */
const TIMEOUT_MS = 60_000;

let stage: Stage;
let service: Service;
let shop: string;
beforeAll(async () => {
  stage = await openStage();
  service = await stage.start();
  shop = await addWebsite(stage, service);
});
afterAll(() => stage.close());

const runNow = (task: string) =>
  stage.query('select graphile_worker.add_job($1, job_key => $1, max_attempts => 1, run_at => now())', [task]);
const isEmpty = async (sql: string) => (await stage.query(sql)).length === 0;
const isRolledUp = async () =>
  (await stage.query('select 1 from roll_up where last_audit_id >= (select max(id) from audit_log)')).length === 1;

test('a locked table fails only its own job, which is logged and retried within minutes; other jobs and sign-ins continue', {
  timeout: 120_000,
}, async () => {
  await stage.query("insert into probes (minute) values (now() - interval '100 days')");
  await stage.query("insert into admin_sessions (hash, expires_at) values ($1, now() - interval '1 hour')", [randomBytes(32)]);
  const holder = new pg.Client({ connectionString: stage.databaseUrl });
  await holder.connect();
  await holder.query('begin; lock table admin_sessions in access exclusive mode');
  try {
    await runNow('clean-up-accounts');
    await waitUntil('the failure is logged with its SQLSTATE', TIMEOUT_MS, () =>
      service
        .output()
        .split('\n')
        .some((line) => line.includes('clean-up-accounts') && line.includes('"code":"55P03"')),
    );
    await waitUntil('the same job has cleaned the other tables', TIMEOUT_MS, () =>
      isEmpty("select 1 from probes where minute < now() - interval '90 days'"),
    );

    const token = await visitorToken(stage, service.client(), shop);
    expect((await service.client().get(`/api/verify-token?token=${token}`)).json).toMatchObject({ valid: true });
    await runNow('roll-up');
    await waitUntil('another job has run', TIMEOUT_MS, isRolledUp);
    await waitUntil('the failed job is scheduled again', TIMEOUT_MS, async () => {
      const [job] = await stage.query(
        `select run_at <= now() + interval '5 minutes' as soon, attempts from graphile_worker.jobs where key = 'clean-up-accounts'`,
      );
      return (job?.soon === true && job.attempts === 0) || JSON.stringify(job);
    });
    await waitUntil('no job has failed for good', TIMEOUT_MS, () =>
      isEmpty('select 1 from graphile_worker.jobs where attempts >= max_attempts and locked_at is null'),
    );
  } finally {
    await holder.end();
  }
  await runNow('clean-up-accounts');
  await waitUntil('the row is removed once the table is free', TIMEOUT_MS, () => isEmpty('select 1 from admin_sessions'));
});

test('a connection of the jobs can be released twice, as graphile-worker does when it cannot listen', async () => {
  const pool = openJobsPool(stage.databaseUrl);
  const release = await new Promise<() => void>((resolve, reject) =>
    pool.connect((error, _, done) => (error ? reject(error) : resolve(done))),
  );
  release();
  release();
  expect([pool.totalCount, pool.idleCount]).toEqual([1, 1]);
  await pool.end();
  // After the end there is no connection to release.
  pool.connect((error, client, done) => {
    expect([error?.message, client]).toEqual(['Cannot use a pool after calling end on the pool', undefined]);
    done();
  });
});

test('every connection of the jobs has time limits', async () => {
  const pool = openJobsPool(stage.databaseUrl);
  try {
    const clients = await Promise.all([pool.connect(), pool.connect()]);
    const limits = await Promise.all(
      clients.map((client) =>
        client.query("select current_setting('statement_timeout') as statement, current_setting('lock_timeout') as lock"),
      ),
    );
    for (const client of clients) client.release();
    for (const { rows } of limits) expect(rows).toEqual([{ statement: '5s', lock: '1s' }]);
  } finally {
    await pool.end();
  }
});
