// A stage of its own: it removes all visitors and resets the roll-up.
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Output } from '../../contract/calls.ts';
import { rollUp } from '../../server/activity/stats.ts';
import type { Client } from '../support/client.ts';
import { openStage, production, type Service, type Stage } from '../support/harness.ts';
import { type Developer, freshAddress, freshDomain, requestEmail, signInDeveloper, visitorToken } from '../support/sign-ins.ts';
import { waitUntil } from '../support/waiting.ts';

type Website = Output<'createWebsite'>;
type List = Output<'listVisitors'>;

let stage: Stage;
let service: Service;
let jobs: pg.Pool;
let owner: Developer;
beforeAll(async () => {
  stage = await openStage();
  service = await stage.start(production);
  jobs = new pg.Pool({ connectionString: stage.databaseUrl, max: 8 });
  // Postpones the job: the tests run the roll-up themselves.
  await stage.query("select graphile_worker.add_job('roll-up', job_key => 'roll-up', run_at => now() + interval '1 day')");
  owner = await signInDeveloper(stage, service);
});
afterAll(async () => {
  await jobs.end();
  await stage.close();
});

const rollUpNow = () => rollUp((text, values) => jobs.query(text, values), { signal: new AbortController().signal, maxMs: 60_000 });

/** Adds a website. Its domain counts as verified unless `proven` is false. */
async function addSite({ proven = true, by = owner } = {}): Promise<Website> {
  await stage.query('truncate rate_limits');
  const site = (await by.client.post('/api/websites', { domain: freshDomain() })).json as Website;
  // Older than the rows that the tests write.
  await stage.query(
    "update websites set created_at = now() - interval '600 days', domain_since = now() - interval '600 days' where id = $1",
    [site.id],
  );
  if (proven) await stage.query('update websites set proven_at = now() where id = $1', [site.id]);
  return site;
}

/** Adds a row to the audit log as a sign-in does. */
const addVisit = (site: Website, email: string, { action = 'signed_in', daysAgo = 0, clientId = null as string | null } = {}) =>
  stage.query(
    `insert into audit_log (at, action, email, domain, client_id, website_id, method)
     values (clock_timestamp() - make_interval(days => $5), $1, $2, $3, $4, $6, 'l')`,
    [action, email, clientId ? null : site.domain, clientId, daysAgo, site.id],
  );

const pathOf = (site: Website, rest = '') => `/api/websites/${site.id}/visitors${rest}`;
/** Returns the visitors with everything that has happened. */
async function list(site: Website, query = '', client: Client = owner.client): Promise<List> {
  await rollUpNow();
  return (await client.get(pathOf(site, query ? `?${query}` : ''))).json;
}
const emailsOf = ({ visitors }: Pick<List, 'visitors'>) => visitors.map(({ email }) => email);
const erase = (site: Website, email: string, client: Client = owner.client) => client.post(pathOf(site, '/erase'), { email });
const addMember = (site: Website, email: string, role: 'owner' | 'member') =>
  stage.query(`insert into website_members (website_id, email, role, invited_by, joined_at) values ($1, $2, $3, $4, now())`, [
    site.id,
    email,
    role,
    owner.email,
  ]);

