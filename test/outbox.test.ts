import { randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:net';
import pino from 'pino';
import { describe, expect, inject, type TestContext, test } from 'vitest';
import { type Database, openDatabase } from '../server/db/database.ts';
import { migrate } from '../server/db/migrate.ts';
import { createMailer, type Mailer } from '../server/mail/mailer.ts';
import { createOutbox, FIRST_LEASE_SECONDS, type Mail, type Outbox } from '../server/mail/outbox.ts';
import { type Mailbox, openMailbox } from './mailbox.ts';
import { createCluster, query } from './postgres.ts';
import { freePort, sleep, waitUntil } from './waiting.ts';

type AtEnd = TestContext['onTestFinished'];

async function openTestDatabase(atEnd: AtEnd, clusterUrl: string = inject('clusterUrl')): Promise<Database> {
  const name = `outbox_${randomBytes(6).toString('hex')}`;
  await query(clusterUrl, `create database ${name}`);
  const url = Object.assign(new URL(clusterUrl), { pathname: name }).href;
  const database = openDatabase(url);
  atEnd(() => database.close());
  await migrate(url);
  return database;
}

async function openTestMailbox(atEnd: AtEnd): Promise<Mailbox> {
  const mailbox = await openMailbox();
  atEnd(() => mailbox.down());
  return mailbox;
}

/** One sender, as each process of the service has it. */
function openOutbox(atEnd: AtEnd, database: Database, smtpUrl: string, changes: Partial<Mailer> = {}) {
  const logged: { level: number; msg: string; reason?: string; mails?: number }[] = [];
  const log = pino({ level: 'warn' }, { write: (line) => void logged.push(JSON.parse(line)) });
  const refused: string[] = [];
  const mailer = createMailer({
    smtpUrl,
    mailFrom: 'Email Auth <no-reply@auth.example>',
    dkim: null,
    publicUrl: 'https://auth.example',
    log,
  });
  const outbox = createOutbox({
    database,
    mailer: { ...mailer, ...changes },
    log,
    secretsOf: ({ id }) => ({ link: `https://auth.example/auth/link?t=${id}`, code: '123456' }),
    onRefused: async ({ id }) => void refused.push(id),
  });
  outbox.start();
  atEnd(() => outbox.stop());
  return { outbox, refused, logged };
}

/** What the request statement of the core does. */
async function owe(
  database: Database,
  recipient: string,
  options: { lease?: number; life?: number; kind?: Mail['kind'] } = {},
): Promise<Mail> {
  const { lease = FIRST_LEASE_SECONDS, life = 600, kind = 'sign_in' } = options;
  const mail: Mail = { id: crypto.randomUUID(), kind, recipient, language: 'lt', data: { host: 'shop.example' } };
  await database.core.query(
    `insert into outbox (id, kind, recipient, language, data, due_at, expires_at)
     values ($1, $2, $3, $4, $5, now() + make_interval(secs => $6), now() + make_interval(secs => $7))`,
    [mail.id, mail.kind, mail.recipient, mail.language, mail.data, lease, life],
  );
  return mail;
}

const emptied = (outbox: Outbox, milliseconds = 15_000) =>
  waitUntil('the outbox is empty', milliseconds, async () => (await outbox.depth()) === 0 || `${await outbox.depth()} left`);

// Most of them wait for the schedule; together they take as long as the longest.
describe.concurrent('outbox', () => {
  test('a mail that is handed over goes out at once, and its row goes', async ({ onTestFinished: atEnd }) => {
    const [database, mailbox] = [await openTestDatabase(atEnd), await openTestMailbox(atEnd)];
    const { outbox } = openOutbox(atEnd, database, mailbox.url);
    // The first mail of a process composes it and opens the connection.
    outbox.handOver(await owe(database, 'first@example.com'));
    await mailbox.waitFor('first@example.com');

    const mail = await owe(database, 'ann@example.com');
    const began = performance.now();
    outbox.handOver(mail);
    const received = await mailbox.waitFor('ann@example.com');
    expect(performance.now() - began).toBeLessThan(500);
    expect(received.recipients).toEqual(['ann@example.com']);
    expect(received.messageId).toBe(`<${mail.id}@auth.example>`);
    expect(received.link).toBe(`https://auth.example/auth/link?t=${mail.id}`);
    expect(received.code).toBe('123456');
    await emptied(outbox);
  });

  test('four senders share 300 mails left by a process that died: each goes out once', async ({ onTestFinished: atEnd }) => {
    const [database, mailbox] = [await openTestDatabase(atEnd), await openTestMailbox(atEnd)];
    await Promise.all(Array.from({ length: 300 }, (_, n) => owe(database, `u${n}@example.com`, { lease: 0 })));
    const [{ outbox }] = Array.from({ length: 4 }, () => openOutbox(atEnd, database, mailbox.url));
    await emptied(outbox);
    expect(mailbox.mails.map((mail) => mail.recipients[0]).sort()).toEqual(
      Array.from({ length: 300 }, (_, n) => `u${n}@example.com`).sort(),
    );
  });

  test('while the mail server is down mails wait, and 500 go out soon after its return', async ({ onTestFinished: atEnd }) => {
    const [database, mailbox] = [await openTestDatabase(atEnd), await openTestMailbox(atEnd)];
    await mailbox.down();
    const { outbox } = openOutbox(atEnd, database, mailbox.url);
    for (let n = 0; n < 500; n++) outbox.handOver(await owe(database, `u${n}@example.com`));
    await sleep(3_000);
    expect(await outbox.depth()).toBe(500);
    await mailbox.up();
    await emptied(outbox, 15_000);
    expect(new Set(mailbox.mails.map((mail) => mail.recipients[0])).size).toBe(500);
    expect(mailbox.mails).toHaveLength(500);
  });

  test('a mail that is put off comes again with the same Message-ID, 5 s and 15 s after it was asked for', async ({
    onTestFinished: atEnd,
  }) => {
    const [database, mailbox] = [await openTestDatabase(atEnd), await openTestMailbox(atEnd)];
    mailbox.behave({ kind: 'greylist', milliseconds: 8_000 });
    const { outbox } = openOutbox(atEnd, database, mailbox.url);
    const began = Date.now();
    const mail = await owe(database, 'grey@example.com');
    outbox.handOver(mail);
    const received = await mailbox.waitFor('grey@example.com', 30_000);
    expect(mailbox.refusals).toBe(2);
    expect(received.messageId).toBe(`<${mail.id}@auth.example>`);
    expect(received.receivedAt - began).toBeGreaterThan(14_500);
    expect(received.receivedAt - began).toBeLessThan(17_500);
    await emptied(outbox);
  });

  test('a mail that is refused for good is told once and not tried again', async ({ onTestFinished: atEnd }) => {
    const [database, mailbox] = [await openTestDatabase(atEnd), await openTestMailbox(atEnd)];
    mailbox.behave({ kind: 'refuse', addresses: ['nobody@example.com'] });
    const { outbox, refused } = openOutbox(atEnd, database, mailbox.url);
    const mail = await owe(database, 'nobody@example.com');
    outbox.handOver(mail);
    outbox.handOver(await owe(database, 'ann@example.com'));
    await mailbox.waitFor('ann@example.com');
    await emptied(outbox);
    await sleep(2_500);
    expect(refused).toEqual([mail.id]);
    expect(mailbox.refusals).toBe(1);
  });

  test('mails whose links are dead are not sent, but counted in the log', async ({ onTestFinished: atEnd }) => {
    const [database, mailbox] = [await openTestDatabase(atEnd), await openTestMailbox(atEnd)];
    for (let n = 0; n < 3; n++) await owe(database, `late${n}@example.com`, { lease: 0, life: 0 });
    const { outbox, logged } = openOutbox(atEnd, database, mailbox.url);
    await emptied(outbox);
    await sleep(500);
    expect(mailbox.mails).toHaveLength(0);
    expect(logged).toEqual([expect.objectContaining({ level: 40, mails: 3, msg: expect.stringContaining('expired') })]);
  });

  test('mails that cannot be made wait, hold up nobody, and are told once for each reason', async ({ onTestFinished: atEnd }) => {
    const [database, mailbox] = [await openTestDatabase(atEnd), await openTestMailbox(atEnd)];
    const { outbox, logged } = openOutbox(atEnd, database, mailbox.url, { prepare: () => Promise.reject(new Error('no templates')) });
    for (let n = 0; n < 3; n++) outbox.handOver(await owe(database, `u${n}@example.com`, { kind: 'no such kind' as never }));
    outbox.handOver(await owe(database, 'ann@example.com'));
    await mailbox.waitFor('ann@example.com');
    await waitUntil('all tries are over', 5_000, async () => {
      const tried = await database.core.query('select 1 from outbox where tries = 1');
      return tried.rowCount === 3 || `${tried.rowCount} tried`;
    });
    expect(await outbox.depth()).toBe(3);
    expect(logged.map(({ level, reason }) => [level, reason])).toEqual([
      [50, 'Error: no templates'],
      [50, expect.stringMatching(/^TypeError: /)],
    ]);
  });

  test('messages that are never answered hold up nobody else', async ({ onTestFinished: atEnd }) => {
    const database = await openTestDatabase(atEnd);
    const server = await openHangingServer(atEnd);
    const { outbox } = openOutbox(atEnd, database, server.url);
    for (let n = 0; n < 12; n++) outbox.handOver(await owe(database, `hang${n}@example.com`));
    await sleep(200);
    const began = performance.now();
    for (let n = 0; n < 30; n++) outbox.handOver(await owe(database, `fine${n}@example.com`));
    await waitUntil('30 mails', 5_000, () => server.taken.length >= 30 || `${server.taken.length} came`);
    expect(performance.now() - began).toBeLessThan(5_000);
    // After 10 s they are given up, and come again by the schedule.
    await waitUntil('second tries', 25_000, () => server.hung > 12 || `${server.hung} tries`);
  });

  test('a sender that stops leaves what waits to the others', async ({ onTestFinished: atEnd }) => {
    const [database, mailbox] = [await openTestDatabase(atEnd), await openTestMailbox(atEnd)];
    await mailbox.down();
    const { outbox } = openOutbox(atEnd, database, mailbox.url);
    for (let n = 0; n < 20; n++) outbox.handOver(await owe(database, `u${n}@example.com`));
    await outbox.stop();
    await mailbox.up();
    const { outbox: other } = openOutbox(atEnd, database, mailbox.url);
    await emptied(other);
    expect(mailbox.mails).toHaveLength(20);
  });

  test('the death of PostgreSQL loses no mail and sends none twice', async ({ onTestFinished: atEnd }) => {
    const cluster = await createCluster();
    atEnd(() => cluster.remove());
    const [database, mailbox] = [await openTestDatabase(atEnd, cluster.url('postgres')), await openTestMailbox(atEnd)];
    const { outbox } = openOutbox(atEnd, database, mailbox.url);
    const mails = await Promise.all(
      Array.from({ length: 60 }, (_, n) => owe(database, `u${n}@example.com`, { lease: n < 30 ? FIRST_LEASE_SECONDS : 6 })),
    );
    await cluster.kill();
    for (const mail of mails.slice(0, 30)) outbox.handOver(mail);
    await waitUntil('the mails that were handed over', 10_000, () => mailbox.mails.length === 30);
    await cluster.start();
    await emptied(outbox, 20_000);
    await sleep(1_500);
    expect(mailbox.mails.map((mail) => mail.messageId).sort()).toEqual(mails.map(({ id }) => `<${id}@auth.example>`).sort());
  });
});

/** Speaks just enough SMTP to never answer MAIL and DATA for recipients that begin with `hang`. */
async function openHangingServer(atEnd: AtEnd): Promise<{ url: string; taken: string[]; readonly hung: number }> {
  const port = await freePort();
  const taken: string[] = [];
  let hung = 0;
  const server: Server = createServer((socket) => {
    let recipient = '';
    let data = '';
    let inData = false;
    socket.on('error', () => {});
    socket.write('220 test\r\n');
    socket.on('data', (chunk) => {
      data += chunk.toString('latin1');
      for (let end = data.indexOf('\r\n'); end >= 0; end = data.indexOf('\r\n')) {
        const line = data.slice(0, end);
        data = data.slice(end + 2);
        if (inData) {
          if (line !== '.') continue;
          inData = false;
          if (recipient.startsWith('hang')) hung++;
          else {
            taken.push(recipient);
            socket.write('250 taken\r\n');
          }
          continue;
        }
        if (line.startsWith('RCPT')) recipient = line.slice(line.indexOf('<') + 1, line.indexOf('>'));
        inData = line === 'DATA';
        socket.write(inData ? '354 go on\r\n' : '250 fine\r\n');
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  atEnd(() => new Promise<void>((resolve) => server.close(() => resolve())));
  return {
    url: `smtp://127.0.0.1:${port}`,
    taken,
    get hung() {
      return hung;
    },
  };
}
