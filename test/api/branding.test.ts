import PostalMime from 'postal-mime';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { languages } from '../../contract/languages.ts';
import { type Service, useService } from '../support/harness.ts';
import { png } from '../support/images.ts';
import { type LogoServer, openLogoServer } from '../support/logo-server.ts';
import type { ReceivedMail } from '../support/mailbox.ts';
import {
  addProvenWebsite,
  authorize,
  type Developer,
  freshAddress,
  freshDomain,
  openLink,
  proveWebsite,
  registerWebsite,
  requestEmail,
  signInDeveloper,
} from '../support/sign-ins.ts';

const { stage, service, names } = await useService();
let owner: Developer;
let shop: string;
let logos: LogoServer;
const branding = { fromName: 'Žalia & Co.', logoUrl: '' };
beforeAll(async () => {
  logos = await openLogoServer(names);
  branding.logoUrl = logos.url('/logo.png?a=1&b=2');
  owner = await signInDeveloper(stage, service);
  shop = await addWebsite(owner);
  await owner.client.put('/api/user/branding', branding);
});
afterAll(async () => {
  await logos.close();
});

const addWebsite = (developer: Developer) => addProvenWebsite(names, developer);

const fromOf = async ({ raw }: ReceivedMail) => (await PostalMime.parse(raw)).from;
const plain = { name: 'Email Auth', address: 'no-reply@emailauth.example' };

async function visitorMail(domain: string, language = 'en', at: Service = service): Promise<ReceivedMail> {
  const email = freshAddress();
  await requestEmail(at.client(), email, `https://${domain}/`, language);
  return stage.mailbox.waitFor(email);
}

async function expectPlain(mail: ReceivedMail) {
  expect(await fromOf(mail)).toMatchObject(plain);
  expect(mail.html).not.toContain('<img');
  expect(mail.raw).not.toContain('cdn.shop.example');
}

describe('an email of a website whose developer has branding', () => {
  test.each(['lt', 'uk'])('has the From name, the logo and the host (%s)', async (language) => {
    const [client, email] = [service.client(), freshAddress()];
    await requestEmail(client, email, `https://${shop}/`, language);
    const mail = await stage.mailbox.waitFor(email);
    expect(await fromOf(mail)).toMatchObject({ name: 'Žalia & Co.', address: plain.address });
    expect(mail.sender).toBe(plain.address);
    expect(mail.html).toMatch(/<img[^>]* src="https:\/\/cdn\.shop\.example:\d+\/logo\.png\?a=1&amp;b=2"[^>]* alt="Žalia &amp; Co\."/);
    expect(mail.html.indexOf('<img')).toBeLessThan(mail.html.indexOf('<h1'));
    for (const part of [mail.subject, mail.text, mail.html]) expect(part).toContain(shop);
    expect(mail.html).toContain(`lang="${language}"`);
    expect(await openLink(client, mail)).toContain(`https://${shop}/?token=`);
  });

  test('has the uploaded icon where no logo is set', async () => {
    const other = await signInDeveloper(stage, service);
    const domain = await addWebsite(other);
    const [{ id }] = (await other.client.get('/api/websites')).json;
    const { uploadURL } = (await other.client.post('/api/objects/upload')).json;
    const options = { method: 'PUT', body: await png(90, 40), headers: { 'Content-Type': 'image/png' } };
    const { iconUrl } = (await other.client.send(uploadURL, options)).json;
    expect((await other.client.put(`/api/websites/${id}`, { domain, iconUrl })).status).toBe(200);
    const withIcon = await visitorMail(domain);
    expect(withIcon.html).toContain(` src="${service.url}${iconUrl}"`);
    expect(withIcon.html).toMatch(new RegExp(`<img[^>]* alt="${domain}"`));
    await other.client.put('/api/user/branding', { fromName: '', logoUrl: branding.logoUrl });
    expect((await visitorMail(domain)).html).toContain('cdn.shop.example');
  });

  test('has no logo when only a name is set, and the host as From name when only a logo is set', async () => {
    const other = await signInDeveloper(stage, service);
    const domain = await addWebsite(other);
    await expectPlain(await visitorMail(domain));
    await other.client.put('/api/user/branding', { fromName: 'Just a name', logoUrl: '' });
    const named = await visitorMail(domain);
    expect(await fromOf(named)).toMatchObject({ name: 'Just a name', address: plain.address });
    expect(named.html).not.toContain('<img');
    await other.client.put('/api/user/branding', { fromName: '', logoUrl: branding.logoUrl });
    const pictured = await visitorMail(domain);
    expect(await fromOf(pictured)).toMatchObject(plain);
    expect(pictured.html).toMatch(new RegExp(`<img[^>]* alt="${domain}"`));
    await other.client.put('/api/user/branding', { fromName: '', logoUrl: '' });
    await expectPlain(await visitorMail(domain));
  });

  test.each(['=?utf-8?B?QmNjOiBldmVAZXhhbXBsZS5jb20=?=', "Shop (Ltd.) [1] 'n' more…", '店'.repeat(60), 'x y '.repeat(15).trim(), '🛍 Shop'])(
    'encodes the name %j in one header',
    async (fromName) => {
      const other = await signInDeveloper(stage, service);
      const domain = await addWebsite(other);
      expect((await other.client.put('/api/user/branding', { fromName, logoUrl: '' })).status).toBe(200);
      const mail = await visitorMail(domain);
      expect(await fromOf(mail)).toMatchObject({ name: fromName, address: plain.address });
      expect(mail.headers.filter(({ key }) => ['from', 'to', 'bcc', 'cc', 'subject', 'reply-to'].includes(key))).toHaveLength(3);
      for (const line of mail.raw.split('\r\n')) expect(line.length).toBeLessThanOrEqual(78);
    },
  );

  test('is the same when it is sent after a kill -9 and a change of the branding', { timeout: 120_000 }, async () => {
    const atOnce = await visitorMail(shop, 'lv');
    const victim = await stage.start({ PUBLIC_URL: service.url });
    const email = freshAddress();
    await stage.mailbox.down();
    await requestEmail(victim.client(), email, `https://${shop}/`, 'lv');
    await victim.kill();
    // Ends the lease of the killed process.
    await stage.query('update outbox set due_at = now() where recipient = $1', [email]);
    await owner.client.put('/api/user/branding', { fromName: 'Another name', logoUrl: '' });
    await stage.mailbox.up();
    const swept = await stage.mailbox.waitFor(email, 60_000);
    await owner.client.put('/api/user/branding', branding);
    expect(await fromOf(swept)).toMatchObject({ name: branding.fromName });
    const fixed = async ({ raw, recipients, link, code, messageId }: ReceivedMail) => {
      const mail = await PostalMime.parse(raw);
      const { html, text, subject } = mail;
      const headers = mail.headers.filter(({ key }) => !['date', 'subject'].includes(key));
      // Another instance of the database may send it, whose PUBLIC_URL has another port here.
      const whole = JSON.stringify({ headers, subject, html, text }).replace(/\d\d:\d\d UTC/g, '* UTC');
      return [recipients[0], link, code, messageId.replace(/[<>]/g, '')]
        .reduce((left, own) => left.replaceAll(own, '*'), whole)
        .replace(/(http:\/\/localhost):\d+/g, '$1');
    };
    expect(await fixed(swept)).toBe(await fixed(atOnce));
  });
});

