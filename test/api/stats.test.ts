// A stage of its own: it counts all rows of the statistics.
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Output } from '../../contract/calls.ts';
import { rollUp, Stats } from '../../server/activity/stats.ts';
import type { Database } from '../../server/platform/db/database.ts';
import { openPatientDatabase } from '../statements/database.ts';
import { openStage, type Service, type Stage } from '../support/harness.ts';
import {
  type Developer,
  freshAddress,
  freshDomain,
  openLink,
  requestEmail,
  signInDeveloper,
  tokenOf,
  visitorToken,
} from '../support/sign-ins.ts';
import { waitUntil } from '../support/waiting.ts';

let stage: Stage;
let service: Service;
let other: Service;
let database: Database;
let jobs: pg.Pool;
let stats: Stats;
let ann: Developer;
let bob: Developer;
beforeAll(async () => {
  stage = await openStage();
  service = await stage.start();
  other = await stage.start();
  database = openPatientDatabase(stage.databaseUrl);
  jobs = new pg.Pool({ connectionString: stage.databaseUrl, max: 8 });
  stats = new Stats({ core: database.core, uptime: async () => null });
  // Postpones the job: the tests run the roll-up themselves.
  await stage.query("select graphile_worker.add_job('roll-up', job_key => 'roll-up', run_at => now() + interval '1 day')");
  ann = await signInDeveloper(stage, service);
  bob = await signInDeveloper(stage, service);
});
afterAll(async () => {
  await jobs.end();
  await database.close();
  await stage.close();
});

const rollUpNow = (maxMs = 60_000) => rollUp((text, values) => jobs.query(text, values), { signal: new AbortController().signal, maxMs });
const addWebsite = async (owner: Developer, domain = freshDomain()) => (await owner.client.post('/api/websites', { domain })).json;
const statsOf = async (owner: Developer, id: string) =>
  (await owner.client.get('/api/websites/stats')).json.find((site: { id: string }) => site.id === id);
const historyOf = async (owner: Developer, id: string, days = 30) =>
  (await owner.client.get(`/api/websites/${id}/stats?days=${days}`)).json as Output<'websiteHistory'>;
const overviewOf = async (owner: Developer) => (await owner.client.get('/api/overview')).json;
const today = async () => (await stats.dailyLogins())[0].count;
/** Adds a row to the audit log as a sign-in does. @param row.at an SQL expression @param row.method its code */
const addRow = (action: string, row: { domain?: string | null; clientId?: string | null; at?: string; method?: string } = {}) => {
  const { domain = null, clientId = null, at = 'now()', method = /^(application_)?signed_in$/.test(action) ? 'l' : null } = row;
  const values = [action, domain, clientId, method];
  return stage.query(
    `insert into audit_log (at, action, email, domain, client_id, method, website_id, application_id)
     select ${at}, $1, 'v@mail.example', $2, $3, $4,
       (select id from websites where domain = $2 or $3 ~ ('^https://([^/:]+\\.)?' || replace(domain, '.', '\\.') || '$')),
       (select id from applications where client_id = $3)`,
    values,
  );
};
const watermark = async () => {
  const [{ rest }] = await stage.query('select (select max(id) from audit_log) - last_audit_id as rest from roll_up');
  return Number(rest);
};
/** Returns the seconds from the request of a visitor to the opening, which are 14 or 40 and what the test took meanwhile. */
const secondsOf = async (email: string) => {
  const [{ seconds }] = await stage.query(
    "select seconds from audit_log where action = 'signed_in' and method in ('l', 'c') and email = $1",
    [email],
  );
  return Number(seconds);
};
const NOTHING = { sent: 0, opened: 0, again: 0, byPasskey: 0, byVerifiedEmail: 0, completed: 0, medianSeconds: null };

/** Returns the expected totals, counted from the whole audit log. */
const counted = () =>
  stage.query(`select (select count(*) from audit_log where action in ('developer_signed_in', 'application_signed_in')
      or (action = 'signed_in' and domain is not null))::int as logins,
    (select count(*) from audit_log a join websites w on w.domain = a.domain and a.at >= w.domain_since
      where action = 'token_verified')::int as completed`);
const summed = () =>
  stage.query(`select (select sum(logins) from daily_logins)::int as logins, (select sum(completed) from daily_sites)::int as completed`);

