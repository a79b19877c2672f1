import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from 'playwright';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTour, type Theme, type Tour } from './tour.ts';

let tour: Tour;
beforeAll(async () => {
  tour = await openTour();
});
afterAll(() => tour.close());

// One width for each theme: colours differ by theme, layouts by width.
const passes: { theme: Theme; width: number }[] = [
  { theme: 'light', width: 1280 },
  { theme: 'dark', width: 360 },
];
const STANDARD = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

// Run in the page, where there is a DOM; these files are compiled without one.

/** What moves in is half transparent for a moment. */
const MOTION_OVER = `Promise.all(document.getAnimations()
  .filter((animation) => animation.effect.getTiming().iterations !== Infinity)
  .map((animation) => animation.finished.catch(() => {})))`;

/** What axe finds, one line each. */
async function findings(page: Page): Promise<string[]> {
  await page.evaluate(MOTION_OVER);
  // A frame without scripts, such as the preview of a mail, would never answer axe.
  await page.evaluate("document.querySelectorAll('iframe').forEach((frame) => frame.remove())");
  const { violations } = await new AxeBuilder({ page }).withTags(STANDARD).analyze();
  return violations.flatMap(({ id, nodes }) =>
    nodes.map((node) => `${id}: ${node.html.slice(0, 160)} ${node.failureSummary?.replace(/\s+/g, ' ')}`),
  );
}

/** What sticks out at the right, so that the page would scroll sideways. */
const OVERFLOW = `(() => {
  const root = document.documentElement;
  if (root.scrollWidth <= root.clientWidth) return [];
  return [...document.querySelectorAll('body *')].filter((element) => element.getBoundingClientRect().right > root.clientWidth + 0.5)
    .slice(0, 5)
    .map((element) => 'sticks out: ' + element.outerHTML.slice(0, 120));
})()`;

/** Controls too small for a thumb; links within a sentence are exempt (WCAG 2.5.8). */
const SMALL_TARGETS = `[...document.querySelectorAll('button, select, input:not([type=hidden]), [role=button], [role=tab], nav a')]
  .filter((element) => element.checkVisibility() && element.closest('[aria-hidden=true]') === null)
  .filter((element) => {
    const { width, height } = (element.closest('label') ?? element).getBoundingClientRect();
    return width > 1 && (height < 43.5 || width < 24);
  })
  .map((element) => 'too small: ' + element.outerHTML.slice(0, 120))`;

test.each(passes)(
  'every page in the $theme theme at $width px: nothing that axe finds, no sideways scrolling at 320 px, controls for a thumb',
  async ({ theme, width }) => {
    const found: Record<string, string[]> = {};
    for (const stop of tour.stops) {
      const page = await tour.newPage(stop.who, theme, width);
      try {
        await stop.open(page);
        const all = await findings(page);
        await page.setViewportSize({ width: 320, height: 640 });
        all.push(...(await page.evaluate<string[]>(OVERFLOW)), ...(await page.evaluate<string[]>(SMALL_TARGETS)));
        if (all.length > 0) found[stop.name] = all;
      } catch (error) {
        found[stop.name] = [String(error)];
      }
      await page.close();
    }
    expect(found).toEqual({});
  },
  600_000,
);
