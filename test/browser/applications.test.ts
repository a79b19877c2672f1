import type { Page } from 'playwright';
import { beforeAll, expect, test } from 'vitest';
import { authorize, freshAddress } from '../support/sign-ins.ts';
import { evaluates, heading, signIn, text, useScene } from './scene.ts';

const scene = await useScene();
const email = freshAddress('dev');
let page: Page;
beforeAll(async () => {
  const context = await scene.newBrowser();
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: scene.service.url });
  page = await context.newPage();
  await signIn(scene, page, email);
  await page.goto(`${scene.service.url}/dashboard/auth`);
});

const dialog = () => page.getByRole('dialog');
const button = (name: string | RegExp) => page.getByRole('button', { name, exact: true });
const inDialog = (name: string) => dialog().getByRole('button', { name, exact: true });
const clipboard = () => page.evaluate('navigator.clipboard.readText()') as Promise<string>;
/** Waits until the clipboard matches: the page writes to it after the click. */
const copied = async (text: string | RegExp) => {
  await expect.poll(clipboard).toMatch(text);
  return clipboard();
};
/** Returns the body of a request with curl. */
const bodyOf = (curl: string): Record<string, string> => JSON.parse(/-d '(.*)'$/s.exec(curl)?.[1] ?? '');
const callback = () => `${scene.shop.url}/callback`;
const ask = (path: string, key: string) => scene.service.client().get(path, { Authorization: `Bearer ${key}` });

test('shows the next step with the address of this service while both lists are empty', async () => {
  await heading(page, 'No applications created yet');
  await heading(page, 'No API keys created yet');
  await button('Copy authorize').click();
  await page.getByText('Copied to clipboard').waitFor();
  const authorization = bodyOf(await copied(`curl ${scene.service.url}/api/auth/authorize`));
  await button('Copy token').click();
  const exchange = await copied(`curl ${scene.service.url}/api/auth/token`);
  // Both run as they are: nothing but the code is filled in.
  const program = scene.service.client();
  expect((await program.post('/api/auth/authorize', authorization)).status).toBe(200);
  const { link } = await scene.stage.mailbox.waitFor(authorization.email);
  const code = new URL(link).searchParams.get('t') ?? '';
  const response = await program.post('/api/auth/token', bodyOf(exchange.replace('CODE', code)));
  expect(response.json).toMatchObject({ email: authorization.email, token_type: 'Bearer' });
  await button('Copy with a key').click();
  await copied(`curl ${scene.service.url}/api/websites`);
});

test('creates an application and reports invalid fields', async () => {
  await button('New Application').click();
  await inDialog('Cancel').click();
  await button('New Application').click();
  await inDialog('Create Application').click();
  await dialog().getByText('Name is required').waitFor();
  await dialog().getByText('Redirect URI is required').waitFor();
  await evaluates(page, 'document.activeElement.name', 'name');
  await dialog().getByLabel('Name', { exact: true }).fill('Team notes');
  await dialog().getByLabel('Redirect URI', { exact: true }).fill('http://app.example/callback');
  await inDialog('Create Application').click();
  await dialog().getByText('This must be https with a domain').waitFor();
  await dialog().getByLabel('Redirect URI', { exact: true }).fill(callback());
  await inDialog('Add redirect URI').click();
  await evaluates(page, 'document.activeElement.labels[0].textContent', 'Redirect URI 2');
  await dialog().getByLabel('Redirect URI 2', { exact: true }).fill('https://app.example.com/callback');
  await inDialog('Add redirect URI').click();
  await inDialog('Remove redirect URI 3').click();
  await inDialog('Create Application').click();
  await page.getByText('Application created').waitFor();
  await heading(page, 'Team notes');
  await page.getByText('https://app.example.com/callback', { exact: true }).waitFor();
  await button('Copy client ID of Team notes').click();
  await copied(/^app_[\w-]{22}$/);
});

