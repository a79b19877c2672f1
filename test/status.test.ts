import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { removeOldProbes } from '../server/jobs/store.ts';
import { createStatusStore } from '../server/status/store.ts';
import { openStage, type Service, type Stage } from './harness.ts';
import { type Cluster, createCluster } from './postgres.ts';
import { waitUntil } from './waiting.ts';

// Killed and frozen by the tests, so not the shared cluster.
let cluster: Cluster;
let stage: Stage;
let service: Service;
let pool: pg.Pool;
beforeAll(async () => {
  cluster = await createCluster();
  stage = await openStage(cluster.url('postgres'));
  service = await stage.start();
  pool = new pg.Pool({ connectionString: stage.databaseUrl, max: 2, options: '-c timezone=UTC' });
  pool.on('error', () => {});
});
afterAll(async () => {
  await pool.end();
  await cluster.thaw();
  await stage.close();
  await cluster.remove();
});

const status = async (of: Service = service) => (await of.client().get('/api/status')).json;
const minutes = 60_000;
/** A response may be 15 s old and a probe takes up to 5 s; on a busy machine a second probe may be needed. */
const SOON = 90_000;
const untilState = (state: string) =>
  waitUntil(`the state is ${state}`, SOON, async () => {
    const answer = await status();
    return answer.state === state || JSON.stringify(answer).slice(0, 200);
  });

/** Waits until there is exactly one incident and it matches. */
const untilIncident = (wanted: object) =>
  waitUntil('the incident is told', SOON, async () => {
    const incidents = (await status()).history?.incidents;
    try {
      expect(incidents).toMatchObject([wanted]);
      return true;
    } catch {
      return JSON.stringify(incidents);
    }
  });

test('probes soon after the start and stores the response times', { timeout: 5 * minutes }, async () => {
  const good = () => stage.query("select *, now() - minute < interval '2 minutes' as new from probes where failed = '{}'");
  await waitUntil('a good probe', 150_000, async () => (await good()).length > 0);
  const [row] = await good();
  expect(row.new).toBe(true);
  expect(row.database_ms).toBeGreaterThan(0);
  expect(row.response_ms).toBeGreaterThan(0);
  await untilState('operational');
  const answer = await status();
  expect(answer).toMatchObject({
    state: 'operational',
    components: [
      { id: 'database', state: 'operational' },
      { id: 'mail', state: 'operational' },
      { id: 'response', state: 'operational' },
    ],
    history: { uptimePercent: null, responseMs: null },
  });
  expect(Date.now() - Date.parse(answer.checkedAt)).toBeLessThan(70_000);
  expect(answer.history.days).toHaveLength(30);
  expect(answer.history.days[29]).toMatchObject({ date: new Date().toISOString().slice(0, 10) });
  expect(await stage.query('select 1 from audit_log')).toEqual([]);
  expect(await stage.query('select 1 from sign_in_limits')).toEqual([]);
});

test('is degraded while the SMTP server is down, and recovers', { timeout: 5 * minutes }, async () => {
  await stage.query('delete from probes');
  await stage.mailbox.down();
  try {
    await untilState('degraded');
    await untilIncident({ endedAt: null, components: expect.arrayContaining(['mail']) });
    expect((await status()).components).toContainEqual({ id: 'mail', state: 'down' });
    await waitUntil('the log says so', 30_000, () => service.output().includes('a probe failed'));
  } finally {
    await stage.mailbox.up();
  }
  await untilState('operational');
  await untilIncident({ endedAt: expect.any(String), components: expect.arrayContaining(['mail']) });
});

test('is degraded while the SMTP server accepts connections without a greeting', { timeout: 5 * minutes }, async () => {
  stage.mailbox.behave({ kind: 'silent' });
  try {
    await untilState('degraded');
  } finally {
    stage.mailbox.behave({ kind: 'accept' });
  }
  await untilState('operational');
});

test('is degraded while an email is not sent for more than a minute', { timeout: 5 * minutes }, async () => {
  // As if leased by a sender that was killed: due in the future, never tried.
  await stage.query(
    `insert into outbox (id, kind, recipient, language, created_at, due_at, expires_at)
     values (gen_random_uuid(), 'registered', 'a@b.example', 'en', now() - interval '2 minutes', now() + interval '1 hour', now() + interval '2 hours')`,
  );
  await untilState('degraded');
  await stage.query('delete from outbox');
  await untilState('operational');
});

test('is down while PostgreSQL is killed or frozen, and stores the failed probes once it is back', {
  timeout: 10 * minutes,
}, async () => {
  await stage.query('delete from probes');
  await cluster.kill();
  await untilState('down');
  const answer = await service.client().get('/api/status');
  expect([answer.status, answer.json.history]).toEqual([200, null]);
  expect(answer.json.components).toContainEqual({ id: 'database', state: 'down' });
  await cluster.start();
  await untilState('operational');
  const failed = () => stage.query("select failed, database_ms from probes where 'database' = any(failed) order by minute");
  await waitUntil('what failed is written', SOON, async () => (await failed()).length > 0);
  await untilIncident({ endedAt: expect.any(String), components: expect.arrayContaining(['database']) });

  await cluster.freeze();
  try {
    await untilState('down');
  } finally {
    await cluster.thaw();
  }
  await untilState('operational');
});

