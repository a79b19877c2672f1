import fc from 'fast-check';
import pg from 'pg';
import { v7 as uuid } from 'uuid';
import { afterAll, expect, inject, test } from 'vitest';
import { digest } from '../../server/secrets.ts';
import { type NewAttempt, REQUEST_EMAILS } from '../../server/signin/request-store.ts';
import { createDatabase } from '../support/postgres.ts';
import { REQUEST } from './request-before.ts';

const open = async () => new pg.Pool({ connectionString: await createDatabase(inject('clusterUrl'), inject('templateUrl')), max: 1 });
const [before, after] = await Promise.all([open(), open()]);
afterAll(() => Promise.all([before.end(), after.end()]));

const LIMITS = { network: 4, block: 6, pair: 2, mailbox: 5, reserved: 2, share: 1, guesses: 2 };
const DOMAINS = ['proven.example', 'plain.example', 'probation.example', 'nowhere.example'];
const MAILBOXES = ['a@mail.example', 'b@mail.example', 'c@mail.example'];
const NETWORKS = [
  ['192.0.2.1', '192.0.2.0/24'],
  ['192.0.2.2', '192.0.2.0/24'],
  ['192.0.2.3', '192.0.2.0/24'],
  ['2001:db8:1:1::', '2001:db8:1::/48'],
  ['2001:db8:1:2::', '2001:db8:1::/48'],
  ['198.51.100.1', '198.51.100.0/24'],
];
const DEVICES = [0, 1, 2].map((n) => digest(`device ${n}`));

for (const pool of [before, after]) {
  const website = (domain: string, proven: string, claimed: string) =>
    pool.query(
      `insert into websites (id, domain, email, claimed_at, proven_at, created_at, name, accent)
       values (gen_random_uuid(), $1, 'owner@mail.example', ${claimed}, ${proven}, now() - interval '1 day', 'Shop', '#112233')`,
      [domain],
    );
  await pool.query(
    `insert into users (id, email, brand_name, brand_logo_url) values (gen_random_uuid(), 'owner@mail.example', 'Brand', '')`,
  );
  await website('proven.example', 'now()', 'now()');
  await website('plain.example', 'null', 'now()');
  await website('probation.example', 'null', 'null');
  for (const [device, email] of [
    [DEVICES[0], MAILBOXES[0]],
    [DEVICES[0], MAILBOXES[1]],
    [DEVICES[1], MAILBOXES[1]],
  ])
    await pool.query(
      `insert into remembered_keys (selector, device, email, verifier, expires_at) values ('\\x01', $1, $2, '', now() + interval '1 day')`,
      [device, email],
    );
}

const pick = <Value>(values: readonly Value[]) => fc.constantFrom(...values);
const requests = fc.record({
  kind: pick(['site', 'site', 'site', 'portal', 'app', 'oidc', 'registration', 'invitation']),
  domain: pick(DOMAINS),
  mailbox: pick(MAILBOXES),
  spelling: fc.boolean(),
  network: pick(NETWORKS),
  device: pick([...DEVICES, null]),
  conditions: pick([null, 'require=passkey', 'max_age=60']),
});
const steps = fc.record({
  batch: fc.array(requests, { minLength: 1, maxLength: 12 }),
  alone: fc.boolean(),
  /** Keys of counters that end before the batch. */
  ended: fc.array(pick(['address %', 'block %', 'spare %', 'pair %', 'mailbox %', 'share %', 'reserve %', '%']), { maxLength: 1 }),
  guessed: fc.array(pick(MAILBOXES), { maxLength: 1 }),
});

