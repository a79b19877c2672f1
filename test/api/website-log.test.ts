// A stage of its own: it removes all rows of the audit log.
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Output } from '../../contract/calls.ts';
import type { Client } from '../support/client.ts';
import { openStage, production, type Service, type Stage } from '../support/harness.ts';
import { type Developer, freshAddress, freshDomain, openLink, requestEmail, signInDeveloper, tokenOf } from '../support/sign-ins.ts';
import { waitUntil } from '../support/waiting.ts';

type Page = Output<'websiteLog'>;
type Event = Page['events'][number];

let stage: Stage;
let service: Service;
let owner: Developer;
let website: { id: string; domain: string };
beforeAll(async () => {
  stage = await openStage({ seesOutages: true });
  service = await stage.start(production);
  owner = await signInDeveloper(stage, service);
});
afterAll(() => stage.close());
beforeEach(async () => {
  await stage.query('truncate rate_limits');
  // The times of rows rise with their numbers, also where a test adds rows of the past.
  await stage.query("set session_replication_role = 'replica'; truncate audit_log, sign_in_steps");
  website = (await owner.client.post('/api/websites', { domain: freshDomain() })).json;
  await stage.query("update websites set proven_at = now(), domain_since = now() - interval '200 days' where id = $1", [website.id]);
});

const path = () => `/api/websites/${website.id}/log`;
const page = async (query: Record<string, string> = {}, client: Client = owner.client): Promise<Page> => {
  const response = await client.get(`${path()}?${new URLSearchParams(query)}`);
  expect([response.status, response.text.slice(0, 200)]).toEqual([200, expect.anything()]);
  return response.json;
};
/** Reads the whole log, newest first. */
const readAll = async (query: Record<string, string> = {}): Promise<{ events: Event[]; calls: number }> => {
  const events: Event[] = [];
  let calls = 0;
  for (let before: string | null = ''; before !== null; calls += 1) {
    const next: Page = await page({ ...query, ...(before && { before }) });
    events.push(...next.events);
    before = next.cursor;
  }
  return { events, calls };
};
const kinds = (events: Event[]) => events.map(({ kind, reason }) => (reason ? `${kind} ${reason}` : kind));
/** Adds a row to the audit log as a sign-in does. @param at an SQL expression */
const addRow = (action: string, email: string, at = 'now()', domain = website.domain) =>
  stage.query(
    `insert into audit_log (at, action, email, domain, website_id) values (${at}, $1, $2, $3, (select id from websites where domain = $3))`,
    [action, email, domain],
  );
const addEvent = (kind: string, reason: string | null, email: string | null, at = 'now()') =>
  stage.query(`insert into sign_in_steps (at, website_id, action, result, email) values (${at}, $1, $2, $3, $4)`, [
    website.id,
    kind,
    reason,
    email,
  ]);

