import { beforeAll, describe, expect, test } from 'vitest';
import type { Client } from '../support/client.ts';
import { useService } from '../support/harness.ts';
import type { ReceivedMail } from '../support/mailbox.ts';
import {
  addWebsite,
  authorize,
  confirmLink,
  freshAddress,
  freshDomain,
  registerWebsite,
  signInDeveloper,
  tokenOf,
} from '../support/sign-ins.ts';

const FIREFOX = { 'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0' };

const { stage, service } = await useService();

describe('a sign-in email', () => {
  let shop: string;
  beforeAll(async () => {
    shop = await addWebsite(stage, service);
  });

  async function visitorMail(headers: Record<string, string>, language = 'en'): Promise<ReceivedMail> {
    const email = freshAddress();
    await service.client().post('/api/auth/domain-auth', { email, forward_url: `https://${shop}/`, language }, headers);
    return stage.mailbox.waitFor(email);
  }

  test.each(['en', 'lt', 'lv', 'uk', 'ru'])('begins its subject with the code (%s)', async (language) => {
    const { subject, code } = await visitorMail(FIREFOX, language);
    expect(code).toMatch(/^\d{6}$/);
    expect(subject.startsWith(`${code} `)).toBe(true);
    expect(subject).toContain(shop);
  });

  test('has link and code on lines of their own, and names browser, system and time', async () => {
    const { text, html, link, code } = await visitorMail(FIREFOX);
    const lines = text.split(/\r?\n/);
    expect(lines).toContain(link);
    expect(lines).toContain(code);
    const requested = /^Requested: (.+) UTC · Firefox · Linux$/m.exec(text)?.[1] ?? '';
    expect(Math.abs(Date.parse(`${requested.replace(' at ', ' ')} UTC`) - Date.now())).toBeLessThan(120_000);
    expect(html).toContain('Firefox · Linux');
  });

  test.each(['Call +371 20000000 <b>now</b>', 'evil.example/1.0', 'x'.repeat(600), ''])(
    'contains nothing of the user agent %j',
    async (userAgent) => {
      const { text, html } = await visitorMail({ 'User-Agent': userAgent });
      expect(text).toMatch(/^Requested: .+ UTC$/m);
      for (const part of [text, html]) expect(part).not.toMatch(/\+371|20000000|evil\.example|x{20}/);
    },
  );

  test('names the command line that asked for it', async () => {
    const email = freshAddress('dev');
    const { pkce } = await authorize(service.client(), freshAddress('dev'));
    const body = {
      email,
      client_id: 'emailauth_cli',
      redirect_uri: 'http://127.0.0.1:4711/callback',
      code_challenge: pkce.codeChallenge,
      code_challenge_method: 'S256',
      state: pkce.state,
    };
    expect((await service.client().post('/api/auth/authorize', body, { 'User-Agent': 'emailauth/1.0.0' })).status).toBe(200);
    expect((await stage.mailbox.waitFor(email)).text).toMatch(/^Requested: .+ UTC · Email Auth CLI$/m);
  });
});