test('two instances store one row a minute', { timeout: 5 * minutes }, async () => {
  const other = await stage.start({ PUBLIC_URL: service.url });
  await stage.query('delete from probes');
  await waitUntil('both have measured', SOON, async () => {
    const answers = await Promise.all([status(), status(other)]);
    return answers.every(({ history }) => history?.since);
  });
  const rows = await stage.query("select date_trunc('minute', minute) = minute as whole from probes");
  expect(new Set(rows.map(({ whole }) => whole))).toEqual(new Set([true]));
  expect(await other.stop()).toBe(0);
});

test('a minute has the worst results of its probes', async () => {
  await stage.query('delete from probes');
  const store = createStatusStore(pool);
  // An hour ago, in the middle of a minute.
  const [{ seconds }] = await stage.query(
    "select extract(epoch from now() - date_trunc('hour', now() - interval '1 hour'))::float8 - 10 as seconds",
  );
  const secondsAgo = seconds as number;
  await store.keep([
    { secondsAgo, databaseMs: 1, responseMs: 9, failed: [] },
    { secondsAgo: secondsAgo - 20, databaseMs: null, responseMs: 2, failed: ['database'] },
  ]);
  await store.keep([{ secondsAgo: secondsAgo - 30, databaseMs: 5, responseMs: null, failed: ['response', 'database'] }]);
  await store.keep([{ secondsAgo: secondsAgo - 60, databaseMs: 4, responseMs: 4, failed: [] }]);
  expect(await stage.query('select database_ms, response_ms, failed from probes order by minute')).toEqual([
    { database_ms: 5, response_ms: 9, failed: ['database', 'response'] },
    { database_ms: 4, response_ms: 4, failed: [] },
  ]);
});

test('uptime, response time, days and incidents are computed from the probes', { timeout: 5 * minutes }, async () => {
  await stage.query('delete from probes');
  // 1,000 minutes that end an hour ago, with two incidents; the first has a gap of five minutes without failures.
  await stage.query(`
    insert into probes (minute, database_ms, response_ms, failed)
    select date_trunc('minute', now()) - make_interval(mins => 60 + n), 1, 4,
      case when n in (500, 499, 493) then '{database}' when n = 300 then '{mail,response}' else '{}' end::text[]
    from generate_series(1, 1000) as n`);
  // One older than 30 days, one older than 90 days.
  await stage.query(
    "insert into probes (minute, failed) values (now() - interval '40 days', '{mail}'), (now() - interval '91 days', '{mail}')",
  );
  const history = await createStatusStore(pool).history();
  expect(history.responseMs).toBeCloseTo(4);
  expect(history.days).toHaveLength(30);
  const sum = (of: 'measured' | 'failed') => history.days.reduce((total, day) => total + day[of], 0);
  expect([sum('measured'), sum('failed')]).toEqual([1000, 4]);
  expect(history.days.map(({ date }) => date)).toEqual(history.days.map(({ date }) => date).sort());
  const shown = history.incidents.map(({ startedAt, endedAt, components, recent }) => [
    (endedAt.getTime() - startedAt.getTime()) / 60_000,
    components,
    recent,
  ]);
  expect(shown).toEqual([
    [1, ['mail', 'response'], false],
    [8, ['database'], false],
  ]);

  await waitUntil('the answer has them', SOON, async () => (await status()).history?.incidents.length === 2);
  const { history: answered } = await status();
  expect(answered.uptimePercent).toBeGreaterThanOrEqual(99.6);
  expect(answered.uptimePercent).toBeLessThan(99.61);
  expect(answered.incidents).toMatchObject([{ minutes: 1 }, { minutes: 8 }]);

  expect(await removeOldProbes()((text, values) => pool.query(text, values))).toBe(false);
  expect(await stage.query("select 1 from probes where minute < now() - interval '90 days'")).toEqual([]);
  expect(await stage.query("select 1 from probes where minute < now() - interval '39 days'")).toHaveLength(1);
});

test('reading the history of 90 days takes no longer than six counts of its rows', async () => {
  await stage.query(`
    insert into probes (minute, database_ms, response_ms, failed)
    select date_trunc('minute', now()) - make_interval(mins => n), 1, 4, case when n % 1000 < 7 then '{database}' else '{}' end::text[]
    from generate_series(1, 129600) as n on conflict do nothing`);
  await stage.query('analyze probes');
  const store = createStatusStore(pool);
  const best = async (run: () => Promise<unknown>) => {
    const times: number[] = [];
    for (let i = 0; i < 10; i++) {
      const start = performance.now();
      await run();
      times.push(performance.now() - start);
    }
    return Math.min(...times);
  };
  expect((await store.history()).incidents.length).toBeGreaterThan(40);
  const count = await best(() => pool.query("select count(*) from probes where failed <> '{}'"));
  expect(await best(() => store.history())).toBeLessThan(6 * count);
});
