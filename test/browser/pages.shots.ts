/** `npm run screenshots`: writes screenshots of every page in both themes, at phone and desktop width, to the ignored folder screenshots/. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, test } from 'vitest';
import type { Stop } from './stop.ts';
import { openTour, type Theme, type Tour } from './tour.ts';

const folder = join(import.meta.dirname, '../../screenshots');
const themes: Theme[] = ['light', 'dark'];
const widths = [360, 1280];

let tour: Tour;
beforeAll(async () => {
  await mkdir(folder, { recursive: true });
  tour = await openTour();
});
afterAll(() => tour.close());

test.each(themes)(
  'every page in the %s theme',
  async (theme) => {
    const faults: string[] = [];
    let taken = Promise.resolve();
    const stops = tour.stops.values();
    // A page mostly waits, so three are open at a time. They share the iterator.
    await Promise.all([1, 2, 3].map(() => takeEach(stops)));
    if (faults.length > 0) throw new Error(faults.join('\n'));

    async function takeEach(stops: Iterable<Stop>) {
      for (const stop of stops)
        for (const width of widths) {
          const page = await tour.newPage(stop.who, theme, width);
          try {
            await stop.open(page);
            const path = join(folder, `${stop.name}-${width}-${theme}.png`);
            // One at a time and in front: Chromium repeats parts of a page that another one covers.
            taken = taken.then(async () => {
              await page.bringToFront();
              // A frame in a process of its own is painted when it is on the screen.
              const frame = page.locator('iframe').last();
              if ((await frame.count()) > 0) await frame.scrollIntoViewIfNeeded();
              await page.screenshot({ path, fullPage: true, animations: 'disabled' });
            });
            await taken;
          } catch (error) {
            faults.push(`${stop.name}: ${error}`);
          }
          await page.close();
        }
    }
  },
  600_000,
);
