import type { Locator, Page } from 'playwright';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type LogoServer, openLogoServer } from '../support/logo-server.ts';
import { freshAddress, freshDomain } from '../support/sign-ins.ts';
import { heading, showPreview, signIn, useScene } from './scene.ts';

const scene = await useScene();
let logos: LogoServer;
beforeAll(async () => {
  logos = await openLogoServer(scene.names);
});
afterAll(() => logos.close());

const url = (path: string) => `${scene.service.url}${path}`;
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const shownFrame = (page: Page) => page.frameLocator('iframe:not(.opacity-0)');

type Window = { getComputedStyle(element: unknown): Record<string, string> };
const styleOf = (locator: Locator, property: string) =>
  locator.evaluate((element, name) => (globalThis as unknown as Window).getComputedStyle(element)[name], property);

/** Opens the branding of a new website whose domain is verified, in a new browser. */
async function openBranding() {
  const page = await (await scene.newBrowser()).newPage();
  const [email, domain] = [freshAddress('dev'), freshDomain()];
  await signIn(scene, page, email);
  await scene.stage.query(
    'insert into websites (id, domain, email, claimed_at, proven_at) values (gen_random_uuid(), $1, $2, now(), now())',
    [domain, email],
  );
  await page.goto(url(`/dashboard/websites/${domain}/branding`));
  await page.getByLabel('Name', { exact: true }).waitFor();
  return { page, domain };
}

describe('the branding of a website', () => {
  test('is previewed before it is saved, and is then on the sign-in page', async () => {
    const { page, domain } = await openBranding();
    await showPreview(page, 'Language');
    await page.getByLabel('Name', { exact: true }).fill('Žalia parduotuvė');
    await page.getByLabel('Color', { exact: true }).fill('#7a1f5c');
    await shownFrame(page).getByText('Žalia parduotuvė').waitFor();
    const colorOf = (frame: ReturnType<typeof shownFrame>) =>
      styleOf(frame.getByRole('button', { name: 'Send magic link' }), 'backgroundColor');
    await expect.poll(() => colorOf(shownFrame(page))).toBe('rgb(122, 31, 92)');
    await page.getByLabel('Theme', { exact: true }).selectOption('dark');
    await shownFrame(page).locator('html[data-theme="dark"]').waitFor({ state: 'attached' });
    await page.getByLabel('Language', { exact: true }).selectOption('uk');
    await shownFrame(page).locator('html[lang="uk"]').waitFor({ state: 'attached' });
    await page.getByLabel('Preview of').selectOption('mail');
    await shownFrame(page).locator('html[lang="uk"] .button').waitFor();
    await shownFrame(page).getByText('Žalia parduotuvė').first().waitFor();

    await page.getByLabel('Logo URL').fill(logos.url('/page'));
    await button(page, 'Save Branding').click();
    await page.getByText('This is the address of a web page, not of an image').waitFor();
    await expect.poll(() => page.locator(':focus').getAttribute('name')).toBe('logoUrl');
    await page.getByLabel('Logo URL').fill(logos.url('/logo.png'));
    await button(page, 'Save Branding').click();
    await page.getByText('Branding saved').waitFor();

    const visitor = await (await scene.newBrowser()).newPage();
    await visitor.goto(url(`/auth?forward_url=https://${domain}/`));
    await expect.poll(() => visitor.title()).toBe('Sign in to Žalia parduotuvė · Email Auth');
    await visitor.getByText(domain, { exact: true }).waitFor();
    await visitor.getByText('Secured by Email Auth').waitFor();
    const send = visitor.getByRole('button', { name: 'Send magic link' });
    expect(await styleOf(send, 'backgroundColor')).toBe('rgb(122, 31, 92)');
    expect(await styleOf(send, 'color')).toBe('rgb(255, 255, 255)');
  });

  /** Opens the branding with the page of the log after it in the history, and changes the name without saving it. */
  async function openDraft() {
    const { page, domain } = await openBranding();
    const path = `/dashboard/websites/${domain}/branding`;
    const name = page.getByLabel('Name', { exact: true });
    const dialog = page.getByRole('dialog', { name: 'Leave without saving?' });
    const log = page.getByRole('navigation', { name: 'Pages of the website' }).getByRole('link', { name: 'Log' });
    const logShown = () => page.waitForURL(url(`/dashboard/websites/${domain}/log`));
    await log.click();
    await logShown();
    await page.goBack();
    await name.fill('Draft');
    await page.getByText('Not saved yet').waitFor();
    const isOpen = () => new URL(page.url()).pathname === path;
    return { page, name, dialog, log, logShown, isOpen };
  }

  /**
   * Opens a draft and goes forward in the history until the dialog asks. A browser lets a page stop a traversal once after each click;
   * on a busy machine it may count the click for the traversal before and leave the page. After a traversal that was stopped, Chromium
   * may ignore further ones, so that each attempt has a page of its own.
   */
  async function goForward() {
    for (;;) {
      const draft = await openDraft();
      await draft.name.click();
      await draft.page.evaluate('history.forward()');
      await expect.poll(async () => (await draft.dialog.isVisible()) || !draft.isOpen()).toBe(true);
      if (draft.isOpen()) return draft;
      await draft.page.close();
    }
  }

  test('is not left by a link with unsaved changes unless the developer confirms it', async () => {
    const { page, name, dialog, log, logShown, isOpen } = await openDraft();
    await log.click();
    await dialog.waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    expect([isOpen(), await name.inputValue()]).toEqual([true, 'Draft']);

    await log.click();
    await button(page, 'Leave without saving').click();
    await logShown();
    await page.goBack();
    await expect.poll(() => name.inputValue()).toBe('');
    await name.fill('Draft');
    await page.getByText('Not saved yet').waitFor();
    await button(page, 'Discard').click();
    await log.click();
    await logShown();
    expect(await dialog.count()).toBe(0);
  });

  test('is not left through the history with unsaved changes unless the developer confirms it', async () => {
    const kept = await goForward();
    await button(kept.page, 'Stay on this page').click();
    await kept.dialog.waitFor({ state: 'detached' });
    expect([kept.isOpen(), await kept.name.inputValue()]).toEqual([true, 'Draft']);

    const left = await goForward();
    await button(left.page, 'Leave without saving').click();
    await left.logShown();
  });
});

test('a website without a verified domain is told what visitors see', async () => {
  const { page, domain } = await openBranding();
  await scene.stage.query('update websites set proven_at = null where domain = $1', [domain]);
  await page.reload();
  await page.getByText('Until the domain is verified, visitors see its color only').waitFor();
  await page.getByRole('link', { name: 'verify the domain', exact: true }).click();
  await page.waitForURL(url(`/dashboard/websites/${domain}/settings#proof`));
  await heading(page, domain);
});