describe('the log of a website', () => {
  test('has the steps of sign-ins by link and code, newest first, and continues as the feed of events', async () => {
    const [client, email] = [service.client(), freshAddress()];
    const accepted = (mails: number) =>
      waitUntil(`${mails} emails are accepted`, 60_000, async () => {
        const found = kinds((await page()).events).filter((kind) => kind === 'mail_accepted').length;
        return found === mails || `${found} are`;
      });
    await requestEmail(client, email, `https://${website.domain}/`);
    await accepted(1);
    const token = tokenOf(await openLink(client, await stage.mailbox.waitFor(email)));
    await service.client().get(`/api/verify-token?token=${token}&domain=${website.domain}`);
    const address = freshAddress();
    await requestEmail(client, address, `https://${website.domain}/`);
    await accepted(2);
    const { code } = await stage.mailbox.waitFor(address);
    await client.post('/api/auth/email-code', { email: address, code });
    const { events, cursor, latest } = await page();
    expect(kinds(events)).toEqual([...['opened code', 'mail_accepted', 'requested', 'verified', 'opened', 'mail_accepted', 'requested']]);
    expect(events[0]).toMatchObject({ email: address, domain: website.domain, text: expect.stringContaining('entered the code') });
    expect(cursor).toBeNull();

    await service.client().get(`/api/verify-token?token=${token}&domain=${website.domain}`);
    const later = (await owner.client.get(`/api/websites/events?domain=${website.domain}&after=${latest}&wait=20`)).json;
    expect(kinds(later.events)).toEqual(['token_refused used']);
    expect((await page()).events[0]).toEqual(later.events[0]);
  });

  test('shows whole sign-ins, each with its own steps, also without an email', async () => {
    const [client, email, address] = [service.client(), freshAddress(), freshAddress()];
    const verify = (token: string) => service.client().get(`/api/verify-token?token=${token}&domain=${website.domain}`);
    for (const each of [email, address]) await requestEmail(client, each, `https://${website.domain}/`);
    const { code, link } = await stage.mailbox.waitFor(address);
    await client.post('/api/auth/email-code', { email: address, code: code === '000000' ? '000001' : '000000' });
    await service.client().get(link);
    const token = tokenOf(await openLink(client, await stage.mailbox.waitFor(email)));
    for (let calls = 0; calls < 2; calls++) await verify(token);
    const key = decodeURIComponent(client.cookies.get('__Host-auth_key') ?? client.cookies.get('auth_key') ?? '');
    const again = await client.post('/api/auth/validate-key', { email, key, forward_url: `https://${website.domain}/` });
    await verify(tokenOf(again.json.redirectUrl));
    await verify('y'.repeat(43));
    const signIns = async () => {
      const { events } = await page({ by: 'sign_in' });
      const keys = [...new Set(events.map(({ id, signIn }) => signIn ?? id))];
      return keys.map((key) =>
        kinds(events.filter(({ id, signIn }) => key === (signIn ?? id)))
          .toSorted()
          .join(', '),
      );
    };
    // The acceptance of an email is recorded while the visitor goes on.
    await waitUntil(
      'both emails are accepted',
      60_000,
      async () => (await signIns()).join().split('mail_accepted').length === 3 || 'not yet',
    );
    expect(await signIns()).toEqual([
      'token_refused unknown',
      'remembered, verified',
      'mail_accepted, requested, wrong_browser, wrong_code',
      'mail_accepted, opened, requested, token_refused used, verified',
    ]);
    const { events } = await page({ by: 'sign_in', state: 'signed_in', method: 'link' });
    expect(events.map((each) => each.email)).toEqual(Array(5).fill(email));
  });

  test('has every row once and in the order of time, across the limits of one call', async () => {
    await stage.query(
      `insert into audit_log (at, action, email, website_id)
       select now() + n * interval '2 ms', 'sign_in_requested', n || '@mail.example', $1 from generate_series(1, 500) n`,
      [website.id],
    );
    await stage.query(
      `insert into sign_in_steps (at, website_id, action, email)
       select now() + interval '1 s' + n * interval '2 ms', $1, 'mail_accepted', n || '@mail.example' from generate_series(1, 300) n`,
      [website.id],
    );
    const { events, calls } = await readAll();
    expect(calls).toBeGreaterThan(1);
    expect(events).toHaveLength(800);
    expect(new Set(events.map(({ id }) => id)).size).toBe(800);
    const times = events.map(({ at }) => at);
    expect(times).toEqual([...times].sort().reverse());
  });

  test('is filtered by address, kind, reason, problems and time', async () => {
    for (const [days, email] of [
      [9, 'ann@mail.example'],
      [2, 'anna@mail.example'],
      [0, 'bob@mail.example'],
    ]) {
      await addRow('sign_in_requested', `${email}`, `now() - interval '${days} days'`);
      await addRow('token_verified', `${email}`, `now() - interval '${days} days' + interval '1 minute'`);
    }
    await addEvent('token_refused', 'used', 'bob@mail.example');
    await addEvent('token_refused', 'unknown', null);
    await addEvent('mail_accepted', null, 'bob@mail.example');
    const found = async (query: Record<string, string>) => kinds((await readAll(query)).events);
    const emails = async (query: Record<string, string>) => [...new Set((await readAll(query)).events.map(({ email }) => email))];
    expect(await found({})).toHaveLength(9);
    expect(await emails({ email: ' ANN ' })).toEqual(['anna@mail.example', 'ann@mail.example']);
    expect(await emails({ email: 'ann@mail.example' })).toEqual(['ann@mail.example']);
    expect(await found({ email: '%' })).toEqual([]);
    expect(await found({ kind: 'verified' })).toEqual(['verified', 'verified', 'verified']);
    expect(await found({ kind: 'token_refused', reason: 'used' })).toEqual(['token_refused used']);
    expect((await found({ problems: 'true' })).sort()).toEqual(['token_refused unknown', 'token_refused used']);
    const day = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString();
    expect(await emails({ from: day(3), to: day(1) })).toEqual(['anna@mail.example']);
    expect(await found({ from: day(-1) })).toEqual([]);
    for (const query of ['before=1.2', 'kind=a%20b', 'from=yesterday'])
      expect((await owner.client.get(`${path()}?${query}`)).status).toBe(400);
  });

  test('is read by an index behind the rows of other websites, and searched in pieces', async () => {
    await addRow('sign_in_requested', 'early@mail.example', "now() - interval '60 days'");
    const other = (await owner.client.post('/api/websites', { domain: freshDomain() })).json;
    const fill = (id: string, rows: number) =>
      stage.query(
        `insert into audit_log (at, action, email, website_id)
         select now() - interval '50 days' + n * interval '15 s', 'sign_in_requested', 'v@mail.example', $1 from generate_series(1, $2::integer) n`,
        [id, rows],
      );
    await fill(other.id, 50_000);
    const found = await readAll();
    expect([found.events.map(({ email }) => email), found.calls]).toEqual([['early@mail.example'], 1]);
    await fill(website.id, 45_000);
    expect((await readAll({ email: 'early' })).events.map(({ email }) => email)).toEqual(['early@mail.example']);
  });

  test('has ten searches of an account at a time; a further one is rejected at once', async () => {
    const held = new pg.Client(stage.databaseUrl);
    await held.connect();
    await held.query('begin');
    await held.query("insert into audit_log (action, email, website_id) values ('sign_in_requested', 'held@mail.example', $1)", [
      website.id,
    ]);
    const searches = Array.from({ length: 10 }, () => owner.client.get(path()));
    // Those wait for the transaction, for three seconds at most.
    let further = await owner.client.get(path());
    while (further.status === 200) further = await owner.client.get(path());
    expect([further.status, further.json.code]).toEqual([503, 'unavailable']);
    await held.query('rollback');
    await held.end();
    await Promise.all(searches);
    expect((await owner.client.get(path())).status).toBe(200);
  });

  test('waits for a row with a smaller number that commits later', async () => {
    const held = new pg.Client(stage.databaseUrl);
    await held.connect();
    await held.query('begin');
    const insert = "insert into audit_log (action, email, website_id) values ('sign_in_requested', $1, $2)";
    await held.query(insert, ['first@mail.example', website.id]);
    await addRow('sign_in_requested', 'second@mail.example');
    const reading = page();
    await waitUntil('the call waits for the transaction', 30_000, async () => {
      const [{ count }] = await stage.query("select count(*)::int from pg_stat_activity where query like '%virtualtransaction = any%'");
      return Number(count) > 1 || 'not yet';
    });
    await held.query('commit');
    await held.end();
    expect((await reading).events.map(({ email }) => email)).toEqual(['second@mail.example', 'first@mail.example']);
  });
});

