import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { Client } from '../support/client.ts';
import { freshNetworkAddress, production, type Service, useProduction } from '../support/harness.ts';
import { addWebsite, freshAddress, freshDomain, signInDeveloper } from '../support/sign-ins.ts';
import { waitUntil } from '../support/waiting.ts';

// Two instances with production limits, which count together.
const { stage, service, names } = await useProduction();
const second = await stage.start({ ...production, PUBLIC_URL: service.url, TRUST_PROXY: '1' });
const shop = await addWebsite(stage, service);

/** Requests an email, from a network of its own unless one is given or the client has one. */
const ask = (from: Service | Client, email: string, network = freshNetworkAddress()) =>
  ('client' in from ? from.client(network) : from).post('/api/auth/domain-auth', { email, forward_url: `https://${shop}/` });
/** Ends the windows of limits of a mailbox: all, or the 15 minutes in which a network may request three emails (`pair`). */
const endWindows = (email: string, kind = '') =>
  stage.query("update rate_limits set resets_at = now() where key like $2 || '% ' || $1", [email, kind]);
const statusesOf = (responses: { status: number }[]) => responses.map(({ status }) => status);

describe('the limit of ten emails to a mailbox', () => {
  test('cannot be used up by one network or three networks in an hour', async () => {
    const email = freshAddress();
    const block = `2001:db8:${randomBytes(2).toString('hex')}`;
    const strangers = [freshNetworkAddress(), freshNetworkAddress(), `${block}:1::1`, `${block}:2::1`, `${block}:3::1`];
    let sent = 0;
    for (let window = 0; window < 4; window++) {
      for (const network of strangers)
        for (let i = 0; i < 3; i++) if ((await ask(i % 2 ? service : second, email, network)).status === 200) sent++;
      await endWindows(email, 'pair');
    }
    // Two IPv4 networks and one IPv6 /48: six emails, and one of the reserve for each.
    expect(sent).toBe(9);
    expect((await ask(service, email)).status).toBe(200);
    expect((await ask(service, email)).status).toBe(429);
  });

  test('is exact for concurrent requests of fifty networks at two instances', async () => {
    const email = freshAddress();
    const responses = await Promise.all(Array.from({ length: 50 }, (_, i) => ask(i % 2 ? service : second, email)));
    expect(statusesOf(responses).filter((status) => status === 200)).toHaveLength(10);
    const [{ count }] = await stage.query('select count(*)::int as count from sign_in_attempts where email = $1', [email]);
    expect(count).toBe(10);
  });

  test('starts again after an hour, including the reserve', async () => {
    const email = freshAddress();
    const all = () => Promise.all(Array.from({ length: 12 }, () => ask(service, email)));
    expect(statusesOf(await all()).filter((status) => status === 200)).toHaveLength(10);
    await endWindows(email);
    expect(statusesOf(await all()).filter((status) => status === 200)).toHaveLength(10);
  });

  test('treats two spellings of an address of Gmail as one mailbox and two identities', async () => {
    const [name, network] = [randomBytes(5).toString('hex'), freshNetworkAddress()];
    const [one, other] = [`ann.${name}@gmail.com`, `A.n.n${name}+news@googlemail.com`];
    for (const address of [one, other, one]) expect((await ask(service, address, network)).status).toBe(200);
    expect((await ask(second, other, network)).status).toBe(429);
    const [{ count }] = await stage.query('select count(distinct email)::int as count from sign_in_attempts where email in ($1, $2)', [
      one,
      other.toLowerCase(),
    ]);
    expect(count).toBe(2);
  });

  test('treats addresses with other dots as other mailboxes at other providers', async () => {
    const [email, network] = [freshAddress('ab'), freshNetworkAddress()];
    for (const address of [email, email.replace('ab', 'a.b'), email, email.replace('ab', 'a.b')])
      expect((await ask(service, address, network)).status).toBe(200);
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
    await endWindows(victim.email);
    const before = stage.mailbox.mailsFor(victim.email).length;
    const got = () => stage.mailbox.mailsFor(victim.email).length - before;
    for (let i = 0; i < 9; i++) await loseDomain(victim.client, taker.client);
    await waitUntil('six notices are sent', 60_000, () => got() === 6 || `${got()} are sent`);
    for (let i = 0; i < 12; i++) await ask(service, victim.email);
    await waitUntil('three notices are left in the outbox', 60_000, async () => (await pending(victim.email)).length === 3);
    expect(got()).toBe(10);
    expect((await pending(victim.email)).map(({ later }) => later)).toEqual([true, true, true]);
    expect((await victim.client.get('/api/websites')).json).toEqual([]);
    await endWindows(victim.email, 'mailbox');
    await stage.query('update outbox set due_at = now() where recipient = $1', [victim.email]);
    await waitUntil('the other notices are sent', 60_000, async () => (await pending(victim.email)).length === 0);
    expect(got()).toBe(13);
  });
});

describe('a browser that is refused by the limit of its mailbox', () => {
  /** Uses up the ten emails of a mailbox from other networks. @returns one of these emails */
  const spendMails = async (email: string) => {
    const strangers = Array.from({ length: 10 }, () => ask(service, email));
    expect(new Set(statusesOf(await Promise.all(strangers)))).toEqual(new Set([200]));
    return stage.mailbox.waitFor(email);
  };
  const secretOf = ({ link }: { link: string }) => new URL(link).searchParams.get('t') ?? '';
  const confirm = (client: Client, t: string, email: string) => client.post('/api/auth/confirm-browser', { t, email });

  test('gets a hint, and an email after it is confirmed by one that another browser requested, without being signed in', async () => {
    const [client, email] = [service.client(), freshAddress()];
    const mail = await spendMails(email);
    const refused = await ask(client, email);
    expect([refused.status, refused.json.field]).toEqual([429, 'email']);
    expect(refused.json.hint).toContain('Open any sign-in email you received in the last hour in this browser, and confirm your address');
    const response = await confirm(client, secretOf(mail), email.toUpperCase());
    expect([response.status, response.json]).toEqual([200, { success: true }]);
    expect([...client.cookies.keys()].sort()).toEqual(['attempt', 'device', 'requested']);
    expect((await client.get('/api/user/me')).status).toBe(401);
    expect(await stage.query('select 1 from sign_in_attempts where email = $1 and consumed_at is not null', [email])).toEqual([]);
    expect((await ask(client, email)).status).toBe(200);
    expect((await ask(service, email, client.networkAddress)).status).toBe(429);
  });

  test.each([
    ['used', 'consumed_at = now()'],
    ['expired', "expires_at = now() - interval '49 minutes'"],
  ])('is confirmed by a link that is %s', async (_, change) => {
    const [client, email] = [service.client(), freshAddress()];
    const mail = await spendMails(email);
    await stage.query(`update sign_in_attempts set ${change} where email = $1`, [email]);
    expect((await confirm(client, secretOf(mail), email)).status).toBe(200);
    expect((await ask(client, email)).status).toBe(200);
  });

  test('is confirmed by an email to another spelling of the same mailbox', async () => {
    const [client, email] = [service.client(), freshAddress()];
    const mail = await spendMails(email.replace('@', '+tag@'));
    expect((await ask(client, email)).status).toBe(429);
    expect((await confirm(client, secretOf(mail), email)).status).toBe(200);
    expect((await ask(client, email)).status).toBe(200);
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
    expect((await ask(client, email)).status).toBe(429);
  });
});
