import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { useService } from '../support/harness.ts';
import { addWebsite, type Developer, freshDomain, signInDeveloper, visitorToken } from '../support/sign-ins.ts';
import { countNow } from '../support/statistics.ts';
import { type Home, openHome } from './command.ts';
import { KEYS, openTerminal } from './terminal.ts';

const { stage, service } = await useService();
let home: Home;
let ann: Developer;
beforeAll(async () => {
  home = await openHome(service.url);
  ann = await signInDeveloper(stage, service);
  home.env.EMAILAUTH_TOKEN = ann.client.cookies.get('sid') as string;
});
afterAll(async () => {
  await home?.close();
});

const domainsOf = async ({ client }: Developer) =>
  ((await client.get('/api/websites')).json as { domain: string }[]).map((site) => site.domain);
const added = async (owner = ann, domain = freshDomain()): Promise<string> =>
  (await owner.client.post('/api/websites', { domain })).json.domain;
const keyOf = async (owner: Developer, environment: 'live' | 'test'): Promise<string> =>
  (await owner.client.post('/api/api-keys', { name: 'a key', environment })).json.key;
const as = async (owner: Developer) => ({ EMAILAUTH_TOKEN: await keyOf(owner, 'live') });

const SITE = [
  'id',
  'domain',
  'displayDomain',
  'verified',
  'iconUrl',
  'onProbation',
  'registeredByOthers',
  'createdAt',
  'role',
  'linkedAddress',
  'proof',
];

describe('list', () => {
  test('explains how to add a website when there is only localhost of local mode', async () => {
    const env = await as(await signInDeveloper(stage, service));
    const text = await home.run(['sites', 'list'], { env });
    expect([text.exitCode, text.stdout, text.stderr]).toEqual([
      0,
      expect.stringContaining('localhost  yes'),
      expect.stringContaining('emailauth sites add'),
    ]);
    const json = await home.run(['sites', 'list', '--json', '--quiet'], { env });
    expect([json.json(), json.stderr]).toEqual([[expect.objectContaining({ domain: 'localhost' })], '']);
  });

  test('prints each website with its sign-ins of 30 days', async () => {
    const owner = await signInDeveloper(stage, service);
    const [env, quiet, busy] = [await as(owner), await added(owner), await added(owner)];
    const token = await visitorToken(stage, service.client(), busy);
    await service.client().get(`/api/verify-token?token=${token}&domain=${busy}`);
    await countNow(stage);
    const { stdout } = await home.run(['sites', 'list'], { env });
    const rows = Object.fromEntries(stdout.split('\n').map((line) => [line.split(/ +/)[0], line.split(/ +/).slice(1)]));
    const today = new Date().toISOString().slice(0, 10);
    expect(rows).toMatchObject({ DOMAIN: expect.anything(), [quiet]: ['no', '0', today], [busy]: ['no', '1', today] });
    const all: { domain: string; signIns: number }[] = (await home.run(['sites', 'list', '--json'], { env })).json();
    const sites = all.filter(({ domain }) => domain !== 'localhost');
    expect(sites.map((site: { domain: string }) => site.domain).sort()).toEqual([quiet, busy].sort());
    for (const site of sites) expect([Object.keys(site), site.signIns]).toEqual([[...SITE, 'signIns'], site.domain === busy ? 1 : 0]);
  });
});

