import type { Page } from 'playwright';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { violationsIn } from '../../browser/axe.ts';
import type { Stop } from '../../browser/stop.ts';
import { openTour, type Tour } from '../../browser/tour.ts';

const STANDARD = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

// Strings, since these files are compiled without the types of the DOM in which they run.

/** Returns the violations that axe finds, one per line. */
async function findings(page: Page): Promise<string[]> {
  // axe measures one element after the other, and would mix sizes of before and after their layout.
  await page.evaluate(`document.querySelectorAll('main *').forEach((element) => {
    if (getComputedStyle(element).contentVisibility === 'auto') element.style.contentVisibility = 'visible';
  })`);
  // axe never gets a response from a frame without scripts, such as the preview of an email.
  await page.evaluate("document.querySelectorAll('iframe').forEach((frame) => frame.remove())");
  const violations = await violationsIn(page, { runOnly: STANDARD, resultTypes: ['violations'] });
  return violations.flatMap(({ id, nodes }) =>
    nodes.map((node) => `${id}: ${node.html.slice(0, 160)} ${node.failureSummary?.replace(/\s+/g, ' ')}`),
  );
}

/** Returns the elements beyond the right edge, which make the page scroll sideways. */
const OVERFLOW = `(() => {
  const root = document.documentElement;
  if (root.scrollWidth <= root.clientWidth) return [];
  return [...document.querySelectorAll('body *')].filter((element) => element.getBoundingClientRect().right > root.clientWidth + 0.5)
    .slice(0, 5)
    .map((element) => 'sticks out: ' + element.outerHTML.slice(0, 120));
})()`;

/** Returns the controls that are smaller than WCAG 2.5.8 requires, except links within a sentence. */
const SMALL_TARGETS = `[...document.querySelectorAll('button, select, input:not([type=hidden]), [role=button], [role=tab], nav a')]
  .filter((element) => element.checkVisibility() && element.closest('[aria-hidden=true]') === null)
  .filter((element) => {
    const { width, height } = (element.closest('label') ?? element).getBoundingClientRect();
    return width > 1 && (height < 43.5 || width < 24);
  })
  .map((element) => 'too small: ' + element.outerHTML.slice(0, 120))`;

/** Returns what is wrong at the end of the page: space below the footer, content behind it, or no footer. */
const PAGE_END = `(() => {
  const [main, footer] = ['main', 'footer'].map((name) => document.querySelector('#root > ' + name + ', #root > * > ' + name));
  if (!main || !footer) return ['the page has no ' + (main ? 'footer' : 'main')];
  const { top, bottom } = footer.getBoundingClientRect();
  const below = Math.round(document.documentElement.scrollHeight - scrollY - bottom);
  const behind = Math.round(Math.max(main.getBoundingClientRect().bottom, main.getBoundingClientRect().top + main.scrollHeight) - top);
  return [...(Math.abs(below) > 1 ? [below + ' px below the footer'] : []), ...(behind > 1 ? [behind + ' px of the content behind the footer'] : [])];
})()`;

/** Defines the audits of a part of the tour. @param isPart returns whether a stop belongs to it */
export function auditStops(isPart: (stop: Stop) => boolean): void {
  let tour: Tour;
  beforeAll(async () => {
    tour = await openTour();
  });
  afterAll(() => tour.close());

  test('every page passes axe in the light theme at 1280 px and in the dark one at 360 px, ends at its footer, does not scroll sideways at 320 px and has large enough controls', async () => {
    const found: Record<string, string[]> = {};
    const stops = tour.stops.filter(isPart);
    expect(stops.length).toBeGreaterThan(0);
    const waiting = stops.values();
    // A page mostly waits, so three are open at a time. They share the iterator.
    await Promise.all([1, 2, 3].map(auditEach));
    expect(found).toEqual({});

    async function auditEach() {
      for (const stop of waiting) {
        const page = await tour.newPage(stop.who, 'light');
        try {
          await stop.open(page);
          const all = await audit(page);
          if (all.length > 0) found[stop.name] = all;
        } catch (error) {
          found[stop.name] = [String(error)];
        }
        await page.close();
      }
    }
  }, 600_000);

  test('forced colors show the switches, status days and edges of buttons', async () => {
    for (const stop of tour.stops.filter((one) => isPart(one) && areas[one.name])) {
      const page = await tour.newPage(stop.who, 'light');
      await page.emulateMedia({ forcedColors: 'active' });
      await stop.open(page);
      for (const selector of areas[stop.name]) {
        expect(await page.locator(selector).count(), selector).toBeGreaterThan(0);
        expect(await page.evaluate(blended(selector)), selector).toEqual([]);
      }
      await page.close();
    }
  });
}

/** Returns what is wrong with a page that was opened in the light theme at 1280 px. */
async function audit(page: Page): Promise<string[]> {
  const found = [...(await findings(page)), ...(await page.evaluate<string[]>(PAGE_END))];
  // One width for each theme is enough: colors depend on the theme, layouts on the width.
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.setViewportSize({ width: 360, height: 740 });
  found.push(...(await findings(page)), ...(await page.evaluate<string[]>(PAGE_END)));
  await page.setViewportSize({ width: 320, height: 640 });
  for (const expression of [PAGE_END, OVERFLOW, SMALL_TARGETS]) found.push(...(await page.evaluate<string[]>(expression)));
  return found;
}

/** What has an area of its own in each of these pages, as CSS selectors. */
const areas: Record<string, string[]> = {
  status: ['figure > [aria-hidden] > span[title]'],
  register: ['main button[type=submit]'],
  'website-branding': ['main button[type=submit]'],
  'applications-edit': ['[role=switch] > span', '[role=switch] > span > span', '[role=dialog] button[type=submit]'],
};

/** Returns the elements of a selector that have neither a border nor a background unlike that of their surroundings. */
const blended = (selector: string) => `[...document.querySelectorAll('${selector}')]
  .filter((element) => element.checkVisibility())
  .filter((element) => {
    const clear = 'rgba(0, 0, 0, 0)';
    let parent = element.parentElement;
    while (parent.parentElement && getComputedStyle(parent).backgroundColor === clear) parent = parent.parentElement;
    const around = getComputedStyle(parent).backgroundColor;
    const { backgroundColor, borderTopWidth, borderTopColor } = getComputedStyle(element);
    return [clear, around].includes(backgroundColor) && (parseFloat(borderTopWidth) === 0 || borderTopColor === around);
  })
  .map((element) => element.outerHTML.slice(0, 160))`;
