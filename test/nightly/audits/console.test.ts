import { expect, test } from 'vitest';
import { docPages, docPath } from '../../../docs/pages.ts';
import { type PageName, pageAt, pages, paths } from '../../../web/pages.ts';
import { settled, signInToPortal, useScene } from '../../browser/scene.ts';
import { pagePaths } from '../../support/page-paths.ts';
import { freshAddress } from '../../support/sign-ins.ts';

const scene = await useScene();

/** Pages that need a signed-in developer. */
const PRIVATE = /^\/(?:developer|dashboard|profile|admin)/;

test.each(['with no session', 'whose session has ended', 'that is signed in'])(
  'in a browser %s, public pages make no request that fails, and the console stays empty',
  async (state) => {
    const page = await (await scene.newBrowser()).newPage();
    if (state !== 'with no session') await signInToPortal(scene, page, freshAddress('dev'));
    // The portal may still be waiting for responses, which would fail without the session.
    await page.goto('about:blank');
    if (state === 'whose session has ended') await page.context().clearCookies({ name: 'sid' });
    const isOfPage = (path: string) =>
      pageAt(path) !== undefined ||
      Object.entries(pages).some(([name, { frame }]) => frame === 'static' && paths[name as PageName] === path);
    const portal = pagePaths.filter((path) => isOfPage(path) && !PRIVATE.test(path));
    const signIn = [
      '/auth',
      scene.shop.signInUrl('lt').slice(scene.service.url.length),
      '/domain-auth',
      '/auth/link?t=x',
      '/auth/callback',
      '/oauth/device',
    ];
    const failed: string[] = [];
    page.on('response', (response) => void (response.status() >= 400 && failed.push(`${page.url()}: ${response.url()}`)));
    page.on('console', (message) => void (message.type() === 'error' && failed.push(`${page.url()}: ${message.text()}`)));
    for (const path of [...portal, docPath(docPages[0].slug), ...signIn]) {
      await page.goto(`${scene.service.url}${path}`);
      await page.locator('main h1').first().waitFor();
      await settled(page);
    }
    expect(failed).toEqual([]);
  },
);
