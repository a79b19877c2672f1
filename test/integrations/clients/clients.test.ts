import { cp, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { text as readBody } from 'node:stream/consumers';
import type { Page } from 'playwright';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createPkce } from '../../../contract/pkce.ts';
import { addAuthenticator } from '../../browser/authenticator.ts';
import { heading, requestEmail, text } from '../../browser/scene.ts';
import type { Client } from '../../support/client.ts';
import { freshAddress } from '../../support/sign-ins.ts';
import { freePort } from '../../support/waiting.ts';
import type { RunningSite } from '../templates/site.ts';
import { oidcAgent, startOidcAgent } from './oidc-agent.ts';
import { openProviderStage, type ProviderStage, press, signInByEmail } from './provider-stage.ts';
import { runCommand } from './running-command.ts';
import { environmentOf, startStockApp, stockPackages } from './stock-app.ts';
import type { StockClient } from './stock-client.ts';
import { stockClients } from './stock-clients.ts';

/** Fetching packages takes its time on a slow machine. */
const START_TIMEOUT_MS = 540_000;

type RunningApp = StockClient & { site: RunningSite; url: string };

let provider: ProviderStage;
let developer: Client;
const apps = new Map<string, RunningApp>();

beforeAll(async () => {
  provider = await openProviderStage();
  developer = await provider.signInToPortal(freshAddress('dev'));
  await Promise.all(
    stockClients
      .filter(({ available }) => available())
      .map(async (client) => {
        const port = await freePort();
        const url = `http://localhost:${port}`;
        const { callback, afterLogout, backchannelLogout } = client.paths;
        const settings = {
          name: client.name.slice(0, 80),
          redirectUris: [url + callback],
          authentication: 'secret',
          pkceRequired: !client.isWithoutPkce,
          logoutUris: [url + afterLogout],
          ...(backchannelLogout && { backchannelLogoutUri: url + backchannelLogout }),
        };
        const { clientId, clientSecret } = client.isWebsite ? { clientId: url, clientSecret: '' } : await addApplication(settings);
        const site = await startStockApp(client, { issuer: provider.issuer, clientId, clientSecret, port, caFile: provider.caFile });
        apps.set(client.id, { ...client, site, url });
      }),
  );
}, START_TIMEOUT_MS);
afterAll(async () => {
  await Promise.all([...apps.values()].map(({ site }) => site.close()));
  await provider?.close();
});

/** @param settings of `ClientInput` */
async function addApplication(settings: object): Promise<{ clientId: string; clientSecret: string }> {
  const { status, text, json } = await developer.post('/api/clients', settings);
  if (status !== 200) throw new Error(`Adding an application returned ${status}: ${text}`);
  return { clientId: json.clientId, clientSecret: json.clientSecret ?? '' };
}

/** Waits until the browser is back at the app and has left its callback. */
const isBackAt = (page: Page, { url }: RunningApp) =>
  page.waitForURL((at) => at.origin === url && !at.searchParams.has('code') && !at.pathname.startsWith('/auth/callback'));

async function signIn(page: Page, app: RunningApp, email: string): Promise<void> {
  await app.login(page, app.url);
  await signInByEmail(provider, page, email);
  await isBackAt(page, app);
}

/** Disconnects all clients of a person, as under Settings, Connected applications. */
async function disconnect(email: string): Promise<void> {
  const portal = await provider.signInToPortal(email);
  for (const { id } of (await portal.get('/api/user/connections')).json) await portal.delete(`/api/user/connections/${id}`);
}

describe.each(stockClients.filter(({ available }) => !available()))('$name', ({ debianPackages }) => {
  test('signs a visitor in', ({ skip }) => skip(`It needs ${debianPackages?.join(', ')}.`));
});

