import { beforeAll, describe, expect, test } from 'vitest';
import type { Output } from '../../contract/calls.ts';
import { useProduction, useService } from '../support/harness.ts';
import { type Developer, freshAddress, freshDomain, signInDeveloper, visitorToken } from '../support/sign-ins.ts';
import { countNow } from '../support/statistics.ts';

const WEBSITES = 1_000;

const { stage, service } = await useProduction();
let ann: Developer;
let bob: Developer;
beforeAll(async () => {
  ann = await signInDeveloper(stage, service);
  bob = await signInDeveloper(stage, service);
  // The newest is site-0. The first ones have the most sign-ins.
  await stage.query(
    `with site as (
       insert into websites (id, domain, email, claimed_at, created_at)
       select gen_random_uuid(), 'site-' || n || '.search.example', $1, now(), now() - n * interval '1 minute' from generate_series(0, ${WEBSITES - 1}) n
       returning id, domain
     )
     insert into daily_sites (website, day, sent, opened, again, completed)
     select id, (now() at time zone 'UTC')::date, 5, 1000 - split_part(split_part(domain, '.', 1), '-', 2)::int, 2, 3 from site
     where domain in ('site-7.search.example', 'site-8.search.example', 'site-9.search.example')`,
    [ann.email],
  );
  await stage.query(
    "insert into websites (id, domain, email, claimed_at) values (gen_random_uuid(), 'xn--bcher-kva.search.example', $1, now())",
    [ann.email],
  );
});

type Found = Output<'searchWebsites'>;
const search = async (query: string, { client }: Developer = ann): Promise<Found> =>
  (await client.get(`/api/websites/search${query}`)).json as Found;
const domainsOf = ({ websites }: Found) => websites.map(({ domain }) => domain);

test('returns the newest websites first, in pages without duplicates or omissions', async () => {
  const seen = new Set<string>();
  for (let page = 1; page <= 11; page++) {
    const found = await search(`?limit=100&page=${page}`);
    expect([found.total, found.page]).toEqual([WEBSITES + 1, page]);
    for (const domain of domainsOf(found)) seen.add(domain);
  }
  expect(seen.size).toBe(WEBSITES + 1);
  expect(domainsOf(await search('?limit=3'))).toEqual(['xn--bcher-kva.search.example', 'site-0.search.example', 'site-1.search.example']);
});

test('shows the last page for a page after it', async () => {
  const found = await search('?limit=100&page=999');
  expect([found.page, found.websites.length]).toEqual([11, 1]);
});

test.each([
  ['SITE-99', 11],
  ['büch', 1],
  ['xn--bcher', 1],
  ['BÜCHER.search.example', 1],
  ['%', 0],
  ['nothing', 0],
])('finds by %j %i websites', async (q, total) => {
  expect((await search(`?q=${encodeURIComponent(q)}`)).total).toBe(total);
});

test('sorts by name with numbers in their order, and by sign-ins', async () => {
  expect(domainsOf(await search('?sort=name&order=asc&limit=4'))).toEqual([
    'xn--bcher-kva.search.example',
    'site-0.search.example',
    'site-1.search.example',
    'site-2.search.example',
  ]);
  expect(domainsOf(await search('?sort=name&limit=1'))).toEqual(['site-999.search.example']);
  const { websites } = await search('?sort=sign-ins&limit=4');
  expect(domainsOf({ websites } as Found)).toEqual([
    'site-7.search.example',
    'site-8.search.example',
    'site-9.search.example',
    'xn--bcher-kva.search.example',
  ]);
  const today = new Date().toISOString().slice(0, 10);
  expect(websites[0]).toMatchObject({ team: 1, signIns: [0, 0, 0, 0, 0, 0, 995], success: 1, lastSignIn: today, role: 'owner' });
  expect(websites[0].nextStep).toMatchObject({ step: 'link', state: 'open' });
  expect(websites[3]).toMatchObject({ signIns: [0, 0, 0, 0, 0, 0, 0], success: null, lastSignIn: null });
  expect(websites[0]).not.toHaveProperty('proof');
});

test('finds the websites of others only for members who joined', async () => {
  expect(await search('', bob)).toEqual({ total: 0, page: 1, websites: [] });
  await stage.query(
    `insert into website_members (website_id, email, role, invited_by) select id, $1, 'member', $2 from websites where domain = 'site-5.search.example'`,
    [bob.email, ann.email],
  );
  expect((await search('', bob)).total).toBe(0);
  await stage.query('update website_members set joined_at = now() where email = $1', [bob.email]);
  const { total, websites } = await search('?q=site', bob);
  expect([total, websites[0].domain, websites[0].role]).toEqual([1, 'site-5.search.example', 'member']);
});

test.each(['?page=0', '?limit=101', '?sort=size', '?order=up', `?q=${'a'.repeat(254)}`])('rejects %s', async (query) => {
  expect((await ann.client.get(`/api/websites/search${query}`)).status).toBe(400);
});

