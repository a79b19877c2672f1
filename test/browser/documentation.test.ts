import type { Locator, Page } from 'playwright';
import { expect, test } from 'vitest';
import { docGroups, docPages, docPath, markdownPath } from '../../docs/pages.ts';
import { evaluates, heading, useScene } from './scene.ts';

const scene = await useScene();

async function open(path: string, width = 1280): Promise<Page> {
  const context = await scene.newBrowser();
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: scene.service.url });
  const page = await context.newPage();
  await page.setViewportSize({ width, height: 800 });
  await page.goto(scene.service.url + path);
  return page;
}

const at = (page: Page) => new URL(page.url()).pathname + new URL(page.url()).hash;
const pagesNav = (page: Page) => page.getByRole('navigation', { name: 'Documentation' });

/**
 * Follows a link, or presses a button, within a text by the keyboard: a part of the text gets its height when it comes into view, and can
 * move the element away between the two halves of a click.
 */
const activate = (element: Locator) => element.press('Enter');

test('links the guide, the pages and their sections', async () => {
  const page = await open('/webservices/email-auth');
  await page.getByRole('link', { name: 'Quick start', exact: true }).click();
  await heading(page, 'Quick start');
  await expect.poll(() => page.title()).toBe('Quick start · Email Auth');
  await expect.poll(() => pagesNav(page).getByRole('link', { name: 'Quick start' }).getAttribute('aria-current')).toBe('page');

  await activate(page.getByRole('link', { name: 'integration', exact: true }));
  await heading(page, 'Integration');
  await activate(page.getByRole('link', { name: 'bad_forward_url', exact: true }));
  await heading(page, 'Troubleshooting');
  await page.waitForURL(`**${docPath('troubleshooting')}#bad_forward_url`);
  await evaluates(page, "document.getElementById('bad_forward_url')?.getBoundingClientRect().top < innerHeight / 2", true);
  await evaluates(page, 'scrollY > 0', true);

  await pagesNav(page).getByRole('link', { name: 'Frameworks', exact: true }).click();
  await activate(page.getByRole('main').getByRole('link', { name: 'Flask' }).first());
  await heading(page, 'Sign-in with Flask');
  await activate(page.getByRole('link', { name: 'Prompt for Flask' }));
  await heading(page, 'Prompt for Flask');
  await activate(page.getByRole('link', { name: 'AI assistants' }).last());
  await heading(page, 'AI assistants');
  await activate(page.getByRole('navigation', { name: 'Previous and next page' }).getByRole('link', { name: 'A dialogue' }));
  await heading(page, 'A dialogue');
  await page.goBack();
  await heading(page, 'AI assistants');
});

test('shows a page at a fragment that cannot be decoded, and scrolls to one that is percent-encoded', async () => {
  const page = await open(`${docPath('quick-start')}#100%`);
  // The last part, which is rendered before the page scrolls.
  await heading(page, 'Test it');
  await pagesNav(page).getByRole('link', { name: 'Test it' }).click();
  await page.waitForURL(`**${docPath('quick-start')}#test-it`);
  await heading(page, 'Test it');

  const encoded = await open(`${docPath('troubleshooting')}#bad%5Fforward_url`);
  await evaluates(encoded, "document.getElementById('bad_forward_url')?.getBoundingClientRect().top < innerHeight / 2", true);
  await evaluates(encoded, 'scrollY > 0', true);
});

test('copies and opens a page as the Markdown that assistants get, and copies code alone', async () => {
  const page = await open(docPath('quick-start'));
  const twin = (await scene.service.client().get(markdownPath('quick-start'))).text;
  await heading(page, 'Test it');
  // The text of the page was parsed by the build.
  await evaluates(page, "performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('.md')).length", 0);
  await page.getByRole('button', { name: 'Copy page' }).click();
  await page.getByText('Page copied as Markdown').waitFor();
  await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toBe(twin);
  await activate(page.getByRole('button', { name: 'Copy HTML' }));
  await evaluates(page, 'navigator.clipboard.readText()', '<a href="/login">Login with Email</a>');
  await page.getByRole('link', { name: 'View as Markdown' }).click();
  await page.waitForURL(scene.service.url + markdownPath('quick-start'));
});

test('has a list of its pages that can be expanded on a phone', async () => {
  const page = await open(docPath('api'), 320);
  for (const { slug, title } of docPages.slice(1, 3)) {
    const list = page.locator('summary', { hasText: 'All pages' });
    await list.click();
    await pagesNav(page).getByRole('link', { name: title, exact: true }).click();
    await page.getByRole('heading', { name: title, exact: true, level: 1 }).waitFor();
    await page.getByRole('heading', { level: 2 }).or(page.getByRole('table')).first().waitFor();
    await expect.poll(() => at(page)).toBe(docPath(slug));
    await expect.poll(() => pagesNav(page).isVisible(), { message: 'the list is folded up again' }).toBe(false);
  }
});

test('reports an unknown page', async () => {
  const page = await open(`${docPath('quick-start')}x`);
  await heading(page, '404 Page Not Found');
});

test('lists its pages in groups, and finds sections by their words with the keyboard', async () => {
  const page = await open(docPath('api'));
  for (const { title } of docGroups) await pagesNav(page).getByText(title, { exact: true }).first().waitFor();
  const field = page.getByRole('searchbox', { name: 'Search the documentation' });
  await field.fill('verify token');
  const results = page.getByRole('search').getByRole('link');
  await results.first().waitFor();
  await field.press('ArrowDown');
  await evaluates(page, "document.activeElement === document.querySelector('search a')", true);
  await page.keyboard.press('Escape');
  await expect.poll(() => results.count()).toBe(0);
  await field.fill('qqqq zzzz');
  await page.getByRole('status').getByText('Nothing found.').waitFor();
  await field.fill('bad_forward_url');
  await results.filter({ hasText: 'Troubleshooting' }).first().press('Enter');
  await heading(page, 'Troubleshooting');
});
