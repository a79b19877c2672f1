import { beforeAll, describe, expect, test } from 'vitest';
import type { Output } from '../../contract/calls.ts';
import { useProduction } from '../support/harness.ts';
import {
  addApplication,
  authorizationRequest,
  authorizeAt,
  completeSignIn,
  decide,
  exchangeCode,
  type OidcClient,
  requestInteractionEmail,
  signInAt,
  visit,
  visitUrl,
  websiteClient,
} from '../support/oidc-driver.ts';
import { type Developer, freshAddress, freshDomain, signInDeveloper } from '../support/sign-ins.ts';
import { waitUntil } from '../support/waiting.ts';

type Event = Output<'websiteEvents'>['events'][number];

const { stage, service } = await useProduction();
let owner: Developer;
let website: { id: string; domain: string };
let application: OidcClient & { id: string };
beforeAll(async () => {
  owner = await signInDeveloper(stage, service);
  website = (await owner.client.post('/api/websites', { domain: freshDomain() })).json;
  await stage.query('update websites set proven_at = now() where id = $1', [website.id]);
  application = await addApplication(owner);
});

/** Waits until the events of a website or an application end with these kinds. */
async function eventsOf(subject: string, ...kinds: string[]): Promise<Event[]> {
  let events: Event[] = [];
  await waitUntil(`events ${kinds.join(', ')}`, 60_000, async () => {
    const response = await owner.client.get(`/api/websites/events?domain=${encodeURIComponent(subject)}&since=600`);
    events = (response.json as Output<'websiteEvents'>).events.slice(-kinds.length);
    // The email is accepted while the visitor goes on.
    const found = events.map(({ kind }) => kind);
    return JSON.stringify(found.toSorted()) === JSON.stringify(kinds.toSorted()) || found.join(', ');
  });
  return events;
}

const logOf = async (query: string) => (await owner.client.get(`/api/websites/${website.id}/log?${query}`)).json as Output<'websiteLog'>;

