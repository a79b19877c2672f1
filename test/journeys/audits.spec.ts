import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from 'playwright';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTour, type Theme, type Tour } from './tour.ts';

let tour: Tour;
beforeAll(async () => {
  tour = await openTour();
});
afterAll(() => tour.close());

const themes: Theme[] = ['light', 'dark'];
const STANDARD = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** What axe finds, one line each. */
async function findings(page: Page): Promise<string[]> {
  // What moves in is half transparent for a moment.
  await page.waitForFunction(
    'document.getAnimations().every((animation) => animation.playState !== "running" || animation.effect.getTiming().iterations === Infinity)',
  );
  // A frame without scripts, such as the preview of a mail, would never answer axe.
  await page.evaluate("document.querySelectorAll('iframe').forEach((frame) => frame.remove())");
  const { violations } = await new AxeBuilder({ page }).withTags(STANDARD).analyze();
  return violations.flatMap(({ id, nodes }) =>
    nodes.map((node) => `${id}: ${node.html.slice(0, 160)} ${node.failureSummary?.replace(/\s+/g, ' ')}`),
  );
}

// Run in the page, where there is a DOM; these files are compiled without one.

/** What sticks out at the right, so that the page would scroll sideways. */
const OVERFLOW = `(() => {
  const root = document.documentElement;
  if (root.scrollWidth <= root.clientWidth) return [];
  const wide = [...document.querySelectorAll('body *')].filter((element) => element.getBoundingClientRect().right > root.clientWidth + 0.5);
  return wide.slice(0, 5).map((element) => element.outerHTML.slice(0, 120));
})()`;

/** Controls too small for a thumb; links within a sentence are exempt (WCAG 2.5.8). */
const SMALL_TARGETS = `[...document.querySelectorAll('button, select, input:not([type=hidden]), [role=button], [role=tab], nav a')]
  .filter((element) => element.checkVisibility() && element.closest('[aria-hidden=true]') === null)
  .filter((element) => {
    const { width, height } = (element.closest('label') ?? element).getBoundingClientRect();
    return width > 1 && (height < 43.5 || width < 24);
  })
  .map((element) => element.outerHTML.slice(0, 120))`;

describe.each(themes)('every page in the %s theme', (theme) => {
  test('has nothing that axe finds, on a desk and on a phone', async () => {
    const found: Record<string, string[]> = {};
    for (const stop of tour.stops) {
      const page = await tour.newPage(stop.who, theme);
      await stop.open(page).catch((error) => {
        throw new Error(`${stop.name}: ${error}`);
      });
      const wide = await findings(page);
      await page.setViewportSize({ width: 360, height: 740 });
      const narrow = await findings(page);
      if (wide.length + narrow.length > 0) found[stop.name] = [...new Set([...wide, ...narrow])];
      await page.close();
    }
    expect(found).toEqual({});
  }, 600_000);
});

test('every page fits 320 px, with controls for a thumb', async () => {
  const found: Record<string, unknown> = {};
  for (const stop of tour.stops) {
    const page = await tour.newPage(stop.who, 'light', 320);
    await stop.open(page).catch((error) => {
      throw new Error(`${stop.name}: ${error}`);
    });
    const wide = await page.evaluate<string[]>(OVERFLOW);
    const small = await page.evaluate<string[]>(SMALL_TARGETS);
    if (wide.length + small.length > 0) found[stop.name] = { wide, small };
    await page.close();
  }
  expect(found).toEqual({});
}, 300_000);
