import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Client } from '../support/client.ts';
import { type NameServer, openNameServer } from '../support/dns.ts';
import { openStage, production, type Service, type Stage } from '../support/harness.ts';
import { addWebsite, freshAddress, freshDomain, signInDeveloper } from '../support/sign-ins.ts';
import { waitUntil } from '../support/waiting.ts';

// Two instances with production limits behind a proxy, so that a test can send from many networks.
let stage: Stage;
let names: NameServer;
let service: Service;
let second: Service;
let shop: string;
beforeAll(async () => {
  stage = await openStage();
  names = await openNameServer();
  const settings = { ...production, TRUST_PROXY: '1', DNS_SERVERS: names.address };
  service = await stage.start(settings);
  second = await stage.start({ ...settings, PUBLIC_URL: service.url });
  shop = await addWebsite(stage, service);
});
beforeEach(() => stage.query('truncate sign_in_limits, rate_limits'));
afterAll(async () => {
  await stage.close();
  await names.close();
});

const ask = (from: Service | Client, email: string, network: string) =>
  ('client' in from ? from.client() : from).post(
    '/api/auth/domain-auth',
    { email, forward_url: `https://${shop}/` },
    { 'X-Forwarded-For': network },
  );
/** Ends the 15 minutes in which a network may request three emails to one mailbox. */
const endPairWindows = () => stage.query("update sign_in_limits set resets_at = now() where key like 'pair %'");
const statusesOf = (responses: { status: number }[]) => responses.map(({ status }) => status);

describe('the limit of ten emails to a mailbox', () => {
  test('cannot be used up by one network or three networks in an hour', async () => {
    const email = freshAddress();
    const strangers = ['198.51.100.1', '198.51.100.2', '2001:db8:1:1::1', '2001:db8:1:2::1', '2001:db8:1:3::1'];
    let sent = 0;
    for (let window = 0; window < 4; window++) {
      for (const network of strangers)
        for (let i = 0; i < 3; i++) if ((await ask(i % 2 ? service : second, email, network)).status === 200) sent++;
      await endPairWindows();
    }
    // Two IPv4 networks and one IPv6 /48: six emails, and one of the reserve for each.
    expect(sent).toBe(9);
    expect((await ask(service, email, '203.0.113.9')).status).toBe(200);
    expect((await ask(service, email, '203.0.113.10')).status).toBe(429);
  });

  test('is exact for concurrent requests of fifty networks at two instances', async () => {
    const email = freshAddress();
    const responses = await Promise.all(Array.from({ length: 50 }, (_, i) => ask(i % 2 ? service : second, email, `198.51.100.${i}`)));
    expect(statusesOf(responses).filter((status) => status === 200)).toHaveLength(10);
    const [{ count }] = await stage.query('select count(*)::int as count from sign_in_attempts where email = $1', [email]);
    expect(count).toBe(10);
  });

  test('starts again after an hour, including the reserve', async () => {
    const email = freshAddress();
    const all = () => Promise.all(Array.from({ length: 12 }, (_, i) => ask(service, email, `198.51.100.${i}`)));
    expect(statusesOf(await all()).filter((status) => status === 200)).toHaveLength(10);
    await stage.query('update sign_in_limits set resets_at = now()');
    expect(statusesOf(await all()).filter((status) => status === 200)).toHaveLength(10);
  });

  test.each([
    ['ann.smith@gmail.com', 'a.n.n.smith+news@googlemail.com'],
    ['ann.smith@googlemail.com', 'AnnSmith@gmail.com'],
  ])('treats %s and %s as one mailbox and two identities', async (one, other) => {
    for (const address of [one, other, one]) expect((await ask(service, address, '198.51.100.1')).status).toBe(200);
    expect((await ask(second, other, '198.51.100.1')).status).toBe(429);
    const [{ count }] = await stage.query('select count(distinct email)::int as count from sign_in_attempts where email in ($1, $2)', [
      one,
      other.toLowerCase(),
    ]);
    expect(count).toBe(2);
  });

  test('treats addresses with other dots as other mailboxes at other providers', async () => {
    for (const address of ['a.b@mail.example', 'ab@mail.example', 'a.b@mail.example', 'ab@mail.example'])
      expect((await ask(service, address, '198.51.100.1')).status).toBe(200);
  });
});