describe('a sign-in by OpenID Connect', () => {
  test('at a website is in its events and its log from the request to the exchange of the code', async () => {
    const client = websiteClient(`app.${website.domain}`);
    const { email } = await signInAt(stage, service, client);
    const events = await eventsOf(website.domain, 'requested', 'mail_accepted', 'opened', 'exchanged');
    expect(events).toEqual(events.map((event) => ({ ...event, domain: website.domain, name: website.domain, email, fix: null })));
    expect(events.at(-1)).toMatchObject({ kind: 'exchanged', level: 'success', text: expect.stringContaining('signed in') });
    expect(events.find(({ kind }) => kind === 'opened')?.text).toContain('OpenID Connect');

    const log = await logOf(`email=${email}`);
    expect(log.events.map(({ id }) => id).toSorted()).toEqual(events.map(({ id }) => id).toSorted());
    expect((await logOf(`email=${email}&kind=exchanged`)).events.map(({ kind }) => kind)).toEqual(['exchanged']);
  });

  test('by a code and by a remembered account has events of its own', async () => {
    const client = websiteClient(website.domain);
    const [browser, email] = [service.client(), freshAddress()];
    const begun = await visit(browser, (await authorizationRequest(client)).url);
    await requestInteractionEmail(browser, begun.interaction, email);
    const { code } = await stage.mailbox.waitFor(email);
    const wrong = String((Number(code) + 1) % 1_000_000).padStart(6, '0');
    expect((await browser.post('/api/auth/email-code', { email, code: wrong })).status).toBe(400);
    const { redirectUrl } = (await browser.post('/api/auth/email-code', { email, code })).json;
    await completeSignIn(stage, browser, await visitUrl(browser, redirectUrl), email);
    const events = await eventsOf(website.domain, 'requested', 'mail_accepted', 'wrong_code', 'opened');
    expect(events.find(({ kind }) => kind === 'opened')).toMatchObject({ reason: 'code', email });

    const key = decodeURIComponent(browser.cookies.get('__Host-auth_key') ?? browser.cookies.get('auth_key') ?? '');
    const again = await authorizationRequest(client, { prompt: 'select_account' });
    const chosen = await visit(browser, again.url);
    const answer = await browser.post('/api/auth/validate-key', { email, key, interaction: chosen.interaction });
    const callback = await completeSignIn(stage, browser, await visitUrl(browser, answer.json.redirectUrl), email);
    expect((await exchangeCode(service.client(), again, callback)).status).toBe(200);
    expect((await eventsOf(website.domain, 'remembered', 'exchanged')).map((event) => event.email)).toEqual([email, email]);
  });

  test('in another browser and again after its use is a problem', async () => {
    const [browser, email] = [service.client(), freshAddress()];
    const begun = await visit(browser, (await authorizationRequest(websiteClient(website.domain))).url);
    await requestInteractionEmail(browser, begun.interaction, email);
    const { link } = await stage.mailbox.waitFor(email);
    await eventsOf(website.domain, 'requested', 'mail_accepted');
    await service.client().get(link);
    expect((await eventsOf(website.domain, 'wrong_browser'))[0]).toMatchObject({ email, fix: expect.any(String) });
    await visitUrl(browser, link);
    await service.client().get(link);
    expect((await eventsOf(website.domain, 'link_refused'))[0]).toMatchObject({ reason: 'used', email, level: 'problem' });
  });

  test('that the provider rejects is an event of the client with what to change', async () => {
    const client = websiteClient(website.domain);
    const { request, callback } = await authorizeAt(stage, service, client);
    expect((await exchangeCode(service.client(), request, callback, { code_verifier: 'x'.repeat(43) })).status).toBe(400);
    const [refused] = await eventsOf(website.domain, 'client_refused');
    expect(refused).toMatchObject({ level: 'problem', reason: expect.stringMatching(/^invalid_grant: .*code_verifier/) });
    expect(refused.text).toContain('invalid_grant');
    expect(refused.fix).toContain('code_verifier');

    const elsewhere = await authorizationRequest(client, { redirect_uri: 'https://elsewhere.example/callback' });
    await visit(service.client(), elsewhere.url);
    let redirect = refused;
    await waitUntil('the second refusal is recorded', 60_000, async () => {
      [redirect] = await eventsOf(website.domain, 'client_refused');
      return redirect.id !== refused.id;
    });
    expect(redirect).toMatchObject({ reason: expect.stringContaining('redirect_uri'), fix: expect.stringContaining('redirect URIs') });
    expect((await logOf('problems=true')).events.map(({ kind }) => kind)).toContain('client_refused');
  });

  test('at an application is in the events of its developer alone, with a masked address', async () => {
    const { email } = await signInAt(stage, service, application);
    const events = await eventsOf(application.clientId, 'requested', 'mail_accepted', 'opened', 'exchanged');
    const masked = `${email[0]}•••@${email.split('@')[1]}`;
    expect(events).toEqual(events.map((event) => ({ ...event, domain: application.clientId, name: 'Notes', email: masked })));
    const all = (await owner.client.get('/api/websites/events?since=600')).json as Output<'websiteEvents'>;
    expect(all.events).toEqual(expect.arrayContaining(events));

    const request = await authorizationRequest(application);
    const browser = service.client();
    const begun = await visit(browser, request.url);
    await requestInteractionEmail(browser, begun.interaction, freshAddress());
    await eventsOf(application.clientId, 'requested', 'mail_accepted');
    await decide(browser, begun.interaction, 'deny');
    await visit(browser, (await authorizationRequest(application, { scope: 'openid', response_type: 'token' })).url);
    const [refused] = await eventsOf(application.clientId, 'client_refused');
    expect(refused).toMatchObject({ reason: expect.stringContaining('response_type'), fix: expect.any(String) });

    const stranger = await signInDeveloper(stage, service);
    const foreign = await stranger.client.get(`/api/websites/events?domain=${application.clientId}`);
    expect([foreign.status, foreign.json.code]).toEqual([404, 'website_not_found']);
    expect((await stranger.client.get('/api/websites/events?since=600')).json.events).toEqual([]);
  });

  test('wakes a call that waits for the events of an application', async () => {
    const { cursor } = (await owner.client.get(`/api/websites/events?domain=${application.clientId}&since=0`)).json;
    const waiting = owner.client.get(`/api/websites/events?domain=${application.clientId}&after=${cursor}&wait=25`);
    const browser = service.client();
    const begun = await visit(browser, (await authorizationRequest(application)).url);
    await requestInteractionEmail(browser, begun.interaction, freshAddress());
    expect((await waiting).json.events.map(({ kind }: Event) => kind)).toContain('requested');
  });
});
