import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Client } from './client.ts';
import { type NameServer, openNameServer } from './dns.ts';
import { openStage, production, type Service, type Stage } from './harness.ts';
import { addSite, freshAddress, freshDomain, signInDeveloper } from './sign-ins.ts';
import { waitUntil } from './waiting.ts';

// Two instances as in production, behind a proxy, so that a test speaks for many networks.
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
  shop = await addSite(stage, service);
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
/** Ends the 15 minutes in which a network may ask for three mails to one mailbox. */
const endPairWindows = () => stage.query("update sign_in_limits set resets_at = now() where key like 'pair %'");
const statusesOf = (answers: { status: number }[]) => answers.map(({ status }) => status);

describe('the ten mails of a mailbox', () => {
  test('are not used up by one network in an hour, nor by three', async () => {
    const email = freshAddress();
    const strangers = ['198.51.100.1', '198.51.100.2', '2001:db8:1:1::1', '2001:db8:1:2::1', '2001:db8:1:3::1'];
    let sent = 0;
    for (let window = 0; window < 4; window++) {
      for (const network of strangers)
        for (let i = 0; i < 3; i++) if ((await ask(i % 2 ? service : second, email, network)).status === 200) sent++;
      await endPairWindows();
    }
    // Two networks by IPv4, and one /48 by IPv6: six mails, and one of the reserve for each.
    expect(sent).toBe(9);
    expect((await ask(service, email, '203.0.113.9')).status).toBe(200);
    expect((await ask(service, email, '203.0.113.10')).status).toBe(429);
  });

  test('are exactly ten when fifty networks ask at once on two instances', async () => {
    const email = freshAddress();
    const answers = await Promise.all(Array.from({ length: 50 }, (_, i) => ask(i % 2 ? service : second, email, `198.51.100.${i}`)));
    expect(statusesOf(answers).filter((status) => status === 200)).toHaveLength(10);
    const [{ count }] = await stage.query('select count(*)::int as count from sign_in_attempts where email = $1', [email]);
    expect(count).toBe(10);
  });

  test('begin again with the hour, the reserve too', async () => {
    const email = freshAddress();
    const all = () => Promise.all(Array.from({ length: 12 }, (_, i) => ask(service, email, `198.51.100.${i}`)));
    expect(statusesOf(await all()).filter((status) => status === 200)).toHaveLength(10);
    await stage.query('update sign_in_limits set resets_at = now()');
    expect(statusesOf(await all()).filter((status) => status === 200)).toHaveLength(10);
  });

  test.each([
    ['ann.smith@gmail.com', 'a.n.n.smith+news@googlemail.com'],
    ['ann.smith@googlemail.com', 'AnnSmith@gmail.com'],
  ])('%s and %s are one mailbox and two identities', async (one, other) => {
    for (const address of [one, other, one]) expect((await ask(service, address, '198.51.100.1')).status).toBe(200);
    expect((await ask(second, other, '198.51.100.1')).status).toBe(429);
    const [{ count }] = await stage.query('select count(distinct email)::int as count from sign_in_attempts where email in ($1, $2)', [
      one,
      other.toLowerCase(),
    ]);
    expect(count).toBe(2);
  });

  test('dots of other providers make another mailbox', async () => {
    for (const address of ['a.b@mail.example', 'ab@mail.example', 'a.b@mail.example', 'ab@mail.example'])
      expect((await ask(service, address, '198.51.100.1')).status).toBe(200);
  });
});

describe('notices about domains', () => {
  /** Takes a new domain from its owner by proof. */
  const loseDomain = async (owner: Client, taker: Client) => {
    const domain = freshDomain();
    expect((await owner.post('/api/websites', { domain })).status).toBe(200);
    const { proof } = (await taker.get(`/api/websites/claim/${domain}`)).json;
    names.setText(proof.record, [proof.value]);
    expect((await taker.post('/api/websites/prove', { domain })).status).toBe(200);
  };
  const owed = async (recipient: string) =>
    stage.query('select due_at > now() as later from outbox where recipient = $1 order by id', [recipient]);

  test('count among the ten mails of a mailbox; one over the limit is sent when the hour is over, and the domain is lost at once', async () => {
    const victim = await signInDeveloper(stage, service);
    const taker = await signInDeveloper(stage, service);
    await stage.query('truncate sign_in_limits');
    const before = stage.mailbox.mailsFor(victim.email).length;
    const got = () => stage.mailbox.mailsFor(victim.email).length - before;
    for (let i = 0; i < 9; i++) await loseDomain(victim.client, taker.client);
    await waitUntil('six notices are sent', 20_000, () => got() === 6 || `${got()} are`);
    for (let i = 0; i < 12; i++) await ask(service, victim.email, `198.51.100.${i}`);
    await waitUntil('nothing but three notices is left', 20_000, async () => (await owed(victim.email)).length === 3 || 'not yet');
    expect(got()).toBe(10);
    expect((await owed(victim.email)).map(({ later }) => later)).toEqual([true, true, true]);
    expect((await victim.client.get('/api/websites')).json).toEqual([]);
    await stage.query("update sign_in_limits set resets_at = now() where key like 'mailbox %'");
    await stage.query('update outbox set due_at = now()');
    await waitUntil('the other notices are sent', 20_000, async () => (await owed(victim.email)).length === 0 || 'not yet');
    expect(got()).toBe(13);
  });
});

describe('a browser that the limit of its mailbox refuses', () => {
  /** Has strangers use up the ten mails of a mailbox. @returns a mail that one of them requested */
  const spendMails = async (email: string) => {
    const strangers = Array.from({ length: 10 }, (_, i) => ask(service, email, `198.51.100.${i}`));
    expect(new Set(statusesOf(await Promise.all(strangers)))).toEqual(new Set([200]));
    return stage.mailbox.waitFor(email);
  };
  const secretOf = ({ link }: { link: string }) => new URL(link).searchParams.get('t') ?? '';
  const confirm = (client: Client, t: string, email: string) => client.post('/api/auth/confirm-browser', { t, email });

  test('is told what to do, and gets a mail once it is confirmed by one that a stranger requested; nobody is signed in', async () => {
    const [client, email] = [service.client(), freshAddress()];
    const mail = await spendMails(email);
    const refused = await ask(client, email, '203.0.113.1');
    expect([refused.status, refused.json.field]).toEqual([429, 'email']);
    expect(refused.json.hint).toContain('Open any sign-in email you received in the last hour in this browser, and confirm your address');
    const answer = await confirm(client, secretOf(mail), email.toUpperCase());
    expect([answer.status, answer.json]).toEqual([200, { success: true }]);
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

  test('is confirmed by a mail to another spelling of the same mailbox', async () => {
    const [client, email] = [service.client(), freshAddress()];
    const mail = await spendMails(email.replace('@', '+tag@'));
    expect((await ask(client, email, '203.0.113.1')).status).toBe(429);
    expect((await confirm(client, secretOf(mail), email)).status).toBe(200);
    expect((await ask(client, email, '203.0.113.1')).status).toBe(200);
  });

  test('is not confirmed by an older mail, a forged link or another address, and a link takes five tries in all', async () => {
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