describe('the visitors of a website', () => {
  test('are those who signed in, with their methods', async () => {
    const site = await addSite();
    expect(await list(site)).toEqual({ visitors: [], total: 0, masked: false });

    const [ann, bob] = [freshAddress('ann'), freshAddress('bob')];
    const client = service.client();
    await visitorToken(stage, client, site.domain, ann);
    const key = decodeURIComponent(client.cookies.get('auth_key') ?? '');
    await client.post('/api/auth/validate-key', { email: ann, key, forward_url: `https://${site.domain}/` });
    await addVisit(site, bob, { action: 'application_signed_in', clientId: `https://shop.${site.domain}` });
    // Requests an email, and never opens it.
    await requestEmail(service.client(), freshAddress(), `https://${site.domain}/`);

    const expected = [
      { email: bob, byEmail: 0, remembered: 0, openid: 1 },
      { email: ann, byEmail: 1, remembered: 1, openid: 0 },
    ];
    const { visitors, total } = await list(site);
    expect([visitors, total]).toMatchObject([expected, 2]);
    const { firstAt, lastAt } = visitors[1];
    expect(Date.parse(lastAt)).toBeGreaterThan(Date.parse(firstAt));

    // Half of the rows in an earlier roll-up, half in a later one.
    await addVisit(site, ann);
    expect((await list(site)).visitors[0]).toMatchObject({ email: ann, firstAt, byEmail: 2, remembered: 1 });
  });

  test('are counted once when several instances add them at the same time', async () => {
    const site = await addSite();
    const addresses = Array.from({ length: 5 }, (_, n) => `v${n}@mail.example`);
    for (let round = 0; round < 4; round++) for (const email of addresses) await addVisit(site, email);
    await Promise.all([rollUpNow(), rollUpNow(), rollUpNow()]);
    await rollUpNow();
    expect((await list(site, 'sort=email&order=asc')).visitors.map(({ email, byEmail }) => [email, byEmail])).toEqual(
      addresses.map((email) => [email, 4]),
    );
  });

  test('are those since the website got its domain or its owner', async () => {
    const site = await addSite();
    await stage.query("update websites set domain_since = now() - interval '2 days' where id = $1", [site.id]);
    await addVisit(site, 'former@mail.example', { daysAgo: 3 });
    await addVisit(site, 'present@mail.example', { daysAgo: 1 });
    expect(emailsOf(await list(site))).toEqual(['present@mail.example']);
  });

  test('include those of before an upgrade, which the job adds in batches', async () => {
    const site = await addSite();
    await stage.query('delete from website_visitors');
    await stage.query(
      `insert into audit_log (at, action, email, website_id, method)
       select now() - interval '30 days', 'signed_in', 'v' || n % 7000 || '@mail.example', $1, 'l' from generate_series(1, 14000) n`,
      [site.id],
    );
    await stage.query('update visitor_roll_up set last_audit_id = 0');
    await rollUpNow();
    expect((await list(site)).total).toBe(7000);
    const [{ twice }] = await stage.query('select count(*)::int as twice from website_visitors where website = $1 and by_email = 2', [
      site.id,
    ]);
    expect(twice).toBe(7000);
  });

  test('are not those of the domain before it became the website’s, nor of 400 days ago', async () => {
    const site = await addSite();
    await stage.query(
      "update websites set created_at = now() - interval '500 days', domain_since = now() - interval '500 days' where id = $1",
      [site.id],
    );
    await addVisit(site, 'before@mail.example', { daysAgo: 501 });
    await addVisit(site, 'long-ago@mail.example', { daysAgo: 450 });
    await addVisit(site, 'recent@mail.example', { daysAgo: 300 });
    await rollUpNow();
    expect(emailsOf(await list(site))).toEqual(['recent@mail.example']);
  });

  test('are found, sorted and paged', async () => {
    const site = await addSite();
    for (let n = 10; n < 70; n++) await addVisit(site, `v${n}@mail.example`, { daysAgo: 100 - n });
    await addVisit(site, 'v15@mail.example');
    const first = await list(site);
    expect(first).toMatchObject({ total: 60 });
    expect(first.visitors).toHaveLength(50);
    expect(first.visitors[0].email).toBe('v15@mail.example');
    const second = emailsOf(await list(site, 'page=2'));
    expect([second.length, second.at(-1)]).toEqual([10, 'v10@mail.example']);
    expect(new Set([...emailsOf(first), ...second]).size).toBe(60);
    expect(emailsOf(await list(site, 'page=3'))).toEqual([]);
    expect((await list(site, 'sort=count')).visitors[0].email).toBe('v15@mail.example');
    expect((await list(site, 'sort=first&order=asc')).visitors[0].email).toBe('v10@mail.example');
    expect((await list(site, 'sort=email&order=asc')).visitors[0].email).toBe('v10@mail.example');
    expect(await list(site, 'search=V3')).toMatchObject({ total: 10 });
    expect(await list(site, `search=${encodeURIComponent('%')}`)).toMatchObject({ total: 0, visitors: [] });
  });

  test('are removed by the clean-up 400 days after their last sign-in', async () => {
    const site = await addSite();
    const add =
      'insert into website_visitors (website, email, first_at, last_at) values ($1, $2, now() - make_interval(days => $3), now() - make_interval(days => $3))';
    await stage.query(add, [site.id, 'old@mail.example', 401]);
    await stage.query(add, [site.id, 'young@mail.example', 399]);
    await stage.query("select graphile_worker.add_job('clean-up-accounts', job_key => 'clean-up-accounts', run_at => now())");
    await expect.poll(async () => emailsOf(await list(site)), { timeout: 60_000 }).toEqual(['young@mail.example']);
  });
});

