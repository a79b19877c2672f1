import PostalMime from 'postal-mime';
import { afterAll, describe, expect, test } from 'vitest';
import type { Output } from '../../contract/calls.ts';
import { languages } from '../../contract/languages.ts';
import { useProduction, useService } from '../support/harness.ts';
import { openLogoServer } from '../support/logo-server.ts';
import { type Developer, freshAddress, freshDomain, proveWebsite, requestEmail, signInDeveloper } from '../support/sign-ins.ts';

const { stage, service, names } = await useService();
const { service: strict } = await useProduction();
const logos = await openLogoServer(names);
const owner = await signInDeveloper(stage, service);
afterAll(() => logos.close());

const NONE = { name: '', accent: '', fromName: '', logoUrl: '' };

async function addSite({ proven = true } = {}): Promise<Output<'createWebsite'>> {
  const site = (await owner.client.post('/api/websites', { domain: freshDomain() })).json;
  if (proven) await proveWebsite(names, owner.client, site.domain);
  return site;
}
const pathOf = ({ id }: { id: string }) => `/api/websites/${id}/branding`;
const save = (site: { id: string }, branding: Partial<typeof NONE>, { client }: Pick<Developer, 'client'> = owner) =>
  client.put(pathOf(site), { ...NONE, ...branding });
