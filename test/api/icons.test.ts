import { beforeAll, expect, test } from 'vitest';
import { useService } from '../support/harness.ts';
import { png } from '../support/images.ts';
import { type Developer, freshAddress, freshDomain, requestEmail, signInDeveloper } from '../support/sign-ins.ts';

const { stage, service, names } = await useService();
let ann: Developer;
let bob: Developer;
beforeAll(async () => {
  ann = await signInDeveloper(stage, service);
  bob = await signInDeveloper(stage, service);
});

const begin = async (owner: Developer): Promise<string> => (await owner.client.post('/api/objects/upload')).json.uploadURL;
async function upload(owner: Developer): Promise<string> {
  const url = await begin(owner);
  return (await owner.client.send(url, { method: 'PUT', body: await png(), headers: { 'Content-Type': 'image/png' } })).json.iconUrl;
}
const shownOf = async (domain: string) => (await service.client().get(`/api/websites/domain/${domain}`)).json.iconUrl;

/** Returns the target in the boot data of a sign-in page. */
async function targetOn(path: string) {
  const page = await service.client().get(path);
  const [, boot] = /<script type="application\/json" id="boot">(.*?)<\/script>/.exec(page.text) ?? [];
  return JSON.parse(boot).target;
}
const signInPage = (domain: string) => targetOn(`/auth?forward_url=${encodeURIComponent(`https://www.${domain}/x`)}`);

const prove = (domain: string) => stage.query('update websites set proven_at = now() where domain = $1', [domain]);

test("a website's icon is in the list, in the lookup, and once the domain is verified on its sign-in page and on the page of an opened link", async () => {
  const [domain, icon] = [freshDomain(), await upload(ann)];
  const created = await ann.client.post('/api/websites', { domain, iconUrl: icon });
  expect(created.json.iconUrl).toBe(icon);
  expect((await ann.client.get('/api/websites')).json.find((site: { domain: string }) => site.domain === domain).iconUrl).toBe(icon);
  // Anyone can register a domain.
  expect([await shownOf(domain), (await signInPage(domain)).iconUrl]).toEqual([null, null]);
  await prove(domain);
  expect(await shownOf(domain)).toBe(icon);
  expect(await signInPage(domain)).toMatchObject({ kind: 'site', host: `www.${domain}`, displayHost: `www.${domain}`, iconUrl: icon });
  const email = freshAddress();
  await requestEmail(service.client(), email, `https://${domain}/`);
  const { link } = await stage.mailbox.waitFor(email);
  expect(await targetOn(link)).toMatchObject({ kind: 'site', iconUrl: icon });
});

test('an update keeps an omitted icon, replaces it, removes it by null, and keeps it when the domain changes', async () => {
  const [domain, first, second] = [freshDomain(), await upload(ann), await upload(ann)];
  const { id } = (await ann.client.post('/api/websites', { domain, iconUrl: first })).json;
  const change = async (input: object) => (await ann.client.put(`/api/websites/${id}`, { domain, ...input })).json.iconUrl;
  expect(await change({})).toBe(first);
  expect(await change({ domain: freshDomain() })).toBe(first);
  expect(await change({ iconUrl: second })).toBe(second);
  expect(await change({ iconUrl: second })).toBe(second);
  expect(await change({ iconUrl: null })).toBeNull();
  expect(await change({})).toBeNull();
  const acts = await stage.query("select action from audit_log where email = $1 and domain in ($2) and action = 'website_changed'", [
    ann.email,
    domain,
  ]);
  // An update that changes nothing is not recorded.
  expect(acts).toHaveLength(2);
});

test('the upload of another account, one without a file and an unknown one are rejected with the same error', async () => {
  const [domain, mine, unsent] = [freshDomain(), await upload(ann), new URL(await begin(bob)).pathname];
  const { id } = (await bob.client.post('/api/websites', { domain })).json;
  const responses: string[] = [];
  for (const iconUrl of [mine, unsent, '/objects/uploads/0198c0de-0000-7000-8000-000000000000']) {
    for (const response of [
      await bob.client.put(`/api/websites/${id}`, { domain: freshDomain(), iconUrl }),
      await bob.client.post('/api/websites', { domain: freshDomain(), iconUrl }),
    ]) {
      expect([response.status, response.json.code, response.json.field]).toEqual([400, 'bad_request', 'iconUrl']);
      responses.push(response.text);
    }
  }
  expect(new Set(responses).size).toBe(1);
  expect((await bob.client.get('/api/websites')).json).toMatchObject([{ id, domain, iconUrl: null }, { domain: 'localhost' }]);
});

test.each([
  'https://evil.example/icon.png',
  '//evil.example/objects/uploads/0198c0de-0000-7000-8000-000000000000',
  '/objects/uploads/../../secret-key',
  '/objects/uploads/0198c0de-0000-7000-8000-00000000000z',
  'javascript:alert(1)',
  '',
  7,
  [],
  {},
])('rejects the icon %j', async (iconUrl) => {
  const response = await bob.client.post('/api/websites', { domain: freshDomain(), iconUrl });
  expect([response.status, response.json.field]).toEqual([400, 'iconUrl']);
});

test("an account cannot change the icon of another account's website", async () => {
  const [domain, icon, own] = [freshDomain(), await upload(ann), await upload(bob)];
  const { id } = (await ann.client.post('/api/websites', { domain, iconUrl: icon })).json;
  await prove(domain);
  for (const iconUrl of [null, own]) expect((await bob.client.put(`/api/websites/${id}`, { domain, iconUrl })).status).toBe(404);
  expect(await shownOf(domain)).toBe(icon);
});

test('a registered website gets no icon until its linked address signs in, and shows none until its domain is verified', async () => {
  const [domain, icon] = [freshDomain(), await upload(ann)];
  expect((await service.client().post('/api/websites/register', { domain, email: ann.email, iconUrl: icon })).status).toBe(200);
  await stage.mailbox.waitFor(ann.email);
  const [{ id }] = (await ann.client.get('/api/websites')).json.filter((site: { domain: string }) => site.domain === domain);
  const renamed = freshDomain();
  const refused = await ann.client.put(`/api/websites/${id}`, { domain: renamed, iconUrl: icon });
  expect([refused.status, refused.json.field]).toEqual([400, 'iconUrl']);
  expect([await shownOf(domain), (await service.client().get(`/api/websites/domain/${renamed}`)).status]).toEqual([null, 404]);
  await stage.query('update websites set icon = $2 where id = $1', [id, icon.split('/').at(-1)]);
  expect([await shownOf(domain), (await signInPage(domain)).iconUrl]).toEqual([null, null]);
  await signInDeveloper(stage, service, ann.email);
  expect([await shownOf(domain), (await signInPage(domain)).iconUrl]).toEqual([null, null]);
  await prove(domain);
  expect([await shownOf(domain), (await signInPage(domain)).iconUrl]).toEqual([icon, icon]);
});

test('a domain that another account proves loses its icon', async () => {
  const [domain, icon] = [freshDomain(), await upload(ann)];
  await ann.client.post('/api/websites', { domain, iconUrl: icon });
  const { proof } = (await bob.client.get(`/api/websites/claim/${domain}`)).json;
  names.setText(proof.record, [proof.value]);
  expect((await bob.client.post('/api/websites/prove', { domain })).json).toMatchObject({ domain, iconUrl: null });
  expect([await shownOf(domain), (await signInPage(domain)).iconUrl]).toEqual([null, null]);
});