describe('of websites with different figures', () => {
  let owner: Developer;
  const [busy, quiet, unused] = [freshDomain(), freshDomain(), freshDomain()];
  const orderOf = async (query: string) => domainsOf(await search(`?${query}`, owner));
  const ago = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);
  beforeAll(async () => {
    owner = await signInDeveloper(stage, service);
    for (const domain of [busy, quiet, unused]) expect((await owner.client.post('/api/websites', { domain })).status).toBe(200);
    await stage.query('update websites set proven_at = now() where domain = $1', [quiet]);
    await stage.query(
      `insert into website_members (website_id, email, role, invited_by, joined_at)
       select id, member, 'member', $2, case when member = $3 then now() end from websites, unnest($4::text[]) member where domain = $1`,
      [quiet, owner.email, bob.email, [bob.email, freshAddress()]],
    );
    await stage.query(
      `insert into daily_sites (website, day, sent, opened, again, openid_sent, openid_opened)
       select id, (now() at time zone 'UTC')::date - before, sent, opened, again, 1, 1
       from websites join (values ($1, 0, 9, 4, 1), ($1, 6, 8, 3, 2), ($1, 7, 900, 900, 900), ($2, 2, 3, 2, 0), ($2, 30, 5, 5, 5))
         given (domain, before, sent, opened, again) using (domain)`,
      [busy, quiet],
    );
  });

  test('counts seven days, the emails that were opened, the last day with a sign-in and who joined the team', async () => {
    const { websites } = await search('?sort=sign-ins', owner);
    expect(websites.map(({ domain, signIns, success, lastSignIn, team }) => ({ domain, signIns, success, lastSignIn, team }))).toEqual([
      { domain: busy, signIns: [6, 0, 0, 0, 0, 0, 6], success: 9 / 19, lastSignIn: ago(0), team: 1 },
      { domain: quiet, signIns: [0, 0, 0, 0, 3, 0, 0], success: 3 / 4, lastSignIn: ago(2), team: 2 },
      { domain: unused, signIns: [0, 0, 0, 0, 0, 0, 0], success: null, lastSignIn: null, team: 1 },
    ]);
  });

  test('sorts by each column in both orders, with unknown values last', async () => {
    expect(await orderOf('')).toEqual([unused, quiet, busy]);
    expect(await orderOf('order=asc')).toEqual([busy, quiet, unused]);
    expect(await orderOf('sort=success')).toEqual([quiet, busy, unused]);
    expect(await orderOf('sort=success&order=asc')).toEqual([busy, quiet, unused]);
    expect(await orderOf('sort=last')).toEqual([busy, quiet, unused]);
    expect(await orderOf('sort=last&order=asc')).toEqual([quiet, busy, unused]);
    expect(await orderOf('sort=sign-ins&order=asc')).toEqual([unused, quiet, busy]);
    expect((await orderOf('sort=state'))[0]).toBe(quiet);
    expect((await orderOf('sort=team'))[0]).toBe(quiet);
    expect((await orderOf('sort=team&order=asc'))[2]).toBe(quiet);
  });

  test('names the next step as the set-up does', async () => {
    const stepOf = async (domain: string) => (await search(`?q=${domain}`, owner)).websites[0].nextStep;
    const inSetup = async (domain: string) => {
      const { steps } = (await owner.client.get(`/api/websites/mine/${domain}/setup`)).json as Output<'websiteSetup'>;
      return steps.find(({ state }) => state === 'failed') ?? steps.find(({ state }) => state === 'open');
    };
    expect(await stepOf(unused)).toEqual(await inSetup(unused));
    const visitor = service.client();
    const token = await visitorToken(stage, visitor, unused);
    expect(await stepOf(unused)).toEqual(await inSetup(unused));
    await visitor.get(`/api/verify-token?token=${token}&domain=${unused}`);
    expect(await stepOf(unused)).toMatchObject({ step: 'proof', state: 'open' });
    await visitor.get(`/api/verify-token?token=${token}&domain=${unused}`);
    await expect.poll(() => stepOf(unused), { timeout: 30_000 }).toMatchObject({ step: 'sign_in', state: 'failed' });
    expect(await stepOf(unused)).toEqual(await inSetup(unused));
    await countNow(stage);
    expect((await search(`?q=${unused}`, owner)).websites[0]).toMatchObject({
      signIns: [0, 0, 0, 0, 0, 0, 1],
      success: 1,
      lastSignIn: ago(0),
    });
  });
});

test('the search of the documentation finds sections', async () => {
  const { service } = await useService();
  const response = await service.client().get('/api/docs/search?q=forward_url');
  expect(response.json.length).toBeGreaterThan(2);
  expect(response.json[0].url).toContain(`${service.url}/webservices/email-auth/`);
});