const pageOf = async (domain: string, language = 'en') =>
  service.client().get(`/auth?${new URLSearchParams({ forward_url: `https://${domain}/`, language })}`);

async function mailOf(domain: string) {
  const email = freshAddress();
  await requestEmail(service.client(), email, `https://${domain}/`);
  const mail = await stage.mailbox.waitFor(email);
  return { ...mail, from: (await PostalMime.parse(mail.raw)).from?.name };
}

describe('the branding of a website', () => {
  test('is saved by those who manage it, and each change is in the audit log', async () => {
    const site = await addSite();
    const branding = { name: 'Žalia', accent: '#0B6E58', fromName: 'Žalia & Co.', logoUrl: logos.url('/logo.png') };
    const saved = (await save(site, branding)).json;
    expect(saved).toEqual({ ...branding, accent: '#0b6e58', defaults: { fromName: '', logoUrl: '' } });
    await save(site, branding);
    expect((await owner.client.get(pathOf(site))).json).toEqual(saved);

    const [member, stranger] = [await signInDeveloper(stage, service), await signInDeveloper(stage, service)];
    await stage.query(`insert into website_members (website_id, email, role, invited_by, joined_at) values ($1, $2, 'member', $3, now())`, [
      site.id,
      member.email,
      owner.email,
    ]);
    expect((await save(site, { ...branding, name: 'Ž' }, member)).json).toMatchObject({ name: 'Ž' });
    expect((await save(site, branding, stranger)).status).toBe(404);
    expect((await stranger.client.get(pathOf(site))).status).toBe(404);
    const rows = await stage.query("select email from audit_log where action = 'website_branding_changed' and domain = $1 order by id", [
      site.domain,
    ]);
    expect(rows).toEqual([{ email: owner.email }, { email: member.email }]);
  });

  test.each([
    [{ accent: 'red' }, 'accent', /A color such as/],
    [{ accent: '#0b6e58;}body{x:y' }, 'accent', /A color such as/],
    [{ name: 'a\u202eb' }, 'name', /invisible/],
    [{ name: 'x'.repeat(41) }, 'name', /At most 40/],
    [{ fromName: 'eve@example.com' }, 'fromName', /without @/],
    [{ logoUrl: 'http://shop.example/l.png' }, 'logoUrl', /https/],
  ])('rejects %j', async (branding, field, message) => {
    const { status, json } = await save(await addSite(), branding);
    expect([status, json.code, json.field]).toEqual([400, 'bad_request', field]);
    expect(json.error).toMatch(message);
  });

  test.each([
    ['/missing.png', /status 404/],
    ['/page', /web page, not of an image/],
    ['/logo.svg', /SVG/],
    ['/moved', /redirects to \/logo.png/],
    ['/large.png', /larger than 1 MB/],
  ])('is not saved with a logo at %s, neither of a website nor of the account', async (path, message) => {
    const site = await addSite();
    for (const response of [
      await save(site, { logoUrl: logos.url(path) }),
      await owner.client.put('/api/user/branding', { fromName: '', logoUrl: logos.url(path) }),
    ]) {
      expect([response.status, response.json.code, response.json.field]).toEqual([422, 'bad_logo', 'logoUrl']);
      expect(response.json.error).toMatch(message);
    }
    expect((await owner.client.get(pathOf(site))).json).toMatchObject(NONE);
  });

  test('is not saved with a logo on an unknown host, nor in production with one that is not public', async () => {
    const site = await addSite();
    expect((await save(site, { logoUrl: 'https://nobody.shop.example/logo.png' })).json.error).toMatch(/no host nobody.shop.example/);
    const client = strict.client();
    client.cookies = owner.client.cookies;
    const response = await client.put(pathOf(site), { ...NONE, logoUrl: logos.url('/logo.png') });
    expect(response.json).toMatchObject({ code: 'bad_logo', error: expect.stringMatching(/not on the public internet/) });
  });

  test('applies to the emails before that of the account', async () => {
    const site = await addSite();
    const dev = owner;
    await dev.client.put('/api/user/branding', { fromName: 'The account', logoUrl: logos.url('/logo.png?account') });
    expect(await mailOf(site.domain)).toMatchObject({ from: 'The account', html: expect.stringContaining('logo.png?account') });
    await save(site, { fromName: 'The shop', logoUrl: logos.url('/logo.png?shop'), accent: '#ffe600' });
    const mail = await mailOf(site.domain);
    expect(mail).toMatchObject({ from: 'The shop', html: expect.stringContaining('logo.png?shop') });
    expect(mail.html).toMatch(/class="button"[^>]*background-color:#ffe600/);
    expect(mail.html).toMatch(/class="button"[^>]*color:#000000/);
    expect(mail.html).toContain('.button{background-color:#ffe600!important;color:#000000!important}');
    await dev.client.put('/api/user/branding', { fromName: '', logoUrl: '' });
    await save(site, { name: 'Just a name' });
    expect(await mailOf(site.domain)).toMatchObject({ from: 'Just a name' });
  });
});

describe('the sign-in page of a website', () => {
  test('has its name, icon and color, in every language', async () => {
    const [site, other] = [await addSite(), await addSite()];
    const [{ id: icon }] = await stage.query(
      'insert into uploads (id, user_id, expires_at, stored_at) select gen_random_uuid(), id, now(), now() from users where email = $1 returning id',
      [owner.email],
    );
    await stage.query('update websites set icon = $1 where id = $2', [icon, site.id]);
    await save(site, { name: '<Žalia> & Co.', accent: '#0b6e58' });
    for (const { code } of languages) {
      const title = /<title>([^<]*)<\/title>/.exec((await pageOf(site.domain, code)).text)?.[1] ?? '';
      expect(title).toContain('&lt;Žalia> &amp; Co.');
      expect(title.endsWith(' · Email Auth')).toBe(true);
    }
    const { text, headers } = await pageOf(site.domain);
    expect(text).toContain(`<link rel="icon" href="/objects/uploads/${icon}">`);
    expect(text.match(/rel="icon"/g)).toHaveLength(1);
    expect(text).toContain('<style>:root:root{--color-action:#0b6e58;');
    expect(text).toContain(site.domain);
    const policy = String(headers['content-security-policy']);
    expect(policy).toMatch(/style-src 'self' 'sha256-[\w+/]{43}='(;|$)/);
    expect(policy).not.toContain('unsafe');
    const plain = await pageOf(other.domain);
    expect(String(plain.headers['content-security-policy']).replace(/style-src [^;]*/, '')).toBe(policy.replace(/style-src [^;]*/, ''));
    expect(plain.text).not.toContain('<style>');
    expect(plain.text).toMatch(/rel="icon" href="\/assets\//);
  });

  test('shows the host alone until the domain is verified', async () => {
    const site = await addSite({ proven: false });
    await save(site, { name: 'Your Bank', accent: '#0b6e58', fromName: 'Your Bank' });
    const { text } = await pageOf(site.domain);
    expect(text).not.toContain('Your Bank');
    expect(text).toContain(`<title>Sign in to ${site.domain} · Email Auth</title>`);
    expect(text).not.toContain('--color-action:#0b6e58');
    expect(await mailOf(site.domain)).toMatchObject({ from: 'Email Auth' });
    await proveWebsite(names, owner.client, site.domain);
    expect((await pageOf(site.domain)).text).toContain('<title>Sign in to Your Bank · Email Auth</title>');
    const moved = freshDomain();
    await owner.client.put(`/api/websites/${site.id}`, { domain: moved });
    expect((await pageOf(moved)).text).not.toContain('Your Bank');
  });
});

describe('the previews', () => {
  const previewOf = (domain: string, kind: 'page' | 'mail', query: Record<string, string>, client = owner.client) =>
    client.get(`/dashboard/websites/${domain}/preview/${kind}?${new URLSearchParams(query)}`);

  test.each(['light', 'dark'])('show a branding that is not saved, in the %s theme', async (theme) => {
    const site = await addSite();
    const draft = {
      name: 'Draft',
      accent: '#ffe600',
      fromName: 'Drafters',
      logoUrl: 'https://cdn.shop.example/draft.png',
      language: 'lt',
      theme,
    };
    const page = await previewOf(site.domain, 'page', draft);
    expect(page.status).toBe(200);
    expect(page.text).toContain(`data-theme="${theme}"`);
    expect(page.text).toContain('--color-action:#ffe600');
    expect(page.text).toContain('lang="lt"');
    expect(page.text).toContain('Draft');
    const policy = String(page.headers['content-security-policy']);
    expect(policy).toContain("frame-ancestors 'self'");
    expect(policy).not.toContain('script-src');
    expect(page.headers['x-frame-options']).toBe('SAMEORIGIN');
    const mail = await previewOf(site.domain, 'mail', draft);
    expect(mail.text).toContain('Drafters');
    expect(mail.text).toContain('draft.png');
    expect(mail.text).toContain(theme === 'dark' ? '@media all{' : '@media not all{');
    expect(mail.text).not.toContain('prefers-color-scheme');
    expect((await owner.client.get(pathOf(site))).json).toMatchObject(NONE);
  });

  test('are for those who manage the website, and reject what cannot be saved', async () => {
    const site = await addSite();
    const stranger = await signInDeveloper(stage, service);
    for (const kind of ['page', 'mail'] as const) {
      expect((await previewOf(site.domain, kind, {}, stranger.client)).status).toBe(404);
      expect((await previewOf(site.domain, kind, {}, service.client())).status).toBe(401);
      expect((await previewOf(site.domain, kind, { accent: 'red' })).json).toMatchObject({ code: 'bad_request', field: 'accent' });
    }
  });
});