describe('the email about a registration', () => {
  const boot = async (mail: ReceivedMail) => {
    const { text } = await service.client().get(mail.link);
    return JSON.parse(/<script[^>]*id="boot"[^>]*>([^<]*)</.exec(text)?.[1] ?? '{}').link;
  };

  async function register(email = freshAddress('owner')): Promise<{ email: string; domain: string; mail: ReceivedMail; client: Client }> {
    const domain = freshDomain();
    await service.client().post('/api/websites/register', { domain, email }, FIREFOX);
    return { email, domain, mail: await stage.mailbox.waitFor(email), client: service.client() };
  }

  /** Lets time pass for what belongs to a registration. */
  async function passTime(email: string, interval: string): Promise<void> {
    await stage.query('update sign_in_attempts set expires_at = expires_at - $2::interval where email = $1', [email, interval]);
    await stage.query(
      'update websites set created_at = created_at - $2::interval, domain_since = created_at - $2::interval where email = $1',
      [email, interval],
    );
  }

  const claimed = async (domain: string) =>
    (await stage.query('select claimed_at is not null as claimed from websites where domain = $1', [domain]))[0]?.claimed;

  test('names the device that registered the domain, and has no code', async () => {
    const { mail, domain } = await register();
    expect(mail.subject).toBe(`${domain} is registered`);
    expect(mail.code).toBe('');
    expect(mail.text).toMatch(/^Registered: .+ UTC · Firefox · Linux$/m);
    expect(mail.text).toContain('within 7 days');
    expect(await boot(mail)).toMatchObject({ state: 'open', hasCode: false });
  });

  test('signs in for 7 days, once, and only after the address was entered', async () => {
    const { email, domain, mail, client } = await register();
    await passTime(email, '6 days 23 hours');
    expect((await boot(mail)).state).toBe('open');
    expect((await confirmLink(client, mail, freshAddress())).status).toBeGreaterThanOrEqual(400);
    const confirmed = await confirmLink(client, mail, email);
    expect(confirmed.json.redirectUrl).toContain('/developer?token=');
    const token = tokenOf(confirmed.json.redirectUrl);
    expect((await client.post('/api/auth/token-login', { token, confirm: true })).json).toEqual({ success: true, email });
    expect(await claimed(domain)).toBe(true);
    expect((await boot(mail)).state).toBe('used');
    expect((await confirmLink(service.client(), mail, email)).status).toBeGreaterThanOrEqual(400);
    // The days between the registration and the sign-in are not a time that a visitor took.
    const rows = await stage.query("select seconds, domain from audit_log where email = $1 and action = 'signed_in'", [email]);
    expect(rows).toEqual([{ seconds: null, domain: null }]);
  });

  test('signs in nobody after 7 days', async () => {
    const { email, mail, client } = await register();
    await passTime(email, '7 days 1 second');
    expect((await boot(mail)).state).toBe('expired');
    expect((await confirmLink(client, mail, email)).status).toBeGreaterThanOrEqual(400);
  });

  test('accepts 5 addresses in all', async () => {
    const { email, mail, client } = await register();
    for (let n = 0; n < 5; n++) await confirmLink(client, mail, freshAddress());
    expect((await confirmLink(client, mail, email)).status).toBeGreaterThanOrEqual(400);
    expect((await boot(mail)).state).toBe('expired');
  });

  test('signs in nobody once its address has signed in otherwise', async () => {
    const { email, mail, client } = await register();
    await signInDeveloper(stage, service, email);
    expect((await boot(mail)).state).toBe('expired');
    expect((await confirmLink(client, mail, email)).status).toBeGreaterThanOrEqual(400);
  });

  test('signs in nobody once the registration has ended, nor after another one of the same domain', async () => {
    const { email, domain, mail, client } = await register();
    await stage.query('delete from websites where domain = $1', [domain]);
    expect((await confirmLink(client, mail, email)).status).toBeGreaterThanOrEqual(400);
    await registerWebsite(service.client(), domain, email);
    expect((await confirmLink(client, mail, email)).status).toBeGreaterThanOrEqual(400);
    expect((await boot(mail)).state).toBe('expired');
  });

  test('makes a browser known to the rate limits for an hour only', async () => {
    const { email, mail, client } = await register();
    const confirm = () => client.post('/api/auth/confirm-browser', { t: new URL(mail.link).searchParams.get('t'), email });
    expect((await confirm()).status).toBe(200);
    await passTime(email, '61 minutes');
    expect((await confirm()).status).toBeGreaterThanOrEqual(400);
    expect((await boot(mail)).state).toBe('open');
  });

  test('waits as long for a mail server that cannot be reached', async () => {
    await stage.mailbox.down();
    const email = freshAddress('owner');
    await registerWebsite(service.client(), freshDomain(), email);
    const [pending] = await stage.query("select expires_at > now() + interval '6 days' as waits from outbox where recipient = $1", [email]);
    await stage.mailbox.up();
    expect(pending).toEqual({ waits: true });
    await stage.mailbox.waitFor(email, 60_000);
  });
});