describe('add', () => {
  test('adds a website once, then exits with 6 and says that it is one’s own', async () => {
    const domain = freshDomain();
    const first = await home.run(['sites', 'add', domain, '--json']);
    expect([first.exitCode, Object.keys(first.json())]).toEqual([0, SITE]);
    expect(first.json()).toMatchObject({ domain, verified: false, iconUrl: null, proof: { record: `_emailauth.${domain}` } });
    const again = await home.run(['sites', 'add', `https://www.${domain}/`, '--json']);
    expect([again.exitCode, again.json().error]).toEqual([6, expect.objectContaining({ code: 'domain_taken' })]);
    expect(again.json().error.hint).toContain(`emailauth sites get ${domain}`);
  });

  test('exits with 6 for the domain of another account and explains how to verify it', async () => {
    const domain = await addWebsite(stage, service);
    const ran = await home.run(['sites', 'add', domain]);
    expect([ran.exitCode, ran.stdout]).toEqual([6, '']);
    expect(ran.stderr).toContain(`emailauth sites verify ${domain}`);
    expect(await domainsOf(ann)).not.toContain(domain);
  });

  test('exits with 3 for an invalid domain, and when it cannot prompt', async () => {
    const bad = await home.run(['sites', 'add', 'https://app.shop.example/', '--json']);
    expect([bad.exitCode, bad.json().error.message]).toEqual([3, 'Give the root domain only: shop.example']);
    const missing = await home.run(['sites', 'add']);
    expect([missing.exitCode, missing.stderr]).toEqual([3, expect.stringContaining('<domain> is missing')]);
  });

  test('prompts for the domain in a terminal', async () => {
    const domain = freshDomain();
    const terminal = openTerminal(home, ['sites', 'add']);
    await terminal.waitFor('Domain');
    terminal.type(`${domain}${KEYS.enter}`);
    await terminal.waitFor(`sites verify ${domain}`);
    expect(await terminal.exited).toBe(0);
    expect(await domainsOf(ann)).toContain(domain);
    await terminal.close();
  });
});

describe('get', () => {
  test('finds a Unicode domain by its Unicode and ASCII forms', async () => {
    const label = freshDomain().split('.')[0];
    const domain = await added(ann, `bücher-${label}.example`);
    for (const text of [domain, domain.toUpperCase(), `BÜCHER-${label}.example`]) {
      const ran = await home.run(['sites', 'get', text, '--json']);
      expect([text, ran.exitCode, ran.json().domain]).toEqual([text, 0, domain]);
      expect(Object.keys(ran.json())).toEqual([...SITE, 'stats']);
      expect(ran.json().stats).toEqual({
        sent: 0,
        opened: 0,
        again: 0,
        byPasskey: 0,
        byVerifiedEmail: 0,
        completed: 0,
        medianSeconds: null,
      });
    }
    expect((await home.run(['sites', 'get', domain])).stdout).toContain(`bücher-${label}.example (${domain})`);
  });

  test('prints the statistics', async () => {
    const domain = await added();
    await visitorToken(stage, service.client(), domain);
    await countNow(stage);
    const { stats } = (await home.run(['sites', 'get', domain, '--json'])).json();
    expect(stats).toMatchObject({ sent: 1, opened: 1, completed: 0 });
    expect((await home.run(['sites', 'get', domain])).stdout).toMatch(/emails requested +1\n/);
  });

  test('exits with 5 for an unknown website and suggests similar ones', async () => {
    const [own, foreign] = [await added(), await addWebsite(stage, service)];
    const ran = await home.run(['sites', 'get', foreign, '--json']);
    expect([ran.exitCode, ran.json().error.code]).toEqual([5, 'website_not_found']);
    expect((await home.run(['sites', 'get', `https://www.${own}/login`, '--json'])).json()).toMatchObject({ domain: own });
    const near = await home.run(['sites', 'get', `https://app.${own}/login`]);
    expect([near.exitCode, near.stderr]).toEqual([5, expect.stringContaining(`Did you mean ${own}?`)]);
  });
});

