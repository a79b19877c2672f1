import type { BrowserContext, Page } from 'playwright';
import { beforeAll, expect, test } from 'vitest';
import { freshAddress } from '../support/sign-ins.ts';
import { openRelyingParty, type RelyingParty } from './relying-party.ts';
import { evaluates, heading, requestEmail, signIn, signInToPortal, text, useScene } from './scene.ts';

const scene = await useScene();
let party: RelyingParty;
beforeAll(async () => {
  party = await openRelyingParty(scene);
});

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

/** Signs a person in to the application. Returns the tokens. */
async function connect(context: BrowserContext, email: string) {
  const page = await context.newPage();
  await page.goto(await party.requestUrl({ scope: 'openid email profile offline_access', prompt: 'consent' }));
  const field = page.getByLabel(text('en', 'email_label'));
  const consent = button(page, text('en', 'oidc_continue'));
  await field.or(consent).first().waitFor();
  if ((await consent.count()) === 0) {
    await requestEmail(page, email);
    await page.goto((await scene.stage.mailbox.waitFor(email)).link);
  }
  await consent.click();
  const { json, text: body } = await party.exchange((await party.returned(page)).get('code'));
  if (!json.refresh_token) throw new Error(`There is no refresh token: ${body}`);
  return { page, tokens: json };
}

const refresh = (token: string) => party.post('/oauth/token', { grant_type: 'refresh_token', refresh_token: token });

test('lists a connected application with what it may do, and revokes it after a confirmation', async () => {
  const [context, email] = [await scene.newBrowser(), freshAddress()];
  const page = await context.newPage();
  await signIn(scene, page, email);
  await page.goto(`${scene.service.url}/dashboard/settings/security`);
  await heading(page, 'No connected applications');
  const { tokens } = await connect(context, email);
  const second = await refresh(tokens.refresh_token);
  expect(second.status).toBe(200);
  await page.reload();
  const row = page.getByRole('listitem').filter({ has: button(page, 'Revoke Team notes') });
  await row.waitFor();
  const may = page.getByRole('list', { name: 'What Team notes may do' }).getByRole('listitem');
  await expect.poll(() => may.allTextContents()).toContain('See your email address');
  await row.getByText('localhost', { exact: true }).waitFor();
  await button(page, 'Revoke Team notes').click();
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel', exact: true }).click();
  await button(page, 'Revoke Team notes').click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke', exact: true }).click();
  await page.getByText('Access revoked').waitFor();
  await heading(page, 'No connected applications');
  await evaluates(page, 'document.activeElement.textContent', 'Settings');
  expect((await refresh(second.json.refresh_token)).json.error).toBe('invalid_grant');
  await page.goto(await party.requestUrl());
  await button(page, text('en', 'oidc_continue')).waitFor();
});

test('reports connections that cannot be loaded or revoked, and offers a retry', async () => {
  const [context, email] = [await scene.newBrowser(), freshAddress()];
  const page = await context.newPage();
  await signInToPortal(scene, page, email);
  await connect(context, email);
  // Every three seconds, the page would try again by itself.
  await page.route('**/readyz', (route) => route.abort());
  await page.route('**/api/user/connections', (route) => route.abort());
  await page.goto(`${scene.service.url}/dashboard/settings/security`);
  await page.getByRole('alert').getByText('The service cannot be reached.').waitFor();
  await page.unroute('**/api/user/connections');
  await button(page, 'Try again').click();
  await page.route('**/api/user/connections/*', (route) =>
    route.fulfill({ status: 503, json: { error: 'The service is not available.' } }),
  );
  await button(page, 'Revoke Team notes').click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke', exact: true }).click();
  await page.getByRole('dialog').getByRole('alert').getByText('The service is not available.').waitFor();
});

test('signs out of the service for an application, which the person may decline', async () => {
  const [context, email] = [await scene.newBrowser(), freshAddress()];
  const { page, tokens } = await connect(context, email);
  const query = new URLSearchParams({ id_token_hint: tokens.id_token, post_logout_redirect_uri: party.logoutUri });
  const logout = `${scene.service.url}/oauth/logout?${query}`;
  await page.goto(logout);
  await heading(page, text('en', 'oidc_logout_title'));
  await button(page, text('en', 'oidc_logout_stay')).click();
  await page.waitForURL(`${party.logoutUri}*`);
  await page.goto(await party.requestUrl());
  await party.returned(page);
  await page.goto(logout);
  await button(page, text('en', 'oidc_logout_button')).click();
  await page.waitForURL(`${party.logoutUri}*`);
  await page.goto(await party.requestUrl());
  await page.getByLabel(text('en', 'email_label')).waitFor();
});

test('shows a page of its own after a sign-out that no application began', async () => {
  const [context, email] = [await scene.newBrowser(), freshAddress()];
  const { page } = await connect(context, email);
  await page.goto(`${scene.service.url}/oauth/logout`);
  await page.getByLabel(text('en', 'language_label')).selectOption('lt');
  await button(page, text('lt', 'oidc_logout_button')).click();
  await heading(page, text('lt', 'oidc_logged_out_title'));
});