describe('branding is not used for', () => {
  test('a registered website whose account has not signed in since, nor its registration email', async () => {
    const dev = await signInDeveloper(stage, service);
    await dev.client.put('/api/user/branding', branding);
    const domain = await registerWebsite(service.client(), freshDomain(), dev.email);
    await expectPlain(await stage.mailbox.waitFor(dev.email));
    await expectPlain(await visitorMail(domain));
  });

  test('a website of a signed-in developer before its domain is verified or after a change of the domain', async () => {
    const dev = await signInDeveloper(stage, service);
    await dev.client.put('/api/user/branding', branding);
    const { id, domain } = (await dev.client.post('/api/websites', { domain: freshDomain() })).json;
    await expectPlain(await visitorMail(domain));
    await proveWebsite(names, dev.client, domain);
    expect(await fromOf(await visitorMail(domain))).toMatchObject({ name: branding.fromName });
    const moved = freshDomain();
    await dev.client.put(`/api/websites/${id}`, { domain: moved });
    await expectPlain(await visitorMail(moved));
  });

  test('a website that another account registered; after a proof of the domain the prover’s branding is used', async () => {
    const [registrant, prover] = [await signInDeveloper(stage, service), await signInDeveloper(stage, service)];
    await registrant.client.put('/api/user/branding', { fromName: 'Not the bank', logoUrl: branding.logoUrl });
    await prover.client.put('/api/user/branding', { fromName: 'The bank', logoUrl: '' });
    const domain = await registerWebsite(service.client(), freshDomain(), registrant.email);
    await stage.mailbox.waitFor(registrant.email);
    await signInDeveloper(stage, service, registrant.email);
    const registered = await visitorMail(domain);
    await expectPlain(registered);
    expect(registered.raw).not.toContain('Not the bank');
    await proveWebsite(names, prover.client, domain);
    expect(await fromOf(await visitorMail(domain))).toMatchObject({ name: 'The bank' });
  });

  test('an email of the portal, even to its developer', async () => {
    const dev = await signInDeveloper(stage, service);
    await addWebsite(dev);
    await dev.client.put('/api/user/branding', branding);
    await authorize(service.client(), dev.email);
    await expectPlain(await stage.mailbox.waitFor(dev.email));
    await requestEmail(service.client(), dev.email);
    await expectPlain(await stage.mailbox.waitFor(dev.email));
  });

  test('the website of another developer', async () => {
    const anonymous = await signInDeveloper(stage, service);
    await expectPlain(await visitorMail(await addWebsite(anonymous)));
  });

  test.each([
    ["E'Shop\\r\\nBcc: eve@example.com'", "''"],
    ["'Shop <eve@example.com>, eve@example.com'", "'javascript:alert(1)'"],
    ["repeat('x', 61)", "'https://x.example/\"><img src=y onerror=z>'"],
    ["E'\\uE000link\\uE001'", "'http://shop.example/logo.png'"],
  ])('an email whose row holds %s and %s: it is sent to its one recipient without them', async (name, logo) => {
    const other = await signInDeveloper(stage, service);
    const domain = await addWebsite(other);
    await stage.query(`update users set brand_name = ${name}, brand_logo_url = ${logo} where email = $1`, [other.email]);
    const mail = await visitorMail(domain);
    await expectPlain(mail);
    expect(mail.recipients).toHaveLength(1);
    expect(mail.raw).not.toMatch(/eve@|onerror|javascript:/);
    expect(mail.headers.filter(({ key }) => key === 'bcc')).toEqual([]);
  });
});