test('signs a visitor in through the application by keyboard: the emailed link requires the address, redirects and is logged', async () => {
  const clientId = await clipboard();
  await button('View Logs of Team notes').click();
  await dialog().getByText('No one has signed in through this application yet').waitFor();
  expect(await dialog().textContent()).toContain(clientId);
  await inDialog('Copy authorize').click();
  const body = bodyOf(await copied(/^curl /));
  expect((await scene.service.client().post('/api/auth/authorize', body)).status).toBe(200);
  await inDialog('Close').click();
  await button('Copy client ID of Team notes').click();

  const program = scene.service.client();
  const { email, pkce } = await authorize(program, freshAddress('user'), { client_id: clientId, redirect_uri: callback() });
  const visitor = await (await scene.newBrowser()).newPage();
  const arrived = visitor.waitForRequest((request) => request.url().startsWith(callback()));
  const { link } = await scene.stage.mailbox.waitFor(email);
  await visitor.goto(link);
  await heading(visitor, text('en', 'confirm_title'));
  // The page repeats its own URL only.
  expect(await visitor.content()).not.toContain(`code=${new URL(link).searchParams.get('t')}`);
  const field = visitor.getByLabel(text('en', 'email_label'));
  while ((await field.and(visitor.locator(':focus')).count()) === 0) await visitor.keyboard.press('Tab');
  await visitor.keyboard.type(freshAddress('eve'));
  await visitor.keyboard.press('Enter');
  const alert = visitor.getByRole('alert').filter({ hasText: text('en', 'confirm_wrong_email') });
  await alert.waitFor();
  expect(await field.getAttribute('aria-describedby')).toBe(await alert.getAttribute('id'));
  expect(new URL(visitor.url()).pathname).toBe('/auth/link');
  await visitor.keyboard.press('Control+A');
  await visitor.keyboard.type(email);
  await visitor.keyboard.press('Tab');
  await visitor.keyboard.press('Enter');
  const target = new URL((await arrived).url());
  expect([target.searchParams.get('state'), target.searchParams.get('iss')]).toEqual([pkce.state, scene.service.url]);
  const code = target.searchParams.get('code');
  const exchanged = await program.post('/api/auth/token', { code, code_verifier: pkce.codeVerifier, client_id: clientId });
  expect(exchanged.json.email).toBe(email);

  await button('View Logs of Team notes').click();
  await dialog().getByText('Signed in', { exact: true }).waitFor();
  await dialog().getByText('Sign-in email requested').first().waitFor();
  await dialog().getByText('Tokens issued').waitFor();
  await expect.poll(() => dialog().getByText(email).count()).toBe(3);
  await page.keyboard.press('Escape');
  await dialog().waitFor({ state: 'detached' });
});

test('renames an application, removes a redirect URI and disables it', async () => {
  await button('Configure Team notes').click();
  expect(await inDialog('Save').getAttribute('aria-disabled')).toBe('true');
  await dialog().getByLabel('Name', { exact: true }).fill('Diary');
  await inDialog('Remove redirect URI 2').click();
  await dialog().getByRole('switch', { name: 'Active' }).click();
  await inDialog('Save').click();
  await page.getByText('Application updated').waitFor();
  await heading(page, 'Diary');
  const row = page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: 'Diary' }) });
  await row.getByText('Inactive').waitFor();
  await expect.poll(() => row.textContent()).not.toContain('app.example.com');
  const clientId = await clipboard();
  const { response: refusal } = await authorize(scene.service.client(), freshAddress(), { client_id: clientId, redirect_uri: callback() });
  expect(refusal.json.code).toBe('unknown_client');
});

