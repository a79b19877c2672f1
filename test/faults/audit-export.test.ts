import { randomBytes } from 'node:crypto';
import { createServer, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Destination, exportAudit } from '../../server/audit-export/audit-export.ts';
import { destinationsOf, sendMessages } from '../../server/audit-export/destinations.ts';
import { openJobsPool } from '../../server/jobs/store.ts';
import { hasOpenssl, openAuthority } from '../certificates.ts';
import { openStage, type Service, type Stage } from '../harness.ts';
import { freshAddress, registerWebsite, requestEmail } from '../sign-ins.ts';
import { freePort, waitUntil } from '../waiting.ts';
import { hasRsyslog, prepareRsyslog, startWebhook } from './audit-receivers.ts';

const TIMEOUT_MS = 60_000;
const SECRET = `whsec_${randomBytes(32).toString('base64')}`;
if (!hasRsyslog) console.warn('\n!! The tests with rsyslog are skipped: on Debian, apt-get install rsyslog rsyslog-openssl\n');

const runNow = (stage: Stage, task: string) =>
  stage.query('select graphile_worker.add_job($1, job_key => $1, max_attempts => 1, run_at => now())', [task]);

/** Adds all rows to the totals, as the service does every minute: only these rows are exported. */
async function rollUp(stage: Stage): Promise<void> {
  await runNow(stage, 'roll-up');
  await waitUntil('all rows are in the totals', TIMEOUT_MS, async () => {
    const [row] = await stage.query('select last_audit_id >= (select max(id) from audit_log) as done from roll_up');
    return row.done === true;
  });
}

async function exportNow(stage: Stage, name: Destination['name']): Promise<void> {
  await rollUp(stage);
  await runNow(stage, `export-audit-${name}`);
}

const idsAfter = async (stage: Stage, id: number) =>
  (await stage.query('select id::int from audit_log where id > $1 order by id', [id])).map((row) => row.id as number);
const cursorOf = async (stage: Stage, name: string) =>
  (await stage.query('select last_audit_id::int as id from audit_exports where destination = $1', [name]))[0]?.id as number;
const linesWith = (service: Service, text: string) =>
  service
    .output()
    .split('\n')
    .filter((line) => line.includes(text));

/** Checks that a failed export is logged once with a remedy, and scheduled for the next minute. */
async function expectRetry(stage: Stage, service: Service, name: Destination['name'], text: string): Promise<void> {
  await waitUntil('the failure is logged', TIMEOUT_MS, () => linesWith(service, text).length > 0);
  const [line] = linesWith(service, text);
  expect(JSON.parse(line)).toMatchObject({ level: 40 });
  expect(line).toContain(`Check AUDIT_${name.toUpperCase()}_URL and the receiver; the rows are sent again within a minute.`);
  await waitUntil('the next run is scheduled', TIMEOUT_MS, async () => {
    const [job] = await stage.query(
      `select run_at = date_trunc('minute', run_at) and run_at <= now() + interval '1 minute' as next, attempts
       from graphile_worker.jobs where key = $1`,
      [`export-audit-${name}`],
    );
    return (job?.next === true && job.attempts === 0) || JSON.stringify(job);
  });
}

