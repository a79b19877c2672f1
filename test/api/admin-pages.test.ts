import { v7 as uuid } from 'uuid';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Output } from '../../contract/calls.ts';
import type { Client } from '../support/client.ts';
import { production, useProduction, useService } from '../support/harness.ts';
import { addWebsite, type Developer, freshAddress, freshDomain, requestEmail, signInDeveloper } from '../support/sign-ins.ts';
import { waitUntil } from '../support/waiting.ts';

const { stage, service: local } = await useService();
const { service } = await useProduction();

const actions = async () => (await stage.query('select action from audit_log order by id desc limit 3')).map(({ action }) => action);

/** Returns a browser with an admin session, which a developer needs no password for in local mode. */
async function unlocked(): Promise<Client> {
  const { client } = await signInDeveloper(stage, local);
  expect((await client.post('/api/dev/admin-session', { enable: true })).json).toEqual({ success: true });
  return client;
}

const DEVELOPMENT = [
  ['POST', '/api/dev/admin-session'],
  ['GET', '/api/dev/websites'],
  ['GET', '/api/dev/users'],
  ['GET', '/api/dev/mails'],
  ['GET', '/api/dev/mails/history'],
  ['POST', `/api/dev/mails/${uuid()}/retry`],
  ['GET', '/api/dev/audit-logs'],
] as const;