describe('the preview', () => {
  const previewOf = (query: Record<string, string>, headers: Record<string, string> = {}) =>
    owner.client.get(`/dashboard/settings/preview?${new URLSearchParams(query)}`, headers);

  test.each(languages.map(({ code }) => code))('is identical to the email, in %s', async (language) => {
    const response = await previewOf({ ...branding, language });
    expect(response.status).toBe(200);
    const real = await visitorMail(shop, language);
    const body = (html: string) =>
      html
        .replace(/<dl class="envelope">.*?<\/dl>/s, '')
        .replace(/^.*?<body/s, '<body')
        .replaceAll(real.link, '*')
        .replaceAll(real.code, '*')
        .replace(/http:\/\/localhost:\d+\/auth\/link\?t=preview/g, '*')
        .replaceAll('123456', '*')
        .replace(/\d\d:\d\d UTC/, '* UTC')
        .trim();
    expect(body(response.text)).toBe(body(real.html));
    expect(response.text).toContain(`<dd>Žalia &amp; Co. <span>&lt;${plain.address}&gt;</span></dd>`);
    expect(response.text).toContain(real.subject.replace(real.code, '123456'));
    expect(stage.mailbox.mailsFor(owner.email).some(({ messageId }) => messageId.includes('preview'))).toBe(false);
  });

  test('can be framed only by our pages and runs no scripts', async () => {
    const { headers } = await previewOf({ fromName: '', logoUrl: '' });
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    expect(headers['cache-control']).toBe('no-store');
    expect(headers['referrer-policy']).toBe('no-referrer');
    expect(headers['x-frame-options']).toBe('SAMEORIGIN');
    const policy = String(headers['content-security-policy']).split('; ');
    expect(policy).toEqual(expect.arrayContaining(["default-src 'none'", "img-src https: 'self'", "frame-ancestors 'self'", 'sandbox']));
    expect(policy.join()).not.toContain('script-src');
    const page = await owner.client.get('/dashboard/settings');
    expect(page.headers['content-security-policy']).toContain("frame-src 'self'");
  });

  test('rejects values that cannot be saved, and requests of other origins', async () => {
    for (const [query, field] of [
      [{ fromName: 'eve@example.com' }, 'fromName'],
      [{ fromName: 'a\nb' }, 'fromName'],
      [{ logoUrl: 'javascript:alert(1)' }, 'logoUrl'],
      [{ logoUrl: 'http://shop.example/l.png' }, 'logoUrl'],
    ] as [Record<string, string>, string][]) {
      const { status, json } = await previewOf(query);
      expect([status, json.code, json.field]).toEqual([400, 'bad_request', field]);
      expect(json.error).toMatch(/\w+ \w+/);
    }
    for (const query of ['fromName=a&fromName=b', 'fromName=%00', 'logoUrl[]=x&logoUrl=javascript:1']) {
      expect([query, (await owner.client.get(`/dashboard/settings/preview?${query}`)).status]).toEqual([query, 400]);
    }
    expect((await previewOf({ fromName: 'x' }, { 'Sec-Fetch-Site': 'cross-site' })).status).toBe(403);
    expect((await previewOf({ language: 'xx' })).text).toContain('lang="en"');
    expect((await service.client().get('/dashboard/settings/preview')).status).toBe(401);
  });

  test('shows a sample website until a website of the account is proven', async () => {
    const { client } = await signInDeveloper(stage, service);
    const { domain } = (await client.post('/api/websites', { domain: freshDomain() })).json;
    const headers = { 'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0' };
    const preview = async () => (await client.get('/dashboard/settings/preview?fromName=Shop', headers)).text;
    expect(await preview()).toContain('Sign in to shop.example');
    expect(await preview()).toContain('UTC · Firefox · Linux');
    await proveWebsite(names, client, domain);
    expect(await preview()).toContain(`Sign in to ${domain}`);
  });
});
