import { expect, test } from 'vitest';
import { violationsIn } from '../../browser/axe.ts';
import { requestEmail, useScene } from '../../browser/scene.ts';
import { openContext } from '../../support/browser.ts';
import { freshAddress } from '../../support/sign-ins.ts';

const scene = await useScene();

test.each(['light', 'dark'] as const)('axe finds nothing without a script in the %s theme', async (colorScheme) => {
  const context = await openContext({ colorScheme, viewport: { width: 360, height: 740 } });
  await context.route('**/assets/signin-*.js', (route) => route.abort());
  const page = await context.newPage();
  const found: Record<string, string[]> = {};
  const audit = async (name: string) => {
    const violations = await violationsIn(page);
    found[name] = violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 160)}`));
    expect([name, await page.evaluate('document.documentElement.scrollWidth')]).toEqual([name, 360]);
  };
  for (const path of ['/auth', '/auth/link?t=x', '/auth/callback', '/oauth/device', '/auth?forward_url=https://unknown.example/']) {
    await page.goto(scene.service.url + path);
    await audit(path);
  }
  await page.goto(scene.shop.signInUrl('en'));
  await requestEmail(page, freshAddress());
  await audit('step 2');
  expect(Object.values(found).flat()).toEqual([]);
});
