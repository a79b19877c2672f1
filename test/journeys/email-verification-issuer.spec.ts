import {
  createServer as createHttpServer,
  request as httpRequest,
  type IncomingHttpHeaders,
  type RequestListener,
  type Server,
} from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createLocalJWKSet, decodeProtectedHeader } from 'jose';
import type { Browser, Page } from 'playwright';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { ACCOUNTS_PATH, ISSUANCE_PATH } from '../../server/email-verification/issuer.ts';
import { type FindKey, splitToken } from '../../server/email-verification/token.ts';
import { verifyToken } from '../../server/email-verification/verify-token.ts';
import { launchVerifyingBrowser } from '../browser.ts';
import { hasOpenssl, openAuthority } from '../certificates.ts';
import { type NameServer, openNameServer } from '../dns.ts';
import { openTextResolver } from '../email-issuer.ts';
import { openStage, type Service, type Stage } from '../harness.ts';
import { freshAddress } from '../sign-ins.ts';
import { openTestWebsite } from '../test-website.ts';
import { freePort, waitUntil } from '../waiting.ts';
import { heading, requestEmail, text } from './scene.ts';

// The operator of mail.example runs the service at auth.mail.example. Everything is on the loopback: the browser resolves all names to it.
const ISSUER = 'https://auth.mail.example';
const NONCE = 'a nonce of the shop, for one page';

/** A request to the issuer, as the browser sent it. */
type Seen = { method: string; path: string; host: string; headers: IncomingHttpHeaders; status: number };

let stage: Stage;
let service: Service;
/** Another issuer, of team.example, at localhost: the only place where a service in local mode looks for issuers on this machine. */
let local: Service;
let localUrl: string;
let names: NameServer;
let textResolver: Awaited<ReturnType<typeof openTextResolver>>;
let browser: Browser | null = null;
let shopUrl: string;
const servers: Server[] = [];
const seen: Seen[] = [];

async function listen(server: Server): Promise<number> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

/** TLS in front of the service, and the website of the operator, which redirects to the service what browsers look for there. */
const front: RequestListener = (request, response) => {
  const { method = '', url = '', headers } = request;
  const host = headers.host ?? '';
  const record = (status: number) => void seen.push({ method, path: url, host, headers, status });
  if (host === 'mail.example') {
    const isIdentity = url === '/.well-known/web-identity';
    response.writeHead(isIdentity ? 302 : 404, isIdentity ? { Location: ISSUER + url } : {}).end();
    return record(response.statusCode);
  }
  const { port } = host === 'auth.mail.example' ? service : local;
  const forwarded = httpRequest({ host: '127.0.0.1', port, method, path: url, headers }, (answer) => {
    record(answer.statusCode ?? 0);
    response.writeHead(answer.statusCode ?? 0, answer.headers);
    answer.pipe(response);
  });
  forwarded.on('error', () => response.destroy());
  request.pipe(forwarded);
};

/** A relying party without a Content-Security-Policy, which would hide the nonce from the browser. */
const shop: RequestListener = (_, response) => {
  response.setHeader('Content-Type', 'text/html; charset=utf-8');
  response.end(`<!doctype html><title>A shop</title><h1>A shop</h1>
    <form><label>Email <input type="email" name="email" autocomplete="email"></label>
    <input type="hidden" name="token" autocomplete="email-verification-token" nonce="${NONCE}"><button>Continue</button></form>
    <script>document.forms[0].addEventListener('submit', (event) => {
      event.preventDefault();
      window.submitted = Object.fromEntries(new FormData(event.target));
    });</script>`);
};

beforeAll(async () => {
  if (!hasOpenssl) return;
  const authority = await openAuthority();
  const { key, cert } = await authority.issue('auth.mail.example', 2);
  await authority.close();
  const tlsPort = await listen(createHttpsServer({ key, cert }, front));
  localUrl = `https://localhost:${tlsPort}`;
  names = await openNameServer();
  names.setText('_email-verification.mail.example', [`iss=${new URL(ISSUER).host}`]);
  names.setText('_email-verification.team.example', [`iss=localhost:${tlsPort}`]);
  textResolver = await openTextResolver(names);
  shopUrl = `http://localhost:${await listen(createHttpServer(shop))}/`;
  const hosts = ['auth.mail.example', 'mail.example'].map((host) => `MAP ${host} 127.0.0.1:${tlsPort}`);
  browser = await launchVerifyingBrowser([
    '--enable-features=EmailVerificationProtocol',
    '--auto-grant-email-verification-permission-for-testing',
    `--dns-txt-resolver-url-prefix=${textResolver.urlPrefix}`,
    '--ignore-certificate-errors',
    `--host-resolver-rules=${[...hosts, 'MAP * 127.0.0.1:9', 'EXCLUDE localhost', 'EXCLUDE 127.0.0.1'].join(', ')}`,
  ]);
  if (!browser) return;
  stage = await openStage();
  service = await stage.start({ PUBLIC_URL: ISSUER, EVP_ISSUER_DOMAINS: 'mail.example', TRUST_PROXY: '1' });
  local = await stage.start({ PUBLIC_URL: localUrl, EVP_ISSUER_DOMAINS: 'team.example', TRUST_PROXY: '1' });
});
afterAll(async () => {
  await browser?.close();
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
  await textResolver?.close();
  await names?.close();
  await stage?.close();
});

/** Signs somebody in to the portal of the issuer, in the browser. */
async function signInAtIssuer(page: Page, email: string, issuer = ISSUER): Promise<void> {
  await page.goto(`${issuer}/auth`);
  await requestEmail(page, email, 'en', true);
  await page.goto((await stage.mailbox.waitFor(email)).link);
  await page.getByRole('button', { name: email }).waitFor();
}

