import { expect, test } from 'vitest';
import type { Client } from '../support/client.ts';
import { useService } from '../support/harness.ts';
import { freshAddress, openLink, registerWebsite, requestEmail, visitorToken } from '../support/sign-ins.ts';

const { stage, service } = await useService();

/** Starts a sign-in at the shop. @returns the forward_url of its redirect */
async function begin(browser: Client, language?: string): Promise<string> {
  const response = await browser.get(`/demo/sign-in${language ? `?language=${language}` : ''}`);
  expect(response.status).toBe(303);
  const signIn = new URL(String(response.headers.location));
  expect([signIn.origin, signIn.pathname, signIn.searchParams.get('language')]).toEqual([service.url, '/auth', language ?? 'en']);
  return signIn.searchParams.get('forward_url') ?? '';
}

/** Signs in from the shop through the emailed link. @returns the URL of the callback, with its token */
async function comeBack(browser: Client, email: string): Promise<string> {
  await requestEmail(browser, email, await begin(browser));
  return openLink(browser, await stage.mailbox.waitFor(email));
}

test('a visitor signs in, is recognized at the next visit, and signs out', async () => {
  const [browser, email] = [service.client(), freshAddress()];
  expect((await browser.get('/demo')).text).toContain('Sign in with Email');
  const callback = await comeBack(browser, email);
  const response = await browser.get(callback);
  expect([response.status, response.headers.location]).toEqual([303, '/demo']);
  const session = response.setCookies.find((cookie) => cookie.startsWith('demo_session='));
  expect(session).toMatch(/HttpOnly/i);
  expect(session).toMatch(/SameSite=Lax/i);
  expect(session).not.toContain(email);
  expect((await browser.get('/demo')).text).toContain(email);
  expect((await browser.post('/demo/sign-out')).headers.location).toBe('/demo');
  expect((await browser.get('/demo')).text).not.toContain(email);
});

test('a callback works once; a repetition shows a message and a link back', async () => {
  const [browser, email] = [service.client(), freshAddress()];
  const callback = await comeBack(browser, email);
  await browser.get(callback);
  const again = await browser.get(callback);
  expect(again.status).toBe(400);
  expect(again.text).toContain('This sign-in was used already');
  expect(again.text).toContain('href="/demo"');
  expect(again.headers.location).toBeUndefined();
});

test('a state of another browser is rejected, and the token stays valid', async () => {
  const [browser, email] = [service.client(), freshAddress()];
  const callback = await comeBack(browser, email);
  const anonymous = service.client();
  const strangers = new URL(await begin(anonymous));
  const forged = new URL(callback);
  forged.searchParams.set('state', 'forged');
  for (const address of [forged.href, callback.replace(/state=[^&]+/, `state=${strangers.searchParams.get('state')}`)]) {
    const refused = await browser.get(address);
    expect([refused.status, refused.text.includes('This sign-in did not begin here')]).toEqual([400, true]);
    expect(refused.setCookies).toEqual([]);
  }
  expect((await anonymous.get(callback)).status).toBe(400);
  expect((await browser.get(callback)).status).toBe(303);
  expect((await browser.get('/demo')).text).toContain(email);
});

test('two concurrent sign-ins of one browser both work', async () => {
  const [browser, email] = [service.client(), freshAddress()];
  const callback = await comeBack(browser, email);
  await begin(browser, 'lt');
  expect((await browser.get(callback)).status).toBe(303);
  expect((await browser.get('/demo')).text).toContain(email);
});

test('a browser that did not start the sign-in must confirm it on a page of the shop', async () => {
  const [browser, other, email] = [service.client(), service.client(), freshAddress()];
  const response = await other.get(await comeBack(browser, email));
  expect([response.status, response.headers.location]).toEqual([303, '/demo/confirm']);
  expect((await other.get('/demo')).text).not.toContain(email);
  expect((await other.get('/demo/confirm')).text).toContain(email);
  expect((await other.post('/demo/confirm')).headers.location).toBe('/demo');
  expect((await other.get('/demo')).text).toContain(email);
  expect((await other.post('/demo/confirm')).status).toBe(400);
});

test.each([
  '',
  '?token=abc',
  '?state=abc',
  '?token=a&token=b&state=c',
  '?token=&state=a',
  '?token[]=a&state[]=b',
  '?state=%00&token=%00',
  '?state=a.b&token=c',
])('a callback with %j is rejected with a message', async (query) => {
  const response = await service.client().get(`/demo/callback${query}`);
  expect(response.status).toBe(400);
  expect(response.text).toMatch(/<h1>This sign-in did not begin here|<h1>That link is not complete/);
});

test('a token of another website and an unknown token are rejected; the other website’s token stays valid', async () => {
  const browser = service.client();
  const domain = await registerWebsite(service.client());
  const token = await visitorToken(stage, service.client(), domain);
  const foreign = await browser.get(`${await begin(browser)}&token=${token}`);
  expect([foreign.status, foreign.text.includes('This sign-in is for another site')]).toEqual([400, true]);
  expect((await browser.get(`/api/verify-token?token=${token}&domain=${domain}`)).json).toMatchObject({ valid: true, domain });
  const callback = await begin(browser);
  const unknown = await browser.get(`${callback}&token=${'A'.repeat(43)}`);
  expect([unknown.status, unknown.text.includes('This sign-in is not valid')]).toEqual([400, true]);
});