test('makes an application confidential, shows its secret once and rotates it with a grace period', async () => {
  await button('Configure Diary').click();
  await dialog().getByLabel('Type', { exact: true }).selectOption({ label: 'Confidential: on a server, with a secret' });
  await dialog().getByRole('switch', { name: 'Active' }).click();
  await dialog().getByText('Advanced: logout and scopes').click();
  await inDialog('Add logout URI').click();
  await dialog().getByLabel('Logout URI', { exact: true }).fill(`${scene.shop.url}/goodbye`);
  await inDialog('Save').click();
  await heading(page, 'Client secret of Diary');
  await inDialog('Close').click();
  await dialog().getByRole('alert').getByText('You have not copied the client secret, and it cannot be shown again.').waitFor();
  await inDialog('Copy client secret').click();
  const secret = await copied(/^ea_secret_/);
  await inDialog('Done').click();
  expect(await page.content()).not.toContain(secret);
  await button('Rotate Secret of Diary').click();
  await dialog().getByLabel('How long the present secret still works').selectOption('1 hour');
  await inDialog('Rotate').click();
  await inDialog('Copy client secret').click();
  await expect.poll(clipboard).not.toBe(secret);
  await inDialog('Done').click();
  await row('Diary').getByText('Former secret ends').waitFor();
  await button('Rotate Secret of Diary').click();
  await inDialog('End both and rotate').waitFor();
  await inDialog('Cancel').click();
});

test('shows the values to paste, and the requests that were rejected', async () => {
  await button('Set up Diary').click();
  await inDialog('Copy issuer').click();
  await copied(new RegExp(`^${scene.service.url}$`));
  await dialog().getByText('Endpoints, for a client without discovery').click();
  await dialog().getByText(`${scene.service.url}/.well-known/openid-configuration`).waitFor();
  await inDialog('Copy client ID').click();
  const clientId = await copied(/^app_/);
  await inDialog('Close').click();
  const visitor = await (await scene.newBrowser()).newPage();
  const query = new URLSearchParams({ client_id: clientId, redirect_uri: `${callback()}/wrong`, response_type: 'code' });
  await visitor.goto(`${scene.service.url}/oauth/authorize?${query}`);
  await heading(visitor, text('en', 'oidc_error_title'));
  await button('View Logs of Diary').click();
  await dialog().getByText('Rejected: invalid_redirect_uri').waitFor();
  await inDialog('Close').click();
});

test('reports what cannot be saved or loaded and offers a retry', async () => {
  await page.route('**/api/clients/**', (route) => route.fulfill({ status: 503, json: { error: 'The service is not available.' } }));
  await button('Configure Diary').click();
  await dialog().getByLabel('Name', { exact: true }).fill('Journal');
  await inDialog('Save').click();
  await dialog().getByRole('alert').getByText('The service is not available.').waitFor();
  await inDialog('Cancel').click();
  await page.unrouteAll();
  // Every three seconds, the page would try again by itself.
  await page.route('**/readyz', (route) => route.abort());
  await page.route('**/api/clients', (route) => route.abort());
  await page.reload();
  await page.getByRole('alert').getByText('The service cannot be reached.').waitFor();
  await page.unroute('**/api/clients');
  await button('Try again').click();
  await heading(page, 'Diary');
  await page.unrouteAll();
});

test('deletes an application after its name was typed', async () => {
  await button('Delete Diary').click();
  await dialog().getByText('its access tokens and open sign-ins end at once').waitFor();
  await inDialog('Cancel').click();
  await button('Delete Diary').click();
  await inDialog('Delete').click();
  await dialog().getByText('Type Diary to confirm.').waitFor();
  await dialog().getByLabel('Type Diary to confirm').fill('Diary');
  await inDialog('Delete').click();
  await page.getByText('Application deleted').waitFor();
  await heading(page, 'No applications created yet');
});

let firstKey: string;
let secondKey: string;

