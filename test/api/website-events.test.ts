import pg from 'pg';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Output } from '../../contract/calls.ts';
import { EventRecorder } from '../../server/activity/recorder.ts';
import { openPatientDatabase } from '../statements/database.ts';
import { production, useProduction, useService } from '../support/harness.ts';
import { confirmLink, freshAddress, freshDomain, openLink, requestEmail, signInDeveloper, tokenOf } from '../support/sign-ins.ts';
import { waitUntil } from '../support/waiting.ts';

type Event = Output<'websiteEvents'>['events'][number];

const { stage, service: second } = await useService();
const { service: first } = await useProduction();
const owner = await signInDeveloper(stage, second);
/** The owner at the second instance, while visitors sign in at the first one. */
const reader = owner.client;
let domain: string;
beforeEach(async () => {
  [domain] = [await addSite(), await addSite()];
});

const addSite = async () => {
  const added = (await owner.client.post('/api/websites', { domain: freshDomain() })).json.domain;
  await stage.query('update websites set proven_at = now() where domain = $1', [added]);
  return added as string;
};
const page = async (query: string, client = reader) => {
  const response = await client.get(`/api/websites/events?${query}`);
  expect([response.status, response.text.slice(0, 200)]).toEqual([200, expect.anything()]);
  return response.json as Output<'websiteEvents'>;
};

/** Reads the events of a domain as `emailauth tail` does. */
class Tail {
  readonly events: Event[] = [];
  #cursor: string | undefined;
  #after = 0;
  readonly #domain: string;
  constructor(name: string) {
    this.#domain = name;
  }