/** Locks a table, so that nothing can read it. @returns a function that ends it */
async function lockTable(table: string): Promise<() => Promise<void>> {
  const client = await jobs.connect();
  await client.query(`begin; lock table ${table} in access exclusive mode`);
  return async () => {
    await client.query('rollback');
    client.release();
  };
}

describe('the statistics of a website', () => {
  test('count links, codes, remembered accounts and verified tokens', async () => {
    const site = await addWebsite(ann);
    // Older than the attempts, which are made older below.
    await stage.query(
      "update websites set created_at = now() - interval '5 minutes', domain_since = now() - interval '5 minutes' where id = $1",
      [site.id],
    );
    expect(await statsOf(ann, site.id)).toEqual({ id: site.id, ...NOTHING });
    await rollUpNow();
    const before = await today();

    // By the link, at least 14 seconds after the request; verified twice, the second time without success.
    const [client, email] = [service.client(), freshAddress()];
    await requestEmail(client, email, `https://${site.domain}/`);
    await stage.query("update sign_in_attempts set expires_at = expires_at - interval '14 seconds' where email = $1", [email]);
    const token = tokenOf(await openLink(client, await stage.mailbox.waitFor(email)));
    for (const valid of [true, false])
      expect((await client.get(`/api/verify-token?token=${token}&domain=${site.domain}`)).json).toMatchObject({ valid });

    // By the code, at least 40 seconds after the request; the token is never verified.
    const [other, address] = [service.client(), freshAddress()];
    await requestEmail(other, address, `https://${site.domain}/`);
    await stage.query("update sign_in_attempts set expires_at = expires_at - interval '40 seconds' where email = $1", [address]);
    const { code } = await stage.mailbox.waitFor(address);
    expect((await other.post('/api/auth/email-code', { email: address, code })).status).toBe(200);

    // By the remembered account.
    const key = decodeURIComponent(client.cookies.get('auth_key') ?? '');
    const again = await client.post('/api/auth/validate-key', { email, key, forward_url: `https://${site.domain}/` });
    expect(again.json).toHaveProperty('redirectUrl');

    // By a passkey and by an address that the browser proved, as their sign-ins record it.
    await addRow('signed_in', { ...site, method: 'p' });
    await addRow('signed_in', { ...site, method: 'v' });

    // An email that is not opened.
    await requestEmail(service.client(), freshAddress(), `https://${site.domain}/`);

    const [byLink, byCode] = [await secondsOf(email), await secondsOf(address)];
    expect(byLink).toBeGreaterThanOrEqual(14);
    expect(byCode).toBeGreaterThanOrEqual(40);
    const withoutEmail = { again: 3, byPasskey: 1, byVerifiedEmail: 1 };
    const expected = { id: site.id, sent: 3, opened: 2, ...withoutEmail, completed: 1, medianSeconds: byLink };
    const total = {
      sent: 3,
      opened: 2,
      openedByCode: 1,
      ...withoutEmail,
      completed: 1,
      completedAgain: 0,
      openIdAgain: 0,
      openIdSent: 0,
      openIdOpened: 0,
    };
    const median = { all: byLink, link: byLink, code: byCode };
    // The totals come later.
    expect(await statsOf(ann, site.id)).toEqual({ id: site.id, ...NOTHING });
    expect(await today()).toBe(before);
    expect(await rollUpNow()).toBe(true);
    expect(await watermark()).toBe(0);
    expect(await statsOf(ann, site.id)).toEqual(expected);
    expect(await historyOf(ann, site.id)).toMatchObject({ total, median });
    expect(await today()).toBe(before + 5);
    expect(await overviewOf(ann)).toEqual({ totalLogins: 5, activeApplications: 0, apiRequests: 0, uptimePercent: null });

    // The next ones are added to those.
    await visitorToken(stage, service.client(), site.domain);
    await rollUpNow();
    expect(await statsOf(ann, site.id)).toMatchObject({ sent: 4, opened: 3, medianSeconds: byLink });
    expect((await overviewOf(ann)).totalLogins).toBe(6);
  });

  test('are returned while the history of the probes cannot be read', async () => {
    const client = other.client();
    client.cookies = new Map(bob.client.cookies);
    const end = await lockTable('probes');
    const overview = await overviewOf({ ...bob, client });
    await end();
    expect(overview).toMatchObject({ totalLogins: 0, uptimePercent: null });
  });

  test('are not visible to other accounts', async () => {
    const site = await addWebsite(ann);
    await visitorToken(stage, service.client(), site.domain);
    await rollUpNow();
    expect(await statsOf(bob, site.id)).toBeUndefined();
    expect((await overviewOf(bob)).totalLogins).toBe(0);
    for (const path of ['/api/websites/stats', '/api/overview', '/api/admin/daily-login-stats'])
      expect([path, (await service.client().get(path)).status]).toEqual([path, 401]);
    expect((await ann.client.get('/api/admin/daily-login-stats')).status).toBe(401);
  });

  test.each(['before', 'after'])('start at zero for the next website of the domain, %s the roll-up', async (when) => {
    const first = await addWebsite(ann);
    await visitorToken(stage, service.client(), first.domain);
    if (when === 'after') await rollUpNow();
    await ann.client.delete(`/api/websites/${first.id}`);
    const second = await addWebsite(bob, first.domain);
    expect(await statsOf(bob, second.id)).toEqual({ id: second.id, ...NOTHING });
    await rollUpNow();
    expect(await statsOf(bob, second.id)).toEqual({ id: second.id, ...NOTHING });
    await visitorToken(stage, service.client(), second.domain);
    await rollUpNow();
    expect(await statsOf(bob, second.id)).toMatchObject({ sent: 1, opened: 1, completed: 0 });
  });

  test("stay with a website that changes its domain, and exclude those of the domain's previous website", async () => {
    const [moving, left] = [await addWebsite(ann), await addWebsite(bob)];
    await visitorToken(stage, service.client(), moving.domain);
    await rollUpNow();
    await visitorToken(stage, service.client(), left.domain);
    await bob.client.delete(`/api/websites/${left.id}`);
    expect((await ann.client.put(`/api/websites/${moving.id}`, { domain: left.domain })).json).toMatchObject({ domain: left.domain });
    expect(await statsOf(ann, moving.id)).toMatchObject({ sent: 1, opened: 1 });
    await rollUpNow();
    expect(await statsOf(ann, moving.id)).toMatchObject({ sent: 1, opened: 1 });
  });

  test('cover exactly 30 UTC days', async () => {
    const site = await addWebsite(ann);
    await stage.query(
      "update websites set created_at = now() - interval '60 days', domain_since = now() - interval '60 days' where id = $1",
      [site.id],
    );
    const midnight = "date_trunc('day', now(), 'UTC')";
    for (const at of [`${midnight} - interval '29 days'`, `${midnight} - interval '1 microsecond'`, midnight])
      await addRow('signed_in', { domain: site.domain, at });
    await addRow('signed_in', { domain: site.domain, at: `${midnight} - interval '29 days 1 microsecond'` });
    await rollUpNow();
    expect(await statsOf(ann, site.id)).toMatchObject({ opened: 3 });
    const sums = await stage.query(
      `select (date_trunc('day', now(), 'UTC') at time zone 'UTC')::date - day as ago, opened::int from daily_sites where website = $1 order by day desc`,
      [site.id],
    );
    expect(sums).toEqual([0, 1, 29, 30].map((ago) => ({ ago, opened: 1 })));
  });

  test('use the lower of two middle times as the median', async () => {
    const site = await addWebsite(ann);
    const open = (seconds: number) =>
      stage.query(
        "insert into audit_log (action, email, domain, website_id, seconds, method) select 'signed_in', 'v@mail.example', domain, id, $2, 'l' from websites where domain = $1",
        [site.domain, seconds],
      );
    for (const seconds of [600, 9]) await open(seconds);
    await rollUpNow();
    expect((await statsOf(ann, site.id)).medianSeconds).toBe(9);
    for (const seconds of [9, 30, 30]) await open(seconds);
    await rollUpNow();
    expect((await statsOf(ann, site.id)).medianSeconds).toBe(30);
    expect(await stage.query('select seconds, opened from daily_site_times where website = $1', [site.id])).toEqual([
      { seconds: expect.arrayContaining([9, 30, 600]), opened: expect.arrayContaining([1, 2, 2]) },
    ]);
  });
});