test.skipIf(!hasRsyslog || !hasOpenssl).concurrent.each(['tcp', 'tls'])(
  'a syslog server over %s receives every row, also those from while it was down and the service was killed',
  {
    timeout: 300_000,
  },
  async (protocol) => {
    const stage = await openStage();
    const authority = await openAuthority();
    const certificate = await authority.issue('localhost', 1);
    const rsyslog = await prepareRsyslog(protocol === 'tls' ? { ...certificate, authorityFile: authority.file } : undefined);
    const address = `${protocol}://localhost:${rsyslog.port}`;
    const settings = { AUDIT_SYSLOG_URL: address, NODE_EXTRA_CA_CERTS: authority.file };
    try {
      // Without the setting, nothing is kept for it.
      const before = await stage.start();
      const domain = await registerWebsite(before.client());
      await rollUp(stage);
      await before.kill();
      const first = await stage.start(settings);
      const start = await cursorOf(stage, 'syslog');
      expect(await idsAfter(stage, start)).toEqual([]);

      await rsyslog.start();
      const email = freshAddress();
      await requestEmail(first.client(), email, `https://${domain}/`);
      const hasAll = async () => {
        const wanted = await idsAfter(stage, start);
        const found = (await rsyslog.messages()).map(({ fields }) => Number(fields.id));
        expect(found.every((id) => id > start)).toBe(true);
        return (wanted.length > 0 && wanted.every((id) => found.includes(id))) || `${found} of ${wanted}`;
      };
      await exportNow(stage, 'syslog');
      await waitUntil('rsyslog has the rows', TIMEOUT_MS, hasAll);
      const message = (await rsyslog.messages()).find(({ data }) => data.email === email);
      expect(message).toMatchObject({ priority: '110', host: 'localhost', app: 'emailauth', id: 'sign_in_requested' });
      expect(message?.data).toMatchObject({ action: 'sign_in_requested', domain });
      expect(message?.fields).toMatchObject({ email, domain, id: message?.data.id, at: message?.data.at });

      await rsyslog.stop();
      await requestEmail(first.client(), freshAddress(), `https://${domain}/`);
      const reached = await cursorOf(stage, 'syslog');
      await exportNow(stage, 'syslog');
      await expectRetry(stage, first, 'syslog', `The audit log was not sent to ${address}: connect ECONNREFUSED`);
      expect(await cursorOf(stage, 'syslog')).toBe(reached);
      await first.kill();
      await rsyslog.start();
      await stage.start(settings);
      await exportNow(stage, 'syslog');
      await waitUntil('rsyslog has the row from while it was down', TIMEOUT_MS, hasAll);
      await waitUntil(
        'the cursor has moved',
        TIMEOUT_MS,
        async () => (await cursorOf(stage, 'syslog')) === (await idsAfter(stage, start)).at(-1),
      );
    } finally {
      await rsyslog.close();
      await stage.close();
      await authority.close();
    }
  },
);

test.skipIf(!hasRsyslog || !hasOpenssl)('a syslog server with a certificate of an unknown authority receives nothing', async () => {
  const authority = await openAuthority();
  const certificate = await authority.issue('localhost', 1);
  const rsyslog = await prepareRsyslog({ ...certificate, authorityFile: authority.file });
  try {
    await rsyslog.start();
    const sent = sendMessages(
      `tls://localhost:${rsyslog.port}`,
      ['<110>1 - - - - - [emailauth@32473 id="1"] {}'],
      AbortSignal.timeout(TIMEOUT_MS),
    );
    await expect(sent).rejects.toThrow(/certificate/);
    await rsyslog.stop();
    expect(await rsyslog.messages()).toEqual([]);
  } finally {
    await rsyslog.close();
    await authority.close();
  }
});

test('a syslog server that resets the connection, ends it early or stays silent has not received a batch', async () => {
  const endings: ((socket: Socket) => void)[] = [(socket) => socket.resetAndDestroy(), (socket) => socket.destroy(), () => {}];
  for (const end of endings) {
    const sockets: Socket[] = [];
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      sockets.push(socket.on('error', () => {}));
      end(socket);
    });
    const port = await freePort();
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    // More than the buffers of both sides take.
    const messages = Array.from({ length: 200 }, () => 'x'.repeat(100_000));
    await expect(sendMessages(`tcp://127.0.0.1:${port}`, messages, AbortSignal.timeout(1_000))).rejects.toThrow();
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  }
});

