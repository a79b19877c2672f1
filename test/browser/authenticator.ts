import type { BrowserContext, CDPSession, Page } from 'playwright';
import type { Scene } from './scene.ts';

/** A page whose browser has an authenticator (WebDriver extension of WebAuthn). */
export type Device = { context: BrowserContext; page: Page; cdp: CDPSession; authenticatorId: string };

/** Adds an authenticator to a page. It confirms every request at once. */
export async function addAuthenticator(page: Page): Promise<{ cdp: CDPSession; authenticatorId: string }> {
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('WebAuthn.enable');
  const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return { cdp, authenticatorId };
}

/** Opens a new browser with an authenticator. */
export async function openDevice(scene: Pick<Scene, 'newBrowser'>): Promise<Device> {
  const context = await scene.newBrowser();
  const page = await context.newPage();
  return { context, page, ...(await addAuthenticator(page)) };
}

/** Returns the passkeys of an authenticator. */
export const credentialsOf = async ({ cdp, authenticatorId }: Pick<Device, 'cdp' | 'authenticatorId'>) =>
  (await cdp.send('WebAuthn.getCredentials', { authenticatorId })).credentials;