describe('the statistics of one website per day', () => {
  test('cover exactly the last 7, 30 or 90 UTC days', async () => {
    const site = await addWebsite(ann);
    await stage.query(
      "update websites set created_at = now() - interval '200 days', domain_since = now() - interval '200 days' where id = $1",
      [site.id],
    );
    const midnight = "date_trunc('day', now(), 'UTC')";
    for (const days of [0, 6, 29, 89]) {
      await addRow('sign_in_requested', { domain: site.domain, at: `${midnight} - interval '${days} days'` });
      await addRow('signed_in', { domain: site.domain, at: `${midnight} - interval '${days} days 1 microsecond'` });
    }
    await rollUpNow();
    for (const [days, sent, opened] of [
      [7, 2, 1],
      [30, 3, 2],
      [90, 4, 3],
    ]) {
      const history = await historyOf(ann, site.id, days);
      expect(history.days).toHaveLength(days);
      expect(history.total).toMatchObject({ sent, opened });
      expect([history.days[0].sent, history.days.at(-1)?.sent, history.days.at(-2)?.opened]).toEqual([1, 1, 1]);
      expect(history.days.at(-1)?.date).toBe((await stats.dailyLogins())[0].date);
    }
    expect((await ann.client.get(`/api/websites/${site.id}/stats?days=31`)).status).toBe(400);
  });

  test('of an account are counted per day, and compared with a period only when it is complete', async () => {
    const owner = await signInDeveloper(stage, service);
    const site = await addWebsite(owner);
    const application = (await owner.client.post('/api/clients', { name: 'Office', redirectUris: ['https://office.example/callback'] }))
      .json;
    const loginsOf = async (days: number) => (await owner.client.get(`/api/overview/logins?days=${days}`)).json as Output<'accountLogins'>;
    expect(await loginsOf(7)).toMatchObject({ total: 0, previousTotal: null });
    await stage.query(
      "update websites set created_at = now() - interval '70 days', domain_since = now() - interval '70 days' where id = $1",
      [site.id],
    );
    await addRow('signed_in', site);
    await addRow('signed_in', { ...site, method: 'p', at: "now() - interval '1 day'" });
    await addRow('signed_in', { ...site, at: "now() - interval '8 days'" });
    await addRow('sign_in_requested', site);
    await addRow('application_signed_in', { clientId: application.clientId });
    await rollUpNow();
    const week = await loginsOf(7);
    expect(week.days).toHaveLength(7);
    expect(week).toMatchObject({ total: 3, previousTotal: 1 });
    expect(week.days.slice(-2).map(({ count }) => count)).toEqual([1, 2]);
    expect(week.days.at(-1)?.date).toBe((await stats.dailyLogins())[0].date);
    expect(await loginsOf(30)).toMatchObject({ total: 4, previousTotal: 0 });
    expect(await loginsOf(90)).toMatchObject({ total: 4, previousTotal: null });
    expect((await overviewOf(owner)).totalLogins).toBe((await loginsOf(30)).total);
    expect((await owner.client.get('/api/overview/logins?days=31')).status).toBe(400);
  });

  test('include sign-ins by OpenID Connect at the domain and its hosts, and none of other clients', async () => {
    const site = await addWebsite(ann);
    const loginsOfAnn = async () => (await ann.client.get('/api/overview/logins?days=30')).json as Output<'accountLogins'>;
    await rollUpNow();
    const before = { totalLogins: (await overviewOf(ann)).totalLogins, logins: (await loginsOfAnn()).total };
    for (const clientId of [`https://${site.domain}`, `https://app.${site.domain}`]) {
      await addRow('sign_in_requested', { clientId });
      await addRow('application_signed_in', { clientId });
    }
    for (const clientId of [`https://not${site.domain}`, `https://other.example/.${site.domain}`, 'app_1'])
      await addRow('application_signed_in', { clientId });
    await addRow('application_signed_in', { clientId: `https://${site.domain}`, at: "now() - interval '1 day'" });
    await addRow('application_signed_in', { clientId: `https://app.${site.domain}`, method: 'r' });
    const total = { sent: 0, opened: 0, again: 1, completed: 0, completedAgain: 0, openIdAgain: 1, openIdSent: 2, openIdOpened: 2 };
    await rollUpNow();
    expect((await historyOf(ann, site.id)).total).toMatchObject(total);
    expect(await statsOf(ann, site.id)).toEqual({ id: site.id, ...NOTHING, again: 1 });
    expect((await overviewOf(ann)).totalLogins).toBe(before.totalLogins + 3);
    expect((await loginsOfAnn()).total).toBe(before.logins + 3);
  });

  test('are visible to members, and not to other accounts', async () => {
    const site = await addWebsite(ann);
    await addRow('sign_in_requested', { domain: site.domain });
    await rollUpNow();
    const path = `/api/websites/${site.id}/stats`;
    const mine = `/api/websites/mine/${site.domain}`;
    for (const url of [path, mine]) {
      const { status, json } = await bob.client.get(url);
      expect([url, status, json.code]).toEqual([url, 404, 'website_not_found']);
      expect((await service.client().get(url)).status).toBe(401);
    }
    await stage.query("insert into website_members (website_id, email, role, invited_by, joined_at) values ($1, $2, 'member', $3, now())", [
      site.id,
      bob.email,
      ann.email,
    ]);
    expect((await bob.client.get(path)).json.total).toMatchObject({ sent: 1 });
    expect((await bob.client.get(mine)).json).toMatchObject({ id: site.id, domain: site.domain, onProbation: false });
  });
});

