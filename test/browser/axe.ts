import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from 'playwright';
import { expect } from 'vitest';

const MOTION_ENDS = `Promise.all(document.getAnimations()
  .filter((animation) => animation.effect.getTiming().iterations !== Infinity)
  .map((animation) => animation.finished.catch(() => {})))`;

/**
 * Returns what axe finds on a page once nothing moves: in animations and transitions, colors are half transparent or between two others.
 * @param options of axe
 */
export async function violationsIn(page: Page, options: Parameters<AxeBuilder['options']>[0] = {}) {
  await page.evaluate(MOTION_ENDS);
  // Without frames, the legacy mode has the same results and needs no second page.
  return (await new AxeBuilder({ page }).setLegacyMode().options(options).analyze()).violations;
}

/** Checks that axe finds nothing on a page, as it is. */
export async function isAccessible(page: Page): Promise<void> {
  expect(await violationsIn(page)).toEqual([]);
}

/** Checks that axe finds nothing on a page in either theme. */
export async function isAccessibleInBothThemes(page: Page): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await isAccessible(page);
  }
}
