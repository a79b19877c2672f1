// A stage of its own: it reads the metrics of the outbox.
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openStage, type Service, type Stage } from '../support/harness.ts';
import { readMetrics } from '../support/metrics-text.ts';
import { codeOf, freshAddress, openLink, registerWebsite, requestEmail, tokenOf } from '../support/sign-ins.ts';
import { waitUntil } from '../support/waiting.ts';

let stage: Stage;
let service: Service;
beforeAll(async () => {
  stage = await openStage();
  service = await stage.start();
});
afterAll(() => stage.close());

const REQUESTS = 'emailauth_http_request_duration_seconds_count';

test('a sign-in by link and one by code are measured from the request to the verified token', async () => {
  const domain = await registerWebsite(service.client());
  await waitUntil('the email about the registration is counted', 30_000, async () => {
    return (await readMetrics(service)).sum('emailauth_mail_delivery_seconds_count', { kind: 'registered' }) === 1;
  });
  const before = await readMetrics(service);
  const client = service.client();
  const email = freshAddress();
  await requestEmail(client, email, `https://${domain}/`);
  const mail = await stage.mailbox.waitFor(email);
  const token = tokenOf(await openLink(client, mail));
  expect((await client.get(`/api/verify-token?token=${token}`)).json.valid).toBe(true);
  expect((await client.get(`/api/verify-token?token=${token}`)).json.valid).toBe(false);
  expect((await service.client().get(mail.link)).status).toBe(200);

  const other = service.client();
  const address = freshAddress();
  await requestEmail(other, address, `https://${domain}/`);
  const { code } = await stage.mailbox.waitFor(address);
  const wrong = code === '000000' ? '000001' : '000000';
  expect((await other.post('/api/auth/email-code', { email: address, code: wrong })).json.code).toBe('bad_code');
  expect((await other.post('/api/auth/email-code', { email: address, code })).status).toBe(200);

  await waitUntil('both emails are counted as accepted', 30_000, async () => {
    return (await readMetrics(service)).sum('emailauth_mail_delivery_seconds_count', { kind: 'sign_in' }) === 2;
  });
  const after = await readMetrics(service);
  const grown = (name: string, labels: Record<string, string> = {}) => after.sum(name, labels) - before.sum(name, labels);
  expect(grown(REQUESTS, { method: 'POST', route: '/api/auth/domain-auth', status: '2xx' })).toBe(2);
  expect(grown(REQUESTS, { method: 'GET', route: '/auth/link', status: '3xx' })).toBe(1);
  expect(grown(REQUESTS, { method: 'GET', route: '/api/verify-token', status: '2xx' })).toBe(2);
  expect(grown(REQUESTS, { method: 'POST', route: '/api/auth/email-code', status: '4xx' })).toBe(1);
  expect(grown('emailauth_http_request_duration_seconds_sum', { route: '/api/auth/domain-auth' })).toBeGreaterThan(0);
  expect(grown('emailauth_sign_in_requests_total', { result: 'sent' })).toBe(2);
  expect(grown('emailauth_sign_ins_total', { method: 'link', result: 'signed_in' })).toBe(1);
  expect(grown('emailauth_sign_ins_total', { method: 'link', result: 'page' })).toBe(1);
  expect(grown('emailauth_sign_ins_total', { method: 'code', result: 'bad_code' })).toBe(1);
  expect(grown('emailauth_sign_ins_total', { method: 'code', result: 'signed_in' })).toBe(1);
  expect(grown('emailauth_token_verifications_total', { result: 'valid' })).toBe(1);
  expect(grown('emailauth_token_verifications_total', { result: 'used' })).toBe(1);
  expect(grown('emailauth_batch_rows_sum', { batch: 'signin-request' })).toBe(2);
  expect(grown('emailauth_batch_rows_sum', { batch: 'signin-open' })).toBe(2);
  expect(grown('emailauth_batch_duration_seconds_count', { batch: 'signin-use' })).toBe(2);
  expect(grown('emailauth_pool_wait_seconds_count', { pool: 'core' })).toBeGreaterThan(5);
  expect(after.sum('emailauth_pool_connections', { state: 'open' })).toBeGreaterThan(0);
  expect(grown('emailauth_mail_handover_duration_seconds_count', { result: 'sent' })).toBe(2);
  expect(grown('emailauth_mail_delivery_seconds_sum', { kind: 'sign_in' })).toBeGreaterThan(0);
  for (const secret of [domain, email, address, token]) expect(after.text).not.toContain(secret);
  // As a word: the digits of a measurement may contain those of a code.
  for (const digits of [code, codeOf(mail)].filter(Boolean)) expect(after.text).not.toMatch(new RegExp(`(?<![\\d.])${digits}(?!\\d)`));
});