describe('the sign-ins of the service', () => {
  test('cover 30 UTC days, newest first, including days without sign-ins', async () => {
    const midnight = "date_trunc('day', now(), 'UTC')";
    await rollUpNow();
    const before = await stats.dailyLogins();
    expect(before).toHaveLength(30);
    const [{ day }] = await stage.query("select (now() at time zone 'UTC')::date::text as day");
    const dates = Array.from({ length: 30 }, (_, ago) => new Date(Date.parse(`${day}`) - ago * 86_400_000).toISOString().slice(0, 10));
    expect(before.map(({ date }) => date)).toEqual(dates);
    for (const at of [midnight, `${midnight} - interval '1 microsecond'`, `${midnight} - interval '29 days'`])
      await addRow('developer_signed_in', { at });
    await addRow('developer_signed_in', { at: `${midnight} - interval '29 days 1 microsecond'` });
    const more = before.map(({ date, count }, ago) => ({ date, count: [0, 1, 29].includes(ago) ? count + 1 : count }));
    await rollUpNow();
    expect(await stats.dailyLogins()).toEqual(more);
  });

  test("count a developer's sign-in by a portal token once, and sign-ins to applications", async () => {
    await rollUpNow();
    const before = await today();
    const [client, email] = [service.client(), freshAddress('dev')];
    await requestEmail(client, email);
    const token = tokenOf(await openLink(client, await stage.mailbox.waitFor(email)));
    expect((await client.post('/api/auth/token-login', { token })).status).toBe(200);
    await rollUpNow();
    expect(await today()).toBe(before + 1);

    const clientId = `app_${randomBytes(6).toString('hex')}`;
    const [{ id }] = await stage.query('select id from users where email = $1', [ann.email]);
    await stage.query("insert into applications values (gen_random_uuid(), $1, 'Shop', $2, '{}')", [id, clientId]);
    await stage.query("insert into applications values (gen_random_uuid(), $1, 'Old', $2, '{}', false)", [id, `${clientId}2`]);
    const [{ key }] = await stage.query(
      "insert into api_keys (id, user_id, name, environment, key_id, hash) values (gen_random_uuid(), $1, 'ci', 'live', 'ea_', $2) returning id as key",
      [id, randomBytes(32)],
    );
    for (const ago of [0, 29, 30])
      await stage.query("insert into api_key_days values ($1, (now() at time zone 'UTC')::date - $2::int, 5, 1)", [key, ago]);
    const { totalLogins } = await overviewOf(ann);
    await addRow('application_signed_in', { clientId });
    await addRow('application_signed_in', { clientId: 'of somebody else' });
    const expected = { totalLogins: totalLogins + 1, activeApplications: 1, apiRequests: 10, uptimePercent: null };
    await rollUpNow();
    expect(await overviewOf(ann)).toEqual(expected);
    expect(await today()).toBe(before + 3);
    expect((await overviewOf(bob)).activeApplications).toBe(0);
  });
});

