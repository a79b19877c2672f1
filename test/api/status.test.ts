// A stage of its own: the probes of another service would be counted.
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { removeOldProbes } from '../../server/operations/jobs/clean-up.ts';
import { StatusStore } from '../../server/operations/probes.ts';
import { openStage, type Stage } from '../support/harness.ts';
import { waitUntil } from '../support/waiting.ts';

// No service runs before a test needs one.
let stage: Stage;
let pool: pg.Pool;
beforeAll(async () => {
  stage = await openStage();
  pool = new pg.Pool({ connectionString: stage.databaseUrl, max: 2, options: '-c timezone=UTC' });
});
afterAll(async () => {
  await pool.end();
  await stage.close();
});

test('a minute has the worst results of its probes', async () => {
  await stage.query('delete from probes');
  const store = new StatusStore(pool);
  // An hour ago, in the middle of a minute.
  const [{ seconds }] = await stage.query(
    "select extract(epoch from now() - date_trunc('hour', now() - interval '1 hour'))::float8 - 10 as seconds",
  );
  const secondsAgo = seconds as number;
  await store.save([
    { secondsAgo, databaseMs: 1, responseMs: 9, failed: [] },
    { secondsAgo: secondsAgo - 20, databaseMs: null, responseMs: 2, failed: ['database'] },
  ]);
  await store.save([{ secondsAgo: secondsAgo - 30, databaseMs: 5, responseMs: null, failed: ['response', 'database'] }]);
  await store.save([{ secondsAgo: secondsAgo - 60, databaseMs: 4, responseMs: 4, failed: [] }]);
  expect(await stage.query('select database_ms, response_ms, failed from probes order by minute')).toEqual([
    { database_ms: 5, response_ms: 9, failed: ['database', 'response'] },
    { database_ms: 4, response_ms: 4, failed: [] },
  ]);
});

test('uptime, response time, days and incidents are computed from the probes', async () => {
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
  const history = await new StatusStore(pool).history();
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

  const service = await stage.start();
  const status = async () => (await service.client().get('/api/status')).json;
  await waitUntil('the response has the incidents', 90_000, async () => {
    // The service's own probes may fail on a busy machine.
    await stage.query("update probes set failed = '{}' where minute > now() - interval '30 minutes'");
    return (await status()).history?.incidents.length === 2;
  });
  const { history: returned } = await status();
  await service.stop();
  expect(returned.uptimePercent).toBeGreaterThanOrEqual(99.6);
  expect(returned.uptimePercent).toBeLessThan(99.61);
  expect(returned.incidents).toMatchObject([{ minutes: 1 }, { minutes: 8 }]);

  expect(await removeOldProbes()((text, values) => pool.query(text, values))).toBe(false);
  expect(await stage.query("select 1 from probes where minute < now() - interval '90 days'")).toEqual([]);
  expect(await stage.query("select 1 from probes where minute < now() - interval '39 days'")).toHaveLength(1);
});

test('the status has a probe soon after the start of a service, with the response times', { timeout: 300_000 }, async ({
  onTestFinished,
}) => {
  const own = await openStage();
  onTestFinished(() => own.close());
  const service = await own.start();
  const good = () => own.query("select *, now() - minute < interval '2 minutes' as new from probes where failed = '{}'");
  await waitUntil('a good probe', 150_000, async () => (await good()).length > 0);
  const [row] = await good();
  expect(row.new).toBe(true);
  expect(row.database_ms).toBeGreaterThan(0);
  expect(row.response_ms).toBeGreaterThan(0);
  const status = async () => (await service.client().get('/api/status')).json;
  await waitUntil('the state is operational', 90_000, async () => (await status()).state === 'operational');
  const response = await status();
  expect(response).toMatchObject({
    components: [
      { id: 'database', state: 'operational' },
      { id: 'mail', state: 'operational' },
      { id: 'response', state: 'operational' },
    ],
    history: { uptimePercent: null, responseMs: null },
  });
  expect(Date.now() - Date.parse(response.checkedAt)).toBeLessThan(70_000);
  expect(response.history.days).toHaveLength(30);
  expect(response.history.days[29]).toMatchObject({ date: new Date().toISOString().slice(0, 10) });
  expect(await own.query('select 1 from audit_log')).toEqual([]);
  expect(await own.query('select 1 from rate_limits')).toEqual([]);
});