/** Returns the list of the reasons for which the browser obtained no token at a page; it grows. */
async function watchFailures(page: Page): Promise<string[]> {
  const failures: string[] = [];
  const cdp = await page.context().newCDPSession(page);
  cdp.on('Audits.issueAdded', ({ issue }) => {
    const { emailVerificationRequestIssueDetails: details } = issue.details as Record<
      string,
      { emailVerificationRequestIssueReason: string }
    >;
    if (details) failures.push(details.emailVerificationRequestIssueReason);
  });
  await cdp.send('Audits.enable');
  return failures;
}

/** Enters an address at the shop and leaves the field, whereupon the browser requests a token. */
async function enterAddress(page: Page, email: string): Promise<void> {
  await page.goto(shopUrl);
  await page.getByLabel('Email').click();
  await page.keyboard.type(email);
  await page.keyboard.press('Tab');
}

const requestsTo = (path: string) => seen.filter((request) => request.path === path);

/** Returns the token that the browser writes into the form when it is submitted; empty when it has none. */
async function submit(page: Page): Promise<string> {
  await page.evaluate('document.forms[0].requestSubmit()');
  return page.evaluate('window.submitted.token');
}

const missing =
  'the Email Verification Protocol needs a Chromium of the system (apt-get install chromium), not only its headless shell, and openssl';

test('Chromium obtains a token for the address that is signed in, and hands it to a website', async ({ skip }) => {
  if (!browser) return skip(missing);
  const page = await (await browser.newContext()).newPage();
  const email = freshAddress();
  await signInAtIssuer(page, email);
  seen.length = 0;
  const failures = await watchFailures(page);
  let token = '';
  // A submit while the browser still makes its key binding, a moment after the response, has no token.
  await waitUntil('the form contains a token', 60_000, async () => {
    seen.length = 0;
    await enterAddress(page, email);
    await waitUntil(
      'the browser has requested a token',
      30_000,
      () => failures.join() || requestsTo(ISSUANCE_PATH).length > 0 || 'no request',
    );
    token = await submit(page);
    return token !== '' || failures.join() || 'no token';
  });

  const jwks = (await service.client().get('/oauth/jwks')).json;
  const expected = { issuer: ISSUER, email, origin: new URL(shopUrl).origin, nonce: NONCE, now: Date.now() };
  await verifyToken(splitToken(token), expected, createLocalJWKSet(jwks) as unknown as FindKey);
  expect(decodeProtectedHeader(token.split('~')[1])).toEqual({ alg: 'ES256', typ: 'kb+jwt' });

  expect(requestsTo('/.well-known/web-identity').map(({ host, status }) => [host, status])).toEqual([
    ['mail.example', 302],
    ['auth.mail.example', 200],
  ]);
  const [accounts] = requestsTo(ACCOUNTS_PATH);
  expect(accounts.headers).toMatchObject({ 'sec-fetch-dest': 'webidentity' });
  expect(accounts.headers.origin).toBeUndefined();
  expect(accounts.headers.cookie).toMatch(/^__Secure-email_verification=[^;]+$/);
  const [issuance] = requestsTo(ISSUANCE_PATH);
  expect(issuance.headers).toMatchObject({ 'sec-fetch-dest': 'email-verification', origin: 'null' });
  expect(issuance.headers.cookie).toBe(accounts.headers.cookie);
  // The issuer does not learn which website asks.
  expect(JSON.stringify([accounts, issuance])).not.toContain(new URL(shopUrl).host);
});

test('Chromium obtains no token for another address, and none after the sign-out', async ({ skip }) => {
  if (!browser) return skip(missing);
  const page = await (await browser.newContext()).newPage();
  const email = freshAddress();
  await signInAtIssuer(page, email);
  seen.length = 0;
  const failures = await watchFailures(page);
  await enterAddress(page, freshAddress('bob'));
  await expect.poll(() => failures).toEqual(['UserLoggedOut']);
  expect(await submit(page)).toBe('');

  await page.goto(`${ISSUER}/developer`);
  await page.getByRole('button', { name: email }).click();
  await page.getByRole('menuitem', { name: 'Logout' }).click();
  await page.waitForURL((url) => url.pathname !== '/developer');
  await enterAddress(page, email);
  await expect.poll(() => failures[1]).toMatch(/^(?:UserLoggedOut|AccountsNoResponse)$/);
  expect(await submit(page)).toBe('');
  expect(requestsTo(ISSUANCE_PATH)).toEqual([]);
});

// On a busy machine, the token may come later than the page waits for it.
test('Chromium signs in at a website of another service with the token of this one, and no email is sent', { retry: 2 }, async ({
  skip,
}) => {
  if (!browser) return skip(missing);
  const other = await openStage();
  onTestFinished(() => other.close());
  const port = await freePort();
  const relying = await other.start({ EVP: 'on', DNS_SERVERS: names.address, PUBLIC_URL: `http://127.0.0.1:${port}`, PORT: String(port) });
  const website = await openTestWebsite(relying.url);
  onTestFinished(() => website.close());
  const page = await (await browser.newContext()).newPage();
  const email = freshAddress().replace(/@.*/, '@team.example');
  await signInAtIssuer(page, email, localUrl);
  await page.goto(website.signInUrl('en'));
  await page.getByLabel(text('en', 'email_label')).pressSequentially(email);
  await page.getByRole('button', { name: text('en', 'send_magic_link'), exact: true }).click();
  await heading(page, `Hello ${email}`);
  const actions = await other.query('select action from audit_log where email = $1 order by id', [email]);
  expect(actions.map(({ action }) => action)).toEqual(['signed_in_verified_email', 'token_verified']);
});
