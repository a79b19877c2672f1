import { describe, expect, test } from 'vitest';
import { useService } from '../support/harness.ts';
import { type Developer, freshAddress, freshDomain, registerWebsite, signInDeveloper, visitorToken } from '../support/sign-ins.ts';
import { waitUntil } from '../support/waiting.ts';

const { stage, service, names } = await useService();
const ann = await signInDeveloper(stage, service);
const bob = await signInDeveloper(stage, service);

type Site = { id: string; domain: string; verified: boolean; proof: { record: string; value: string; fileUrl: string; fileBody: string } };
// localhost of local mode aside.
const sitesOf = async (owner: Developer): Promise<Site[]> =>
  (await owner.client.get('/api/websites')).json.filter(({ domain }: Site) => domain !== 'localhost');
const domainsOf = async (owner: Developer) => (await sitesOf(owner)).map(({ domain }) => domain);

describe('a registration', () => {
  test('is active at once, and sends the linked address an email with a sign-in link', async () => {
    const [domain, email] = [freshDomain(), freshAddress('owner')];
    const response = await service.client().post('/api/websites/register', { domain, email });
    expect(response.json).toEqual({ domain, email, authUrl: `${service.url}/auth` });
    expect((await service.client().get(`/api/websites/domain/${domain}`)).json).toEqual({
      domain,
      displayDomain: domain,
      verified: false,
      iconUrl: null,
    });
    await visitorToken(stage, service.client(), domain);
    const mail = await stage.mailbox.waitFor(email);
    expect(mail.text).toContain(domain);
    const browser = service.client();
    const { redirectUrl } = (await browser.post('/api/auth/confirm-link', { t: new URL(mail.link).searchParams.get('t'), email })).json;
    await browser.post('/api/auth/token-login', { token: new URL(redirectUrl).searchParams.get('token'), confirm: true });
    expect((await browser.get('/api/websites')).json).toMatchObject([{ domain }, { domain: 'localhost' }]);
  });

  test('of a taken domain returns 409 with a hint to verify it, and does not show or change the linked address', async () => {
    const [domain, owner, rival] = [freshDomain(), freshAddress('owner'), freshAddress('rival')];
    await registerWebsite(service.client(), domain, owner);
    const response = await service.client().post('/api/websites/register', { domain: domain.toUpperCase(), email: rival });
    expect([response.status, response.json.code]).toEqual([409, 'domain_taken']);
    expect(response.text).not.toContain(owner);
    expect(`${response.json.error} ${response.json.hint}`).toMatch(/verify/i);
    expect(await stage.query('select email from websites where domain = $1', [domain])).toEqual([{ email: owner }]);
    expect(await stage.query('select 1 from outbox where recipient = $1', [rival])).toEqual([]);
  });

  test.each(['co.uk', 'localhost', 'shop.example\r\nBcc: x@y.example'])('rejects the domain %j', async (domain) => {
    const email = freshAddress('owner');
    const response = await service.client().post('/api/websites/register', { domain, email });
    expect([domain, response.status]).toEqual([domain, 400]);
    expect(response.json.error).toMatch(/\w+ \w+/);
    expect(await stage.query('select 1 from outbox where recipient = $1', [email])).toEqual([]);
  });

  test.each([
    ['a host with www.', (domain: string) => `www.${domain}`],
    ['the address of a page', (domain: string) => `https://www.${domain}/${'path/'.repeat(100)}?a=b#c`],
    ['a host with a port', (domain: string) => `${domain}:443`],
    ['an absolute host in upper case', (domain: string) => `${domain.toUpperCase()}.`],
  ])('registers and adds the domain in %s, and returns it', async (_, written) => {
    const [domain, added] = [freshDomain(), freshDomain()];
    const registered = await service.client().post('/api/websites/register', { domain: written(domain), email: freshAddress('owner') });
    expect(registered.json).toMatchObject({ domain });
    const { client } = await signInDeveloper(stage, service);
    expect((await client.post('/api/websites', { domain: written(added) })).json).toMatchObject({ domain: added });
    expect((await client.post('/api/websites', { domain: written(domain) })).json).toMatchObject({ code: 'domain_taken' });
  });

  test('uses the registrable domain by the Public Suffix List', async () => {
    const label = freshDomain().split('.')[0];
    for (const domain of [`${label}.co.uk`, `${label}.vercel.app`]) expect(await registerWebsite(service.client(), domain)).toBe(domain);
    const response = await service.client().post('/api/websites/register', { domain: ` BÜCHER-${label}.example `, email: freshAddress() });
    expect(response.status).toBe(200);
    expect(response.json.domain).toMatch(/^xn--bcher-.*\.example$/);
    const found = await service.client().get(`/api/websites/domain/${response.json.domain}`);
    expect(found.json.displayDomain).toBe(`bücher-${label}.example`);
  });
});

