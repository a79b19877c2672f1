import type { Page } from 'playwright';
import { describe, expect, test } from 'vitest';
import { freshAddress } from '../support/sign-ins.ts';
import { isAccessibleInBothThemes } from './axe.ts';
import { heading, requestEmail, text, useScene } from './scene.ts';

const scene = await useScene();

/** Returns a new address, and the same one with a slip in its domain. */
function addresses() {
  const [local] = freshAddress().split('@');
  return { meant: `${local}@gmail.com`, typed: `${local}@gmial.com`, unfinished: `${local}@gmail` };
}

const question = (language = 'en') => text(language, 'did_you_mean', { domain: 'gmail.com' });
const suggestion = (page: Page, language?: string) => page.getByRole('button', { name: question(language), exact: true });
const suggestionLink = (page: Page, language?: string) => page.getByRole('link', { name: question(language), exact: true });

async function open({ script = true, language = 'en' } = {}) {
  const page = await (await scene.newBrowser({ script })).newPage();
  await page.goto(scene.shop.signInUrl(language));
  return { page, field: page.getByLabel(text(language, 'email_label')) };
}

describe('at step 1, a slip in a large mail domain', () => {
  test('is asked about below the field, and corrected by a click', async () => {
    const language = 'lt';
    const { meant, typed } = addresses();
    const { page, field } = await open({ language });
    await field.pressSequentially(typed);
    await suggestion(page, language).waitFor();
    await isAccessibleInBothThemes(page);
    await suggestion(page, language).click();
    expect(await field.inputValue()).toBe(meant);
    await suggestion(page, language).waitFor({ state: 'detached' });
    await page.keyboard.press('Enter');
    await heading(page, text(language, 'check_email'));
    await scene.stage.mailbox.waitFor(meant);
  });

  test('is not asked about while the domain is being typed, but when it was refused', async () => {
    const { unfinished } = addresses();
    const { page, field } = await open();
    await field.pressSequentially(unfinished);
    expect(await suggestion(page).count()).toBe(0);
    await page.keyboard.press('Enter');
    await page.getByText(text('en', 'error_email')).waitFor();
    await suggestion(page).click();
    await page.getByText(text('en', 'error_email')).waitFor({ state: 'detached' });
  });
});

describe.each([
  ['with a script', true],
  ['without a script', false],
])('%s', (_, script) => {
  test('an address with a slip gets its email, and step 2 leads back to step 1 with the other one', async () => {
    const language = 'ru';
    const { meant, typed } = addresses();
    const { page, field } = await open({ script, language });
    await requestEmail(page, typed, language);
    await scene.stage.mailbox.waitFor(typed);
    await suggestionLink(page, language).click();
    await heading(page, text(language, 'welcome'));
    expect(await field.inputValue()).toBe(meant);
    await requestEmail(page, meant, language);
    expect(await suggestionLink(page, language).count()).toBe(0);
    await scene.stage.mailbox.waitFor(meant);
  });
});

test('the registration of a website asks about a slip and stops nothing', async () => {
  const { meant, typed } = addresses();
  const page = await (await scene.newBrowser()).newPage();
  await page.goto(`${scene.service.url}/webservices/email-auth/register`);
  const field = page.getByLabel('Email Address');
  await field.fill(typed);
  await suggestion(page).click();
  expect(await field.inputValue()).toBe(meant);
  expect(await suggestion(page).count()).toBe(0);
});
