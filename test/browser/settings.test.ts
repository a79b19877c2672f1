import type { Page } from 'playwright';
import PostalMime from 'postal-mime';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { languages } from '../../contract/languages.ts';
import { type LogoServer, openLogoServer } from '../support/logo-server.ts';
import { requestEmail as askService, freshAddress, freshDomain } from '../support/sign-ins.ts';
import { heading, holdRequests, showPreview, signIn, useScene } from './scene.ts';

const scene = await useScene();
let logos: LogoServer;
beforeAll(async () => {
  logos = await openLogoServer(scene.names);
});
afterAll(() => logos.close());

const url = (path: string) => `${scene.service.url}${path}`;
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

/** Opens `path` in a new, signed-in browser. */
async function signedIn(path: string, email = freshAddress('dev')) {
  const page = await (await scene.newBrowser()).newPage();
  await signIn(scene, page, email);
  await page.goto(url(path));
  return { page, email };
}

/** Returns the description of a field. */
async function descriptionOf(page: Page, label: string): Promise<string> {
  const ids = (await page.getByLabel(label, { exact: true }).getAttribute('aria-describedby')) ?? '';
  const texts = await Promise.all(ids.split(' ').map((id) => page.locator(`[id="${id}"]`).textContent()));
  return texts.join(' ');
}

