import type { BrowserContext, Page } from 'playwright';
import { afterAll, expect } from 'vitest';
import { languageOf } from '../../contract/languages.ts';
import { WEB_CLIENT_ID } from '../../contract/pkce.ts';
import { texts } from '../../server/languages/languages.ts';
import { openContext } from '../support/browser.ts';
import type { NameServer } from '../support/dns.ts';
import { openStage, type Service, type Stage, useService } from '../support/harness.ts';
import { authorize, codeOf } from '../support/sign-ins.ts';
import { openTestWebsite, type TestWebsite } from '../support/test-website.ts';

/** The running service, a test website and a browser. */
export type Scene = {
  stage: Stage;
  service: Service;
  shop: TestWebsite;
  /**
   * Opens a browser with separate cookies and storage. One that a test opens is closed when the test ends. Script errors and
   * policy violations make `close` fail.
   * @param options.script false: pages run no script
   */
  newBrowser(options?: { script?: boolean }): Promise<BrowserContext>;
  close(): Promise<void>;
};

/**
 * Returns a scene on a service that the files of the worker share, with its name server; call it at the top of a file.
 * @param use useService, or useProduction
 */
export async function useScene(use = useService): Promise<Scene & { names: NameServer }> {
  const { stage, service, names } = await use();
  const scene = await openSceneOn(stage, service);
  afterAll(scene.close);
  return { ...scene, names };
}

/** Opens a scene on a service of its own. */
export async function openScene(settings: Record<string, string> = {}): Promise<Scene> {
  const stage = await openStage();
  const scene = await openSceneOn(stage, await stage.start(settings));
  return {
    ...scene,
    async close() {
      await scene.close().finally(stage.close);
    },
  };
}

/** Opens a scene on a running service, which `close` leaves running. */
export async function openSceneOn(stage: Stage, service: Service): Promise<Scene> {
  const shop = await openTestWebsite(service.url);
  const contexts: BrowserContext[] = [];
  const faults: string[] = [];
  return {
    stage,
    service,
    shop,
    async newBrowser({ script = true } = {}) {
      // Drawing animations without a GPU takes a seventh of the CPU time of a file.
      const context = await openContext({
        viewport: { width: 1024, height: 800 },
        locale: 'en-GB',
        reducedMotion: 'reduce',
        javaScriptEnabled: script,
      });
      contexts.push(context);
      context.on('weberror', (error) => void faults.push(`${error.page()?.url()}: ${error.error()}`));
      // The event is fired for every violation, Trusted Types included, even when a script catches the error.
      await context.exposeBinding('reportBreach', ({ frame }, breach: string) => void faults.push(`${frame.url()}: ${breach}`));
      await context.addInitScript(`document.addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI, sample }) =>
        reportBreach(\`a breach of \${effectiveDirective}: \${blockedURI} \${sample}\`));`);
      return context;
    },
    async close() {
      await Promise.all(contexts.map((context) => context.close()));
      await shop.close();
      if (faults.length > 0) throw new Error(`Faults in pages:\n${faults.join('\n')}`);
    },
  };
}

/** Returns a text of the sign-in pages in a language, with its placeholders filled. */
export function text(language: string, key: string, values: Record<string, string> = {}): string {
  const template = texts[languageOf(language)][`auth.${key}`];
  if (template === undefined) throw new Error(`There is no text auth.${key}`);
  return template.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? `{${name}}`);
}

/** Waits for a heading with this text. @throws Error with what the page shows instead */
export async function heading(page: Page, name: string): Promise<void> {
  try {
    await page.getByRole('heading', { name, exact: true }).first().waitFor();
  } catch (cause) {
    const shown = await page.locator('body').ariaSnapshot({ timeout: 1_000 }).catch(String);
    throw new Error(`No heading "${name}" at ${page.url()}, which shows:\n${shown}`, { cause });
  }
}

/** Scrolls to a preview until it is loaded, which begins when it is in view. @param label of the control above it */
export const showPreview = (page: Page, label: string) =>
  expect
    .poll(
      async () => {
        await page.getByLabel(label, { exact: true }).scrollIntoViewIfNeeded();
        return page.locator('iframe:not(.opacity-0)').count();
      },
      { message: 'the preview is loaded', timeout: 45_000 },
    )
    .toBe(1);

/** Waits until an expression, evaluated in the page, has this value. */
export const evaluates = (page: Page, expression: string, value: unknown) =>
  expect.poll(() => page.evaluate(expression), { message: expression }).toEqual(value);

/** Whether a page is loaded: its files, its fonts, its data and the documents in its frames. */
const SETTLED = `document.readyState === 'complete' && document.fonts.status === 'loaded'
  && [...document.images].every((image) => image.complete)
  && document.querySelector('[data-loading], [aria-busy=true], .pulse, .spin, iframe.opacity-0') === null`;

/** Waits until a page shows what it loads. Its network may never be idle: a frame without scripts reports nothing, and live pages wait for events. */
export const settled = (page: Page) =>
  expect.poll(() => page.evaluate(SETTLED), { message: 'the page is loaded', timeout: 45_000 }).toBe(true);

/** Holds requests of a page back. `release` lets them through; `count` is how many there were. */
export async function holdRequests(page: Page, url: string) {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const held = { count: 0, release };
  await page.route(url, async (route) => {
    held.count += 1;
    await released;
    await route.continue();
  });
  return held;
}

/** Types the address at step 1 of a site's sign-in page and waits for step 2. */
export async function requestEmail(page: Page, email: string, language = 'en', portal = false): Promise<void> {
  await page.getByLabel(text(language, 'email_label')).fill(email);
  await page.getByRole('button', { name: text(language, portal ? 'send_magic_link_portal' : 'send_magic_link'), exact: true }).click();
  await heading(page, text(language, 'check_email'));
}

/** Returns the names of the ways to turn a text into markup, a script or a policy that the page does not block. */
export const openSinks = (page: Page) =>
  page.evaluate<string[]>(`Object.entries({
    innerHTML: () => { document.createElement('div').innerHTML = '<img src=x onerror=alert(1)>'; },
    insertAdjacentHTML: () => document.body.insertAdjacentHTML('beforeend', '<b>x</b>'),
    parseFromString: () => new DOMParser().parseFromString('<b>x</b>', 'text/html'),
    scriptSource: () => { document.createElement('script').src = '/assets/x.js'; },
    createPolicy: () => trustedTypes.createPolicy('default', {}),
  }).flatMap(([name, open]) => {
    try {
      open();
      return [name];
    } catch (error) {
      return error instanceof TypeError ? [] : [name + ': ' + error];
    }
  })`);

/** Signs a developer in by the API, and gives the session to the browser of the page. The sign-in's own pages have tests of their own. */
export async function signIn({ stage, service }: Scene, page: Page, email: string): Promise<void> {
  const { pkce } = await authorize(service.client(), email);
  const response = await page.context().request.post(`${service.url}/api/auth/token`, {
    data: { code: codeOf(await stage.mailbox.waitFor(email)), code_verifier: pkce.codeVerifier, client_id: WEB_CLIENT_ID },
  });
  if (!response.ok()) throw new Error(`The exchange returned ${response.status()}: ${await response.text()}`);
}

/** Signs a developer in as `signIn` does, and opens the portal. */
export async function signInToPortal(scene: Scene, page: Page, email: string): Promise<void> {
  await signIn(scene, page, email);
  await page.goto(`${scene.service.url}/developer`);
  await page.getByRole('button', { name: email }).waitFor();
}
