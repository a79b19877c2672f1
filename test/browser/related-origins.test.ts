// A stage of its own: its services have origins of their own.
import type { Browser } from 'playwright';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openHttpsProxy } from '../integrations/clients/https-proxy.ts';
import { launchVerifyingBrowser } from '../support/browser.ts';
import { hasOpenssl, openAuthority } from '../support/certificates.ts';
import { openStage, type Stage } from '../support/harness.ts';
import { freshAddress } from '../support/sign-ins.ts';
import { freePort, waitUntil } from '../support/waiting.ts';
import { addAuthenticator, credentialsOf } from './authenticator.ts';
import { heading, requestEmail, text } from './scene.ts';

// An operator's service at two hosts, and a host that is not theirs. The browser resolves all names to the loopback.
const [HOME, OTHER, FOREIGN] = ['https://auth.example.com', 'https://login.example.net', 'https://login.example.org'];

let stage: Stage;
let browser: Browser | null = null;
const closers: (() => Promise<void>)[] = [];

beforeAll(async () => {
  if (!hasOpenssl) return;
  const authority = await openAuthority();
  closers.push(() => authority.close());
  const [homePort, otherPort] = [await freePort(), await freePort()];
  const addresses = [
    [HOME, homePort],
    [OTHER, otherPort],
    [FOREIGN, homePort],
  ].map(([origin, port]) => `MAP ${new URL(String(origin)).host} 127.0.0.1:${port}`);
  browser = await launchVerifyingBrowser([
    // WebAuthn refuses a page whose certificate has errors, even one that the person accepted.
    '--ignore-certificate-errors',
    `--host-resolver-rules=${[...addresses, 'MAP * 127.0.0.1:9', 'EXCLUDE 127.0.0.1'].join(', ')}`,
  ]);
  if (!browser) return;
  stage = await openStage();
  const home = await stage.start({ PUBLIC_URL: HOME, PASSKEY_ORIGINS: OTHER, TRUST_PROXY: '1' });
  const other = await stage.start({ PUBLIC_URL: OTHER, PASSKEY_RP_ID: new URL(HOME).host, TRUST_PROXY: '1' });
  closers.push(await openHttpsProxy(homePort, home.port, await authority.issue('auth.example.com', 1)));
  closers.push(await openHttpsProxy(otherPort, other.port, await authority.issue('login.example.net', 2)));
});
afterAll(async () => {
  await browser?.close();
  for (const close of closers.reverse()) await close();
  await stage?.close();
});

test('a passkey of one host signs in at another host that it lists, and not at a foreign one', async ({ skip }) => {
  if (!browser) return skip('It needs openssl and Chromium 150 or newer.');
  const context = await browser.newContext({ locale: 'en-GB' });
  context.setDefaultTimeout(45_000);
  const page = await context.newPage();
  const { cdp, authenticatorId } = await addAuthenticator(page);
  const email = freshAddress('dev');
  await page.goto(`${HOME}/auth?language=en`);
  await expect.poll(async () => (await context.cookies()).some(({ name }) => name === 'passkey_ready')).toBe(true);
  await requestEmail(page, email, 'en', true);
  await page.goto((await stage.mailbox.waitFor(email)).link);
  await heading(page, text('en', 'passkey_offer_title'));
  await page.getByRole('button', { name: text('en', 'passkey_create_button') }).click();
  await page.getByRole('button', { name: email }).waitFor();
  const [{ rpId }] = await credentialsOf({ cdp, authenticatorId });
  expect(rpId).toBe('auth.example.com');

  // A page that makes no request for a passkey itself: a browser refuses a second one with another error.
  await page.goto(`${FOREIGN}/tos`);
  const request = `navigator.credentials.get({ publicKey: { challenge: new Uint8Array(32), rpId: '${rpId}' } })`;
  const refused = page.evaluate(`${request}.then(() => 'signed in', ({ name }) => name)`);
  expect(await refused).toBe('SecurityError');

  // The browser reads the list of hosts itself. On a busy machine that may take it too long, so that the person loads the page again.
  await waitUntil('the passkey has signed in', 180_000, async () => {
    await page.goto(`${OTHER}/auth?language=en`);
    const isSignedIn = page.getByRole('button', { name: email }).waitFor({ timeout: 15_000 });
    return isSignedIn.then(
      () => true,
      () => page.title(),
    );
  });
  expect(new URL(page.url()).origin).toBe(OTHER);
  const actions = await stage.query("select 1 from audit_log where email = $1 and action = 'signed_in' and method = 'p'", [email]);
  expect(actions.length).toBeGreaterThan(0);
  await context.close();
});
