import pino from 'pino';
import { describe, expect, inject, type TestContext, test } from 'vitest';
import { LEASE_SECONDS, type Mail } from '../../server/mail/mail.ts';
import { Mailer } from '../../server/mail/mailer.ts';
import { Outbox } from '../../server/mail/outbox.ts';
import { type Database, openDatabase } from '../../server/platform/db/database.ts';
import { migrate } from '../../server/platform/db/migrate.ts';
import { sqlFunctions } from '../../server/signin/sql-functions.ts';
import { type Mailbox, openMailbox } from '../support/mailbox.ts';
import { createCluster, createDatabase } from '../support/postgres.ts';
import { waitUntil } from '../support/waiting.ts';

type AtEnd = TestContext['onTestFinished'];

async function openTestDatabase(atEnd: AtEnd): Promise<Database> {
  const database = openDatabase(await createDatabase(inject('clusterUrl'), inject('templateUrl')));
  atEnd(() => database.close());
  return database;
}

async function openTestMailbox(atEnd: AtEnd): Promise<Mailbox> {
  const mailbox = await openMailbox();
  atEnd(() => mailbox.down());
  return mailbox;
}

/** Starts an outbox as each process of the service does. */
function openOutbox(atEnd: AtEnd, database: Database, smtpUrl: string, changes: Partial<Mailer> = {}) {
  const logged: { level: number; msg: string; reason?: string; mails?: number }[] = [];
  const log = pino({ level: 'warn' }, { write: (line) => void logged.push(JSON.parse(line)) });
  const refused: string[] = [];
  const delayed: string[] = [];
  const mailer = new Mailer({
    smtpUrl,
    mailFrom: { name: 'Email Auth', address: 'no-reply@auth.example' },
    dkim: null,
    publicUrl: 'https://auth.example',
    log,
  });
  const outbox = new Outbox({
    core: database.core,
    limitFactor: 1,
    mailer: Object.assign(mailer, changes),
    log,
    secretsOf: ({ id }) => ({ link: `https://auth.example/auth/link?t=${id}`, entered: { code: '123456' } }),
    onRefused: async ({ id }) => void refused.push(id),
    onDelayed: async (_mail, reason) => void delayed.push(reason),
  });
  outbox.start();
  atEnd(() => outbox.stop());
  return { outbox, refused, delayed, logged };
}

type EmailOptions = { lease?: number; life?: number; kind?: Mail['kind']; website?: string };

/** Adds emails to the outbox as the statement of the sign-in core does. */
async function addEmails(database: Database, recipients: string[], options: EmailOptions = {}): Promise<Mail[]> {
  const { lease = LEASE_SECONDS, life = 600, kind = 'sign_in', website } = options;
  const mails = recipients.map((recipient): Mail => {
    return { id: crypto.randomUUID(), kind, recipient, language: 'lt', data: { host: 'shop.example', ...(website && { website }) } };
  });
  await database.core.query(
    `insert into outbox (id, kind, recipient, language, data, due_at, expires_at)
     select id, kind, recipient, language, data, now() + make_interval(secs => $2), now() + make_interval(secs => $3)
     from json_to_recordset($1) as mail (id uuid, kind text, recipient text, language text, data jsonb)`,
    [JSON.stringify(mails), lease, life],
  );
  return mails;
}

async function addEmail(database: Database, recipient: string, options?: EmailOptions): Promise<Mail> {
  return (await addEmails(database, [recipient], options))[0];
}

const addresses = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => `u${from + n}@example.com`);

const untilEmpty = (outbox: Outbox) =>
  waitUntil('the outbox is empty', 90_000, async () => (await outbox.depth()).mails === 0 || `${(await outbox.depth()).mails} left`);

