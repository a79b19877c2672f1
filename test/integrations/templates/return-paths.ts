import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { HttpResponse } from '../../support/client.ts';
import { openStage, type Service, type Stage } from '../../support/harness.ts';
import { freshAddress, openLink, requestEmail } from '../../support/sign-ins.ts';
import { type Recipe, titled } from './recipe.ts';
import { makeSite, type RunningSite, type Site } from './site.ts';

const MAKING = 540_000;

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
  `/${'a'.repeat(1500)}`,
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

  describe.each(titled(recipes).filter((recipe) => recipe.available()))('a site made from the template $title', (recipe) => {
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

    testReturnPaths(recipe, () => ({ stage, service, site }));
  });
}

type Opened = { stage: Stage; service: Service; site: RunningSite };

/** Adds the tests of the return paths of one site. */
export function testReturnPaths(recipe: Recipe, opened: () => Opened): void {
  // Django's own guard uses this parameter.
  const parameter = recipe.id === 'django' ? 'next' : 'return_to';

  /** Signs in for a path. @returns where the callback redirects to */
  async function returnFrom(login: string, change = (callback: string) => callback): Promise<URL> {
    const { stage, service, site } = opened();
    const [visitor, browser, email] = [site.client(), service.client(), freshAddress()];
    const page = new URL(String((await visitor.get(login)).headers.location));
    expect(page.origin).toBe(service.url);
    await requestEmail(browser, email, page.searchParams.get('forward_url') ?? '');
    const response = await visitor.get(change(await openLink(browser, await stage.mailbox.waitFor(email))));
    expect([302, 303]).toContain(response.status);
    expect(response.setCookies.join()).not.toContain('a=b');
    return new URL(String(response.headers.location), site.url);
  }

  test('returns to the path of the website that required the sign-in', async () => {
    const path = '/orders/7?sort=new&page=2%263';
    expect((await returnFrom(`/login?${new URLSearchParams({ [parameter]: path })}`)).href).toBe(opened().site.url + path);
    expect((await returnFrom('/login')).href).toBe(`${opened().site.url}/account`);
  });

  test('the guard passes its path to the login', async () => {
    const login = new URL(loginOf(await opened().site.client().get('/account')), opened().site.url);
    expect(login.pathname).toBe('/login');
    // Laravel keeps it in the session.
    if (recipe.id !== 'laravel') expect(login.searchParams.get(parameter)).toBe('/account');
  });

  // Variants are made from the same code.
  if (recipe.variant) return;
  test('does not return to another website when the callback names one', async () => {
    const target = await returnFrom('/login', (callback) => {
      const url = new URL(callback);
      url.searchParams.set(parameter, '//evil.example');
      return url.href;
    });
    expect(target.href).toBe(`${opened().site.url}/account`);
  });

  test('does not return to a path that is too long for a cookie', async () => {
    expect((await returnFrom(`/login?${parameter}=/${'a'.repeat(1500)}`)).origin).toBe(opened().site.url);
  });

  test.each(FOREIGN)('does not return to %j', async (path) => {
    const target = await returnFrom(`/login?${new URLSearchParams({ [parameter]: path })}`);
    expect(target.origin).toBe(opened().site.url);
  });
}

/** Returns where a protected page sends a visitor: by a redirect, or by a page, as Next.js does after it has sent the first part. */
export const loginOf = ({ headers, text }: HttpResponse) =>
  headers.location ?? /http-equiv="refresh" content="\d+;url=([^"]+)"/.exec(text)?.[1].replaceAll('&amp;', '&') ?? '';