  /** Waits for events of these kinds (`kind` or `kind reason`), in this order, after those of the previous call. */
  async until(...kinds: string[]): Promise<Event[]> {
    let found: number[] = [];
    await waitUntil(`events ${kinds.join(', ')}`, 60_000, async () => {
      const { events, cursor } = await page(`domain=${this.#domain}&wait=5${this.#cursor ? `&after=${this.#cursor}` : ''}`);
      this.#cursor = cursor;
      this.events.push(...events);
      let from = this.#after;
      found = kinds.map((kind) => {
        from = this.kinds().indexOf(kind, from) + 1;
        return from - 1;
      });
      return !found.includes(-1) || this.kinds().join(', ');
    });
    this.#after = (found.at(-1) as number) + 1;
    return found.map((index) => this.events[index]);
  }

  kinds(): string[] {
    return this.events.map(({ kind, reason }) => (reason ? `${kind} ${reason}` : kind));
  }
}

const verify = async (token: string, host = domain, at = first) =>
  (await at.client().get(`/api/verify-token?token=${token}&domain=${host}`)).json;

describe('the events of a website', () => {
  test('are the steps of a sign-in, each once and in order, at another instance', async () => {
    const tail = new Tail(domain);
    const [client, email] = [first.client(), freshAddress()];
    await requestEmail(client, email, `https://${domain}/`);
    const [requested, accepted] = await tail.until('requested', 'mail_accepted');
    expect(requested).toMatchObject({ domain, email, level: 'info', fix: null, count: 1, text: 'A sign-in email was requested.' });
    expect(accepted).toMatchObject({ email, text: 'The mail server accepted the email.' });
    const mail = await stage.mailbox.waitFor(email);

    const code = String((Number(mail.code) + 1) % 1_000_000).padStart(6, '0');
    expect((await client.post('/api/auth/email-code', { email, code })).status).toBe(400);
    expect((await tail.until('wrong_code'))[0]).toMatchObject({ email, level: 'problem', fix: expect.stringContaining('newest email') });

    const other = first.client();
    expect((await other.get(mail.link)).status).toBe(200);
    expect((await tail.until('wrong_browser'))[0]).toMatchObject({ email, fix: expect.stringContaining('enters the address') });
    expect((await confirmLink(other, mail, 'somebody@mail.example')).status).toBe(400);
    expect((await tail.until('wrong_address'))[0]).toMatchObject({ email });

    const token = tokenOf(await openLink(client, mail));
    await tail.until('opened');
    expect(await verify(token)).toMatchObject({ valid: true });
    expect((await tail.until('verified'))[0]).toMatchObject({ email, level: 'success' });
    expect(await verify(token)).toMatchObject({ valid: false, reason: 'used' });
    expect((await tail.until('token_refused used'))[0]).toMatchObject({ email, fix: expect.stringContaining('once') });
    // The browser that it has signed in learns that it did.
    await client.get(mail.link);
    await other.get(mail.link);
    await tail.until('link_refused used');
    expect(tail.kinds()).toEqual([
      ...['requested', 'mail_accepted', 'wrong_code', 'wrong_browser', 'wrong_address', 'opened', 'verified'],
      ...['token_refused used', 'link_refused used'],
    ]);
    // No link, code or token, and the same events again for who begins later.
    const text = JSON.stringify(tail.events);
    for (const secret of [token, mail.code, new URL(mail.link).searchParams.get('t') ?? '']) expect(text).not.toContain(secret);
    expect((await page(`domain=${domain}`)).events).toEqual(tail.events);
    expect(new Set(tail.events.map(({ id }) => id)).size).toBe(tail.events.length);
  });

  test('are the refusals of tokens, each with its reason', async () => {
    const tail = new Tail(domain);
    const token = async (of = domain) => {
      const [client, email] = [first.client(), freshAddress()];
      await requestEmail(client, email, `https://${of}/`);
      return { token: tokenOf(await openLink(client, await stage.mailbox.waitFor(email))), email };
    };
    expect(await verify('x'.repeat(43))).toMatchObject({ reason: 'unknown' });
    expect((await tail.until('token_refused unknown'))[0]).toMatchObject({ email: null, fix: expect.stringContaining('unchanged') });

    const shop = await addSite();
    const foreign = await token(shop);
    expect(await verify(foreign.token)).toMatchObject({ reason: 'other_domain' });
    expect((await tail.until('token_refused other_domain'))[0]).toMatchObject({ email: null, fix: expect.stringContaining('`domain`') });

    const late = await token();
    await stage.query(
      "update websites set created_at = now() - interval '2 hours', domain_since = now() - interval '2 hours' where domain = $1",
      [domain],
    );
    await stage.query("update tokens set expires_at = now() - interval '1 second' where email = $1", [late.email]);
    expect(await verify(late.token)).toMatchObject({ reason: 'expired' });
    const [expired] = await tail.until('token_refused expired');
    expect(expired).toMatchObject({ email: late.email, text: expect.stringContaining('an hour') });
  });

  test('are the requests that sent no email', async () => {
    const tail = new Tail(domain);
    expect((await first.client().get(`/auth?forward_url=${encodeURIComponent(`http://${domain}/cb`)}`)).status).toBe(200);
    expect((await tail.until('request_refused forward_url'))[0]).toMatchObject({ fix: expect.stringContaining('https') });
    const email = freshAddress();
    const visitor = first.client();
    for (let i = 0; i < 3; i++) await requestEmail(visitor, email, `https://${domain}/`);
    expect((await visitor.post('/api/auth/domain-auth', { email, forward_url: `https://${domain}/` })).status).toBe(429);
    await waitUntil('the refusal and three accepted emails', 60_000, async () => {
      await page(`domain=${domain}&wait=1`);
      const { events } = await page(`domain=${domain}`);
      return events.filter(({ kind }) => kind === 'mail_accepted').length === 3 || `${events.length} events`;
    });
    const { events } = await page(`domain=${domain}`);
    expect(events.find(({ reason }) => reason === 'pair')).toMatchObject({ kind: 'request_refused', email, level: 'problem' });
  });

  test('are the refusal and the expiry of an email', async () => {
    const tail = new Tail(domain);
    const [unknown, late] = [freshAddress('unknown'), freshAddress('late')];
    stage.mailbox.behave({ kind: 'refuse', addresses: [unknown] });
    await requestEmail(first.client(), unknown, `https://${domain}/`);
    const [, refused] = await tail.until('requested', 'mail_refused 550');
    expect(refused).toMatchObject({ email: unknown, text: 'The mail server refused the email for good (550).' });
    stage.mailbox.behave({ kind: 'greylist', tries: 100 });
    await requestEmail(first.client(), late, `https://${domain}/`);
    await tail.until('requested', 'mail_delayed 451');
    await stage.query('update outbox set expires_at = now(), due_at = now() where recipient = $1', [late]);
    await tail.until('mail_expired');
    stage.mailbox.behave({ kind: 'accept' });
  });

  test('appear once and in order when transactions commit in another order', async () => {
    const held = new pg.Client(stage.databaseUrl);
    await held.connect();
    const tail = new Tail(domain);
    await held.query('begin');
    const insert = "insert into sign_in_steps (action, email, website_id) select 'wrong_code', $2, id from websites where domain = $1";
    await held.query(insert, [domain, 'first@mail.example']);
    await stage.query(insert, [domain, 'second@mail.example']);
    expect((await page(`domain=${domain}`)).events).toEqual([]);
    const found = tail.until('wrong_code', 'wrong_code');
    await held.query('commit');
    expect((await found).map(({ email }) => email)).toEqual(['first@mail.example', 'second@mail.example']);
    await held.end();
  });
});

describe('access', () => {
  test('is for the owner alone, by session or API key, from when the website became theirs', async () => {
    await requestEmail(first.client(), freshAddress(), `https://${domain}/`);
    await new Tail(domain).until('requested', 'mail_accepted');
    // In local mode, of the second instance, the events of localhost are everyone's.
    const other = await signInDeveloper(stage, first);
    expect((await other.client.get(`/api/websites/events?domain=${domain}`)).json).toMatchObject({ code: 'website_not_found' });
    expect((await page('since=3600', other.client)).events).toEqual([]);
    expect((await second.client().get('/api/websites/events')).status).toBe(401);
    const { key } = (await owner.client.post('/api/api-keys', { name: 'tail', environment: 'test' })).json;
    const byKey = await second.client().get(`/api/websites/events?domain=${domain}`, { Authorization: `Bearer ${key}` });
    expect(byKey.json.events).toHaveLength(2);

    await stage.query('update websites set email = $2, domain_since = now() where domain = $1', [domain, other.email]);
    expect((await page(`domain=${domain}`, other.client)).events).toEqual([]);
    expect((await reader.get(`/api/websites/events?domain=${domain}`)).status).toBe(404);
  });

  test('shows masked addresses until the domain is verified', async () => {
    await stage.query('update websites set proven_at = null where domain = $1', [domain]);
    await requestEmail(first.client(), freshAddress('visitor'), `https://${domain}/`);
    await new Tail(domain).until('requested', 'mail_accepted');
    // Local mode, of the second instance, shows all addresses.
    const client = Object.assign(first.client(), { cookies: owner.client.cookies });
    expect((await page(`domain=${domain}`, client)).events[0].email).toBe('v•••@mail.example');
  });
});

describe('reading', () => {
  test('continues across the limits of one call, in the order of time', async () => {
    await stage.query(
      `insert into audit_log (at, action, email, website_id)
       select now() + n * interval '2 ms', 'sign_in_requested', n || '@mail.example', id from websites, generate_series(1, 500) n where domain = $1`,
      [domain],
    );
    await stage.query(
      `insert into sign_in_steps (at, action, email, website_id)
       select now() + interval '1 s' + n * interval '2 ms', 'mail_accepted', n || '@mail.example', id
       from websites, generate_series(1, 300) n where domain = $1`,
      [domain],
    );
    const events: Event[] = [];
    let [cursor, calls] = ['', 0];
    for (let more = true; more; calls += 1) {
      const next = await page(`domain=${domain}${cursor && `&after=${cursor}`}`);
      events.push(...next.events);
      ({ cursor, more } = next);
    }
    expect(calls).toBeGreaterThan(1);
    expect(new Set(events.map(({ id }) => id)).size).toBe(800);
    const times = events.map(({ at }) => at);
    expect(times).toEqual([...times].sort());
    expect((await page(`domain=${domain}&after=999999999`)).cursor).not.toBe('999999999');
    expect((await reader.get('/api/websites/events?after=1.2')).status).toBe(400);
  });

  test('begins with the events of the last ten minutes, or of the seconds that are asked for', async () => {
    await stage.query("insert into sign_in_steps (action, website_id) select 'wrong_code', id from websites where domain = $1", [domain]);
    for (const query of [`domain=${domain}`, `domain=${domain}&since=60`]) expect((await page(query)).events).toHaveLength(1);
  });

  test('ends when the service stops, and the oldest of many calls of an account ends at once', async () => {
    const third = await stage.start(production);
    const client = third.client();
    client.cookies = owner.client.cookies;
    let ended = 0;
    const waits = Array.from({ length: 12 }, () => page(`domain=${domain}&wait=25`, client).finally(() => ended++));
    // Two more than an account may have.
    await waitUntil('two calls have ended', 20_000, () => ended === 2 || `${ended}`);
    // Connections of requests under way would be closed after 4 s.
    expect(await third.stop()).toBe(0);
    for (const { events } of await Promise.all(waits)) expect(events).toEqual([]);
  });
});

describe('an attacker', () => {
  test('does not make the steps of other websites disappear: those without a row are summed up', async () => {
    const database = openPatientDatabase(stage.databaseUrl);
    const recorder = new EventRecorder(database);
    const rows = (reason: string) => stage.query('select count from sign_in_steps where domain = $1 and result = $2', [domain, reason]);
    for (let n = 0; n < 600; n++) await recorder.record({ domain, kind: 'token_refused', reason: `reason ${n % 60}` });
    for (let n = 0; n < 3; n++) await recorder.record({ domain, kind: 'token_refused', reason: 'after the limit' });
    expect([(await rows('reason 0')).length, await rows('after the limit')]).toEqual([10, []]);
    await recorder.stop();
    expect(await rows('after the limit')).toEqual([{ count: 3 }]);
    expect(await rows('reason 0')).toHaveLength(10);
    await database.close();
  });

  test('adds a bounded number of rows by invalid tokens, and none for a domain that is not registered', async () => {
    // Its minute begins with the first event.
    const fresh = await stage.start(production);
    const count = async (name: string) =>
      Number((await stage.query('select count(*) from sign_in_steps where domain = $1', [name]))[0].count);
    for (let i = 0; i < 40; i++) await verify(`${i}`.padStart(43, 'x'), domain, fresh);
    expect(await count(domain)).toBe(10);
    const nobody = freshDomain();
    await verify('y'.repeat(43), nobody, fresh);
    expect(await count(nobody)).toBe(0);
    // The sum is stored at the end of the minute, or when the process stops.
    const tail = new Tail(domain);
    await fresh.stop();
    await tail.until(...Array.from({ length: 11 }, () => 'token_refused unknown'));
    expect(tail.events.map((event) => event.count)).toEqual([...Array.from({ length: 10 }, () => 1), 30]);
  });
});
