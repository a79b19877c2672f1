import pg from 'pg';
import { afterAll, describe, expect, test } from 'vitest';
import { openHome } from '../cli/command.ts';
import type { Client } from '../support/client.ts';
import { production, useProduction, useService } from '../support/harness.ts';
import {
  addApplication,
  authorizationRequest,
  postForm,
  requestInteractionEmail,
  signInAt,
  visit,
  websiteClient,
} from '../support/oidc-driver.ts';
import { addWebsite, type Developer, freshAddress, freshDomain, requestEmail, signInDeveloper, visitorToken } from '../support/sign-ins.ts';
import { countNow } from '../support/statistics.ts';

const { stage, service } = await useService();
const { service: instance } = await useProduction();
const home = await openHome(service.url);
afterAll(() => home.close());

const erase = (address: string, ...flags: string[]) =>
  home.run(['db', 'erase', address, ...flags], { env: { DATABASE_URL: stage.databaseUrl } });

/** Returns the tables of all schemas that have a row with the text. */
async function tablesWith(text: string): Promise<string[]> {
  const tables = await stage.query(
    `select quote_ident(table_schema) || '.' || quote_ident(table_name) as name from information_schema.tables
     where table_schema not in ('pg_catalog', 'information_schema') and table_type = 'BASE TABLE' order by 1`,
  );
  const searches = tables.map(({ name }) => `select '${name}' as name from ${name} t where strpos(to_jsonb(t)::text, $1) > 0`);
  const found = await stage.query(`${searches.join(' union ')} order by 1`, [text]);
  return found.map(({ name }) => String(name).replace('public.', ''));
}

/** Uses an address in every way that stores it: as a visitor, a developer, a member, and a person at a client of OpenID Connect. */
async function useEverywhere(ann: Developer, other: Developer): Promise<{ shared: string }> {
  const { email, client } = ann;
  const shared = freshDomain();
  const { id } = (await other.client.post('/api/websites', { domain: shared })).json;
  await stage.query('update websites set proven_at = now() where id = $1', [id]);
  expect((await other.client.post(`/api/websites/${id}/members`, { email, role: 'owner' })).status).toBe(200);
  await stage.mailbox.waitFor(email);
  expect((await client.post(`/api/invitations/${id}/accept`)).status).toBe(200);
  await client.post(`/api/websites/${id}/members`, { email: freshAddress('guest'), role: 'member' });
  await visitorToken(stage, service.client(), shared, email);
  await requestEmail(service.client(), email, `https://${shared}/`);
  await stage.mailbox.waitFor(email);
  await client.post('/api/waitlist', { service: 'bugs' });
  await stage.query(
    `insert into passkeys (id, credential_id, email, user_handle, public_key, counter, device_type, backed_up, aaguid, name)
     values (gen_random_uuid(), 'AQID', $1, '', '', 0, 'singleDevice', false, gen_random_uuid(), 'a device')`,
    [email],
  );
  await client.get(`/api/websites/claim/${freshDomain()}`);
  await client.post('/api/api-keys', { name: 'a key', environment: 'live' });
  const app = await addApplication(other, { authentication: 'secret' });
  await signInAt(stage, service, app, { email });
  await signInAt(stage, service, websiteClient(shared), { email });
  const waiting = service.client();
  const begun = await visit(waiting, (await authorizationRequest(app, { login_hint: email })).url);
  await requestInteractionEmail(waiting, begun.interaction, email);
  await postForm(service.client(), '/oauth/par', app, { login_hint: email });
  // Unclaimed websites count the mailboxes that they send to.
  const unclaimed = freshDomain();
  await service.client().post('/api/websites/register', { domain: unclaimed, email: freshAddress('owner') });
  await requestEmail(service.client(), email, `https://${unclaimed}/`);
  // An email that cannot be delivered stays pending.
  stage.mailbox.behave({ kind: 'greylist', tries: 1_000 });
  await requestEmail(service.client(), email, `https://${shared}/`);
  return { shared };
}