describe('notices about domains', () => {
  /** Adds a domain with `owner` and takes it over by a proof with `taker`. */
  const loseDomain = async (owner: Client, taker: Client) => {
    const domain = freshDomain();
    expect((await owner.post('/api/websites', { domain })).status).toBe(200);
    const { proof } = (await taker.get(`/api/websites/claim/${domain}`)).json;
    names.setText(proof.record, [proof.value]);
    expect((await taker.post('/api/websites/prove', { domain })).status).toBe(200);
  };
  const pending = async (recipient: string) =>
    stage.query('select due_at > now() as later from outbox where recipient = $1 order by id', [recipient]);

  test('count toward the limit; one above the limit is sent after the hour, and the domain changes its account at once', async () => {
    const victim = await signInDeveloper(stage, service);
    const taker = await signInDeveloper(stage, service);
    await stage.query('truncate sign_in_limits');
    const before = stage.mailbox.mailsFor(victim.email).length;
    const got = () => stage.mailbox.mailsFor(victim.email).length - before;
    for (let i = 0; i < 9; i++) await loseDomain(victim.client, taker.client);
    await waitUntil('six notices are sent', 60_000, () => got() === 6 || `${got()} are sent`);
    for (let i = 0; i < 12; i++) await ask(service, victim.email, `198.51.100.${i}`);
    await waitUntil('three notices are left in the outbox', 60_000, async () => (await pending(victim.email)).length === 3);
    expect(got()).toBe(10);
    expect((await pending(victim.email)).map(({ later }) => later)).toEqual([true, true, true]);
    expect((await victim.client.get('/api/websites')).json).toEqual([]);
    await stage.query("update sign_in_limits set resets_at = now() where key like 'mailbox %'");
    await stage.query('update outbox set due_at = now()');
    await waitUntil('the other notices are sent', 60_000, async () => (await pending(victim.email)).length === 0);
    expect(got()).toBe(13);
  });
});

describe('a browser that is refused by the limit of its mailbox', () => {
  /** Uses up the ten emails of a mailbox from other networks. @returns one of these emails */
  const spendMails = async (email: string) => {
    const strangers = Array.from({ length: 10 }, (_, i) => ask(service, email, `198.51.100.${i}`));
    expect(new Set(statusesOf(await Promise.all(strangers)))).toEqual(new Set([200]));
    return stage.mailbox.waitFor(email);
  };
  const secretOf = ({ link }: { link: string }) => new URL(link).searchParams.get('t') ?? '';
  const confirm = (client: Client, t: string, email: string) => client.post('/api/auth/confirm-browser', { t, email });

  test('gets a hint, and an email after it is confirmed by one that another browser requested, without being signed in', async () => {
    const [client, email] = [service.client(), freshAddress()];
    const mail = await spendMails(email);
    const refused = await ask(client, email, '203.0.113.1');
    expect([refused.status, refused.json.field]).toEqual([429, 'email']);
    expect(refused.json.hint).toContain('Open any sign-in email you received in the last hour in this browser, and confirm your address');
    const response = await confirm(client, secretOf(mail), email.toUpperCase());
    expect([response.status, response.json]).toEqual([200, { success: true }]);
    expect([...client.cookies.keys()].sort()).toEqual(['attempt', 'device']);
    expect((await client.get('/api/user/me')).status).toBe(401);
    expect(await stage.query('select 1 from sign_in_attempts where email = $1 and consumed_at is not null', [email])).toEqual([]);
    expect((await ask(client, email, '203.0.113.1')).status).toBe(200);
    expect((await ask(service, email, '203.0.113.1')).status).toBe(429);
  });

  test.each([
    ['used', 'consumed_at = now()'],
    ['expired', "expires_at = now() - interval '49 minutes'"],
  ])('is confirmed by a link that is %s', async (_, change) => {
    const [client, email] = [service.client(), freshAddress()];
    const mail = await spendMails(email);
    await stage.query(`update sign_in_attempts set ${change} where email = $1`, [email]);
    expect((await confirm(client, secretOf(mail), email)).status).toBe(200);
    expect((await ask(client, email, '203.0.113.1')).status).toBe(200);
  });

  test('is confirmed by an email to another spelling of the same mailbox', async () => {
    const [client, email] = [service.client(), freshAddress()];
    const mail = await spendMails(email.replace('@', '+tag@'));
    expect((await ask(client, email, '203.0.113.1')).status).toBe(429);
    expect((await confirm(client, secretOf(mail), email)).status).toBe(200);
    expect((await ask(client, email, '203.0.113.1')).status).toBe(200);
  });

  test('is not confirmed by an older email, a forged link or another address, and a link allows five tries in all', async () => {
    const [client, email] = [service.client(), freshAddress()];
    const t = secretOf(await spendMails(email));
    for (const [secret, address] of [
      [`${t.slice(0, -1)}${t.endsWith('A') ? 'B' : 'A'}`, email],
      ['x', email],
      [t, freshAddress()],
    ])
      expect((await confirm(client, secret, address)).json.code).toBe('bad_link');
    await stage.query("update sign_in_attempts set expires_at = now() - interval '51 minutes' where email = $1", [email]);
    expect((await confirm(client, t, email)).json.code).toBe('bad_link');
    await stage.query("update sign_in_attempts set expires_at = now() + interval '5 minutes' where email = $1", [email]);
    const tries = await Promise.all(Array.from({ length: 8 }, () => confirm(client, t, freshAddress())));
    expect(statusesOf(tries)).toEqual(Array(8).fill(400));
    expect((await confirm(client, t, email)).json.code).toBe('bad_link');
    expect((await ask(client, email, '203.0.113.1')).status).toBe(429);
  });
});