describe.each(stockClients.filter(({ available }) => available()))('$name', ({ id, refresh }) => {
  let app: RunningApp;
  let page: Page;
  const email = freshAddress();
  beforeAll(async () => {
    app = apps.get(id) as RunningApp;
    page = await (await provider.newBrowser()).newPage();
  });
  afterAll(() => page?.context().close());
  afterEach(({ task }) => {
    if (task.result?.state === 'fail') console.error(`${id} is at ${page.url()} and wrote:\n${app.site.output()}`);
  });

  test('signs a visitor in by email and receives the address', async () => {
    expect(await app.user(page, app.url)).toBeNull();
    await signIn(page, app, email);
    const user = await app.user(page, app.url);
    expect(user?.email).toBe(email);
    expect(user?.sub).toMatch(/^[\w-]{16,}$/);
  });

  test.runIf(refresh)('refreshes its tokens until the visitor disconnects it', async () => {
    const { sub } = (await app.user(page, app.url)) ?? {};
    for (const _ of [1, 2]) expect(await app.refresh?.(page, app.url)).toMatchObject({ sub });
    await disconnect(email);
    const { error } = (await app.refresh?.(page, app.url)) ?? {};
    // Apache shows a name of its own, and logs that of the service.
    await expect.poll(() => (error === 'refresh_failed' ? app.site.output() : error), { timeout: 30_000 }).toContain('invalid_grant');
  });

  test('signs the visitor out of the service', async () => {
    await page.context().close();
    page = await (await provider.newBrowser()).newPage();
    await signIn(page, app, email);
    await app.logout(page, app.url);
    await press(page, 'oidc_logout_button');
    await page.waitForURL(`${app.url}${app.paths.afterLogout || '/'}`);
    expect(await app.user(page, app.url)).toBeNull();
    await app.login(page, app.url);
    await page.getByLabel('Email').waitFor();
  });
});

describe('a sign-out that began elsewhere', () => {
  const receivers = stockClients.filter(({ paths, available }) => paths.backchannelLogout && available());

  test('ends the sessions of apps with a back-channel logout URI', async () => {
    const page = await (await provider.newBrowser()).newPage();
    const first = apps.get('openid-client') as RunningApp;
    await signIn(page, first, freshAddress());
    for (const { id } of receivers) {
      const app = apps.get(id) as RunningApp;
      await app.login(page, app.url);
      await press(page, 'oidc_continue');
      await isBackAt(page, app);
      expect(await app.user(page, app.url), id).not.toBeNull();
    }
    await first.logout(page, first.url);
    await press(page, 'oidc_logout_button');
    await page.waitForURL(`${first.url}/`);
    for (const { id } of receivers) {
      const app = apps.get(id) as RunningApp;
      await expect.poll(() => app.user(page, app.url), { message: id, timeout: 30_000 }).toBeNull();
    }
    await page.context().close();
  });
});

describe('a command with oauth4webapi', () => {
  /** Starts the command. Returns the address of its authorization request, and a function that waits for the claims that it prints. */
  async function startCommand() {
    const directory = await mkdtemp(join(await stockPackages(), 'emailauth-command-'));
    await cp(join(import.meta.dirname, 'apps/oauth4webapi'), directory, { recursive: true });
    const application = await addApplication({ name: 'A program', redirectUris: ['http://127.0.0.1/callback'] });
    const settings = { issuer: provider.issuer, ...application, port: 0, caFile: provider.caFile };
    const command = runCommand([process.execPath, 'cli.js'], { PATH: process.env.PATH, ...environmentOf(settings) }, directory);
    const [, address] = await command.shows(/Open (\S+)/);
    const finish = async () => {
      expect([await command.ended, command.output()]).toEqual([0, expect.stringContaining('Revoked invalid_grant')]);
      await rm(directory, { recursive: true });
      return (name: string) => JSON.parse(new RegExp(`^${name} (.+)$`, 'm').exec(command.output())?.[1] ?? '{}');
    };
    return { address, finish };
  }

  test('signs in by its loopback redirect, refreshes and revokes its tokens', async () => {
    const { address, finish } = await startCommand();
    const page = await (await provider.newBrowser()).newPage();
    const email = freshAddress();
    await page.goto(address);
    await signInByEmail(provider, page, email);
    await page.getByText('You can close this window').waitFor();
    const claims = await finish();
    const { acr, ...person } = claims('Signed in');
    expect([person.email, acr]).toEqual([email, 'urn:emailauth:acr:email']);
    expect(claims('Refreshed')).toMatchObject(person);
    await page.context().close();
  });

  test('accepts the ID token of a passkey that it requests by acr_values, which the person creates after an email', async () => {
    const { address, finish } = await startCommand();
    const page = await (await provider.newBrowser()).newPage();
    await addAuthenticator(page);
    const email = freshAddress();
    await page.goto(`${address}&acr_values=phr`);
    await page.getByText(text('en', 'passkey_only_text')).waitFor();
    await requestEmail(page, email);
    await page.goto((await provider.stage.mailbox.waitFor(email)).link);
    await press(page, 'passkey_create_button');
    await press(page, 'oidc_continue');
    await page.getByText('You can close this window').waitFor();
    const claims = await finish();
    expect(claims('Signed in')).toMatchObject({ email, acr: 'phrh' });
    await page.context().close();
  });
});