test('text of requests does not become a label', async () => {
  const path = '/no-such-page-4711';
  await service.client().get(path);
  await service.client().get(`/api/websites/domain/${path.slice(1)}.example`);
  await service.client().send(path, { method: 'PROPFIND' });
  await waitUntil('the requests are counted', 30_000, async () => {
    const metrics = await readMetrics(service);
    expect(metrics.text).not.toContain('no-such-page');
    expect(metrics.text).not.toContain('PROPFIND');
    return metrics.sum(REQUESTS, { method: 'other', route: 'other', status: '4xx' }) === 1;
  });
  expect((await readMetrics(service)).sum(REQUESTS, { route: '/api/websites/domain/:domain' })).toBe(1);
});

test('the age of the oldest pending email grows while the mail server is away, and is 0 after', async () => {
  await stage.mailbox.down();
  try {
    const domain = await registerWebsite(service.client());
    await requestEmail(service.client(), freshAddress(), `https://${domain}/`);
    await waitUntil('an email is two seconds old', 30_000, async () => {
      const metrics = await readMetrics(service);
      return metrics.sum('emailauth_outbox_oldest_seconds') > 2 && metrics.sum('emailauth_outbox_mails') > 0;
    });
    expect((await readMetrics(service)).sum('emailauth_mail_handover_duration_seconds_count', { result: 'unreachable' })).toBeGreaterThan(
      0,
    );
  } finally {
    await stage.mailbox.up();
  }
  await waitUntil('no email waits', 60_000, async () => {
    const metrics = await readMetrics(service);
    return metrics.sum('emailauth_outbox_oldest_seconds') === 0 && metrics.sum('emailauth_outbox_mails') === 0;
  });
});

test('with workers every response counts for all of them, and the counts of a frozen and of a killed worker remain', {
  timeout: 180_000,
}, async () => {
  const several = await stage.start({ WORKERS: '2' });
  const route = { route: '/api/websites/domain/:domain' };
  const send = (count: number) =>
    Promise.all(
      Array.from({ length: count }, () =>
        several
          .client()
          .get('/api/websites/domain/localhost')
          .catch(() => null),
      ),
    );
  await send(40);
  const expectCount = (what: string, count: number) =>
    waitUntil(what, 30_000, async () => {
      const all = await Promise.all(Array.from({ length: 6 }, () => readMetrics(several)));
      return all.every((metrics) => metrics.sum(REQUESTS, route) === count) || all.map((metrics) => metrics.sum(REQUESTS, route)).join();
    });
  await expectCount('each of six answers has the requests of both workers', 40);
  expect((await readMetrics(several)).sum('emailauth_workers')).toBe(2);
  const [worker] = (await readFile(`/proc/${several.pid}/task/${several.pid}/children`, 'utf8')).trim().split(' ').map(Number);
  process.kill(worker, 'SIGSTOP');
  try {
    await waitUntil('the other worker answers for both', 60_000, async () => {
      // Some of the connections wait for the frozen worker.
      const metrics = await Promise.any(Array.from({ length: 4 }, () => readMetrics(several))).catch(() => null);
      return metrics?.sum('emailauth_workers') === 2 && metrics.sum(REQUESTS, route) === 40;
    });
  } finally {
    process.kill(worker, 'SIGCONT');
  }
  process.kill(worker, 'SIGKILL');
  await waitUntil('the worker is replaced', 60_000, async () => several.output().includes(`"worker":${worker}`));
  await waitUntil('two workers serve', 60_000, async () => {
    const metrics = await readMetrics(several).catch(() => null);
    return metrics?.sum('emailauth_workers') === 2 && metrics.sum(REQUESTS, route) === 40;
  });
  expect(await several.stop()).toBe(0);
});