describe('the development pages', () => {
  let ann: Developer;
  let admin: Client;
  beforeAll(async () => {
    ann = await signInDeveloper(stage, local);
    admin = await unlocked();
  });

  test('return 404 in production, even with an admin session', async () => {
    const { client } = await signInDeveloper(stage, service);
    expect((await client.post('/api/admin/verify', { password: production.ADMIN_PASSWORD })).status).toBe(200);
    for (const [method, path] of DEVELOPMENT) {
      const response = method === 'GET' ? await client.get(path) : await client.post(path, { enable: true });
      expect([path, response.status, response.json.code]).toEqual([path, 404, 'not_found']);
    }
    expect((await service.client().get('/openapi.json')).text).not.toContain('/api/dev/');
  });

  test('return 404 for a request that did not begin on this machine, as the inbox does', async () => {
    const others: Record<string, string>[] = [
      { 'X-Forwarded-For': '203.0.113.7' },
      { Forwarded: 'for=203.0.113.7' },
      { Host: 'rebound.example' },
    ];
    for (const headers of others) {
      for (const [method, path] of [...DEVELOPMENT, ['GET', '/dev/inbox'] as const]) {
        const response = method === 'GET' ? await admin.get(path, headers) : await admin.post(path, { enable: true }, headers);
        expect([path, response.status]).toEqual([path, 404]);
      }
    }
    expect((await admin.get('/api/admin/session', others[0])).json).toEqual({ unlocked: true, enabled: true, development: false });
  });

  test('require an admin session', async () => {
    for (const [method, path] of DEVELOPMENT.slice(1)) {
      const response = method === 'GET' ? await ann.client.get(path) : await ann.client.post(path);
      expect([path, response.status, response.json.code]).toEqual([path, 401, 'admin_needed']);
    }
  });

  test('need no password for a signed-in developer, but do for everyone else', async () => {
    expect((await local.client().post('/api/dev/admin-session', { enable: true })).status).toBe(401);
    for (const body of [{}, { enable: false }, { enable: 'true' }])
      expect((await ann.client.post('/api/dev/admin-session', body)).status).toBe(400);
    const bob = await signInDeveloper(stage, local);
    expect((await bob.client.post('/api/dev/admin-session', { enable: true })).json).toEqual({ success: true });
    expect((await bob.client.get('/api/admin/session')).json).toEqual({ unlocked: true, enabled: true, development: true });
    expect((await bob.client.get('/api/dev/users')).status).toBe(200);
    const [entry] = await stage.query('select action, email from audit_log order by id desc limit 1');
    expect(entry).toEqual({ action: 'admin_signed_in', email: bob.email });
  });

  test('list websites and users, newest first', async () => {
    const [email, label] = [freshAddress('owner'), freshDomain()];
    const [domain, registered] = [`one-${label}`, `two-${label}`];
    await ann.client.post('/api/websites', { domain });
    await local.client().post('/api/websites/register', { domain: registered, email });
    const [first, next] = (await admin.get(`/api/dev/websites?q=${label}`)).json;
    expect(first).toMatchObject({ domain: registered, email, claimed: false, verified: false });
    expect(next).toMatchObject({ domain, email: ann.email, claimed: true, verified: false });
    expect(Date.now() - Date.parse(next.createdAt)).toBeLessThan(60_000);
    const bob = await signInDeveloper(stage, local);
    const usersOf = async (q: string) => (await admin.get(`/api/dev/users?q=${q}`)).json;
    expect(await usersOf(bob.email)).toMatchObject([{ email: bob.email, websites: 0 }]);
    expect(await usersOf(ann.email)).toMatchObject([{ email: ann.email, websites: 1 }]);
    const ids = (await usersOf('@mail.example')).map((user: { id: string }) => user.id);
    expect(ids).toEqual([...ids].sort().reverse());
  });

  test('show and find a sign-in by the action that names its method', async () => {
    const email = freshAddress();
    await stage.query("insert into audit_log (action, email, method) values ('signed_in', $1, 'l'), ('signed_in', $1, 'r')", [email]);
    const actionsOf = async (q: string) =>
      (await admin.get(`/api/dev/audit-logs?q=${q}`)).json.map((entry: { action: string; email: string }) => [entry.action, entry.email]);
    expect(await actionsOf(email)).toEqual([
      ['signed_in_again', email],
      ['signed_in', email],
    ]);
    expect((await actionsOf('in_again'))[0]).toEqual(['signed_in_again', email]);
  });

  test.each(['websites', 'users', 'mails', 'audit-logs'])('return %s in pages of fifty without duplicates or omissions', async (list) => {
    const ids = Array.from({ length: 120 }, () => uuid());
    if (list === 'websites')
      await stage.query("insert into websites (id, domain) select id, id || '.example' from unnest($1::uuid[]) id", [ids]);
    if (list === 'users')
      await stage.query("insert into users (id, email) select id, id || '@mail.example' from unnest($1::uuid[]) id", [ids]);
    if (list === 'mails')
      await stage.query(
        `insert into outbox (id, kind, recipient, language, due_at, expires_at)
         select id, 'registered', 'a@mail.example', 'en', now() + interval '1 hour', now() + interval '1 day' from unnest($1::uuid[]) id`,
        [ids],
      );
    if (list === 'audit-logs') await stage.query("insert into audit_log (action) select 'paged' from generate_series(1, 120)");
    const table = { websites: 'websites', users: 'users', mails: 'outbox', 'audit-logs': 'audit_log' }[list];
    const expected = (await stage.query(`select id::text from ${table} order by ${table}.id desc limit 120`)).map(({ id }) => id);
    const seen: string[] = [];
    for (const length of [50, 50, null]) {
      const page = (await admin.get(`/api/dev/${list}${seen.length ? `?before=${seen.at(-1)}` : ''}`)).json;
      if (length) expect(page).toHaveLength(length);
      seen.push(...page.map(({ id }: { id: string }) => id));
    }
    expect(seen.slice(0, 120)).toEqual(expected);
    if (list === 'mails') await stage.query('delete from outbox where id = any($1)', [ids]);
  });

  test.each(['x', '-1', "1'%20or%20'1'='1", '00000000-0000-0000-0000', '9'.repeat(30), '%00', '1&before=2'])(
    'return 4xx for ?before=%s',
    async (before) => {
      for (const list of ['websites', 'users', 'mails', 'audit-logs']) {
        const { status } = await admin.get(`/api/dev/${list}?before=${before}`);
        expect([list, status]).toEqual([list, 400]);
      }
    },
  );
});

