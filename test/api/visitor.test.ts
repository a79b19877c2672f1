import { beforeAll, describe, expect, test } from 'vitest';
import { idToHandle } from '../../server/signin/attempts.ts';
import { useService } from '../support/harness.ts';
import { addWebsite, freshAddress, freshDomain, openLink, requestEmail, tokenOf } from '../support/sign-ins.ts';

const { stage, service } = await useService();
let shop: string;
beforeAll(async () => {
  shop = await addWebsite(stage, service);
});

const verify = (token: string, query = '') => service.client().get(`/api/verify-token?token=${encodeURIComponent(token)}${query}`);

describe('a visitor', () => {
  test('opens the link in the requesting browser and returns to the website with a single-use token', async () => {
    const [client, email] = [service.client(), freshAddress()];
    const requested = await requestEmail(client, email, `https://${shop}/welcome?from=home#top`);
    expect(requested.json).toEqual({ sent: true, expiresIn: 600 });
    const mail = await stage.mailbox.waitFor(email);
    expect(mail.link.startsWith(`${service.url}/auth/link?t=`)).toBe(true);
    const location = await openLink(client, mail);
    expect(location.startsWith(`https://${shop}/welcome?from=home&token=`)).toBe(true);
    expect(location.endsWith('#top')).toBe(true);
    expect((await verify(tokenOf(location))).json).toEqual({ email, valid: true, domain: shop, method: 'link', at: expect.any(String) });
    expect((await verify(tokenOf(location))).json).toEqual({ email: null, valid: false, reason: 'used' });
  });

  test('enters the code in the requesting browser', async () => {
    const [client, email] = [service.client(), freshAddress()];
    await requestEmail(client, email, `https://www.${shop}/`);
    const { code } = await stage.mailbox.waitFor(email);
    expect(code).toMatch(/^\d{6}$/);
    const response = await client.post('/api/auth/email-code', { email, code: `${code.slice(0, 3)} ${code.slice(3)}` });
    expect(response.status).toBe(200);
    expect((await verify(tokenOf(response.json.redirectUrl), `&domain=www.${shop}`)).json).toMatchObject({
      email,
      valid: true,
      domain: shop,
      method: 'code',
    });
  });

  test('must enter the address when the link is opened in another browser', async () => {
    const [first, second, email] = [service.client(), service.client(), freshAddress()];
    await requestEmail(first, email, `https://${shop}/`);
    const mail = await stage.mailbox.waitFor(email);
    const page = await second.get(mail.link);
    expect(page.status).toBe(200);
    expect(page.text).not.toContain(email);
    const t = new URL(mail.link).searchParams.get('t');
    expect((await second.post('/api/auth/confirm-link', { t, email: freshAddress('eve') })).status).toBe(400);
    const confirmed = await second.post('/api/auth/confirm-link', { t, email: email.toUpperCase() });
    expect((await verify(tokenOf(confirmed.json.redirectUrl))).json).toMatchObject({ email, valid: true, domain: shop, method: 'link' });
    // The first browser is told that the link was opened, and is not signed in.
    expect((await first.get(`/api/auth/attempt?email=${email}`)).json).toEqual({ status: 'opened_elsewhere' });
    expect((await first.get('/api/user/me')).status).toBe(401);
    expect((await first.get(mail.link)).status).toBe(200);
  });

  test('cannot use a link after five wrong addresses', async () => {
    const [first, second, email] = [service.client(), service.client(), freshAddress()];
    await requestEmail(first, email, `https://${shop}/`);
    const t = new URL((await stage.mailbox.waitFor(email)).link).searchParams.get('t');
    for (let i = 0; i < 5; i++) expect((await second.post('/api/auth/confirm-link', { t, email: freshAddress() })).status).toBe(400);
    expect((await second.post('/api/auth/confirm-link', { t, email })).status).toBe(400);
  });

  test('cannot use the correct code after five wrong ones, or in another browser', async () => {
    const [client, email] = [service.client(), freshAddress()];
    await requestEmail(client, email, `https://${shop}/`);
    const { code } = await stage.mailbox.waitFor(email);
    const wrong = String((Number(code) + 1) % 1_000_000).padStart(6, '0');
    const other = service.client();
    await requestEmail(other, freshAddress(), `https://${shop}/`);
    expect((await other.post('/api/auth/email-code', { email, code })).status).toBe(400);
    expect((await service.client().post('/api/auth/email-code', { email, code })).status).toBe(400);
    for (let i = 0; i < 5; i++) expect((await client.post('/api/auth/email-code', { email, code: wrong })).status).toBe(400);
    expect((await client.post('/api/auth/email-code', { email, code })).status).toBe(400);
  });

  test('cannot be helped by another browser that knows the code and the id of the attempt', async () => {
    const [client, email] = [service.client(), freshAddress()];
    await requestEmail(client, email, `https://${shop}/`);
    const { code } = await stage.mailbox.waitFor(email);
    const [{ id }] = await stage.query('select id from sign_in_attempts where email = $1', [email]);
    const attempt = idToHandle(String(id));
    const refused = await service.client().post('/api/auth/email-code', { email, code, attempt });
    expect([refused.status, refused.json.code]).toEqual([400, 'bad_code']);
    expect((await client.post('/api/auth/email-code', { email, code })).status).toBe(200);
  });

  test('may use any of several open emails, which ends the others', async () => {
    const [client, email] = [service.client(), freshAddress()];
    await requestEmail(client, email, `https://${shop}/`);
    const first = await stage.mailbox.waitFor(email);
    await requestEmail(client, email, `https://${shop}/`);
    const second = await stage.mailbox.waitFor(email);
    expect(tokenOf(await openLink(client, first))).not.toBe('');
    expect((await client.get(second.link)).status).toBe(200);
  });

  test('may use the emails of two hosts of one website, where each is ended by those of its own host only', async () => {
    const [client, email] = [service.client(), freshAddress()];
    const mailFor = async (host: string) => {
      await requestEmail(client, email, `https://${host}/`);
      return stage.mailbox.waitFor(email);
    };
    const statusAt = async (host: string) =>
      (await client.get(`/api/auth/attempt?email=${email}&forward_url=${encodeURIComponent(`https://${host}/`)}`)).json.status;
    const app = await mailFor(`app.${shop}`);
    const blog = await mailFor(`blog.${shop}`);
    await openLink(client, blog);
    expect([await statusAt(`app.${shop}`), await statusAt(`blog.${shop}`)]).toEqual(['waiting', 'opened']);
    const { json } = await client.post('/api/auth/email-code', { email, code: app.code });
    expect((await verify(tokenOf(json.redirectUrl), `&domain=app.${shop}`)).json).toMatchObject({ valid: true, email });
    expect(await statusAt(`app.${shop}`)).toBe('opened');
  });

  test('ends the email of www. by using that of the bare domain', async () => {
    const [client, email] = [service.client(), freshAddress()];
    await requestEmail(client, email, `https://www.${shop}/`);
    const first = await stage.mailbox.waitFor(email);
    await requestEmail(client, email, `https://${shop}/`);
    await openLink(client, await stage.mailbox.waitFor(email));
    expect((await client.get(first.link)).status).toBe(200);
  });

  test('returns to a Unicode host and a path beyond ASCII with the same text', async () => {
    const domain = await addWebsite(stage, service, `bücher-${freshDomain()}`);
    const [client, email] = [service.client(), freshAddress()];
    await requestEmail(client, email, `https://${domain}/ü?q=日本#ž`);
    const location = await openLink(client, await stage.mailbox.waitFor(email));
    const { hostname } = new URL(`https://${domain}`);
    expect(location).toBe(`https://${hostname}/%C3%BC?q=%E6%97%A5%E6%9C%AC&token=${tokenOf(location)}#%C5%BE`);
    expect((await verify(tokenOf(location), `&domain=${hostname}`)).json).toMatchObject({ valid: true, domain: hostname });
  });

  test('cannot use a link after 600 s or a token after 3,600 s, by the clock of the database', async () => {
    const [client, email] = [service.client(), freshAddress()];
    await requestEmail(client, email, `https://${shop}/`);
    const [life] = await stage.query('select extract(epoch from expires_at - now())::int as s from sign_in_attempts where email = $1', [
      email,
    ]);
    expect(life.s).toBeGreaterThan(580);
    expect(life.s).toBeLessThanOrEqual(600);
    const mail = await stage.mailbox.waitFor(email);
    await stage.query("update sign_in_attempts set expires_at = expires_at - interval '600 seconds' where email = $1", [email]);
    expect((await client.get(mail.link)).status).toBe(200);
    expect((await client.post('/api/auth/email-code', { email, code: mail.code })).status).toBe(400);
    expect((await client.get(`/api/auth/attempt?email=${email}`)).json).toEqual({ status: 'expired' });

    await requestEmail(client, email, `https://${shop}/`);
    const token = tokenOf(await openLink(client, await stage.mailbox.waitFor(email)));
    await stage.query("update tokens set expires_at = expires_at - interval '3600 seconds' where email = $1", [email]);
    expect((await verify(token)).json).toEqual({ email: null, valid: false, reason: 'expired' });
  });

  test('gets no email for an unregistered domain', async () => {
    const [client, email, domain] = [service.client(), freshAddress(), freshDomain()];
    const response = await client.post('/api/auth/domain-auth', { email, forward_url: `https://${domain}/` });
    expect(response.status).toBe(403);
    expect(response.json).toMatchObject({ code: 'domain_not_registered' });
    expect(response.json.error).toContain(domain);
    expect(await stage.query('select 1 from outbox where recipient = $1', [email])).toEqual([]);
  });

  test('is sent to the portal by default, with a token that no website can verify', async () => {
    const [client, email] = [service.client(), freshAddress()];
    await requestEmail(client, email);
    const location = await openLink(client, await stage.mailbox.waitFor(email));
    expect(location.startsWith(`${service.url}/developer?token=`)).toBe(true);
    expect((await verify(tokenOf(location))).json).toEqual({ email: null, valid: false, reason: 'unknown' });
    expect((await client.post('/api/auth/token-login', { token: tokenOf(location) })).json).toEqual({ success: true, email });
  });
});

describe('the sign-in email', () => {
  test.each([
    ['en', 'en'],
    ['lt', 'lt'],
    ['lv', 'lv'],
    ['uk', 'uk'],
    ['ru', 'ru'],
    ['xx', 'en'],
  ])('requested in %s is in %s, names the host, and has text, HTML and one recipient', async (requested, language) => {
    const [client, email] = [service.client(), freshAddress()];
    await requestEmail(client, email, `https://my.${shop}/`, requested);
    const mail = await stage.mailbox.waitFor(email);
    expect(mail.recipients).toEqual([email]);
    expect(mail.text).toContain(`my.${shop}`);
    expect(mail.html).toContain(`my.${shop}`);
    expect(mail.html).toMatch(new RegExp(`<html[^>]*lang="${language}"`));
    expect(mail.html.replaceAll('&amp;', '&')).toContain(mail.link);
    expect(mail.code).toMatch(/^\d{6}$/);
    const header = (name: string) => mail.headers.filter(({ key }) => key === name).map(({ value }) => value);
    expect(header('auto-submitted')).toEqual(['auto-generated']);
    expect(header('message-id')).toHaveLength(1);
    expect(header('to')).toHaveLength(1);
    expect(header('bcc')).toEqual([]);
  });

  test('has links with PUBLIC_URL, whatever Host and X-Forwarded-* are', async () => {
    const [client, email] = [service.client(), freshAddress()];
    const response = await client.send('/api/auth/domain-auth', {
      method: 'POST',
      body: JSON.stringify({ email, forward_url: `https://${shop}/` }),
      headers: {
        Host: 'evil.example',
        'Content-Type': 'application/json',
        'X-Forwarded-Host': 'evil.example',
        'X-Forwarded-Proto': 'https',
        Forwarded: 'host=evil.example;proto=https',
      },
    });
    expect(response.status).toBe(200);
    const mail = await stage.mailbox.waitFor(email);
    expect(mail.link.startsWith(`${service.url}/`)).toBe(true);
    expect(mail.raw).not.toContain('evil.example');
  });

  test('is sent to the normalized address, in lower case and with an A-label domain', async () => {
    const [client, email] = [service.client(), freshAddress('Ann.Lee')];
    await requestEmail(client, email.replace('mail.example', 'BÜCHER.example'), `https://${shop}/`);
    const mail = await stage.mailbox.waitFor(email.toLowerCase().replace('mail.example', 'xn--bcher-kva.example'));
    const result = await verify(tokenOf(await openLink(client, mail)));
    expect(result.json.email).toBe(email.toLowerCase().replace('mail.example', 'xn--bcher-kva.example'));
  });
});
