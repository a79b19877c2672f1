import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openStage, type Service, type Stage } from '../harness.ts';
import { freshAddress, openLink, requestEmail } from '../sign-ins.ts';
import type { Recipe } from './recipe.ts';
import { makeSite, type RunningSite, type Site } from './site.ts';

const MAKING = 240_000;

/** Paths that browsers would resolve to another website, or that are not paths. */
const FOREIGN = [
  '//evil.example',
  '///evil.example',
  '/\\evil.example',
  '\\\\evil.example',
  '/\t/evil.example',
  '\t//evil.example',
  '/\n/evil.example',
  'https://evil.example/',
  'https:evil.example',
  'javascript:alert(1)',
  'evil.example',
  '/orders\r\nSet-Cookie: a=b',
];

/** Tests that each site returns to the path that required the sign-in, and to no other website. */
export function describeReturnPaths(recipes: readonly Recipe[]): void {
  let stage: Stage;
  let service: Service;
  beforeAll(async () => {
    stage = await openStage();
    service = await stage.start();
  });
  afterAll(() => stage?.close());

  describe.each(recipes.filter((recipe) => recipe.available()))('a site made from the template $id', (recipe) => {
    // Django's own guard uses this parameter.
    const parameter = recipe.id === 'django' ? 'next' : 'return_to';
    let made: Site;
    let site: RunningSite;
    beforeAll(async () => {
      made = await makeSite(recipe, service.url);
      site = await made.start();
    }, MAKING);
    afterAll(async () => {
      await site?.close();
      await made?.remove();
    });

    /** Signs in for a path. @returns where the callback redirects to */
    async function returnFrom(login: string): Promise<URL> {
      const [visitor, browser, email] = [site.client(), service.client(), freshAddress()];
      const page = new URL(String((await visitor.get(login)).headers.location));
      expect(page.origin).toBe(service.url);
      await requestEmail(browser, email, page.searchParams.get('forward_url') ?? '');
      const response = await visitor.get(await openLink(browser, await stage.mailbox.waitFor(email)));
      expect([302, 303]).toContain(response.status);
      expect(response.setCookies.join()).not.toContain('a=b');
      return new URL(String(response.headers.location), site.url);
    }

    test('returns to the path of the website that required the sign-in', async () => {
      const path = '/orders/7?sort=new&page=2%263';
      expect((await returnFrom(`/login?${new URLSearchParams({ [parameter]: path })}`)).href).toBe(site.url + path);
      expect((await returnFrom('/login')).href).toBe(`${site.url}/account`);
    });

    test('the guard passes its path to the login', async () => {
      const { location } = (await site.client().get('/account')).headers;
      const login = new URL(String(location), site.url);
      expect(login.pathname).toBe('/login');
      // Laravel keeps it in the session.
      if (recipe.id !== 'laravel') expect(login.searchParams.get(parameter)).toBe('/account');
    });

    test('does not return to a path that is too long for a cookie', async () => {
      expect((await returnFrom(`/login?${parameter}=/${'a'.repeat(1500)}`)).origin).toBe(site.url);
    });

    test.each(FOREIGN)('does not return to %j', async (path) => {
      const target = await returnFrom(`/login?${new URLSearchParams({ [parameter]: path })}`);
      expect(target.origin).toBe(site.url);
    });
  });
}
