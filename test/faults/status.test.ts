// A stage of its own: its PostgreSQL is killed.
import { describe, expect, type TestContext, test } from 'vitest';
import { openStage, type Service } from '../support/harness.ts';
import { createCluster } from '../support/postgres.ts';
import { waitUntil } from '../support/waiting.ts';

const MINUTE_MS = 60_000;
/** A response may be 15 s old, and the check of a mail server takes up to 30 s; on a busy machine a second probe may be needed. */
const TIMEOUT_MS = 180_000;

const statusOf = async (service: Service) => (await service.client().get('/api/status')).json;

/** Starts a service on a stage of its own, which is closed with the test. @param clusterUrl a cluster other than the shared one */
async function startMonitored({ onTestFinished }: TestContext, clusterUrl?: string) {
  const stage = await openStage({ seesOutages: true, clusterUrl });
  onTestFinished(() => stage.close());
  const service = await stage.start();
  const status = () => statusOf(service);
  const untilState = (state: string) =>
    waitUntil(`the state is ${state}`, TIMEOUT_MS, async () => {
      const response = await status();
      return response.state === state || JSON.stringify(response).slice(0, 200);
    });
  /** Waits until there is exactly one incident and it matches. */
  const untilIncident = (expected: object) =>
    waitUntil('the incident is reported', TIMEOUT_MS, async () => {
      const incidents = (await status()).history?.incidents;
      try {
        expect(incidents).toMatchObject([expected]);
        return true;
      } catch {
        return JSON.stringify(incidents);
      }
    });
  return { stage, service, status, untilState, untilIncident };
}

// Concurrent because they wait for the interval of the probes.
describe.concurrent('the status', { timeout: 10 * MINUTE_MS }, () => {
  test('is degraded while the SMTP server is down, and recovers', async (context) => {
    const { stage, service, status, untilState, untilIncident } = await startMonitored(context);
    await untilState('operational');
    await stage.query('delete from probes');
    await stage.mailbox.down();
    try {
      await untilState('degraded');
      await untilIncident({ endedAt: null, components: expect.arrayContaining(['mail']) });
      expect((await status()).components).toContainEqual({ id: 'mail', state: 'down' });
      await waitUntil('the failed probe is logged', 30_000, () => service.output().includes('a probe failed'));
    } finally {
      await stage.mailbox.up();
    }
    await untilState('operational');
    await untilIncident({ endedAt: expect.any(String), components: expect.arrayContaining(['mail']) });
  });

  test('is degraded while the SMTP server accepts connections without a greeting', async (context) => {
    const { stage, untilState } = await startMonitored(context);
    await untilState('operational');
    stage.mailbox.behave({ kind: 'silent' });
    try {
      await untilState('degraded');
    } finally {
      stage.mailbox.behave({ kind: 'accept' });
    }
    await untilState('operational');
  });

  test('is degraded while an email is not sent for more than a minute', async (context) => {
    const { stage, untilState } = await startMonitored(context);
    await untilState('operational');
    // As if leased by a sender that was killed: due in the future, never tried.
    await stage.query(
      `insert into outbox (id, kind, recipient, language, created_at, due_at, expires_at)
       values (gen_random_uuid(), 'registered', 'a@b.example', 'en', now() - interval '2 minutes', now() + interval '1 hour', now() + interval '2 hours')`,
    );
    await untilState('degraded');
    await stage.query('delete from outbox');
    await untilState('operational');
  });

  test('is down while PostgreSQL is killed or frozen, and stores the failed probes once it is back', async (context) => {
    const cluster = await createCluster();
    context.onTestFinished(() => cluster.remove());
    const { stage, service, untilState, untilIncident } = await startMonitored(context, cluster.url('postgres'));
    await untilState('operational');
    await stage.query('delete from probes');
    await cluster.kill();
    await untilState('down');
    const response = await service.client().get('/api/status');
    expect([response.status, response.json.history]).toEqual([200, null]);
    expect(response.json.components).toContainEqual({ id: 'database', state: 'down' });
    await cluster.start();
    await untilState('operational');
    const failed = () => stage.query("select failed, database_ms from probes where 'database' = any(failed) order by minute");
    await waitUntil('the failed probes are stored', TIMEOUT_MS, async () => (await failed()).length > 0);
    await untilIncident({ endedAt: expect.any(String), components: expect.arrayContaining(['database']) });

    await cluster.freeze();
    try {
      await untilState('down');
    } finally {
      await cluster.thaw();
    }
    await untilState('operational');
  });

  test('is measured by two instances in one row a minute', async (context) => {
    const { stage, service } = await startMonitored(context);
    const other = await stage.start({ PUBLIC_URL: service.url });
    await stage.query('delete from probes');
    await waitUntil('both instances have probed', TIMEOUT_MS, async () => {
      const responses = await Promise.all([statusOf(service), statusOf(other)]);
      return responses.every(({ history }) => history?.since);
    });
    const rows = await stage.query("select date_trunc('minute', minute) = minute as whole from probes");
    expect(new Set(rows.map(({ whole }) => whole))).toEqual(new Set([true]));
    expect(await other.stop()).toBe(0);
  });
});
