import { beforeAll, expect, test } from 'vitest';
import type { Client, HttpResponse } from '../support/client.ts';
import { useService } from '../support/harness.ts';
import { answerOf, begin, exchangeCode, follow, REDIRECT, signIn } from '../support/oidc-client.ts';
import { bootOf } from '../support/oidc-driver.ts';
import { freshAddress, signInDeveloper } from '../support/sign-ins.ts';

const { stage, service } = await useService();
let clientId: string;
const logoutUri = 'https://app.example/signed-out';
beforeAll(async () => {
  const { client } = await signInDeveloper(stage, service);
  clientId = (await client.post('/api/clients', { name: 'Notes', redirectUris: [REDIRECT], logoutUris: [logoutUri] })).json.clientId;
});

/** Follows the page that goes on after a form post. */
const goOn = async (client: Client, page: HttpResponse) => {
  const { url } = bootOf(page).leaving;
  expect(page.headers.refresh).toBe(`0; url=${url}`);
  return follow(client, await client.get(url));
};

/** Opens an authorization request and its step 2 by forms. */
async function beginByForm(client: Client, parameters: Record<string, string> = {}) {
  const begun = await begin(client, { clientId, parameters });
  const [base, email] = [`/oauth/interaction/${begun.uid}`, freshAddress()];
  expect(bootOf(begun.page).steps).toMatchObject({ base, step: 'address', attempt: null });
  const sent = await client.form(`${base}?language=lv`, { email });
  expect([sent.status, sent.headers.location]).toEqual([303, `${base}?language=lv&step=code`]);
  return { begun, base, email, page: await client.get(`${base}?language=lv&step=code`), mail: await stage.mailbox.waitFor(email) };
}

test('a person signs in to an application by forms alone: address, code, consent', async () => {
  const client = service.client();
  const { begun, base, email, page, mail } = await beginByForm(client);
  expect(bootOf(page)).toMatchObject({ language: 'lv', target: { kind: 'application' }, steps: { step: 'code', attempt: { email } } });
  const wrong = await client.form(`${base}/code?language=lv`, { email, code: '12345' });
  expect(wrong.status).toBe(400);
  expect(bootOf(wrong)).toMatchObject({ steps: { step: 'code', attempt: { email } }, failure: { form: 'code' } });
  expect((await client.form(`${base}/resend?language=lv`, { email })).status).toBe(303);
  const consent = await goOn(client, await client.form(`${base}/code?language=lv`, { email, code: mail.code }));
  expect(bootOf(consent).authorization).toMatchObject({ step: 'consent' });
  const action = `/oauth/interaction/${bootOf(consent).target.interaction}/consent`;
  const answer = answerOf(await goOn(client, await client.form(action, { decision: 'allow' })));
  expect((await exchangeCode(client, begun, answer.code)).status).toBe(200);
});

test('a remembered account continues by a form, unless the application asks for a new sign-in', async () => {
  const client = service.client();
  const { email } = await signIn(stage, client, { clientId });
  const begun = await begin(client, { clientId, parameters: { prompt: 'select_account' } });
  const chosen = await client.form(`/oauth/interaction/${begun.uid}/account`, { email });
  expect(answerOf(await goOn(client, chosen)).code).not.toBe('');
  const fresh = await begin(client, { clientId, parameters: { prompt: 'login' } });
  const filledIn = await client.form(`/oauth/interaction/${fresh.uid}/account`, { email });
  expect(filledIn.status).toBe(200);
  expect(bootOf(filledIn)).toMatchObject({ authorization: { step: 'sign_in' }, steps: { step: 'address', email, oneClick: [] } });
  expect(bootOf(filledIn).failure).toBeUndefined();
});

test('the forms of an authorization request are refused to other pages and show nothing in another browser', async () => {
  const client = service.client();
  const { base, email } = await beginByForm(client);
  const foreign = await client.form(base, { email }, { Origin: 'https://evil.example' });
  expect([foreign.status, bootOf(foreign).error.code, bootOf(foreign).path]).toEqual([403, 'foreign_origin', base]);
  const other = await service.client().form(`${base}/code`, { email, code: '123456' });
  expect(bootOf(other).authorization).toEqual({ step: 'expired' });
  const refused = await client.form(`${base}/consent`, { decision: 'allow' });
  expect([refused.status, bootOf(refused).failure]).toEqual([404, expect.objectContaining({ form: 'consent', code: 'interaction_ended' })]);
});

test('a sign-out by a form goes on to the application with a page', async () => {
  const client = service.client();
  const { tokens } = await signIn(stage, client, { clientId });
  const hint = { id_token_hint: tokens.id_token, post_logout_redirect_uri: logoutUri, ui_locales: 'lv' };
  const { action, fields } = bootOf(await client.get(`/oauth/logout?${new URLSearchParams(hint)}`)).authorization.form;
  const done = await client.form(action, { ...fields, logout: 'yes' }, { Accept: 'text/html,application/xhtml+xml' });
  expect([done.status, done.headers.location]).toEqual([200, undefined]);
  expect(bootOf(done).leaving).toEqual({ url: logoutUri });
  expect(done.headers.refresh).toBe(`0; url=${logoutUri}`);
});