test('erases an address from every table, keeps other addresses, and refuses one that owns websites', { timeout: 300_000 }, async () => {
  const ann = await signInDeveloper(stage, service);
  const other = await signInDeveloper(stage, service);
  // Its end is the whole address.
  const similar = await signInDeveloper(stage, service, `x${ann.email}`);
  const [kept, deleted] = [freshDomain(), freshDomain()];
  for (const domain of [kept, deleted]) await ann.client.post('/api/websites', { domain });
  await addWebsite(stage, service);
  const { shared } = await useEverywhere(ann, other);
  // Jobs delete expired rows of all other tables that have the address.
  const lasting = [
    'audit_log',
    'domain_claims',
    'outbox',
    'passkeys',
    'remembered_keys',
    'sign_in_attempts',
    'tokens',
    'users',
    'waitlist',
    'websites',
    'website_members',
  ];
  const brief = ['oidc_records', 'rate_limits', 'sign_in_steps', 'website_recipients'];
  expect(await tablesWith(ann.email)).toEqual(expect.arrayContaining([...lasting, ...brief]));
  const rowsBefore = Number((await stage.query('select count(*)::int as count from audit_log'))[0].count);
  const replaced = async () => (await stage.query("select distinct email from audit_log where email like 'erased-%'")).length;
  const replacedBefore = await replaced();

  const refused = await erase(ann.email, '--yes');
  expect([refused.exitCode, refused.stderr]).toEqual([1, expect.stringContaining([kept, deleted].sort().join(', '))]);
  expect((await erase(ann.email, '--yes', '--delete-websites', `${shared}`)).stderr).toContain(`does not own ${shared}`);
  const flags = ['--delete-websites', deleted, '--transfer-to', other.email, '--json'];
  const counted = await erase(ann.email, '--dry-run', ...flags);
  expect([counted.exitCode, counted.stderr]).toEqual([0, expect.anything()]);
  expect(counted.json()).toMatchObject({
    erased: false,
    rows: { users: 1, 'websites deleted': 1, 'websites transferred': 1, api_keys: 1, outbox: expect.any(Number) },
  });
  expect(await tablesWith(ann.email)).toEqual(expect.arrayContaining(lasting));

  const erased = await erase(ann.email.toUpperCase(), '--yes', ...flags);
  expect([erased.exitCode, erased.json().erased]).toEqual([0, true]);
  // The only rows left are those of the similar address.
  await similar.client.post('/api/auth/logout');
  const left = await stage.query(
    `select email from audit_log where strpos(email, $1) > 0 union select email from users where strpos(email, $1) > 0`,
    [ann.email],
  );
  expect(left).toEqual([{ email: similar.email }]);
  expect((await erase(similar.email, '--yes')).exitCode).toBe(0);
  // A try to deliver an email that was in progress may have recorded its result afterwards.
  if ((await tablesWith(ann.email)).length > 0) expect((await erase(ann.email, '--yes')).exitCode).toBe(0);
  expect(await tablesWith(ann.email)).toEqual([]);

  expect(await stage.query('select domain, email from websites where domain = any($1) order by 1', [[kept, deleted]])).toEqual([
    { domain: kept, email: other.email },
  ]);
  expect(Number((await stage.query('select count(*)::int as count from audit_log'))[0].count)).toBeGreaterThan(rowsBefore);
  expect(await replaced()).toBe(replacedBefore + 2);
  const [entry] = await stage.query("select email, domain from audit_log where action = 'address_erased' order by id limit 1");
  expect(entry).toEqual({ email: null, domain: null });
  expect((await ann.client.get('/api/user/me')).status).toBe(401);
  expect((await other.client.get('/api/user/me')).status).toBe(200);
  // The audit log is append-only again.
  await expect(stage.query("update audit_log set email = null where action = 'address_erased'")).rejects.toThrow('append-only');

  const { id } = (await other.client.get('/api/websites')).json.find(({ domain }: { domain: string }) => domain === shared);
  await countNow(stage);
  const { visitors } = (await other.client.get(`/api/websites/${id}/visitors`)).json;
  expect(JSON.stringify(visitors)).not.toContain('erased-');
  const log = await other.client.get(`/api/websites/${id}/log`);
  expect(log.json.events.filter(({ email }: { email: string | null }) => email === 'erased').length).toBeGreaterThan(0);
  expect(log.text).not.toContain('erased-');
  stage.mailbox.behave({ kind: 'accept' });
});