describe('oidc-agent', () => {
  test.skipIf(oidcAgent.available())('signs in', ({ skip }) => skip(`It needs ${oidcAgent.debianPackages.join(', ')}.`));

  test.runIf(oidcAgent.available())('signs in by the device flow and refreshes until it is disconnected', async () => {
    const application = await addApplication({ name: 'oidc-agent', redirectUris: ['http://localhost:4242'], authentication: 'secret' });
    const agent = await startOidcAgent();
    const page = await (await provider.newBrowser()).newPage();
    const email = freshAddress();
    try {
      const command = agent.begin({ issuer: provider.issuer, ...application, caFile: provider.caFile });
      const [, address, code] = await command.shows(/visit:\s+(https:\S+)\s+And enter the code: (\S+)/);
      await page.goto(address);
      await page.getByLabel(text('en', 'oidc_device_label')).fill(code);
      await press(page, 'oidc_continue');
      await press(page, 'oidc_device_yes');
      await signInByEmail(provider, page, email);
      await heading(page, text('en', 'oidc_device_done_title'));
      await command.shows(/Everything setup correctly!/);
      expect(await command.ended).toBe(0);

      const refreshed = agent.refresh();
      expect([await refreshed.ended, refreshed.output()]).toEqual([0, expect.stringMatching(/^\S{20,}\n$/)]);
      await disconnect(email);
      const refused = agent.refresh();
      expect([await refused.ended, refused.output()]).toEqual([1, expect.stringContaining('invalid_grant')]);
    } finally {
      await page.context().close();
      await agent.close();
    }
  });
});

test('an authorization response is posted to the client that requests it so, as ASP.NET Core does', async () => {
  const port = await freePort();
  let posted: URLSearchParams | undefined;
  const app = createServer(async (request, response) => {
    if (request.method === 'POST') posted = new URLSearchParams(await readBody(request));
    response.setHeader('Content-Type', 'text/html').end('Signed in');
  }).listen(port, '127.0.0.1');
  const redirectUri = `http://127.0.0.1:${port}/signin-oidc`;
  const { clientId } = await addApplication({ name: 'ASP.NET', redirectUris: [redirectUri] });
  const { codeChallenge, state } = await createPkce();
  const parameters = new URLSearchParams({
    ...{ client_id: clientId, redirect_uri: redirectUri, response_type: 'code', response_mode: 'form_post', scope: 'openid email', state },
    ...{ code_challenge: codeChallenge, code_challenge_method: 'S256' },
  });
  const page = await (await provider.newBrowser()).newPage();
  await page.goto(`${provider.issuer}/oauth/authorize?${parameters}`);
  await signInByEmail(provider, page);
  await page.getByText('Signed in').waitFor();
  expect(Object.fromEntries(posted ?? [])).toEqual({ code: expect.any(String), state, iss: provider.issuer });
  await page.context().close();
  app.close();
});
