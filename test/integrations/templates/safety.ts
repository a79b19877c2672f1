import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { findLogoutForm } from '../../../diagnostics/html.ts';
import { frameworkOf } from '../../../templates/catalog.ts';
import { withVariant } from '../../../templates/framework.ts';
import { readSources } from '../../../templates/read.ts';
import { render } from '../../../templates/render.ts';
import type { Client, HttpResponse } from '../../support/client.ts';
import type { Service, Stage } from '../../support/harness.ts';
import { freshAddress, openLink, registerWebsite, requestEmail } from '../../support/sign-ins.ts';
import type { Recipe } from './recipe.ts';
import { loginOf } from './return-paths.ts';
import { type RunningSite, SESSION_SECRET, type Site } from './site.ts';

type Opened = { stage: Stage; service: Service; made: Site; site: RunningSite };

/** Frameworks whose own session has the state and the visitor, or only the visitor: the names of its cookies are theirs. */
const KEEP_ALL = ['django', 'laravel', 'rails'];
const KEEP_VISITOR = [...KEEP_ALL, 'astro', 'php', 'wordpress'];
/** WordPress redirects requests for another host than its own. */
const isBoundToHost = ({ id }: Recipe) => id === 'wordpress';

/** Whether a callback started the sign-in again instead of accepting or rejecting it. */
export const startsOver = (response: HttpResponse) =>
  [302, 303].includes(response.status) && /\/login\?(?:return_to|next)=/.test(loginOf(response));

