import { afterAll, beforeAll, expect, test } from 'vitest';
import { openStage, type Service, type Stage } from './harness.ts';
import { addSite, askForMail, freshAddress, openLink, tokenOf } from './sign-ins.ts';
import { measureLag, waitUntil } from './waiting.ts';

// Whatever dies after the 200, the mail goes out.
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
/** Afterwards nothing is sent any more: a row goes once its mail was taken, or will never be. */
const outboxIsEmpty = () =>
  waitUntil('the outbox is empty', minutes, async () => {
    const rows = await stage.query('select recipient, tries from outbox');
    return rows.length === 0 || JSON.stringify(rows.slice(0, 5));
  });

test('kill -9 right after the 200, eight times: loses no mail, repeats at most one for each kill, with the same Message-ID', {
  timeout: 5 * minutes,
}, async () => {
  const KILLS = 8;
  const emails: string[] = [];
  for (let i = 0; i < KILLS; i++) {
    const victim = await stage.start();
    const batch = addresses(5);
    const answers = batch.map((email) => ask(email, victim).then(() => email));
    // The first 200 is the moment; whoever has not got one by then was promised nothing.
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

test('a mail whose only process was killed while SMTP was down works when it comes: link and code are the same', {
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

test('SMTP down: the API answers within 300 ms, and the backlog is out within 30 s of the return', { timeout: 3 * minutes }, async () => {
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

test('greylisting: a mail is tried again, not before 5 and 15 s, and delivered once', async () => {
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

test('a mail that is refused for good is not tried again, and the waiting page hears of it', async () => {
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

test('recipients whose server never answers hold nobody else up: p95 within 5 s', { timeout: 4 * minutes }, async () => {
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

test('four instances send 400 mails once each', { timeout: 4 * minutes }, async () => {
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