describe('update', () => {
  test('changes the domain of a website with --yes, which it requires when it cannot prompt', async () => {
    const [domain, wanted] = [await added(), freshDomain()];
    const refused = await home.run(['sites', 'update', domain, '--domain', wanted, '--json']);
    expect([refused.exitCode, refused.json().error.hint]).toEqual([3, 'Pass --yes to confirm.']);
    expect(await domainsOf(ann)).toContain(domain);
    const ran = await home.run(['sites', 'update', domain, '--domain', wanted, '--yes', '--json']);
    expect([ran.exitCode, Object.keys(ran.json()), ran.json().domain]).toEqual([0, SITE, wanted]);
    expect(await domainsOf(ann)).toContain(wanted);
    expect(await domainsOf(ann)).not.toContain(domain);
  });

  test('exits with 3 without a change, 6 for a taken domain, 5 for an unknown website', async () => {
    const [domain, foreign] = [await added(), await addWebsite(stage, service)];
    const nothing = await home.run(['sites', 'update', domain]);
    expect([nothing.exitCode, nothing.stderr]).toEqual([3, expect.stringMatching(/--domain, --icon or --no-icon/)]);
    const taken = await home.run(['sites', 'update', domain, '--domain', foreign, '--yes']);
    expect([taken.exitCode, taken.stderr]).toEqual([6, expect.stringContaining(`emailauth sites verify ${foreign}`)]);
    expect((await home.run(['sites', 'update', foreign, '--domain', freshDomain()])).exitCode).toBe(5);
    expect(await domainsOf(ann)).toContain(domain);
  });
});

describe('remove', () => {
  test('deletes the website with --yes, which it requires when it cannot prompt', async () => {
    const domain = await added();
    const asked = await home.run(['sites', 'remove', domain, '--json']);
    expect([asked.exitCode, asked.json().error.message]).toEqual([3, expect.stringContaining('--yes')]);
    expect(await domainsOf(ann)).toContain(domain);
    const ran = await home.run(['sites', 'remove', domain.toUpperCase(), '--yes', '--json']);
    expect([ran.exitCode, ran.json()]).toEqual([0, { domain, removed: true }]);
    expect(await domainsOf(ann)).not.toContain(domain);
    expect((await home.run(['sites', 'remove', domain, '--yes'])).exitCode).toBe(5);
  });

  test('requires the domain to be typed and rejects a wrong one', async () => {
    const domain = await added();
    const terminal = openTerminal(home, ['sites', 'remove', domain]);
    await terminal.waitFor('Type the domain');
    terminal.type(`${domain.slice(1)}${KEYS.enter}`);
    await terminal.waitFor(`Type ${domain}, or press Ctrl-C`);
    expect(await domainsOf(ann)).toContain(domain);
    terminal.type(`\x15${domain}${KEYS.enter}`);
    await terminal.waitFor('is removed');
    expect(await terminal.exited).toBe(0);
    expect(await domainsOf(ann)).not.toContain(domain);
    await terminal.close();
  });

  test('exits with 2 on Ctrl-C and keeps the website', async () => {
    const domain = await added();
    const terminal = openTerminal(home, ['sites', 'remove', domain]);
    await terminal.waitFor('Type the domain');
    terminal.type(KEYS.interrupt);
    expect(await terminal.exited).toBe(2);
    expect(await domainsOf(ann)).toContain(domain);
    await terminal.close();
  });
});

describe('the caller', () => {
  test('can read but not change with a test key (4)', async () => {
    const [domain, env] = [await added(), { EMAILAUTH_TOKEN: await keyOf(ann, 'test') }];
    expect((await home.run(['sites', 'get', domain], { env })).exitCode).toBe(0);
    for (const args of [
      ['add', freshDomain()],
      ['update', domain, '--domain', freshDomain(), '--yes'],
      ['verify', domain],
      ['remove', domain, '--yes'],
    ]) {
      const ran = await home.run(['sites', ...args, '--json'], { env });
      expect([args, ran.exitCode, ran.json().error]).toEqual([args, 4, expect.objectContaining({ code: 'test_key' })]);
    }
    expect(await domainsOf(ann)).toContain(domain);
  });

  test('gets 4 and the name of the key when it was revoked', async () => {
    const owner = await signInDeveloper(stage, service);
    const made = (await owner.client.post('/api/api-keys', { name: 'a key', environment: 'live' })).json;
    await owner.client.delete(`/api/api-keys/${made.id}`);
    const ran = await home.run(['sites', 'list'], { env: { EMAILAUTH_TOKEN: made.key } });
    expect([ran.exitCode, ran.stderr]).toEqual([4, expect.stringContaining('does not accept EMAILAUTH_TOKEN')]);
  });
});
