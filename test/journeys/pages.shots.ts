/** `npm run screenshots`: writes screenshots of every page in both themes, at phone and desktop width, to the ignored folder screenshots/. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, test } from 'vitest';
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
    for (const stop of tour.stops) {
      for (const width of widths) {
        const page = await tour.newPage(stop.who, theme, width);
        try {
          await stop.open(page);
          await page.screenshot({ path: join(folder, `${stop.name}-${width}-${theme}.png`), fullPage: true, animations: 'disabled' });
        } catch (error) {
          faults.push(`${stop.name}: ${String(error).split('\n')[0]}`);
        }
        await page.close();
      }
    }
    if (faults.length > 0) throw new Error(faults.join('\n'));
  },
  600_000,
);
