import { afterAll, beforeAll, expect, test } from 'vitest';
import { openStage, type Service, type Stage } from './harness.ts';
import { addSite, askForMail, freshAddress, openLink, tokenOf } from './sign-ins.ts';
import { measureLag, waitUntil } from './waiting.ts';

// An acknowledged email is delivered whatever fails after the response.
let stage: Stage;
let service: Service;
let shop: string;
const minutes = 60_000;
beforeAll(async () => {
  stage = await openStage();
  service = await stage.start();
  shop = await addSite(stage, service);
});
afterAll(() => stage.close());

const ask = (email: string, from: Service = service) => askForMail(from.client(), email, `https://${shop}/`);
const addresses = (count: number) => Array.from({ length: count }, () => freshAddress());
const everyMailCame = (emails: string[], milliseconds: number) =>
  waitUntil('every mail came', milliseconds, () => {
    const missing = emails.filter((email) => stage.mailbox.mailsFor(email).length === 0);
    return missing.length === 0 || `${missing.length} of ${emails.length} are missing`;
  });
/** Waits until every email is delivered or given up; after that nothing more is sent. */
const outboxIsEmpty = () =>
  waitUntil('the outbox is empty', minutes, async () => {
    const rows = await stage.query('select recipient, tries from outbox');
    return rows.length === 0 || JSON.stringify(rows.slice(0, 5));
  });

test('loses no email when the service is killed right after the response, and repeats at most one per kill with the same Message-ID', {
  timeout: 5 * minutes,
}, async () => {
  const KILLS = 8;
  const emails: string[] = [];
  for (let i = 0; i < KILLS; i++) {
    const victim = await stage.start();
    const batch = addresses(5);
    const answers = batch.map((email) => ask(email, victim).then(() => email));
    // Killed at the first response: requests without a response by then are not acknowledged.
    const promised = [await Promise.race(answers)];
    await victim.kill();
    for (const answer of await Promise.allSettled(answers)) if (answer.status === 'fulfilled') promised.push(answer.value);
    emails.push(...new Set(promised));
  }
  await everyMailCame(emails, minutes);
  await outboxIsEmpty();
  const all = emails.map((email) => stage.mailbox.mailsFor(email));
  expect(all.reduce((sum, mails) => sum + mails.length - 1, 0)).toBeLessThanOrEqual(KILLS);
  for (const mails of all) expect(new Set(mails.map(({ messageId }) => messageId)).size).toBe(1);
});

test('delivers a working link after the only process was killed while SMTP was down', {
  timeout: 2 * minutes,
}, async () => {
  const alone = await openStage();
  try {
    const first = await alone.start();
    const domain = await addSite(alone, first);
    const [client, email] = [first.client(), freshAddress()];
    await alone.mailbox.down();
    await askForMail(client, email, `https://${domain}/`);
    await first.kill();
    await alone.mailbox.up();
    const second = await alone.start({ PORT: String(first.port) });
    const mail = await alone.mailbox.waitFor(email, minutes);
    const token = tokenOf(await openLink(client, mail));
    expect((await second.client().get(`/api/verify-token?token=${token}`)).json).toMatchObject({ valid: true, email });
  } finally {
    await alone.close();
  }
});

test('responds within 300 ms while SMTP is down, and sends the backlog within 30 s after it returns', {
  timeout: 3 * minutes,
}, async () => {
  const connectionFailures = () => service.output().split('mail: connection failed').length - 1;
  await stage.mailbox.down();
  const emails = addresses(40);
  const times: number[] = [];
  const client = service.client();
  const lag = measureLag(() => client.get('/healthz'));
  for (const email of emails) {
    const start = performance.now();
    await ask(email);
    times.push(performance.now() - start);
  }
  expect(Math.max(...times)).toBeLessThan(300 + 3 * (await lag.stop()));
  expect((await service.client().get('/readyz')).status).toBe(200);
  const failures = connectionFailures();
  await waitUntil('the mail server is tried again, in vain', minutes, () => connectionFailures() > failures);
  await stage.mailbox.up();
  await everyMailCame(emails, 30_000);
  await outboxIsEmpty();
  expect(emails.map((email) => stage.mailbox.mailsFor(email).length)).toEqual(emails.map(() => 1));
});

test('retries a greylisted email after 5 and 15 s and delivers it once', async () => {
  stage.mailbox.behave({ kind: 'greylist', tries: 2 });
  const [email, start, before] = [freshAddress(), Date.now(), stage.mailbox.refusals];
  await ask(email);
  const mail = await stage.mailbox.waitFor(email, minutes);
  stage.mailbox.behave({ kind: 'accept' });
  expect(stage.mailbox.refusals - before).toBe(2);
  expect(mail.receivedAt - start).toBeGreaterThan(14_000);
  await outboxIsEmpty();
  expect(stage.mailbox.mailsFor(email)).toHaveLength(1);
});

test('does not retry a rejected email, and reports the failure to the waiting page', async () => {
  const [client, email] = [service.client(), freshAddress()];
  stage.mailbox.behave({ kind: 'refuse', addresses: [email] });
  const before = stage.mailbox.refusals;
  await askForMail(client, email, `https://${shop}/`);
  await waitUntil('the page hears that the mail failed', minutes, async () => {
    const { status } = (await client.get(`/api/auth/attempt?email=${email}`)).json;
    return status === 'mail_failed' || status;
  });
  await outboxIsEmpty();
  stage.mailbox.behave({ kind: 'accept' });
  expect(stage.mailbox.refusals - before).toBe(1);
});

test("delivers 95 % of other emails within 5 s while some recipients' server does not respond", { timeout: 4 * minutes }, async () => {
  const silent = addresses(3);
  stage.mailbox.behave({ kind: 'silent', addresses: silent });
  for (const email of silent) await ask(email);
  const delays: number[] = [];
  const client = service.client();
  const lag = measureLag(() => client.get('/healthz'));
  for (const email of addresses(20)) {
    const start = Date.now();
    await ask(email);
    delays.push((await stage.mailbox.waitFor(email)).receivedAt - start);
  }
  stage.mailbox.behave({ kind: 'accept' });
  expect(delays.sort((a, b) => a - b)[Math.ceil(delays.length * 0.95) - 1]).toBeLessThan(5000 + 3 * (await lag.stop()));
  await everyMailCame(silent, 2 * minutes);
});

test('four instances send 400 emails once each', { timeout: 4 * minutes }, async () => {
  const others = await Promise.all([1, 2, 3].map(() => stage.start({ PUBLIC_URL: service.url })));
  const instances = [service, ...others];
  const emails = addresses(400);
  await Promise.all(
    instances.map(async (instance, i) => {
      for (const email of emails.filter((_, n) => n % instances.length === i)) await ask(email, instance);
    }),
  );
  await everyMailCame(emails, minutes);
  await outboxIsEmpty();
  expect(emails.reduce((sum, email) => sum + stage.mailbox.mailsFor(email).length, 0)).toBe(400);
  await Promise.all(others.map((other) => other.stop()));
});