// Concurrent because most of them wait for a retry.
describe.concurrent('outbox', { timeout: 180_000 }, () => {
  test('sends an email at once when it is handed over, and deletes its row', async ({ onTestFinished: atEnd }) => {
    const [database, mailbox] = [await openTestDatabase(atEnd), await openTestMailbox(atEnd)];
    const { outbox } = openOutbox(atEnd, database, mailbox.url);
    // The first email of a process loads the templates and opens the connection.
    outbox.handOver(await addEmail(database, 'first@example.com'));
    await mailbox.waitFor('first@example.com');

    // Without the handover, a sweep would send it when the lease has ended.
    const mail = await addEmail(database, 'ann@example.com', { lease: 3600 });
    outbox.handOver(mail);
    const received = await mailbox.waitFor('ann@example.com');
    expect(received.recipients).toEqual(['ann@example.com']);
    expect(received.messageId).toBe(`<${mail.id}@auth.example>`);
    expect(received.link).toBe(`https://auth.example/auth/link?t=${mail.id}`);
    expect(received.code).toBe('123456');
    await untilEmpty(outbox);
  });

  test('four senders send 300 emails of a process that ended once each', async ({ onTestFinished: atEnd }) => {
    const [database, mailbox] = [await openTestDatabase(atEnd), await openTestMailbox(atEnd)];
    await addEmails(database, addresses(0, 300), { lease: 0 });
    const senders = Array.from({ length: 4 }, () => openOutbox(atEnd, database, mailbox.url).outbox);
    await untilEmpty(senders[0]);
    await Promise.all(senders.map((outbox) => outbox.stop()));
    expect(mailbox.mails.map((mail) => mail.recipients[0]).sort()).toEqual(addresses(0, 300).sort());
  });

  test('keeps 500 emails while the SMTP server is down and sends them once each after it returns', async ({ onTestFinished: atEnd }) => {
    const [database, mailbox] = [await openTestDatabase(atEnd), await openTestMailbox(atEnd)];
    await mailbox.down();
    const { outbox, logged } = openOutbox(atEnd, database, mailbox.url);
    for (const mail of await addEmails(database, addresses(0, 500))) outbox.handOver(mail);
    await waitUntil('the outage is logged', 30_000, () => logged.some(({ msg }) => msg.includes('cannot be reached')));
    expect((await outbox.depth()).mails).toBe(500);
    await mailbox.up();
    await untilEmpty(outbox);
    await outbox.stop();
    expect(new Set(mailbox.mails.map((mail) => mail.recipients[0])).size).toBe(500);
    expect(mailbox.mails).toHaveLength(500);
  });

  test('retries a deferred email with the same Message-ID, 5 s and 15 s after it was requested', async ({ onTestFinished: atEnd }) => {
    const [database, mailbox] = [await openTestDatabase(atEnd), await openTestMailbox(atEnd)];
    mailbox.behave({ kind: 'greylist', tries: 2 });
    const { outbox } = openOutbox(atEnd, database, mailbox.url);
    const began = Date.now();
    const mail = await addEmail(database, 'grey@example.com');
    outbox.handOver(mail);
    const received = await mailbox.waitFor('grey@example.com', 90_000);
    expect(mailbox.refusals).toBe(2);
    expect(received.messageId).toBe(`<${mail.id}@auth.example>`);
    expect(received.receivedAt - began).toBeGreaterThan(14_500);
    await untilEmpty(outbox);
  });

  test('reports a rejected email once and does not retry it', async ({ onTestFinished: atEnd }) => {
    const [database, mailbox] = [await openTestDatabase(atEnd), await openTestMailbox(atEnd)];
    mailbox.behave({ kind: 'refuse', addresses: ['nobody@example.com'] });
    const { outbox, refused } = openOutbox(atEnd, database, mailbox.url);
    const mail = await addEmail(database, 'nobody@example.com');
    outbox.handOver(mail);
    outbox.handOver(await addEmail(database, 'ann@example.com'));
    await mailbox.waitFor('ann@example.com');
    await untilEmpty(outbox);
    await outbox.stop();
    expect(refused).toEqual([mail.id]);
    expect(mailbox.refusals).toBe(1);
  });

  test('does not send emails with expired links, and logs their number', async ({ onTestFinished: atEnd }) => {
    const [database, mailbox] = [await openTestDatabase(atEnd), await openTestMailbox(atEnd)];
    for (let n = 0; n < 3; n++) await addEmail(database, `late${n}@example.com`, { lease: 0, life: 0 });
    const { outbox, logged } = openOutbox(atEnd, database, mailbox.url);
    await untilEmpty(outbox);
    await waitUntil('the number is logged', 30_000, () => logged.length > 0);
    await outbox.stop();
    expect(mailbox.mails).toHaveLength(0);
    expect(logged).toEqual([expect.objectContaining({ level: 40, mails: 3, msg: expect.stringContaining('expired') })]);
  });

  test('keeps emails that cannot be composed without delaying others, and logs each reason once', async ({ onTestFinished: atEnd }) => {
    const [database, mailbox] = [await openTestDatabase(atEnd), await openTestMailbox(atEnd)];
    const { outbox, logged } = openOutbox(atEnd, database, mailbox.url, { prepare: () => Promise.reject(new Error('no templates')) });
    outbox.prepare();
    for (let n = 0; n < 3; n++) outbox.handOver(await addEmail(database, `u${n}@example.com`, { kind: 'no such kind' as never }));
    outbox.handOver(await addEmail(database, 'ann@example.com'));
    await mailbox.waitFor('ann@example.com');
    await waitUntil('each email was tried once', 30_000, async () => {
      const tried = await database.core.query('select 1 from outbox where tries >= 1');
      return tried.rowCount === 3 || `${tried.rowCount} tried`;
    });
    await waitUntil('the delivered email has left the outbox', 30_000, async () => (await outbox.depth()).mails === 3);
    const reasons = logged.map(({ level, reason }) => `${level} ${reason}`).sort();
    expect(reasons).toEqual(['50 Error: no templates', expect.stringMatching(/^50 TypeError: /)]);
  });

  test('an email whose final reply is outstanding is not sent again, and delays no other', async ({ onTestFinished: atEnd }) => {
    const [database, mailbox] = [await openTestDatabase(atEnd), await openTestMailbox(atEnd)];
    const { outbox, delayed } = openOutbox(atEnd, database, mailbox.url);
    openOutbox(atEnd, database, mailbox.url);
    const slow = addresses(0, 100);
    mailbox.behave({ kind: 'silent', addresses: slow, at: 'end' });
    for (const mail of await addEmails(database, slow)) outbox.handOver(mail);
    await waitUntil('the SMTP server has all slow emails', 60_000, () => mailbox.mails.length === 100 || `${mailbox.mails.length}`);
    const others = addresses(100, 130);
    for (const mail of await addEmails(database, others)) outbox.handOver(mail);
    await Promise.all(others.map((address) => mailbox.waitFor(address)));
    // By then both processes have had the time to send them again: the first lease is over.
    await waitUntil('all leases were renewed', 90_000, async () => {
      const sql = "select from outbox where created_at < now() - make_interval(secs => $1) and due_at > now() and data ? 'held'";
      const { rowCount } = await database.core.query(sql, [LEASE_SECONDS + 5]);
      return rowCount === 100 || `${rowCount} were`;
    });
    mailbox.behave({ kind: 'accept' });
    await untilEmpty(outbox);
    expect(mailbox.mails.map((mail) => mail.recipients[0]).sort()).toEqual([...slow, ...others].sort());
    expect(delayed).toEqual([]);
  });

  test('sends an email once more, as the same, when the connection ends before the final reply', async ({ onTestFinished: atEnd }) => {
    const [database, mailbox] = [await openTestDatabase(atEnd), await openTestMailbox(atEnd)];
    mailbox.behave({ kind: 'close', at: 'end', by: 'reset', times: 1 });
    const { outbox } = openOutbox(atEnd, database, mailbox.url);
    // Without the handover, a sweep would send it when the lease has ended.
    const mail = await addEmail(database, 'ann@example.com', { lease: 3600 });
    outbox.handOver(mail);
    await untilEmpty(outbox);
    expect(mailbox.mails.map(({ messageId }) => messageId)).toEqual(Array(2).fill(`<${mail.id}@auth.example>`));
  });

  test.for(['421', 'reset'] as const)(
    'sends an email at once on a new connection when the reused one ends with %s',
    async (by, context) => {
      const atEnd = context.onTestFinished;
      const [database, mailbox] = [await openTestDatabase(atEnd), await openTestMailbox(atEnd)];
      const { outbox, delayed } = openOutbox(atEnd, database, mailbox.url);
      outbox.handOver(await addEmail(database, 'first@example.com'));
      await untilEmpty(outbox);
      mailbox.behave({ kind: 'close', at: 'next', by, times: 1 });
      outbox.handOver(await addEmail(database, 'second@example.com'));
      await untilEmpty(outbox);
      expect(mailbox.mails.map(({ recipients }) => recipients[0])).toEqual(['first@example.com', 'second@example.com']);
      expect(delayed).toEqual([]);
    },
  );

  test('sends emails to a server that greets after 12 s', async ({ onTestFinished: atEnd }) => {
    const [database, mailbox] = [await openTestDatabase(atEnd), await openTestMailbox(atEnd)];
    mailbox.behave({ kind: 'slow', greetingMs: 12_000 });
    const { outbox, delayed, logged } = openOutbox(atEnd, database, mailbox.url);
    const isDelivering = outbox.isDelivering();
    outbox.handOver(await addEmail(database, 'ann@example.com'));
    await untilEmpty(outbox);
    expect(mailbox.mails).toHaveLength(1);
    expect([await isDelivering, outbox.failing(), delayed, logged]).toEqual([true, null, [], []]);
  });

  test('an email that expires without its final reply may have been delivered', async ({ onTestFinished: atEnd }) => {
    const [database, mailbox] = [await openTestDatabase(atEnd), await openTestMailbox(atEnd)];
    mailbox.behave({ kind: 'close', at: 'end', by: 'reset', times: 1 });
    const { outbox } = openOutbox(atEnd, database, mailbox.url);
    await database.core.query("insert into websites (id, domain, email) values (gen_random_uuid(), 'shop.example', 'owner@example.com')");
    const mail = await addEmail(database, 'ann@example.com', { website: 'shop.example' });
    outbox.handOver(mail);
    await waitUntil('the email is to be tried again', 30_000, async () => {
      const sql = 'update outbox set expires_at = now(), due_at = now() where id = $1 and tries = 1';
      return (await database.core.query(sql, [mail.id])).rowCount === 1;
    });
    await untilEmpty(outbox);
    const { rows } = await database.core.query('select action, result from sign_in_steps');
    expect(rows).toEqual([{ action: 'mail_expired', result: 'unconfirmed' }]);
  });

  test('a sender that stops leaves its pending emails to others', async ({ onTestFinished: atEnd }) => {
    const [database, mailbox] = [await openTestDatabase(atEnd), await openTestMailbox(atEnd)];
    await mailbox.down();
    const { outbox } = openOutbox(atEnd, database, mailbox.url);
    for (let n = 0; n < 20; n++) outbox.handOver(await addEmail(database, `u${n}@example.com`));
    await outbox.stop();
    await mailbox.up();
    const { outbox: other } = openOutbox(atEnd, database, mailbox.url);
    await untilEmpty(other);
    expect(mailbox.mails).toHaveLength(20);
  });

  test('loses no email and sends none twice when PostgreSQL is killed', async ({ onTestFinished: atEnd }) => {
    const cluster = await createCluster();
    atEnd(() => cluster.remove());
    await migrate(cluster.url('postgres'), { functions: sqlFunctions });
    const [database, mailbox] = [openDatabase(cluster.url('postgres')), await openTestMailbox(atEnd)];
    atEnd(() => database.close());
    const { outbox } = openOutbox(atEnd, database, mailbox.url);
    const mails = [...(await addEmails(database, addresses(0, 30))), ...(await addEmails(database, addresses(30, 60), { lease: 6 }))];
    await cluster.kill();
    for (const mail of mails.slice(0, 30)) outbox.handOver(mail);
    await waitUntil('the emails that were handed over are delivered', 60_000, () => mailbox.mails.length >= 30);
    await cluster.start();
    await untilEmpty(outbox);
    await outbox.stop();
    expect(mailbox.mails.map((mail) => mail.messageId).sort()).toEqual(mails.map(({ id }) => `<${id}@auth.example>`).sort());
  });
});
