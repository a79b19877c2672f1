// A stage of its own: its mail servers fail.
import { describe, expect, type TestContext, test } from 'vitest';
import { openStage, type Service, type Stage } from '../support/harness.ts';
import { openMailbox } from '../support/mailbox.ts';
import { addWebsite, freshAddress, openLink, registerWebsite, requestEmail, tokenOf } from '../support/sign-ins.ts';
import { waitUntil } from '../support/waiting.ts';
import { inRun, openPromise, waitWithin } from './full-run.ts';

// An acknowledged email is delivered whatever fails after the response.
const MINUTE_MS = 60_000;

/** A stage with a service and a website on it. */
type Scene = { stage: Stage; service: Service; shop: string };

async function openScene({ onTestFinished }: TestContext, settings: Record<string, string> = {}): Promise<Scene> {
  const stage = await openStage({ seesOutages: true });
  onTestFinished(() => stage.close());
  const service = await stage.start(settings);
  return { stage, service, shop: await addWebsite(stage, service) };
}

const request = ({ service, shop }: Scene, email: string, instance = service) => requestEmail(instance.client(), email, `https://${shop}/`);
const addresses = (count: number) => Array.from({ length: count }, () => freshAddress());
const healthz = ({ service }: Scene) => {
  const client = service.client();
  return () => client.get('/healthz');
};
const allDelivered = ({ stage }: Scene, emails: string[]) => {
  const missing = emails.filter((email) => stage.mailbox.mailsFor(email).length === 0);
  return missing.length === 0 || `${missing.length} of ${emails.length} are missing`;
};
const untilDelivered = (scene: Scene, emails: string[], timeoutMs: number) =>
  waitUntil('every email is delivered', timeoutMs, () => allDelivered(scene, emails));
/** Waits until every email is delivered or given up; after that nothing more is sent. */
const untilOutboxEmpty = ({ stage }: Scene) =>
  waitUntil('the outbox is empty', 2 * MINUTE_MS, async () => {
    const rows = await stage.query('select recipient, tries from outbox');
    return rows.length === 0 || JSON.stringify(rows.slice(0, 5));
  });

// Concurrent because they wait for leases and retries.
describe.concurrent('a fault while emails are sent', { timeout: inRun({ short: 6, full: 30 }) * MINUTE_MS }, () => {
  test('loses no email when the service is killed right after the response, and repeats at most one per kill with the same Message-ID', async (context) => {
    const KILLS = inRun({ short: 8, full: 100 });
    const scene = await openScene(context);
    const emails: string[] = [];
    for (let i = 0; i < KILLS; i++) {
      const victim = await scene.stage.start();
      const responses = addresses(5).map((email) => request(scene, email, victim).then(() => email));
      // Killed at the first response: requests without a response by then are not acknowledged.
      const acknowledged = [await Promise.race(responses)];
      await victim.kill();
      for (const response of await Promise.allSettled(responses)) if (response.status === 'fulfilled') acknowledged.push(response.value);
      emails.push(...new Set(acknowledged));
    }
    await untilDelivered(scene, emails, 2 * MINUTE_MS);
    await untilOutboxEmpty(scene);
    const delivered = emails.map((email) => scene.stage.mailbox.mailsFor(email));
    expect(delivered.reduce((sum, mails) => sum + mails.length - 1, 0)).toBeLessThanOrEqual(KILLS);
    for (const mails of delivered) expect(new Set(mails.map(({ messageId }) => messageId)).size).toBe(1);
  });

  test('delivers a working link after the only process was killed while SMTP was down', async (context) => {
    const { stage, service, shop } = await openScene(context);
    const [client, email] = [service.client(), freshAddress()];
    await stage.mailbox.down();
    await requestEmail(client, email, `https://${shop}/`);
    await service.kill();
    await stage.mailbox.up();
    const next = await stage.start({ PORT: String(service.port) });
    const mail = await stage.mailbox.waitFor(email, 2 * MINUTE_MS);
    const token = tokenOf(await openLink(client, mail));
    expect((await next.client().get(`/api/verify-token?token=${token}`)).json).toMatchObject({ valid: true, email });
  });

  test('retries a greylisted email after 5 and 15 s and delivers it once', async (context) => {
    const scene = await openScene(context);
    const { mailbox } = scene.stage;
    await untilOutboxEmpty(scene);
    mailbox.behave({ kind: 'greylist', tries: 2 });
    const [email, start, before] = [freshAddress(), Date.now(), mailbox.refusals];
    await request(scene, email);
    const mail = await mailbox.waitFor(email, 2 * MINUTE_MS);
    expect(mailbox.refusals - before).toBe(2);
    expect(mail.receivedAt - start).toBeGreaterThan(14_000);
    await untilOutboxEmpty(scene);
    expect(mailbox.mailsFor(email)).toHaveLength(1);
  });

  test('does not retry a rejected email, and reports the failure to the waiting page', async (context) => {
    const scene = await openScene(context);
    const { mailbox } = scene.stage;
    const [client, email] = [scene.service.client(), freshAddress()];
    mailbox.behave({ kind: 'refuse', addresses: [email] });
    const before = mailbox.refusals;
    await requestEmail(client, email, `https://${scene.shop}/`);
    await waitUntil('the attempt has failed', MINUTE_MS, async () => {
      const { status } = (await client.get(`/api/auth/attempt?email=${email}`)).json;
      return status === 'mail_failed' || status;
    });
    await untilOutboxEmpty(scene);
    expect(mailbox.refusals - before).toBe(1);
  });

  test("delivers 95 % of other emails within 5 s while some recipients' server does not respond", async (context) => {
    const scene = await openScene(context);
    const { mailbox } = scene.stage;
    const silent = addresses(3);
    mailbox.behave({ kind: 'silent', addresses: silent });
    for (const email of silent) await request(scene, email);
    const delays: number[] = [];
    const promise = openPromise(healthz(scene));
    for (const email of addresses(20)) {
      const start = Date.now();
      await request(scene, email);
      delays.push((await mailbox.waitFor(email)).receivedAt - start);
    }
    mailbox.behave({ kind: 'accept' });
    await promise.expectWithin(5000, delays.sort((a, b) => a - b)[Math.ceil(delays.length * 0.95) - 1]);
    await untilDelivered(scene, silent, 2 * MINUTE_MS);
  });

  test.for(['stopped', 'killed'] as const)(
    'repeats an email at most once when the service is %s before the final reply',
    async (how, context) => {
      const scene = await openScene(context);
      const { mailbox } = scene.stage;
      const email = freshAddress();
      mailbox.behave({ kind: 'silent', addresses: [email], at: 'end' });
      await request(scene, email);
      await waitUntil('the mail server has the email', MINUTE_MS, () => mailbox.mailsFor(email).length === 1);
      const other = await scene.stage.start({ PUBLIC_URL: scene.service.url });
      if (how === 'killed') await scene.service.kill();
      else expect(await scene.service.stop()).toBe(0);
      await waitWithin(
        'another instance has sent it',
        30_000,
        () => other.client().get('/healthz'),
        () => mailbox.mailsFor(email).length === 2,
      );
      mailbox.behave({ kind: 'accept' });
      await untilOutboxEmpty(scene);
      const ids = mailbox.mailsFor(email).map(({ messageId }) => messageId);
      expect([ids.length, new Set(ids).size]).toEqual([2, 1]);
    },
  );

  test('backs off while the mail server refuses the password, and says so', async (context) => {
    const mailbox = await openMailbox({ login: true });
    context.onTestFinished(() => mailbox.down());
    mailbox.behave({ kind: 'refuse_login' });
    const stage = await openStage({ seesOutages: true });
    context.onTestFinished(() => stage.close());
    const service = await stage.start({ SMTP_URL: mailbox.url });
    const lines = (text: string) => service.output().split(text).length - 1;
    const ready = async () => (await service.client().get('/readyz')).json;
    const status = async () => (await service.client().get('/api/status')).json;
    const email = freshAddress();
    await requestEmail(service.client(), email, `https://${await registerWebsite(service.client())}/`);
    await waitUntil('the failure is logged', MINUTE_MS, () => lines('does not accept the user name and password') > 0);
    const before = mailbox.logins;
    expect(await ready()).toEqual({
      status: 'ready',
      mail: expect.stringMatching(/^failing since \d{4}-\d\d-\d\dT.*Z: the mail server does not accept/),
    });
    await waitUntil('the status says so', 2 * MINUTE_MS, async () => {
      const { components } = await status();
      return (
        components.some(({ id, state }: { id: string; state: string }) => id === 'mail' && state === 'down') || JSON.stringify(components)
      );
    });
    expect(mailbox.logins - before).toBeLessThanOrEqual(3);
    mailbox.behave({ kind: 'accept' });
    await mailbox.waitFor(email, 5 * MINUTE_MS);
    await waitUntil('the recovery is logged', MINUTE_MS, () => lines('the mail server is back') > 0);
    expect(await ready()).toEqual({ status: 'ready' });
    expect([lines('does not accept the user name and password'), lines('the mail server is back')]).toEqual([1, 1]);
  });
});