describe('an export', () => {
  test('has all visitors or one, and is recorded once in the audit log', async () => {
    const site = await addSite();
    await stage.query(
      `insert into audit_log (action, email, website_id, method) select 'signed_in', 'v' || lpad(n::text, 5, '0') || '@mail.example', $1, 'l' from generate_series(1, 5001) n`,
      [site.id],
    );
    await rollUpNow();
    const first = (await owner.client.post(pathOf(site, '/export'), {})).json;
    expect(first.visitors).toHaveLength(5000);
    expect(first.next).toBe('v05000@mail.example');
    const rest = (await owner.client.post(pathOf(site, '/export'), { after: first.next })).json;
    expect(emailsOf(rest)).toEqual(['v05001@mail.example']);
    expect(rest.next).toBeNull();
    const one = (await owner.client.post(pathOf(site, '/export'), { email: 'v00007@mail.example' })).json;
    expect(one).toMatchObject({ visitors: [{ email: 'v00007@mail.example', byEmail: 1 }], next: null });
    const rows = await stage.query("select email from audit_log where action = 'visitors_exported' and domain = $1", [site.domain]);
    expect(rows).toEqual([{ email: owner.email }, { email: owner.email }]);
  });
});

describe('erasing a visitor', () => {
  test('removes the address from the list and from what is shown of earlier events', async () => {
    const site = await addSite();
    const [client, email, other] = [service.client(), freshAddress(), freshAddress()];
    await visitorToken(stage, client, site.domain, email);
    await visitorToken(stage, service.client(), site.domain, other);
    const eventsOf = async () =>
      (await owner.client.get(`/api/websites/events?domain=${site.domain}&since=600`)).json.events.map(
        (event: { email: string }) => event.email,
      );
    expect(await eventsOf()).toContain(email);
    expect((await erase(site, email)).json).toEqual({ success: true });
    expect(emailsOf(await list(site))).toEqual([other]);
    expect(await eventsOf()).not.toContain(email);
    expect((await eventsOf()).filter((shown: string) => shown === 'erased').length).toBeGreaterThanOrEqual(2);
    expect(await eventsOf()).toContain(other);
    const rows = await stage.query("select email from audit_log where action = 'visitor_erased' and domain = $1", [site.domain]);
    expect(rows).toEqual([{ email: owner.email }]);

    // A later sign-in is a new visit.
    await addVisit(site, email);
    expect((await list(site)).visitors[0]).toMatchObject({ email, byEmail: 1 });
    expect(await eventsOf()).toContain(email);
  });

  test('ends its pending sign-ins, tokens and grants at this website, and at no other one', async () => {
    const [site, elsewhere] = [await addSite(), await addSite()];
    const email = freshAddress();
    const tokens = [
      await visitorToken(stage, service.client(), site.domain, email),
      await visitorToken(stage, service.client(), elsewhere.domain, email),
    ];
    await stage.query('truncate rate_limits');
    const pending = await Promise.all(
      [site, elsewhere].map(async ({ domain }) => {
        const client = service.client();
        await requestEmail(client, email, `https://${domain}/`);
        return client;
      }),
    );
    await expect.poll(() => stage.mailbox.mailsFor(email).length, { timeout: 60_000 }).toBe(4);
    const mails = stage.mailbox.mailsFor(email).slice(-2);
    const addGrant = async (clientId: string) => {
      const grant = `decode(md5($1 || $2), 'hex')`;
      await stage.query(`insert into oidc_records (kind, id, payload, email, client_id) values ('Grant', ${grant}, '{}', $1, $2)`, [
        email,
        clientId,
      ]);
      await stage.query(
        `insert into oidc_records (kind, id, payload, email, grant_id) values ('RefreshToken', sha256(${grant}), jsonb_build_object('of', $2::text), $1, ${grant})`,
        [email, clientId],
      );
    };
    await addGrant(`https://shop.${site.domain}`);
    await addGrant(`https://${elsewhere.domain}`);
    await addGrant('app_0123456789012345678901');

    await erase(site, email);
    const verify = async (token: string, { domain }: Website) =>
      (await service.client().get(`/api/verify-token?token=${token}&domain=${domain}`)).json;
    expect(await verify(tokens[0], site)).toMatchObject({ valid: false, reason: 'unknown' });
    expect(await verify(tokens[1], elsewhere)).toMatchObject({ valid: true, email });
    for (const [index, client] of pending.entries()) {
      const mail = mails.find(({ text }) => text.includes([site, elsewhere][index].domain));
      if (!mail) throw new Error('There is no such email');
      const response = await client.get(mail.link);
      expect(response.status).toBe(index === 0 ? 200 : 303);
    }
    const grants = await stage.query(
      "select kind, coalesce(client_id, payload->>'of') as client from oidc_records where email = $1 order by kind, client",
      [email],
    );
    expect(grants).toEqual([
      { kind: 'Grant', client: 'app_0123456789012345678901' },
      { kind: 'Grant', client: `https://${elsewhere.domain}` },
      { kind: 'RefreshToken', client: 'app_0123456789012345678901' },
      { kind: 'RefreshToken', client: `https://${elsewhere.domain}` },
    ]);
  });

  test('holds while the roll-up runs at the same time', async () => {
    const site = await addSite();
    const addresses = Array.from({ length: 30 }, (_, n) => `race${n}@mail.example`);
    for (const email of addresses) await addVisit(site, email);
    const erased = (email: string) => waitUntil(`${email} is erased`, 60_000, async () => (await erase(site, email)).status === 200);
    await Promise.all([...addresses.slice(0, 20).map(erased), rollUpNow(), rollUpNow(), rollUpNow()]);
    await rollUpNow();
    const expected = addresses.slice(20).sort();
    expect(emailsOf(await list(site, 'sort=email&order=asc'))).toEqual(expected);
    const rows = await stage.query('select email from website_visitors where website = $1 order by email', [site.id]);
    expect(rows.map(({ email }) => email)).toEqual(expected);
  });

  test('postpones the roll-up until it has committed', async () => {
    const site = await addSite();
    await rollUpNow();
    await addVisit(site, 'waiting@mail.example');
    const holder = await jobs.connect();
    try {
      await holder.query('begin');
      await holder.query('update visitor_roll_up set erasures = erasures + 1');
      await rollUpNow();
      expect(await stage.query('select email from website_visitors where website = $1', [site.id])).toEqual([]);
      await holder.query('commit');
    } finally {
      holder.release();
    }
    await rollUpNow();
    expect(await stage.query('select email from website_visitors where website = $1', [site.id])).toEqual([
      { email: 'waiting@mail.example' },
    ]);
  });
});