describe('the roll-up', () => {
  test('counts every row once while rows are written, websites change, and roll-ups run concurrently', async () => {
    const [site, going] = [await addWebsite(ann), await addWebsite(bob)];
    const write = async (rows: number) => {
      for (let n = 0; n < rows; n++) {
        await jobs.query(
          `insert into audit_log (action, email, domain, website_id)
           select (array['signed_in', 'token_verified', 'sign_in_requested'])[1 + n % 3], 'v@mail.example',
             case when n % 7 = 0 then $2 else $1 end, case when n % 7 = 0 then $4::uuid else $3 end
           from generate_series(1, 300) n`,
          [site.domain, going.domain, site.id, going.id],
        );
      }
    };
    const isCounted = async () => (await stage.query('select from daily_sites where website = $1', [going.id])).length > 0;
    const remove = waitUntil('rows of the website are counted', 60_000, isCounted).then(() =>
      bob.client.delete(`/api/websites/${going.id}`),
    );
    const passes = Array.from({ length: 4 }, async () => {
      for (let n = 0; n < 15; n++) await rollUpNow();
    });
    await Promise.all([write(60), write(60), remove, ...passes]);
    await rollUpNow();
    expect(await watermark()).toBe(0);
    expect(await summed()).toEqual(await counted());
  });

  test('waits for a row with a smaller id that commits later', async () => {
    await rollUpNow();
    const [site, before, late] = [await addWebsite(ann), await today(), await jobs.connect()];
    try {
      await late.query('begin');
      await late.query(
        "insert into audit_log (action, email, domain, website_id, method) select 'signed_in', 'late@mail.example', domain, id, 'l' from websites where domain = $1",
        [site.domain],
      );
      await addRow('signed_in', { domain: site.domain });
      // Each waits for the writer and times out, and none skips its row.
      expect(await Promise.all([rollUpNow(), rollUpNow()])).toEqual([false, false]);
      expect(await watermark()).toBeGreaterThan(0);
      expect(await today()).toBe(before);
      const third = rollUpNow();
      await late.query('commit');
      await third;
    } finally {
      late.release(true);
    }
    await waitUntil('all rows are rolled up', 30_000, async () => (await rollUpNow()) && (await watermark()) === 0);
    expect(await today()).toBe(before + 2);
    expect(await statsOf(ann, site.id)).toMatchObject({ opened: 2 });
    expect(await summed()).toEqual(await counted());
  });

  test('stops between two batches when its time is over, and continues there', async () => {
    await rollUpNow();
    await stage.query(
      "insert into audit_log (action, email) select 'developer_signed_in', 'v@mail.example' from generate_series(1, 25000)",
    );
    const before = await today();
    await rollUpNow(1);
    expect(await watermark()).toBeGreaterThan(0);
    expect(await today()).toBeLessThan(before + 25_000);
    await rollUpNow();
    expect(await watermark()).toBe(0);
    expect(await today()).toBe(before + 25_000);
  });

  test('is run by the service, which keeps running when it fails', async () => {
    await rollUpNow();
    const before = await today();
    const run = () => stage.query("select graphile_worker.add_job('roll-up', max_attempts => 1)");
    await stage.query('alter table daily_applications rename to gone');
    try {
      await addRow('application_signed_in', { clientId: 'any' });
      await run();
      await waitUntil('the failure is logged', 30_000, () => /"level":40.*daily_applications/.test(service.output() + other.output()));
      expect(await watermark()).toBeGreaterThan(0);
    } finally {
      await stage.query('alter table gone rename to daily_applications');
    }
    await run();
    await waitUntil('the roll-up has run', 30_000, async () => (await watermark()) === 0);
    expect(await today()).toBe(before + 1);
    for (const { client } of [ann, bob]) expect((await client.get('/readyz')).status).toBe(200);
    await other.ready();
  });

  test('count the sign-ins to this computer for every account in local mode only', async () => {
    const owner = await signInDeveloper(stage, service);
    const [{ id }] = await stage.query('select id from users where email = $1', [owner.email]);
    const chartOf = async () => (await owner.client.get('/api/overview/logins?days=7')).json.total;
    const inProduction = () => stats.overview({ id, email: owner.email } as Parameters<Stats['overview']>[0]);
    await rollUpNow();
    const [{ totalLogins }, chart] = [await overviewOf(owner), await chartOf()];
    await addRow('signed_in', { domain: 'localhost' });
    await addRow('signed_in', { domain: 'localhost', method: 'r' });
    await rollUpNow();
    expect([(await overviewOf(owner)).totalLogins, await chartOf()]).toEqual([totalLogins + 2, chart + 2]);
    expect((await inProduction()).totalLogins).toBe(0);
  });
});
