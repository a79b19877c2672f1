import { expect, test } from 'vitest';
import { docPages, docPath } from '../../../docs/pages.ts';
import { useScene } from '../../browser/scene.ts';

const scene = await useScene();

test('every page of the documentation fits a phone of 320 px', async () => {
  const page = await (await scene.newBrowser()).newPage();
  await page.setViewportSize({ width: 320, height: 640 });
  // The first one is the guide, which is a stop of the tour.
  for (const { slug, title } of docPages.slice(1)) {
    await page.goto(scene.service.url + docPath(slug));
    await page.getByRole('heading', { name: title, exact: true, level: 1 }).waitFor();
    await page.getByRole('heading', { level: 2 }).or(page.getByRole('table')).first().waitFor();
    await expect.poll(() => page.evaluate('document.documentElement.scrollWidth - innerWidth'), { message: slug }).toBeLessThanOrEqual(0);
  }
});