describe('a website whose domain is not verified', () => {
  test('shows masked addresses only, which cannot be searched, exported or erased', async () => {
    const site = await addSite({ proven: false });
    await addVisit(site, 'ann@mail.example');
    const masked = await list(site);
    expect(masked).toMatchObject({ masked: true, total: 1, visitors: [{ email: 'a•••@mail.example', byEmail: 1 }] });
    for (const response of [
      await owner.client.get(pathOf(site, '?search=ann')),
      await owner.client.get(pathOf(site, '?sort=email')),
      await owner.client.post(pathOf(site, '/export'), {}),
      await erase(site, 'ann@mail.example'),
    ])
      expect([response.status, response.json.code]).toEqual([409, 'unproven_domain']);
    expect(await list(site)).toEqual(masked);
  });
});

describe('who may do what', () => {
  test('a member sees the visitors; only owners export and erase them', async () => {
    const site = await addSite();
    await addVisit(site, 'ann@mail.example');
    const [member, coOwner, stranger] = [
      await signInDeveloper(stage, service),
      await signInDeveloper(stage, service),
      await signInDeveloper(stage, service),
    ];
    await addMember(site, member.email, 'member');
    await addMember(site, coOwner.email, 'owner');
    expect(emailsOf(await list(site, '', member.client))).toEqual(['ann@mail.example']);
    for (const response of [await member.client.post(pathOf(site, '/export'), {}), await erase(site, 'ann@mail.example', member.client)])
      expect([response.status, response.json.code]).toEqual([403, 'owner_needed']);
    for (const response of [
      await stranger.client.get(pathOf(site)),
      await stranger.client.post(pathOf(site, '/export'), {}),
      await erase(site, 'ann@mail.example', stranger.client),
    ])
      expect([response.status, response.json.code]).toEqual([404, 'website_not_found']);
    expect((await service.client().get(pathOf(site))).status).toBe(401);
    expect((await coOwner.client.post(pathOf(site, '/export'), {})).json.visitors).toHaveLength(1);
    expect((await erase(site, 'ann@mail.example', coOwner.client)).status).toBe(200);
  });
});