test('responds within 300 ms while SMTP is down, and sends the backlog within 30 s after it returns', {
  timeout: inRun({ short: 4, full: 12 }) * MINUTE_MS,
}, async (context) => {
  const scene = await openScene(context, { LOG_LEVEL: 'debug' });
  const { mailbox } = scene.stage;
  const connectionFailures = () => scene.service.output().split('mail: connection failed').length - 1;
  await mailbox.down();
  const backUp = Date.now() + inRun({ short: 0, full: 5 * MINUTE_MS });
  const emails = addresses(40);
  const times: number[] = [];
  const promise = openPromise(healthz(scene));
  for (const email of emails) {
    const start = performance.now();
    await request(scene, email);
    times.push(performance.now() - start);
  }
  await promise.expectWithin(300, Math.max(...times));
  expect((await scene.service.client().get('/readyz')).status).toBe(200);
  const failures = connectionFailures();
  await waitUntil('the service has tried to connect again', MINUTE_MS, () => connectionFailures() > failures);
  await waitUntil('the outage is long enough', 6 * MINUTE_MS, () => Date.now() >= backUp);
  await mailbox.up();
  await waitWithin('every email is delivered', 30_000, healthz(scene), () => allDelivered(scene, emails));
  await untilOutboxEmpty(scene);
  expect(emails.map((email) => mailbox.mailsFor(email).length)).toEqual(emails.map(() => 1));
});

test('four instances send each of many emails once', { timeout: 4 * MINUTE_MS }, async (context) => {
  const scene = await openScene(context);
  const others = await Promise.all([1, 2, 3].map(() => scene.stage.start({ PUBLIC_URL: scene.service.url })));
  const instances = [scene.service, ...others];
  const emails = addresses(inRun({ short: 400, full: 1000 }));
  await Promise.all(
    instances.map(async (instance, i) => {
      for (const email of emails.filter((_, n) => n % instances.length === i)) await request(scene, email, instance);
    }),
  );
  await untilDelivered(scene, emails, 2 * MINUTE_MS);
  await untilOutboxEmpty(scene);
  expect(emails.reduce((sum, email) => sum + scene.stage.mailbox.mailsFor(email).length, 0)).toBe(emails.length);
});