describe('a developer', () => {
  test('adds, updates and deletes a website', async () => {
    const [first, second] = [freshDomain(), freshDomain()];
    const created = await ann.client.post('/api/websites', { domain: first });
    expect(created.json).toMatchObject({ domain: first, verified: false, proof: { record: `_emailauth.${first}` } });
    expect(Date.now() - Date.parse(created.json.createdAt)).toBeLessThan(60_000);
    expect(created.json.proof.value).toMatch(/^\S{22,}$/);
    const renamed = await ann.client.put(`/api/websites/${created.json.id}`, { domain: second });
    expect(renamed.json).toMatchObject({ id: created.json.id, domain: second });
    expect((await service.client().get(`/api/websites/domain/${first}`)).status).toBe(404);
    expect(await domainsOf(ann)).toContain(second);
    expect((await ann.client.delete(`/api/websites/${created.json.id}`)).json).toEqual({ success: true });
    expect(await domainsOf(ann)).not.toContain(second);
    expect(
      (await service.client().post('/api/auth/domain-auth', { email: freshAddress(), forward_url: `https://${second}/` })).status,
    ).toBe(403);
  });

  test('cannot see or change another account’s websites or set extra fields', async () => {
    const { id, domain } = (await ann.client.post('/api/websites', { domain: freshDomain() })).json;
    expect(await domainsOf(bob)).not.toContain(domain);
    const taken = await bob.client.put(`/api/websites/${id}`, { domain: freshDomain() });
    expect([taken.status, taken.json.code]).toEqual([404, 'website_not_found']);
    expect((await bob.client.delete(`/api/websites/${id}`)).status).toBe(404);
    expect((await bob.client.put('/api/websites/not-an-id', { domain })).status).toBeGreaterThanOrEqual(400);
    expect(await domainsOf(ann)).toContain(domain);
    const own = (
      await bob.client.post('/api/websites', {
        domain: freshDomain(),
        email: ann.email,
        verified: true,
        provenAt: '2020-01-01',
        claimed_at: null,
      })
    ).json;
    expect(own.verified).toBe(false);
    const changed = (await bob.client.put(`/api/websites/${own.id}`, { domain: own.domain, email: ann.email, proven_at: '2020-01-01' }))
      .json;
    expect(changed.verified).toBe(false);
    expect(await domainsOf(bob)).toContain(own.domain);
    expect(await domainsOf(ann)).not.toContain(own.domain);
  });

  test('cannot add or change to a domain that is taken', async () => {
    const { domain } = (await ann.client.post('/api/websites', { domain: freshDomain() })).json;
    expect((await bob.client.post('/api/websites', { domain })).status).toBe(409);
    const own = (await bob.client.post('/api/websites', { domain: freshDomain() })).json;
    expect((await bob.client.put(`/api/websites/${own.id}`, { domain })).status).toBe(409);
    expect(await domainsOf(bob)).toContain(own.domain);
  });

  test('needs a session for every call', async () => {
    const anonymous = service.client();
    const id = '0198c0de-0000-7000-8000-000000000000';
    for (const response of [
      await anonymous.get('/api/websites'),
      await anonymous.post('/api/websites', { domain: freshDomain() }),
      await anonymous.put(`/api/websites/${id}`, { domain: freshDomain() }),
      await anonymous.delete(`/api/websites/${id}`),
      await anonymous.get('/api/websites/claim/shop.example'),
      await anonymous.post('/api/websites/prove', { domain: 'shop.example' }),
    ]) {
      expect([response.status, response.json.code]).toEqual([401, 'sign_in_needed']);
    }
  });
});

describe('a proof', () => {
  test('by a TXT record verifies the account’s website', async () => {
    const { domain, proof }: Site = (await ann.client.post('/api/websites', { domain: freshDomain() })).json;
    const early = await ann.client.post('/api/websites/prove', { domain });
    expect([early.status, early.json.code]).toEqual([422, 'not_proven']);
    expect(names.queries).toContain(proof.record);
    names.setText(proof.record, ['something else', proof.value]);
    expect((await ann.client.post('/api/websites/prove', { domain })).json.verified).toBe(true);
    expect((await service.client().get(`/api/websites/domain/${domain}`)).json.verified).toBe(true);
  });

  test('takes over an unverified website at once and notifies both addresses', async () => {
    const { id, domain } = (await ann.client.post('/api/websites', { domain: freshDomain() })).json;
    const { proof } = (await bob.client.get(`/api/websites/claim/${domain}`)).json;
    names.setText(proof.record, [proof.value]);
    expect((await bob.client.post('/api/websites/prove', { domain })).json).toMatchObject({ domain, verified: true });
    expect(await domainsOf(bob)).toContain(domain);
    expect(await domainsOf(ann)).not.toContain(domain);
    expect((await ann.client.delete(`/api/websites/${id}`)).status).toBe(404);
    for (const { email } of [ann, bob]) {
      await waitUntil(`an email about ${domain} to ${email}`, 30_000, () =>
        stage.mailbox.mailsFor(email).some(({ text }) => text.includes(domain)),
      );
    }
  });

  test('of one account does not verify the domain for another', async () => {
    const { domain, proof }: Site = (await ann.client.post('/api/websites', { domain: freshDomain() })).json;
    names.setText(proof.record, [proof.value]);
    expect((await bob.client.post('/api/websites/prove', { domain })).status).toBe(422);
    expect(await domainsOf(ann)).toContain(domain);
  });
});

test('rows of the audit log cannot be changed or deleted', async () => {
  expect((await stage.query('select count(*)::int as n from audit_log'))[0].n).toBeGreaterThan(0);
  for (const sql of ["update audit_log set action = 'x'", 'delete from audit_log', 'truncate audit_log']) {
    await expect(stage.query(sql)).rejects.toThrow(/append-only/);
  }
});
