import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freshAddress } from '../support/sign-ins.ts';
import { heading, requestEmail, text, useScene } from './scene.ts';

const scene = await useScene();
let website: Awaited<ReturnType<typeof openWebsite>>;
beforeAll(async () => {
  website = await openWebsite(scene.service.url);
});
afterAll(async () => {
  website.close();
});

/** The two scripts of docs/guide/integration.md, in their order. */
const [opener, callback] = [
  ...readFileSync(new URL('../../docs/guide/integration.md', import.meta.url), 'utf8').matchAll(/<script>([\s\S]*?)<\/script>/g),
].map(([, script]) => script);

/** A website of another origin and site, whose session is a cookie, with the scripts of the documentation. */
async function openWebsite(serviceUrl: string) {
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://127.0.0.1');
    const { port } = server.address() as AddressInfo;
    response.setHeader('Content-Type', 'text/html; charset=utf-8');
    if (pathname === '/login') {
      const forward_url = `http://127.0.0.1:${port}/callback?popup=1`;
      response.writeHead(303, { Location: `${serviceUrl}/auth?${new URLSearchParams({ forward_url })}` }).end();
    } else if (pathname === '/callback') {
      response.setHeader('Set-Cookie', `session=${searchParams.get('token') ? 'open' : ''}`);
      response.end(`<!doctype html><title>Signed in</title><script>
        new BroadcastChannel('opener').postMessage(window.opener ? 'kept' : 'lost');${callback}</script>`);
    } else {
      const state = request.headers.cookie?.includes('session=open') ? 'Signed in' : 'Please sign in';
      response.end(`<!doctype html><title>Shop</title><h1>${state}</h1><button id="sign-in">Sign in</button><script>
        new BroadcastChannel('opener').onmessage = ({ data }) => sessionStorage.setItem('opener', data);${opener}</script>`);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, close: () => server.close() };
}

describe('a website that opens the sign-in page in a popup', () => {
  test('is told about the sign-in by the code, which closes the popup', async () => {
    const { page, popup, email } = await begin();
    const { code } = await scene.stage.mailbox.waitFor(email);
    const closed = popup.waitForEvent('close');
    await popup.getByLabel(text('en', 'code_label')).fill(code);
    await closed;
    await heading(page, 'Signed in');
    expect(await page.evaluate('sessionStorage.getItem("opener")')).toBe('kept');
  });

  test('is told about the sign-in by the link, which opens in a new tab', async () => {
    const { page, popup, email } = await begin();
    const tab = await page.context().newPage();
    await tab.goto((await scene.stage.mailbox.waitFor(email)).link).catch(() => {});
    await heading(page, 'Signed in');
    await heading(popup, text('en', 'signed_in_title', { email }));
  });
});

/** Opens the popup and proceeds to step 2 in it. */
async function begin(): Promise<{ page: Page; popup: Page; email: string }> {
  const [context, email] = [await scene.newBrowser(), freshAddress()];
  const page = await context.newPage();
  await page.goto(website.url);
  await heading(page, 'Please sign in');
  const [popup] = await Promise.all([page.waitForEvent('popup'), page.getByRole('button', { name: 'Sign in' }).click()]);
  await requestEmail(popup, email);
  expect(await page.evaluate('sessionStorage.getItem("opener")')).toBeNull();
  return { page, popup, email };
}