test('generates a working key and shows it once', async () => {
  await button('Generate Key').click();
  await inDialog('Generate').click();
  await dialog().getByText('Name is required').waitFor();
  await dialog().getByLabel('Name', { exact: true }).fill('Deploys');
  await dialog().getByLabel('Environment').selectOption('test');
  for (const scope of await dialog().getByRole('checkbox').all()) await scope.uncheck();
  await dialog().getByRole('alert').getByText('Allow at least one scope').waitFor();
  await inDialog('Generate').click();
  for (const scope of ['websites:read', 'stats:read']) await dialog().getByLabel(scope).check();
  await inDialog('Generate').click();
  await dialog().getByText('it is shown only this once').waitFor();
  await page.keyboard.press('Escape');
  await dialog().getByRole('alert').getByText('You have not copied the API key, and it cannot be shown again.').waitFor();
  await inDialog('Keep it open').click();
  await inDialog('Done').click();
  await inDialog('Close without copying').waitFor();
  await inDialog('Copy API key').click();
  firstKey = await copied(/^ea_test_[\w-]{43}$/);
  await inDialog('Copy try it').click();
  await copied(`Bearer ${firstKey}`);
  await page.mouse.click(5, 5);
  await inDialog('Done').click();
  await expect.poll(() => page.locator('body').textContent()).not.toContain(firstKey);
  await row('Deploys').getByText('Last used Never · websites:read, stats:read').waitFor();
  expect((await ask('/api/user/me', firstKey)).status).toBe(200);
  expect((await ask('/api/api-keys', firstKey)).status).toBe(403);
  await button(/^Copy key ID of Deploys/).click();
  expect(firstKey.startsWith((await copied(/^ea_test_[\w-]+$/)).replace('…', ''))).toBe(true);
});

test('shows the usage of a key as a chart with totals and as a table for screen readers', async () => {
  await expect.poll(async () => (await keyCalls())[0]?.calls).toBe('2');
  await button(/^Usage Stats of Deploys/).click();
  await dialog().getByText('Calls, 30 days').waitFor();
  await dialog().locator('svg .recharts-bar').waitFor();
  await expect.poll(() => dialog().locator('dd').allTextContents()).toEqual(['2', '1']);
  await expect.poll(() => dialog().locator('tbody tr').count()).toBe(30);
  await inDialog('Close').click();
  await page.reload();
  await row('Deploys')
    .getByText(/Last used (now|\d+ )/)
    .waitFor();
});

test('rotates a key: shows the new key and when the old one expires', async () => {
  await button(/^Rotate Deploys/).click();
  await dialog().getByLabel('How long the old key still works').selectOption('1 hour');
  await inDialog('Rotate').click();
  await inDialog('Copy API key').click();
  secondKey = await copied(/^ea_test_[\w-]{43}$/);
  await inDialog('Done').click();
  await page.getByText(/Ends \d+ \w+/).waitFor();
  await expect.poll(() => button(/^Rotate Deploys/).count()).toBe(1);
  for (const key of [firstKey, secondKey]) expect((await ask('/api/user/me', key)).status).toBe(200);
});

test('revokes keys after a confirmation and keeps them in the list as inactive', async () => {
  for (const left of [1, 0]) {
    await button(/^Revoke Deploys/)
      .first()
      .click();
    await dialog().getByText('stops working within a second').waitFor();
    await inDialog('Revoke').click();
    await page.getByText('API key revoked').first().waitFor();
    await expect.poll(() => button(/^Revoke Deploys/).count()).toBe(left);
    // The button that opened the dialog disappears with its key.
    await evaluates(page, 'document.activeElement.textContent', 'Applications');
  }
  await expect.poll(() => page.getByText('Inactive').count()).toBe(2);
  await expect.poll(async () => (await ask('/api/user/me', secondKey)).status).toBe(401);
});

const row = (name: string) => page.getByRole('listitem').filter({ has: page.getByRole('heading', { name }) });
const keyCalls = () =>
  scene.stage.query(
    'select d.calls from api_key_days d join api_keys k on k.id = d.api_key join users u on u.id = k.user_id where u.email = $1',
    [email],
  );
