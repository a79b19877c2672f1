// A stage of its own: its service and browser speak the Email Verification Protocol.
import type { Browser, Page } from 'playwright';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { launchVerifyingBrowser } from '../support/browser.ts';
import { type NameServer, openNameServer } from '../support/dns.ts';
import { addressAt, delegatedDomain, type EmailIssuer, loadIssuer, openEmailIssuer, openTextResolver } from '../support/email-issuer.ts';
import { openStage, type Service, type Stage } from '../support/harness.ts';
import { openTestWebsite, type TestWebsite } from '../support/test-website.ts';
import { heading, text } from './scene.ts';

let stage: Stage;
let service: Service;
let names: NameServer;
let issuer: EmailIssuer;
let resolver: Awaited<ReturnType<typeof openTextResolver>>;
let shop: TestWebsite;
let browser: Browser | null;
beforeAll(async () => {
  [stage, names, issuer] = await Promise.all([openStage(), openNameServer(), openEmailIssuer()]);
  resolver = await openTextResolver(names);
  service = await stage.start({ EVP: 'on', DNS_SERVERS: names.address });
  shop = await openTestWebsite(service.url);
  await loadIssuer(service, names, issuer, `${shop.url}/`);
  browser = await launchVerifyingBrowser([
    OFFLINE,
    '--enable-features=EmailVerificationProtocol',
    '--auto-grant-email-verification-permission-for-testing',
    `--dns-txt-resolver-url-prefix=${resolver.urlPrefix}`,
    '--ignore-certificate-errors',
  ]);
  if (!browser) console.warn('Skipped: no Chromium of the system has the Email Verification Protocol.');
});
afterAll(async () => {
  await browser?.close();
  await shop.close();
  await Promise.all([stage.close(), names.close(), issuer.close(), resolver.close()]);
});
beforeEach(({ skip }) => {
  skip(browser === null, 'no Chromium of the system has the Email Verification Protocol');
  issuer.responses.clear();
});

/** Chromium's own traffic stays on this machine. */
const OFFLINE = '--host-resolver-rules=MAP * 127.0.0.1:9, EXCLUDE localhost, EXCLUDE 127.0.0.1';

const actionsOf = async (email: string) =>
  (await stage.query("select concat_ws(' ', action, method) as step from audit_log where email = $1 order by id", [email])).map(
    ({ step }) => step,
  );

/**
 * Opens a page of a browser that is signed in at the issuer.
 * @param options.isPatient the page waits for the token until it comes, because its clock does not move
 */
async function openBrowser({ isPatient = false } = {}): Promise<Page> {
  const page = await (browser as Browser).newPage({ ignoreHTTPSErrors: true });
  if (isPatient) await page.clock.setFixedTime(new Date());
  await page.goto(`${issuer.origin}/login`);
  return page;
}

/** Types an address, and continues by Enter or a click on the button. */
async function enter(page: Page, email: string, { by = 'Enter', portal = false } = {}): Promise<void> {
  const field = page.getByLabel(text('en', 'email_label'));
  await field.pressSequentially(email);
  if (by === 'Enter') await field.press('Enter');
  else await page.getByRole('button', { name: text('en', portal ? 'send_magic_link_portal' : 'send_magic_link'), exact: true }).click();
}

describe('a browser that verifies the address at the mail provider', () => {
  test('signs in at a website by Enter, with no email', async () => {
    const email = addressAt(delegatedDomain(names, issuer.record));
    issuer.accounts.push(email);
    const page = await openBrowser({ isPatient: true });
    await page.goto(shop.signInUrl('en'));
    await enter(page, email);
    await heading(page, `Hello ${email}`);
    expect(await actionsOf(email)).toEqual(['signed_in v', 'token_verified v']);
    await page.context().close();
  });

  test('signs in to the portal', async () => {
    const email = addressAt(delegatedDomain(names, issuer.record));
    issuer.accounts.push(email);
    const page = await openBrowser({ isPatient: true });
    await page.goto(`${service.url}/auth?language=en`);
    await enter(page, email, { portal: true, by: 'click' });
    await page.getByRole('button', { name: email }).waitFor();
    expect(await actionsOf(email)).not.toContain('sign_in_requested');
    await page.context().close();
  });

  test.each<[string, (email: string) => void]>([
    ['that is not signed in at the mail provider', () => {}],
    [
      'whose mail provider does not respond',
      (email) => {
        issuer.accounts.push(email);
        issuer.responses.set('/issuance', 'hang');
      },
    ],
  ])('gets the email for an address %s', async (_, prepare) => {
    const email = addressAt(delegatedDomain(names, issuer.record));
    prepare(email);
    const page = await openBrowser();
    await page.goto(shop.signInUrl('en'));
    await enter(page, email);
    await heading(page, text('en', 'check_email'));
    await page.goto((await stage.mailbox.waitFor(email)).link);
    await heading(page, `Hello ${email}`);
    expect(await actionsOf(email)).toEqual(['sign_in_requested', 'signed_in l', 'token_verified l']);
    await page.context().close();
  });
});

test('a browser without the protocol sends one request for the email, and none to the mail provider', async () => {
  const email = addressAt(delegatedDomain(names));
  await browser?.close();
  browser = await launchVerifyingBrowser([OFFLINE, '--disable-features=EmailVerificationProtocol']);
  const page = await (browser as Browser).newPage();
  const calls: string[] = [];
  page.on('request', (request) => new URL(request.url()).pathname.startsWith('/api/') && calls.push(new URL(request.url()).pathname));
  await page.goto(shop.signInUrl('en'));
  await enter(page, email);
  await heading(page, text('en', 'check_email'));
  await stage.mailbox.waitFor(email);
  expect(calls.filter((path) => path !== '/api/auth/attempt')).toEqual(['/api/auth/domain-auth']);
  await page.context().close();
});