describe('a webhook', () => {
  let stage: Stage;
  let receiver: Awaited<ReturnType<typeof startWebhook>>;
  let settings: Record<string, string>;
  let destination: Destination;
  let pools: ReturnType<typeof openJobsPool>[];
  beforeAll(async () => {
    stage = await openStage();
    receiver = await startWebhook(SECRET);
    const auditWebhook = { url: receiver.url, secret: SECRET };
    [destination] = destinationsOf({ auditSyslogUrl: null, auditWebhook, publicUrl: 'http://localhost:4400' });
    settings = { AUDIT_WEBHOOK_URL: receiver.url, AUDIT_WEBHOOK_SECRET: SECRET };
    // The export begins with its first start.
    const first = await stage.start(settings);
    await first.stop();
    pools = Array.from({ length: 4 }, () => openJobsPool(stage.databaseUrl));
  });
  afterAll(async () => {
    await Promise.all(pools.map((pool) => pool.end()));
    await receiver.close();
    await stage.close();
  });

  const exportBy = (pool: ReturnType<typeof openJobsPool>, maxMs = TIMEOUT_MS) =>
    exportAudit((text, values) => pool.query(text, values), destination, { signal: new AbortController().signal, maxMs });
  const addRows = async (count: number) => {
    await stage.query("insert into audit_log (action, email) select 'logged_out', 'export@example.com' from generate_series(1, $1)", [
      count,
    ]);
    await rollUp(stage);
  };

  test('receives signed rows, and the same rows again after each response other than 2xx', { timeout: 300_000 }, async () => {
    const service = await stage.start(settings);
    const start = await cursorOf(stage, 'webhook');
    receiver.statuses.push(500, 302);
    const domain = await registerWebsite(service.client());
    const email = freshAddress();
    await requestEmail(service.client(), email, `https://${domain}/`);
    const address = new URL(receiver.url).origin;
    await exportNow(stage, 'webhook');
    await expectRetry(stage, service, 'webhook', `The audit log was not sent to ${address}: it responded with status 500`);
    expect(await cursorOf(stage, 'webhook')).toBe(start);
    await exportNow(stage, 'webhook');
    await expectRetry(stage, service, 'webhook', `The audit log was not sent to ${address}: it responded with status 302`);
    await exportNow(stage, 'webhook');
    const wanted = await idsAfter(stage, start);
    await waitUntil('the receiver has the rows', TIMEOUT_MS, () =>
      wanted.every((id) => receiver.accepted.some(({ ids }) => ids.includes(id))),
    );
    expect(receiver.rejected.length).toBeGreaterThanOrEqual(2);
    expect(receiver.rejected.at(-1)?.ids).toEqual(receiver.accepted[0].ids);
    expect(receiver.rejected.at(-1)?.id).toBe(receiver.accepted[0].id);
    expect(receiver.accepted[0].type).toBe('audit_log.rows');
    expect(receiver.accepted[0].rows).toContainEqual(expect.objectContaining({ action: 'sign_in_requested', email, domain }));
    expect(await service.stop()).toBe(0);
    for (const secret of [SECRET, 'secret-in-the-address']) expect(service.output()).not.toContain(secret);
  });

  test('receives each row once and in order from several instances at once, in batches of at most 100', { timeout: 300_000 }, async () => {
    const service = await stage.start();
    for (let round = 0; round < 10; round++) {
      await addRows(251);
      const start = await cursorOf(stage, 'webhook');
      receiver.accepted.length = 0;
      // One of them ends early because another one is sending; the cursor shows when all rows were sent.
      while ((await cursorOf(stage, 'webhook')) < ((await idsAfter(stage, 0)).at(-1) as number))
        await Promise.all(pools.map((pool) => exportBy(pool)));
      expect(receiver.accepted.flatMap(({ ids }) => ids)).toEqual(await idsAfter(stage, start));
      expect(Math.max(...receiver.accepted.map(({ ids }) => ids.length))).toBe(100);
    }
    await service.stop();
  });

  test('receives nothing while the lock of another instance is valid, and the rows once it has expired', { timeout: 120_000 }, async () => {
    const service = await stage.start();
    await addRows(3);
    await service.stop();
    const start = await cursorOf(stage, 'webhook');
    receiver.accepted.length = 0;
    await stage.query("update audit_exports set locked_until = now() + interval '1 hour'");
    await exportBy(pools[0]);
    expect(receiver.accepted).toEqual([]);
    await stage.query("update audit_exports set locked_until = now() - interval '1 second'");
    await exportBy(pools[0]);
    expect(receiver.accepted.flatMap(({ ids }) => ids)).toEqual(await idsAfter(stage, start));
    expect(await cursorOf(stage, 'webhook')).toBe((await idsAfter(stage, 0)).at(-1));
  });

  test('receives the rows of one run in several runs when it is slow', { timeout: 120_000 }, async () => {
    const service = await stage.start();
    await addRows(150);
    await service.stop();
    const start = await cursorOf(stage, 'webhook');
    await exportBy(pools[0], 1);
    expect((await idsAfter(stage, start)).indexOf(await cursorOf(stage, 'webhook'))).toBe(99);
    await exportBy(pools[0]);
    expect(await cursorOf(stage, 'webhook')).toBe((await idsAfter(stage, 0)).at(-1));
  });
});
