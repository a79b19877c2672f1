import { beforeAll, expect, test } from 'vitest';
import { useService } from '../support/harness.ts';
import { type Developer, signInDeveloper } from '../support/sign-ins.ts';

const WEBSITES = 1_000;

const { stage, service } = await useService();
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

type Found = { total: number; page: number; websites: { domain: string; displayDomain: string; role: string; stats: object }[] };
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
  expect(domainsOf(await search('?sort=name&limit=4'))).toEqual([
    'xn--bcher-kva.search.example',
    'site-0.search.example',
    'site-1.search.example',
    'site-2.search.example',
  ]);
  const { websites } = await search('?sort=sign-ins&limit=4');
  expect(websites.map(({ domain }) => domain)).toEqual([
    'site-7.search.example',
    'site-8.search.example',
    'site-9.search.example',
    'xn--bcher-kva.search.example',
  ]);
  expect(websites[0].stats).toEqual({
    sent: 5,
    opened: 993,
    again: 2,
    byPasskey: 0,
    byVerifiedEmail: 0,
    completed: 3,
    medianSeconds: null,
  });
  expect((await search('?q=site-7.')).websites[0].stats).toEqual(websites[0].stats);
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

test.each(['?page=0', '?limit=101', '?sort=size', `?q=${'a'.repeat(254)}`])('rejects %s', async (query) => {
  expect((await ann.client.get(`/api/websites/search${query}`)).status).toBe(400);
});

test('the search of the documentation finds sections', async () => {
  const response = await service.client().get('/api/docs/search?q=forward_url');
  expect(response.json.length).toBeGreaterThan(2);
  expect(response.json[0].url).toContain(`${service.url}/webservices/email-auth/`);
});
