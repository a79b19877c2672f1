import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from 'playwright';
import { expect } from 'vitest';

const MOTION_ENDS = `Promise.all(document.getAnimations()
  .filter((animation) => animation.effect.getTiming().iterations !== Infinity)
  .map((animation) => animation.finished.catch(() => {})))`;

/** Waits for animations and transitions, in which colors are half transparent or between two others. */
export const motionEnds = (page: Page) => page.evaluate(MOTION_ENDS);

/** Without frames, the legacy mode has the same results and needs no second page. */
export const axe = (page: Page) => new AxeBuilder({ page }).setLegacyMode();

/** Checks that axe finds nothing on a page, as it is. */
export async function isAccessible(page: Page): Promise<void> {
  await motionEnds(page);
  expect((await axe(page).analyze()).violations).toEqual([]);
}

/** Checks that axe finds nothing on a page in either theme. */
export async function isAccessibleInBothThemes(page: Page): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await isAccessible(page);
  }
}
