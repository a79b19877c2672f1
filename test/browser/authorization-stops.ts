import type { Page } from 'playwright';
import { createPkce } from '../../contract/pkce.ts';
import type { Client } from '../support/client.ts';
import type { Service, Stage } from '../support/harness.ts';
import { answerOf, begin, continueByLink, postForm } from '../support/oidc-client.ts';
import { freshAddress } from '../support/sign-ins.ts';
import { heading, requestEmail, settled, text } from './scene.ts';
import type { Stop } from './stop.ts';

/** The redirect URI of the application Back office. */
export const OFFICE = 'https://office.shop.example/callback';

/** The client ID and secret of the application Back office. */
export type Office = { clientId: string; clientSecret: string };

/** Signs an account in to the application, which its settings then list. */
export async function connect(stage: Stage, client: Client, office: Office, email: string): Promise<void> {
  const begun = await begin(client, { clientId: office.clientId, redirectUri: OFFICE, scope: 'openid email' });
  const { code } = begun.uid ? await continueByLink(stage, client, begun, email) : answerOf(begun.page);
  const fields = { grant_type: 'authorization_code', code, redirect_uri: OFFICE, code_verifier: begun.verifier };
  const { status, text: body } = await postForm(client, '/oauth/token', fields, basicOf(office));
  if (status !== 200) throw new Error(`token returned ${status}: ${body}`);
}

const basicOf = (office: Office) => ({
  Authorization: `Basic ${Buffer.from(`${office.clientId}:${office.clientSecret}`).toString('base64')}`,
});

/** The pages of authorization requests, sign-out and the device flow. */
export function authorizationStops(stage: Stage, service: Service, office: Office): Stop[] {
  const requestUrl = async (parameters: Record<string, string> = {}) => {
    const { codeChallenge, state } = await createPkce();
    const required = { client_id: office.clientId, redirect_uri: OFFICE, response_type: 'code', scope: 'openid email', state };
    const query = { ...required, code_challenge: codeChallenge, code_challenge_method: 'S256', ...parameters };
    return `${service.url}/oauth/authorize?${new URLSearchParams(query)}`;
  };
  const stop = (who: Stop['who'], name: string, open: (page: Page) => Promise<void>): Stop => ({
    name,
    who,
    open: async (page) => {
      await open(page);
      await settled(page);
    },
  });
  const at = (who: Stop['who'], name: string, title: string, url: () => Promise<string>) =>
    stop(who, name, async (page) => {
      await page.goto(await url());
      await heading(page, text('en', title));
    });
  const userCode = async () =>
    (await postForm(service.client(), '/oauth/device/authorize', { client_id: office.clientId, scope: 'openid email' }, basicOf(office)))
      .json;
  const everyScope = 'openid email profile offline_access';

  return [
    at('visitor', 'application-signin', 'welcome', () => requestUrl()),
    at('visitor', 'application-unknown', 'oidc_error_title', () => requestUrl({ client_id: 'app_unknown' })),
    at('visitor', 'application-redirect', 'oidc_error_title', () => requestUrl({ redirect_uri: 'https://evil.example/' })),
    at('visitor', 'application-expired', 'oidc_expired_title', async () => `${service.url}/oauth/interaction/${'x'.repeat(43)}`),
    at('visitor', 'device-code', 'oidc_device_title', async () => `${service.url}/oauth/device`),
    // Not the browser of the other pages for devices: each replaces the anti-forgery value of the one before.
    at('returning', 'device-confirm', 'oidc_device_confirm_title', async () => (await userCode()).verification_uri_complete),
    stop('visitor', 'device-wrong', async (page) => {
      await page.goto(`${service.url}/oauth/device`);
      await page.getByLabel(text('en', 'oidc_device_label')).fill('BCDF-GHJK');
      await page.keyboard.press('Enter');
      await page.getByRole('alert').getByText(text('en', 'oidc_device_wrong')).waitFor();
    }),
    stop('visitor', 'application-mail', async (page) => {
      await page.goto(await requestUrl());
      await requestEmail(page, freshAddress());
    }),
    stop('visitor', 'application-other-browser', async (page) => {
      const [other, email] = [service.client(), freshAddress()];
      const { uid } = await begin(other, { clientId: office.clientId, redirectUri: OFFICE });
      await other.post('/api/auth/domain-auth', { email, interaction: uid });
      await page.goto((await stage.mailbox.waitFor(email)).link);
      await heading(page, text('en', 'oidc_link_title'));
    }),
    at('developer', 'application-choose', 'oidc_choose_title', () => requestUrl({ prompt: 'select_account' })),
    stop('developer', 'application-consent', async (page) => {
      await page.goto(await requestUrl({ prompt: 'consent', scope: everyScope }));
      const email = 'ada@lovelace.example';
      await heading(page, text('en', 'oidc_consent_title', { email, host: 'office.shop.example' }));
    }),
    at('developer', 'sign-out', 'oidc_logout_title', async () => `${service.url}/oauth/logout`),
  ];
}