describe('the outbox page', () => {
  test('lists pending emails, and a retry sends one before it is due', async () => {
    const admin = await unlocked();
    const shop = await addWebsite(stage, local);
    const email = freshAddress();
    stage.mailbox.behave({ kind: 'greylist', tries: 1_000 });
    await requestEmail(local.client(), email, `https://${shop}/`);
    const pending = async () => (await admin.get('/api/dev/mails')).json.find((mail: { recipient: string }) => mail.recipient === email);
    // The refusal of the first try would be recorded after the change below.
    await waitUntil('the email was refused once', 30_000, async () => (await pending())?.tries === 1);
    const mail = await pending();
    expect(mail).toMatchObject({ kind: 'sign_in', recipient: email });
    expect(Date.parse(mail.expiresAt) - Date.parse(mail.createdAt)).toBe(600_000);
    await stage.query("update outbox set tries = 6, due_at = now() + interval '5 minutes' where id = $1", [mail.id]);
    expect(await pending()).toMatchObject({ tries: 6 });
    stage.mailbox.behave({ kind: 'accept' });
    expect((await admin.post(`/api/dev/mails/${mail.id}/retry`)).json).toEqual({ success: true });
    await stage.mailbox.waitFor(email);
    await waitUntil('the email has left the outbox', 30_000, async () => (await pending()) === undefined);
    expect(stage.mailbox.mailsFor(email)).toHaveLength(1);
    expect(await actions()).toContain('mail_retried');
    const again = await admin.post(`/api/dev/mails/${mail.id}/retry`);
    expect([again.status, again.json.code]).toEqual([404, 'mail_not_found']);
  });

  test('list the emails to visitors that were sent or failed, in pages, by result and text', async () => {
    const admin = await unlocked();
    const [shop, sent, refused] = [await addWebsite(stage, local), freshAddress(), freshAddress()];
    type Entry = Output<'adminMailHistory'>[number];
    const history = async (query: Record<string, string>): Promise<Entry[]> =>
      (await admin.get(`/api/dev/mails/history?${new URLSearchParams(query)}`)).json;
    await requestEmail(local.client(), sent, `https://${shop}/`);
    await waitUntil('the email was sent', 60_000, async () => (await history({ q: sent })).length === 1);
    await stage.query(
      `insert into sign_in_steps (action, result, email, domain, website_id)
       select 'mail_refused', '550 5.1.1', $1, domain, id from websites where domain = $2`,
      [refused, shop],
    );
    const found = await history({ q: shop });
    expect(found).toMatchObject([
      { recipient: refused, result: 'failed', website: shop, text: expect.stringContaining('550 5.1.1'), fix: expect.any(String) },
      { recipient: sent, result: 'sent', website: shop, fix: null },
    ]);
    const recipients = async (query: Record<string, string>) => (await history({ q: shop, ...query })).map(({ recipient }) => recipient);
    expect(await recipients({ result: 'failed' })).toEqual([refused]);
    expect(await recipients({ result: 'sent' })).toEqual([sent]);
    expect(await recipients({ before: found[0].id })).toEqual([sent]);
  });

  test('does not retry an email that an instance may be sending', async () => {
    const admin = await unlocked();
    const id = uuid();
    await stage.query(
      `insert into outbox (id, kind, recipient, language, data, due_at, expires_at)
       values ($1, 'registered', 'leased@mail.example', 'en', '{"domain": "shop.example"}', now() + interval '24 seconds', now() + interval '1 day')`,
      [id],
    );
    expect((await admin.post(`/api/dev/mails/${id}/retry`)).status).toBe(200);
    const [{ waits }] = await stage.query('select due_at > now() as waits from outbox where id = $1', [id]);
    expect(waits).toBe(true);
    await stage.query('delete from outbox where id = $1', [id]);
  });

  test('returns 404 for an expired email and an unknown id, and 400 without an id', async () => {
    const admin = await unlocked();
    const id = uuid();
    await stage.query(
      `insert into outbox (id, kind, recipient, language, due_at, expires_at)
       values ($1, 'registered', 'late@mail.example', 'en', now() + interval '1 minute', now())`,
      [id],
    );
    for (const unknown of [id, uuid()]) expect((await admin.post(`/api/dev/mails/${unknown}/retry`)).json.code).toBe('mail_not_found');
    expect((await admin.get('/api/dev/mails')).text).not.toContain('late@mail.example');
    expect((await admin.post('/api/dev/mails/1/retry')).status).toBe(400);
  });
});