describe('settings', () => {
  test('marks unsaved changes of the profile, discards or saves them', async () => {
    const { page, email } = await signedIn('/dashboard');
    await page.getByRole('link', { name: 'Settings' }).click();
    await heading(page, 'Profile Settings');
    expect(await page.getByLabel('Email', { exact: true }).inputValue()).toBe(email);
    expect(await page.getByLabel('Email', { exact: true }).isEditable()).toBe(false);
    expect(await descriptionOf(page, 'Email')).toContain('cannot be changed');
    const name = page.getByLabel('Full Name');
    const isOff = () => button(page, 'Save Changes').getAttribute('aria-disabled');
    expect(await isOff()).toBe('true');

    await name.fill('x'.repeat(81));
    await page.getByText('Not saved yet').waitFor();
    expect(await isOff()).toBeNull();
    await button(page, 'Save Changes').click();
    await page.getByRole('alert').getByText('At most 80 characters').waitFor();
    await expect.poll(() => descriptionOf(page, 'Full Name')).toContain('At most 80 characters');
    await expect.poll(() => page.locator(':focus').getAttribute('name')).toBe('name');
    const colorOf = (field: string) => page.evaluate(`getComputedStyle(document.activeElement).${field}Color`);
    expect(await colorOf('outline')).toBe(await colorOf('border'));
    await button(page, 'Discard').click();
    await expect.poll(() => name.inputValue()).toBe('');
    await page.getByText('Not saved yet').waitFor({ state: 'detached' });

    await name.fill(' Rasa Kazlauskienė ');
    await name.press('Enter');
    await page.getByText('Profile saved').waitFor();
    await expect.poll(() => name.inputValue()).toBe('Rasa Kazlauskienė');
    await expect.poll(isOff).toBe('true');
    await page.getByText('Not saved yet').waitFor({ state: 'detached' });
    await page.reload();
    await heading(page, 'Profile Settings');
    await expect.poll(() => name.inputValue()).toBe('Rasa Kazlauskienė');
  });

  test('leads from one of its pages to the others', async () => {
    const { page } = await signedIn('/dashboard/settings');
    const links = page.getByRole('navigation', { name: 'Pages of the settings' });
    for (const [name, path, part] of [
      ['Email branding', '/dashboard/settings/branding', 'Email Branding'],
      ['Security', '/dashboard/settings/security', 'Connected applications'],
      ['Profile', '/dashboard/settings', 'Profile Settings'],
    ]) {
      await links.getByRole('link', { name }).click();
      await page.waitForURL(url(path));
      await heading(page, part);
      await expect.poll(() => links.locator('[aria-current=page]').textContent()).toBe(name);
      await expect.poll(() => page.locator('aside [aria-current]').textContent()).toBe('Settings');
    }
  });

  test('reports a missing connection, keeps the input and saves at the next attempt', async () => {
    const { page } = await signedIn('/dashboard/settings');
    await page.getByLabel('Full Name').fill('Rasa');
    await page.context().setOffline(true);
    await button(page, 'Save Changes').click();
    await page.getByRole('alert').getByText('The service cannot be reached.').waitFor();
    await page.context().setOffline(false);
    await button(page, 'Save Changes').click();
    await page.getByText('Profile saved').waitFor();
    await expect.poll(() => page.getByLabel('Full Name').inputValue()).toBe('Rasa');
  });

  test('saves the organization and shows that its plan is free', async () => {
    const { page } = await signedIn('/dashboard/settings');
    await page.getByLabel('Organization Name').fill('two\u202elines');
    await button(page, 'Save Organization').click();
    await page.getByRole('alert').getByText('no invisible characters').waitFor();
    await page.getByLabel('Organization Name').fill('Žalia');
    await button(page, 'Save Organization').click();
    await page.getByText('Organization saved').waitFor();
    await page.getByText('Free', { exact: true }).waitFor();
    await button(page, 'Upgrade').click();
    const dialog = page.getByRole('dialog', { name: 'The service is free' });
    await dialog.getByText('nothing to pay').waitFor();
    await dialog.getByRole('button', { name: 'Got it' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.reload();
    await heading(page, 'Organization');
    await expect.poll(() => page.getByLabel('Organization Name').inputValue()).toBe('Žalia');
  });

  test('previews branding in five languages and uses it in the website’s email once saved', async () => {
    const { page } = await signedIn('/developer-email-auth');
    const domain = freshDomain();
    await button(page, 'Add Your First Website').click();
    await page.getByRole('dialog').getByLabel('Domain').fill(domain);
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await heading(page, domain);
    await page.goto(url('/dashboard/settings/branding'));
    await page.getByText('Applies to none of your websites yet: their domains are not verified.').waitFor();
    await page.goto(url(`/dashboard/websites/${domain}/settings`));
    const value = await page.getByText(/^[0-9a-f]{32}$/).textContent();
    scene.names.setText(`_emailauth.${domain}`, [value ?? '']);
    await button(page, 'Check now').click();
    await page.getByText('Domain verified').waitFor();
    await page.goto(url('/dashboard/settings/branding'));
    await page.getByText(`Applies to ${domain}.`).waitFor();
    const shown = (language: string) => page.frameLocator(`iframe[title="Preview of the email, ${language}"]:not(.opacity-0)`);
    await showPreview(page, 'Preview in');
    await shown('English').getByText(`Sign in to ${domain}`).first().waitFor();

    await page.getByLabel('Logo URL').fill('http://shop.example/logo.png');
    await page.getByLabel('From Name').fill('eve@example.com');
    await button(page, 'Save Branding').click();
    await page.getByRole('alert').getByText('A name without @').waitFor();
    await expect.poll(() => descriptionOf(page, 'From Name')).toContain('A name without @');
    await expect.poll(() => descriptionOf(page, 'Logo URL')).toContain('An address that begins with https://');

    await page.getByLabel('Logo URL').fill(logos.url('/logo.png'));
    await page.getByLabel('From Name').fill('Žalia & Co.');
    await shown('English').getByText('Žalia & Co.').waitFor();
    expect(await shown('English').locator('img').getAttribute('src')).toBe(logos.url('/logo.png'));
    expect(await shown('English').locator('img').getAttribute('alt')).toBe('Žalia & Co.');
    const subjects = new Set<string | null>();
    for (const { code, name } of languages) {
      await page.getByLabel('Preview in').selectOption(code);
      await shown(name).locator(`html[lang="${code}"] h1`).waitFor();
      subjects.add(await shown(name).locator('h1').textContent());
    }
    expect(subjects.size).toBe(languages.length);
    for (const subject of subjects) expect(subject).toContain(domain);

    await button(page, 'Save Branding').click();
    await page.getByText('Branding saved').waitFor();
    const visitor = freshAddress();
    await askService(scene.service.client(), visitor, `https://${domain}/`, 'lt');
    const mail = await scene.stage.mailbox.waitFor(visitor);
    expect((await PostalMime.parse(mail.raw)).from?.name).toBe('Žalia & Co.');
    expect(mail.html).toContain(logos.url('/logo.png'));

    // The frames of the preview add no entries to the history.
    await page.goBack();
    await page.waitForURL(url(`/dashboard/websites/${domain}/settings`));
  });
});

describe('devices', () => {
  test('signs out another device immediately, and then this one', async () => {
    const { page, email } = await signedIn('/dashboard/settings/security');
    const { page: other } = await signedIn('/profile', email);
    await other.getByText('This device').waitFor();
    await page.reload();
    const rows = page.getByRole('region', { name: 'Your devices' }).getByRole('listitem');
    await rows.nth(1).waitFor();
    await expect.poll(() => rows.nth(0).textContent()).toMatch(/Chrome on Linux.*This device.*Signed in/);
    await expect.poll(() => rows.nth(1).textContent()).toMatch(/Chrome on Linux.*Signed in · last seen/);
    await rows.nth(1).getByRole('button', { name: 'Sign out Chrome on Linux' }).click();
    await page.getByText('Signed out', { exact: true }).waitFor();
    await expect.poll(() => rows.count()).toBe(1);
    await other.reload();
    await heading(other, 'Not Logged In');

    await rows.nth(0).getByRole('button', { name: 'Sign out Chrome on Linux' }).click();
    await page.waitForURL(url('/'));
    await page.goto(url('/dashboard/settings'));
    await heading(page, 'Not Logged In');
  });

  test('shows the account in the profile and signs out everywhere, this device included', async () => {
    const { page, email } = await signedIn('/developer');
    await button(page, `Account: ${email}`).click();
    await page.getByRole('menuitem', { name: 'Profile' }).click();
    await heading(page, 'Profile');
    const facts = page.locator('dl').filter({ hasText: 'Member since' });
    await facts.getByText(email).waitFor();
    expect(await facts.textContent()).toMatch(/NameNot set.*Member since\d{1,2} \w{3,4} \d{4}/);
    const { page: other } = await signedIn('/dashboard', email);

    await button(page, 'Sign out everywhere').click();
    const dialog = page.getByRole('dialog', { name: 'Sign out everywhere' });
    // What it loads moves its buttons.
    await dialog.getByText('Every browser and program is signed out').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await dialog.waitFor({ state: 'detached' });
    const keys = await holdRequests(page, '**/api/api-keys');
    await button(page, 'Sign out everywhere').click();
    const submit = dialog.getByRole('button', { name: 'Sign out everywhere' });
    // It cannot know yet what would end.
    expect(await submit.getAttribute('aria-disabled')).toBe('true');
    keys.release();
    await submit.click();
    await page.waitForURL(url('/'));
    await page.getByText('Signed out everywhere').waitFor();
    await other.reload();
    await heading(other, 'Not Logged In');
    await page.goto(url('/profile'));
    await heading(page, 'Not Logged In');
    // The address is still remembered, but without its key.
    await page.goto(url('/auth'));
    await page.getByRole('button', { name: email }).first().click();
    await page.getByText('No saved login found for this email.').waitFor();
  });

  test('links from the profile to the settings', async () => {
    const { page } = await signedIn('/profile');
    await page.getByRole('link', { name: 'Edit in Settings' }).click();
    await heading(page, 'Profile Settings');
  });
});

test.each([
  ['/dashboard/analytics', 'Analytics', 'analytics'],
  ['/dashboard/bugs', 'Bug Reports', 'bugs'],
])('%s: joins the waiting list once and remembers it', async (path, title, service) => {
  const { page, email } = await signedIn(path);
  await heading(page, title);
  await button(page, 'Join Waitlist').click();
  await page.getByText('You are on the list').waitFor();
  await expect.poll(() => button(page, 'Join Waitlist').count()).toBe(0);
  await page.reload();
  await page.getByText('You are on the list').waitFor();
  expect(await scene.stage.query('select service from waitlist where email = $1', [email])).toEqual([{ service }]);
});
