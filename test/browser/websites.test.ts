import type { Locator, Page } from 'playwright';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { jpeg, png, pngOfBytes } from '../support/images.ts';
import { freshAddress, freshDomain } from '../support/sign-ins.ts';
import { waitUntil } from '../support/waiting.ts';
import { heading, signIn, useScene } from './scene.ts';

const scene = await useScene();
const { names } = scene;
let page: Page;
let dialog: Locator;
let email: string;
beforeAll(async () => {
  const context = await scene.newBrowser();
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: scene.service.url });
  page = await context.newPage();
  email = freshAddress('dev');
  await signIn(scene, page, email);
  dialog = page.getByRole('dialog');
});
beforeEach(async () => {
  await page.goto(`${scene.service.url}/developer-email-auth`);
  await page.getByRole('heading', { name: 'My Websites' }).waitFor();
});

const choose = (name: string, mimeType: string, buffer: Buffer) =>
  dialog.locator('input[type=file]').setInputFiles({ name, mimeType, buffer });
/** Waits for a text: of a notification, or in the dialog. */
const said = (text: string, where: Page | Locator = page) => where.getByText(text, { exact: true }).first().waitFor();
const button = (name: string) => dialog.getByRole('button', { name, exact: true });
const row = (domain: string) => page.getByRole('row').filter({ has: page.getByRole('rowheader', { name: domain }) });
const openSettings = async (domain: string) => {
  await row(domain).getByRole('link', { name: domain, exact: true }).click();
  await page.getByRole('link', { name: 'Settings', exact: true }).last().click();
  await page.waitForURL(`**/dashboard/websites/${domain}/settings`);
};
const hasFocus = async (where: Locator) => (await where.and(page.locator(':focus')).count()) === 1;
/** The width of the picture that a row shows, 0 without one. */
const pictureIn = async (where: Locator) =>
  (await where.locator('img').count()) === 0
    ? 0
    : where.locator('img').evaluate((image) => (image as unknown as { naturalWidth: number }).naturalWidth);

async function add(domain: string, icon?: Buffer) {
  await page.getByRole('button', { name: 'Add New Website' }).click();
  await dialog.getByLabel('Domain').fill(domain);
  if (icon) {
    await choose('logo.png', 'image/png', icon);
    await said('Icon uploaded');
  }
  await button('Save').click();
  await added(domain);
}

/** Waits for the page on which adding a website ends, and returns to the list. */
async function added(domain: string) {
  await said('Website added successfully', page);
  await page.waitForURL(`**/dashboard/websites/${domain}/setup`);
  await page.getByRole('tabpanel').waitFor();
  await page.getByRole('main').getByRole('link', { name: 'Websites', exact: true }).click();
  await row(domain).waitFor();
}

