import type { Browser, BrowserContext, Page } from 'playwright';
import { requestEmail, text } from '../../browser/scene.ts';
import { launchBrowser } from '../../support/browser.ts';
import { openAuthority } from '../../support/certificates.ts';
import type { Client } from '../../support/client.ts';
import { openStage, type Stage } from '../../support/harness.ts';
import { authorize, codeOf, exchange, freshAddress } from '../../support/sign-ins.ts';
import { freePort } from '../../support/waiting.ts';
import { openHttpsProxy } from './https-proxy.ts';

/** The service behind a proxy with a certificate, as clients require it, and a browser. */
export type ProviderStage = {
  stage: Stage;
  /** Its PUBLIC_URL: https. */
  issuer: string;
  /** The certificate authority that clients have to trust. */
  caFile: string;
  newBrowser(): Promise<BrowserContext>;
  /** Opens a session of the portal for an address. */
  signInToPortal(email: string): Promise<Client>;
  close(): Promise<void>;
};

export async function openProviderStage(): Promise<ProviderStage> {
  const [stage, authority, browser] = await Promise.all([openStage(), openAuthority(), launchBrowser()]);
  const [port, publicPort] = [await freePort(), await freePort()];
  const issuer = `https://localhost:${publicPort}`;
  const closeProxy = await openHttpsProxy(publicPort, port, await authority.issue('localhost', 1));
  const service = await stage.start({ PORT: String(port), PUBLIC_URL: issuer, TRUST_PROXY: '1' });
  return {
    stage,
    issuer,
    caFile: authority.file,
    newBrowser: () => newBrowser(browser),
    async signInToPortal(email) {
      const client = service.client();
      const { pkce } = await authorize(client, email, { redirect_uri: `${issuer}/developer` });
      const response = await exchange(client, codeOf(await stage.mailbox.waitFor(email)), pkce.codeVerifier);
      if (response.status !== 200) throw new Error(`The exchange returned ${response.status}: ${response.text}`);
      return client;
    },
    async close() {
      await browser.close();
      await closeProxy();
      await stage.close();
      await authority.close();
    },
  };
}

async function newBrowser(browser: Browser): Promise<BrowserContext> {
  const context = await browser.newContext({ ignoreHTTPSErrors: true, locale: 'en-GB' });
  context.setDefaultTimeout(45_000);
  return context;
}

/** Signs in at the page of an authorization request by the emailed link, and allows what the client requests if that is asked. */
export async function signInByEmail({ stage, issuer }: ProviderStage, page: Page, email = freshAddress()): Promise<void> {
  await page.waitForURL(`${issuer}/**`);
  await requestEmail(page, email);
  await page.goto((await stage.mailbox.waitFor(email)).link);
  // The consent to a client is remembered, unless it asks with prompt=consent.
  if (page.url().startsWith(issuer)) await press(page, 'oidc_continue');
}

/** Presses the button that has a text of the sign-in pages. */
export const press = (page: Page, key: string) => page.getByRole('button', { name: text('en', key), exact: true }).click();