/** Adds the tests of the session of one site: who else could open, keep or end it. */
export function testSafety(recipe: Recipe, opened: () => Opened): void {
  const framework = frameworkOf(recipe.id) as NonNullable<ReturnType<typeof frameworkOf>>;
  const variant = withVariant(
    framework,
    framework.variants?.find(({ id }) => id === recipe.variant),
  );
  const parameter = recipe.id === 'django' ? 'next' : 'return_to';

  /** Returns the callback of a sign-in, with its token. */
  async function comeBack(visitor: Client, email: string, login = '/login', headers = {}): Promise<string> {
    const { service, stage } = opened();
    const browser = service.client();
    const page = new URL(String((await visitor.get(login, headers)).headers.location));
    await requestEmail(browser, email, page.searchParams.get('forward_url') ?? '');
    return openLink(browser, await stage.mailbox.waitFor(email));
  }

  async function signIn(site: RunningSite, email = freshAddress()): Promise<Client> {
    const visitor = site.client();
    await visitor.get(await comeBack(visitor, email));
    expect((await visitor.get('/account')).text).toContain('Log out');
    return visitor;
  }

  test('rejects a session that is signed with the secret of the app', async () => {
    const { site } = opened();
    const { env, files } = render(variant, await readSources(variant), { origin: 'https://auth.example.com', domain: 'localhost' });
    const email = freshAddress();
    const visitor = await signIn(site, email);
    const source = files.map(({ contents }) => contents).join('\n');
    const signed = [...visitor.cookies].flatMap(([name, value]) => signaturesIn(value).map((signature) => ({ name, ...signature })));
    const needsSecret = env.some(({ name }) => name === 'SESSION_SECRET');
    // Nuxt encrypts its session.
    if (needsSecret && recipe.id !== 'nuxt') expect(signed).not.toEqual([]);
    for (const { name, text, mac, write } of signed) {
      const forgeries = macsOf(text, source);
      expect(forgeries.filter((each) => each.equals(mac))).toEqual([]);
      const forger = site.client();
      forger.cookies.set(name, write(createHmac('sha256', SESSION_SECRET).update(text).digest()));
      expect((await forger.get('/account')).text).not.toContain('Log out');
    }
    if (recipe.id === 'nuxt') {
      const forger = site.client();
      await forger.get(`/theme?${new URLSearchParams({ email, host: new URL(site.url).host })}`);
      forger.cookies.set('login_session', forger.cookies.get('theme') ?? '');
      expect((await forger.get('/account')).text).not.toContain('Log out');
    }
  });

  test.skipIf(isBoundToHost(recipe))('rejects a session of another website with the same secret', async () => {
    const { made, site } = opened();
    const visitor = await signIn(site);
    const other = await made.start({ SITE_URL: 'https://other.example' });
    try {
      const copy = other.client();
      for (const [name, value] of visitor.cookies) for (const prefix of ['', '__Host-']) copy.cookies.set(prefix + name, value);
      expect((await copy.get('/account', HTTPS)).text).not.toContain('Log out');
    } finally {
      await other.close();
    }
  });

  test.skipIf(isBoundToHost(recipe))('on https, sets cookies that no other subdomain can set', async () => {
    const { made, service } = opened();
    const domain = await registerWebsite(service.client());
    const site = await made.start({ SITE_URL: `https://${domain}/` });
    try {
      const [visitor, email] = [site.client(), freshAddress()];
      const login = await visitor.get('/login', HTTPS);
      const forwardUrl = new URL(String(login.headers.location)).searchParams.get('forward_url');
      expect(forwardUrl).toMatch(new RegExp(`^https://${domain.replaceAll('.', '\\.')}/auth/callback\\?`));
      const response = await visitor.get(await comeBack(visitor, email, '/login', HTTPS), HTTPS);
      expect(startsOver(response)).toBe(false);
      const account = await visitor.get('/account', HTTPS);
      expect(account.text).toContain('Log out');
      const ended = await logOut(visitor, account, { ...HTTPS, Origin: `https://${domain}` });
      if (KEEP_ALL.includes(recipe.id)) return;
      for (const cookie of [login, response, ended].flatMap(({ setCookies }) => setCookies)) {
        // A browser ignores a cookie with this prefix that lacks Secure, also one that deletes it.
        expect(cookie).toMatch(/; ?secure/i);
        expect(cookie).toMatch(/; ?path=\/(?:;|$)/i);
        expect(cookie).not.toMatch(/; ?domain=/i);
        if (!KEEP_VISITOR.includes(recipe.id) || cookie.includes('login_state')) expect(cookie).toMatch(/^__Host-login_(?:state|session)=/);
      }
    } finally {
      await site.close();
    }
  });

  test('keeps the state for an hour, and then starts over with the same return address', async () => {
    const { site } = opened();
    const [visitor, email] = [site.client(), freshAddress()];
    const { setCookies } = await site.client().get('/login');
    for (const cookie of setCookies) {
      if (!/^(?:__Host-)?(?:wordpress_)?login_state=/.test(cookie)) continue;
      const life = Number(
        /max-age=(\d+)/i.exec(cookie)?.[1] ?? (Date.parse(/expires=([^;]+)/i.exec(cookie)?.[1] ?? '') - Date.now()) / 1000,
      );
      expect(Math.round(life / 60)).toBe(60);
    }
    const callback = await comeBack(visitor, email, `/login?${new URLSearchParams({ [parameter]: '/orders?page=2' })}`);
    visitor.cookies.clear();
    const response = await visitor.get(callback);
    expect(startsOver(response)).toBe(true);
    expect(new URL(loginOf(response), site.url).searchParams.get(parameter)).toBe('/orders?page=2');
    const again = await visitor.get(await comeBack(visitor, email, loginOf(response)));
    expect(new URL(String(again.headers.location), site.url).href).toBe(`${site.url}/orders?page=2`);
  });

  test.skipIf(KEEP_ALL.includes(recipe.id))('rejects two cookies of one name', async () => {
    const { site } = opened();
    const visitor = site.client();
    const callback = await comeBack(visitor, freshAddress());
    for (const header of twins(visitor)) {
      const refused = await site.client().get(callback, { Cookie: header });
      expect([refused.status, refused.text.includes('Try again')]).toEqual([400, true]);
    }
    await visitor.get(callback);
    expect((await visitor.get('/account')).text).toContain('Log out');
    if (['astro', 'wordpress'].includes(recipe.id)) return;
    for (const header of twins(visitor)) expect((await site.client().get('/account', { Cookie: header })).text).not.toContain('Log out');
  });

  test('does not sign out on a form of another website', async () => {
    const { site } = opened();
    const visitor = await signIn(site);
    const account = await visitor.get('/account');
    const evil = 'https://evil.example';
    const foreign: Record<string, string>[] = [
      { Origin: evil, 'Sec-Fetch-Site': 'cross-site' },
      { Origin: `${site.url}.evil.example` },
      { Origin: 'null', 'Sec-Fetch-Site': 'cross-site' },
      { Origin: evil, 'Sec-Fetch-Site': 'same-site' },
    ];
    for (const headers of foreign) {
      await logOut(visitor, account, headers, hasFormToken(recipe));
      expect((await visitor.get('/account')).text).toContain('Log out');
    }
    await logOut(visitor, account, { Origin: site.url, 'Sec-Fetch-Site': 'same-origin' });
    expect((await visitor.get('/account')).text).not.toContain('Log out');
  });

  test('does not let browsers keep the protected page, and shows its pages in the width of a phone', async () => {
    const { site } = opened();
    const account = await (await signIn(site)).get('/account');
    expect(account.headers['cache-control']).toContain('no-store');
    const refused = await site.client().get('/auth/callback');
    // The pages of Rails are inside the layout of the app.
    if (recipe.id === 'rails') return;
    for (const { text } of [account, refused]) {
      expect(text.trimStart()).toMatch(/^<!doctype html>/i);
      expect(text).toMatch(/<meta[^>]*name=["']?viewport["']?[^>]*width=device-width/);
    }
  });

  test('does not start a sign-in with a short secret, and names the command that makes one', async ({ skip }) => {
    const { env } = render(variant, await readSources(variant), { origin: 'https://auth.example.com', domain: 'localhost' });
    if (!env.some(({ name }) => name === 'SESSION_SECRET')) skip('The framework has the key.');
    const { made } = opened();
    for (const SESSION_SECRET of ['x', 'x'.repeat(31)]) {
      const site = await made.start({ SESSION_SECRET }, (status) => status > 0).catch((error: Error) => error);
      if (site instanceof Error) {
        expect(site.message).toContain('openssl rand -hex 32');
        continue;
      }
      try {
        expect((await site.client().get('/login')).status).toBe(500);
        await expect.poll(() => site.output()).toContain('openssl rand -hex 32');
      } finally {
        await site.close();
      }
    }
  });
}

/** What a proxy says of a connection that was made with TLS. */
const HTTPS = { 'X-Forwarded-Proto': 'https' };

/** Frameworks that refuse a form without their token, which no other website can read. */
const hasFormToken = ({ id }: Recipe) => [...KEEP_ALL, 'wordpress'].includes(id);

/** Submits the form of a page that ends the session. @param isBlind whether without its hidden fields and its query */
function logOut(visitor: Client, account: HttpResponse, headers: Record<string, string>, isBlind = false): Promise<HttpResponse> {
  const form = findLogoutForm(account.text, new URL('/account', visitor.origin));
  if (!form) throw new Error(`There is no form in ${account.text}`);
  const path = form.action.pathname + (isBlind ? '' : form.action.search);
  const type = form.contentType ?? 'application/x-www-form-urlencoded';
  return visitor.send(path, { method: 'POST', body: isBlind ? '' : form.body, headers: { 'Content-Type': type, ...headers } });
}

/** Returns headers with each cookie twice: the right one first, and last. */
function twins({ cookies }: Client): string[] {
  const own = [...cookies].map(([name, value]) => `${name}=${value}`);
  const tossed = [...cookies].map(([name]) => `${name}=tossed`);
  return [[...own, ...tossed].join('; '), [...tossed, ...own].join('; ')];
}

type Signature = { text: string; mac: Buffer; write(mac: Buffer): string };

/** Returns what may be the signatures in a cookie: its end, of the length of a hash. */
function signaturesIn(cookie: string): Signature[] {
  const value = decodeURIComponent(cookie);
  return ['.', '|'].flatMap((separator) => {
    const at = value.lastIndexOf(separator);
    const [text, end] = [value.slice(0, at), value.slice(at + 1)];
    const encoding = /^[0-9a-f]+$/.test(end) ? 'hex' : /[+/=]/.test(end) ? 'base64' : 'base64url';
    const mac = Buffer.from(end, encoding);
    const write = (bytes: Buffer) => encodeURIComponent(`${text}${separator}${bytes.toString(encoding)}`);
    return at > 0 && [20, 32, 64].includes(mac.length) ? [{ text, mac, write }] : [];
  });
}

/** Returns the signatures of a session that an app gives to a visitor when it signs texts with its secret, or with a key that it so derives. */
function macsOf(text: string, source: string): Buffer[] {
  const literals = new Set([
    '',
    'cookie-session',
    ...[...source.matchAll(/["'`]([^"'`\n$#{}]{1,40})["'`]/g)].map(([, literal]) => literal),
  ]);
  const decoded = [text, ...(['base64url', 'hex'] as const).map((encoding) => Buffer.from(text, encoding).toString())];
  const sign = (hash: string, key: string | Buffer, signed: string) => createHmac(hash, key).update(signed).digest();
  return ['sha256', 'sha1', 'sha512'].flatMap((hash) =>
    [...literals].flatMap((literal) => [
      ...decoded.map((each) => sign(hash, SESSION_SECRET, literal + each)),
      ...decoded.map((each) => sign(hash, sign(hash, SESSION_SECRET, literal), each)),
    ]),
  );
}