describe('an icon', () => {
  test('uploads with its progress in percent and appears in the form, the list and the sign-in page', async () => {
    const domain = freshDomain();
    await page.getByRole('button', { name: 'Add New Website' }).click();
    await dialog.getByLabel('Domain').fill(domain);
    const network = await page.context().newCDPSession(page);
    await network.send('Network.enable');
    await network.send('Network.emulateNetworkConditions', {
      offline: false,
      latency: 0,
      downloadThroughput: -1,
      uploadThroughput: 100_000,
    });
    await choose('photo.png', 'image/png', pngOfBytes(4_000_000));
    const progress = dialog.getByRole('progressbar', { name: 'Uploading photo.png' });
    const seen = new Set<number>();
    await waitUntil('the progress has three values between none and all', 60_000, async () => {
      seen.add(Number(await progress.getAttribute('value')));
      return [...seen].filter((percent) => percent > 0 && percent < 100).length > 2 || [...seen].join(' ');
    });
    expect([...seen]).toEqual([...seen].toSorted((a, b) => a - b));
    await network.send('Network.emulateNetworkConditions', { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: -1 });
    await said('Icon uploaded');
    await dialog.getByRole('img', { name: 'The icon' }).waitFor();
    await button('Save').click();
    await added(domain);
    await expect.poll(() => pictureIn(row(domain))).toBe(40);

    // Others could register the domain and show the icon of its owner.
    await scene.stage.query('update websites set proven_at = now() where domain = $1', [domain]);
    const visit = await page.context().newPage();
    await visit.goto(`${scene.service.url}/auth?forward_url=${encodeURIComponent(`https://${domain}/`)}`);
    await heading(visit, 'Welcome');
    await visit.getByText(domain, { exact: true }).waitFor();
    await expect.poll(() => pictureIn(visit.locator('main'))).toBe(40);
    const box = await visit.locator('main img').boundingBox();
    expect([box?.width, box?.height]).toEqual([36, 36]);
    await visit.close();
  });

  test('is replaced by the initial on the sign-in page when it does not load', async () => {
    const domain = freshDomain();
    await add(domain, await png());
    const visit = await page.context().newPage();
    await visit.route('**/objects/uploads/*', (route) => route.abort());
    await visit.goto(`${scene.service.url}/auth?forward_url=${encodeURIComponent(`https://${domain}/`)}`);
    await visit.locator('main').getByText('s', { exact: true }).waitFor();
    await expect.poll(() => visit.locator('main img').count()).toBe(0);
    await visit.close();
  });

  test('that is not a JPG or PNG, or too large, is rejected before the upload, and the input stays', async () => {
    const requests: string[] = [];
    page.on('request', (request) => requests.push(`${request.method()} ${new URL(request.url()).pathname}`));
    await page.getByRole('button', { name: 'Add New Website' }).click();
    await dialog.getByLabel('Domain').fill('typed.example');
    await choose('a.gif', 'image/gif', Buffer.from('GIF89a'));
    await said('Invalid file type');
    await said('Please select a file of type: image/jpeg, image/png');
    await choose('large.png', 'image/png', pngOfBytes(5 * 1024 * 1024 + 1));
    await said('File too large');
    await said('File size must be less than 5MB');
    expect(requests.filter((request) => /^(PUT|POST) .*objects/.test(request))).toEqual([]);
    expect(await dialog.getByLabel('Domain').inputValue()).toBe('typed.example');
    await choose('good.jpg', 'image/jpeg', await jpeg());
    await said('Icon uploaded');
    await expect.poll(() => dialog.getByText('File too large').count()).toBe(0);
  });

  test('with false content is rejected with the message of the service', async () => {
    await page.getByRole('button', { name: 'Add New Website' }).click();
    await choose('fake.png', 'image/png', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'));
    await said('Upload failed');
    await said('This file is not a JPG or PNG image.');
    await page.route('**/api/objects/upload', (route) => route.fulfill({ status: 502, contentType: 'text/html', body: 'Bad gateway' }));
    await choose('good.png', 'image/png', await png());
    await said('HTTP 502: Failed to get upload parameters');
    await page.unroute('**/api/objects/upload');
    await page.route('**/objects/uploads/*', (route) => route.abort());
    await choose('good.png', 'image/png', await png());
    await said('There was an error uploading your file.');
    await page.unroute('**/objects/uploads/*');
  });

  test('can be dropped on the field, canceled during the upload, and removed; the focus stays in the field', async () => {
    const domain = freshDomain();
    await add(domain, await png());
    await page.getByRole('button', { name: `Edit ${domain}` }).click();
    const network = await page.context().newCDPSession(page);
    await network.send('Network.enable');
    await network.send('Network.emulateNetworkConditions', {
      offline: false,
      latency: 0,
      downloadThroughput: -1,
      uploadThroughput: 100_000,
    });
    await choose('slow.png', 'image/png', pngOfBytes(2_000_000));
    await button('Cancel upload').click();
    await network.send('Network.emulateNetworkConditions', { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: -1 });
    await dialog.getByRole('progressbar').waitFor({ state: 'detached' });
    await expect.poll(() => hasFocus(button('Replace'))).toBe(true);
    // The old icon is there as before.
    await dialog.getByRole('img', { name: 'The icon' }).waitFor();

    await button('Remove').click();
    await button('Choose file').waitFor();
    await expect.poll(() => hasFocus(button('Choose file'))).toBe(true);
    const transfer = await page.evaluateHandle(`(() => {
      const files = new DataTransfer();
      files.items.add(new File([new Uint8Array([${[...(await png(20, 20))]}])], 'dropped.png', { type: 'image/png' }));
      return files;
    })()`);
    await dialog.getByRole('group', { name: /Icon/ }).locator('> div').dispatchEvent('drop', { dataTransfer: transfer });
    await said('Icon uploaded');
    await button('Save').click();
    await said('Website updated successfully', page);
    await expect.poll(() => pictureIn(row(domain))).toBe(20);

    await page.getByRole('button', { name: `Edit ${domain}` }).click();
    await button('Remove').click();
    await button('Save').click();
    // The notification of the change before may still be there.
    await dialog.waitFor({ state: 'detached' });
    await expect.poll(() => pictureIn(row(domain))).toBe(0);
    await page.reload();
    await row(domain).waitFor();
    expect(await pictureIn(row(domain))).toBe(0);
  });
});

test('a form that the service rejects keeps its input and works by keyboard', async () => {
  const [mine, taken] = [freshDomain(), freshDomain()];
  await scene.service.client().post('/api/websites/register', { domain: taken, email: freshAddress('owner') });
  await add(mine);
  await page.getByRole('button', { name: `Edit ${mine}` }).focus();
  await page.keyboard.press('Enter');
  await page.keyboard.press('Control+A');
  await page.keyboard.type(taken);
  await page.keyboard.press('Enter');
  await dialog.getByText(`When the website moves, this ends at once for ${mine}:`).waitFor();
  await page.keyboard.press('Enter');
  await said('Failed to update website');
  await dialog.getByRole('alert').getByText('This domain is already registered.').waitFor();
  expect(await dialog.getByLabel('Domain').inputValue()).toBe(taken);
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await expect.poll(() => hasFocus(page.getByRole('button', { name: `Edit ${mine}` }))).toBe(true);
});

test('a website is an OpenID Connect client: its settings copy issuer and client ID', async () => {
  const domain = freshDomain();
  await add(domain);
  await openSettings(domain);
  for (const [name, value] of [
    ['issuer', scene.service.url],
    ['client ID', `https://${domain}`],
  ]) {
    await page.getByRole('button', { name: `Copy ${name}` }).click();
    await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toBe(value);
  }
});

test('domain verification copies the record, reports the check and shows the badge', async () => {
  const domain = freshDomain();
  await add(domain);
  await openSettings(domain);
  const checkNow = page.getByRole('button', { name: 'Check now' });
  await checkNow.click();
  await page.getByText(/The proof was not found yet/).waitFor();
  await page.getByRole('button', { name: 'Copy value' }).click();
  await said('Value copied');
  await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toMatch(/^[0-9a-f]{32}$/);
  names.setText(`_emailauth.${domain}`, [String(await page.evaluate('navigator.clipboard.readText()'))]);
  await checkNow.click();
  await said('Domain verified', page);
  await checkNow.waitFor({ state: 'detached' });
  await page.getByRole('main').getByRole('link', { name: 'Websites', exact: true }).click();
  await row(domain).getByText('Verified', { exact: true }).waitFor();
});

test('deleting a website requires its domain', async () => {
  const domain = freshDomain();
  await add(domain);
  await page.getByRole('button', { name: `Delete ${domain}` }).click();
  await dialog
    .getByText(
      'Are you sure you want to delete this website? This action cannot be undone and will remove all email authentication access for this domain.',
      { exact: true },
    )
    .waitFor();
  await button('Cancel').click();
  await row(domain).waitFor();
  await page.getByRole('button', { name: `Delete ${domain}` }).click();
  await page.route('**/api/websites/*', (route) => route.abort());
  await button('Delete website').click();
  await dialog.getByText(`Type ${domain} to confirm.`).waitFor();
  await dialog.getByLabel(`Type ${domain} to confirm`).fill(domain);
  await button('Delete website').click();
  await dialog
    .getByRole('alert')
    .getByText(/Failed to delete website/)
    .waitFor();
  await page.unroute('**/api/websites/*');
  await button('Delete website').click();
  await dialog.waitFor({ state: 'detached' });
  await row(domain).waitFor({ state: 'detached' });
  expect((await scene.service.client().get(`/api/websites/domain/${domain}`)).status).toBe(404);
});

test('a website leads to its code, and one that others registered is given back', async () => {
  const domain = freshDomain();
  await scene.service.client().post('/api/websites/register', { domain, email });
  await page.reload();
  await row(domain).getByRole('link', { name: domain, exact: true }).click();
  await page.getByText(`On ${domain}`, { exact: true }).click();
  await page.getByText(`SITE_URL=https://${domain}`).first().waitFor();
  await page.goBack();
  await page.getByRole('button', { name: `${domain} is not mine` }).click();
  await said('Website given back');
  await row(domain).waitFor({ state: 'detached' });
});

test('this computer is a website already: adding it leads to its page', async () => {
  await page.getByRole('button', { name: 'Add New Website' }).click();
  await dialog.getByLabel('Domain').fill('localhost:5173');
  await dialog.getByRole('link', { name: 'open its page' }).click();
  await page.waitForURL('**/dashboard/websites/localhost/**');
  await heading(page, 'localhost');
});

test('adding one’s own domain again links to it instead of offering to claim it', async () => {
  const domain = freshDomain();
  await add(domain);
  await page.getByRole('button', { name: 'Add New Website' }).click();
  await dialog.getByLabel('Domain').fill(`https://www.${domain}/`);
  await dialog.getByRole('status').getByText(`Shortened to the root domain: ${domain}`, { exact: true }).waitFor();
  await button('Save').click();
  await dialog.getByRole('alert').getByText(`${domain} is one of your websites already.`).waitFor();
  await dialog.getByRole('link', { name: 'Open it' }).click();
  await page.waitForURL(`${scene.service.url}/dashboard/websites/${domain}/setup`);
});