async function run(pool: pg.Pool, attempts: NewAttempt[], alone: boolean) {
  const column = <Key extends keyof NewAttempt>(key: Key) => attempts.map((attempt) => attempt[key]);
  if (pool === before) {
    const { rows } = await pool.query(REQUEST, [
      column('id'),
      column('kind'),
      column('email'),
      column('mailbox'),
      column('language'),
      column('browser'),
      column('device'),
      column('clientAddress'),
      column('domain'),
      column('host'),
      column('forwardUrl'),
      column('clientId'),
      column('redirectUri'),
      column('challenge'),
      column('state'),
      column('mailKind'),
      attempts.map(({ mailData }) => JSON.stringify(mailData)),
      LIMITS.network,
      LIMITS.pair,
      LIMITS.mailbox,
      20,
      alone,
      LIMITS.reserved,
      LIMITS.share,
      column('conditions'),
      column('block'),
      LIMITS.block,
      LIMITS.guesses,
    ]);
    return rows;
  }
  const rows = attempts.map(({ browser, device, ...a }) => ({
    ...a,
    browser: browser.toString('hex'),
    device: device?.toString('hex'),
    address: a.clientAddress,
    forward_url: a.forwardUrl,
    client_id: a.clientId,
    redirect_uri: a.redirectUri,
    mail_kind: a.mailKind,
    mail_data: a.mailData,
  }));
  const { network, block, pair, mailbox, reserved, share, guesses } = LIMITS;
  const values = [JSON.stringify(rows), alone, 20, network, block, pair, mailbox, reserved, share, guesses];
  return (await pool.query(`select * from ${REQUEST_EMAILS.name}($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`, values)).rows;
}

const STATE = [
  'select key, hits, round(extract(epoch from resets_at - now()) / 600) as ends from sign_in_limits order by key',
  `select id, kind, email, mailbox, language, browser, domain, host, forward_url, client_id, redirect_uri, challenge, state, conditions,
    round(extract(epoch from expires_at - now()) / 600) as life from sign_in_attempts order by id`,
  'select id, kind, recipient, language, data, round(extract(epoch from due_at - now()) / 600) as due, round(extract(epoch from expires_at - now()) / 600) as life from outbox order by id',
  'select action, email, domain, client_id, seconds from audit_log order by action, email, domain, client_id',
  'select w.domain, r.day, r.mailbox from website_recipients r join websites w on w.id = r.website_id order by 1, 2, 3',
];

test('the function does what the statement before it did', { timeout: 120_000 }, async () => {
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(fc.array(steps, { minLength: 1, maxLength: 8 }), async (sequence) => {
      for (const pool of [before, after]) await pool.query('truncate sign_in_limits, sign_in_attempts, outbox, website_recipients');
      for (const pool of [before, after])
        await pool.query(
          "insert into website_recipients select id, current_date, 'r' || n from websites, generate_series(1, 19) n where claimed_at is null",
        );
      for (const { batch, alone, ended, guessed } of sequence) {
        const attempts = batch.slice(0, alone ? 1 : undefined).map(({ kind, domain, mailbox, spelling, network, device, conditions }) => {
          const id = uuid();
          const isSite = kind === 'site';
          const isClient = kind === 'app' || kind === 'oidc';
          return {
            id,
            kind,
            email: spelling ? mailbox.replace('@', '+tag@') : mailbox,
            mailbox,
            language: 'en',
            browser: digest(id),
            device,
            clientAddress: network[0],
            block: network[1],
            domain: isSite ? domain : null,
            host: isSite ? domain : null,
            forwardUrl: `https://${domain}/`,
            clientId: isClient ? 'app_1' : null,
            redirectUri: isClient ? 'https://app.example/' : null,
            challenge: kind === 'app' ? 'challenge' : null,
            state: kind === 'app' ? 'state' : null,
            conditions,
            mailKind: isClient ? 'app_sign_in' : 'sign_in',
            mailData: { host: domain, attempt: kind },
            userAgent: '',
          } as NewAttempt;
        });
        const results = [];
        for (const pool of [before, after]) {
          for (const like of ended)
            await pool.query("update sign_in_limits set resets_at = now() - interval '1 second' where key like $1", [like]);
          for (const mailbox of guessed)
            await pool.query("insert into sign_in_limits values ('guesses ' || $1, 2, now() + interval '1 hour') on conflict do nothing", [
              mailbox,
            ]);
          const rows = await run(pool, attempts, alone);
          const state = [];
          for (const text of STATE) state.push((await pool.query(text)).rows);
          results.push({
            rows: rows.map(({ status, added, retry_after }) => ({
              status,
              added,
              wait: ['address', 'pair', 'mailbox'].includes(status) ? Math.round(retry_after / 600) : null,
            })),
            state,
          });
          for (const { status } of rows) seen.add(status);
        }
        expect(results[1]).toEqual(results[0]);
      }
    }),
    { numRuns: Number(process.env.RUNS ?? 60) },
  );
  expect([...seen].sort()).toEqual(['address', 'mailbox', 'not_registered', 'on_probation', 'pair', 'recipients_used_up', 'sent']);
});