describe('access to the log', () => {
  test('is for those who manage the website, from when it became theirs', async () => {
    await addRow('sign_in_requested', 'v@mail.example', "now() - interval '2 hours'");
    await addRow('sign_in_requested', 'w@mail.example');
    const other = await signInDeveloper(stage, service);
    const { status, json } = await other.client.get(path());
    expect([status, json.code]).toEqual([404, 'website_not_found']);
    expect((await service.client().get(path())).status).toBe(401);
    await stage.query("insert into website_members (website_id, email, role, invited_by, joined_at) values ($1, $2, 'member', $3, now())", [
      website.id,
      other.email,
      owner.email,
    ]);
    expect((await page({}, other.client)).events).toHaveLength(2);
    await stage.query("update websites set domain_since = now() - interval '1 hour' where id = $1", [website.id]);
    expect((await page({}, other.client)).events.map(({ email }) => email)).toEqual(['w@mail.example']);
  });

  test('shows masked addresses until the domain is verified, and filters only by what it shows', async () => {
    await stage.query('update websites set proven_at = null where id = $1', [website.id]);
    await addRow('sign_in_requested', 'victor@mail.example');
    expect((await page()).events[0].email).toBe('v•••@mail.example');
    const count = async (email: string) => (await readAll({ email })).events.length;
    expect(await Promise.all(['v•••@mail.example', 'v', 'vi', 'victor@mail.example'].map(count))).toEqual([1, 1, 0, 0]);
  });
});