test('reports an address that no row contains, and an invalid one', async () => {
  const nothing = await erase(freshAddress(), '--yes', '--json');
  expect([nothing.exitCode, nothing.json()]).toEqual([0, { erased: false, rows: {} }]);
  expect((await erase('ann', '--yes')).stderr).toContain('is not a valid address');
});

describe('POST /api/admin/erase', () => {
  const PASSWORD = { password: production.ADMIN_PASSWORD };
  const ERASE = '/api/admin/erase';

  async function openAdmin(): Promise<Client> {
    const client = instance.client();
    const opened = await client.post('/api/admin/verify', PASSWORD);
    expect(opened.status).toBe(200);
    return client;
  }

  test('erases an address that the body names, and decides about its websites', async () => {
    const admin = await openAdmin();
    const [ann, heir] = [await signInDeveloper(stage, service), await signInDeveloper(stage, service)];
    const [kept, deleted] = [freshDomain(), freshDomain()];
    for (const domain of [kept, deleted]) await ann.client.post('/api/websites', { domain });
    const erases = (body: object) => admin.post(ERASE, { email: ann.email, ...body });

    expect((await instance.client().post(ERASE, { email: ann.email })).json.code).toBe('admin_needed');
    for (const method of ['GET', 'DELETE']) expect((await admin.send(`${ERASE}?email=${ann.email}`, { method })).status).toBe(405);
    expect((await admin.post(ERASE, { email: 'ann' })).json).toMatchObject({ code: 'bad_email', field: 'email' });
    const undecided = await erases({});
    expect([undecided.status, undecided.json]).toEqual([
      409,
      expect.objectContaining({ code: 'websites_undecided', hint: expect.stringContaining('transferTo') }),
    ]);
    for (const domain of [kept, deleted]) expect(undecided.json.error).toContain(domain);
    expect((await erases({ deleteWebsites: [freshDomain()] })).json).toMatchObject({ code: 'bad_request', field: 'deleteWebsites' });
    expect((await erases({ transferTo: ann.email })).json).toMatchObject({ code: 'bad_request', field: 'transferTo' });
    const decisions = { deleteWebsites: [deleted], transferTo: heir.email };
    const counted = await erases({ ...decisions, dryRun: true });
    expect(counted.json).toMatchObject({ erased: false, rows: { users: 1, 'websites deleted': 1, 'websites transferred': 1 } });
    expect((await ann.client.get('/api/user/me')).status).toBe(200);

    const erased = await erases({ ...decisions, email: ann.email.toUpperCase() });
    expect([erased.status, erased.json.erased, erased.json.rows.users]).toEqual([200, true, 1]);
    expect(await tablesWith(ann.email)).toEqual([]);
    expect((await ann.client.get('/api/user/me')).status).toBe(401);
    expect((await heir.client.get('/api/websites')).json.map(({ domain }: { domain: string }) => domain)).toContain(kept);
    expect(await stage.query("select action, email from audit_log where action = 'address_erased' order by id desc limit 1")).toEqual([
      { action: 'address_erased', email: null },
    ]);
    expect((await erases({})).json).toEqual({ erased: false, rows: {} });
    expect(instance.output()).not.toContain(ann.email);
  });

  test('erases nothing when the audit log stays in use, and names the command', async () => {
    const admin = await openAdmin();
    admin.retriesUnavailable = false;
    const ann = await signInDeveloper(stage, service);
    const holder = new pg.Client(stage.databaseUrl);
    await holder.connect();
    await holder.query('begin; lock table audit_log in row exclusive mode');
    // An address that no table contains needs no lock, which would keep sign-ins waiting.
    expect((await admin.post(ERASE, { email: freshAddress() })).json).toEqual({ erased: false, rows: {} });
    const busy = await admin.post(ERASE, { email: ann.email });
    expect([busy.status, busy.json]).toEqual([
      503,
      expect.objectContaining({ code: 'unavailable', hint: expect.stringContaining('emailauth db erase') }),
    ]);
    await holder.end();
    expect((await ann.client.get('/api/user/me')).status).toBe(200);
    expect((await admin.post(ERASE, { email: ann.email })).json.erased).toBe(true);
  });
});
