import { beforeAll, describe, expect, test } from 'vitest';
import type { Client, HttpResponse } from '../support/client.ts';
import { useService } from '../support/harness.ts';
import type { ReceivedMail } from '../support/mailbox.ts';
import { authorize, type Begun, confirmLink, type Developer, freshAddress, signInDeveloper } from '../support/sign-ins.ts';

const { stage, service } = await useService();
let owner: Developer;
beforeAll(async () => {
  owner = await signInDeveloper(stage, service);
});

const REDIRECT = 'https://app.example/callback';
type Application = { id: string; clientId: string };
type Mailed = Begun & { client: Client; application: Application; mail: ReceivedMail; code: string };

/** Starts a sign-in to an application with `client` and waits for its email. */
async function begin(client = service.client()): Promise<Mailed> {
  const application: Application = (await owner.client.post('/api/clients', { name: 'Notes', redirectUris: [REDIRECT] })).json;
  const begun = await authorize(client, freshAddress('user'), { client_id: application.clientId, redirect_uri: REDIRECT });
  const mail = await stage.mailbox.waitFor(begun.email);
  return { ...begun, client, application, mail, code: new URL(mail.link).searchParams.get('t') ?? '' };
}

const exchange = ({ application, code, pkce }: Mailed): Promise<HttpResponse> =>
  service.client().post('/api/auth/token', { code, code_verifier: pkce.codeVerifier, client_id: application.clientId });

const linkOf = (page: HttpResponse) =>
  JSON.parse(/<script type="application\/json" id="boot">(.*?)<\/script>/s.exec(page.text)?.[1] ?? '{}').link;

const change = ({ application }: Mailed, changes: Record<string, unknown>) =>
  owner.client.put(`/api/clients/${application.id}`, { name: 'Notes', redirectUris: [REDIRECT], isActive: true, ...changes });

describe('the emailed link of an application', () => {
  test('does not reveal the code or the redirect URI to anyone who opens it, with any cookies and headers', async () => {
    const mailed = await begin();
    const other = await begin();
    const openers = [service.client(), mailed.client, other.client, owner.client];
    for (const opener of openers) {
      for (const headers of [{}, { 'Sec-Purpose': 'prefetch' }, { Purpose: 'prefetch' }, { Accept: '*/*', 'User-Agent': 'curl/8' }]) {
        const page = await opener.get(mailed.mail.link, headers as Record<string, string>);
        expect([page.status, page.headers.location]).toEqual([200, undefined]);
        // The page repeats its own URL, and adds nothing from which a code could be made.
        expect(JSON.stringify(page.headers)).not.toContain(mailed.code);
        expect(page.text).not.toContain(`code=${mailed.code}`);
        expect(page.text).not.toContain(REDIRECT);
        expect(page.text).not.toContain(mailed.email);
        expect(linkOf(page)).toEqual({ state: 'open', maskedEmail: 'u•••@mail.example', hasCode: true });
      }
      expect((await opener.send(mailed.mail.link, { method: 'HEAD' })).headers.location).toBeUndefined();
    }
    expect((await exchange(mailed)).json.email).toBe(mailed.email);
  });

  test('redirects with code, state and issuer after the address is entered, and remembers no account', async () => {
    const mailed = await begin();
    const opener = service.client();
    const response = await confirmLink(opener, mailed.mail, mailed.email.toUpperCase());
    const parameters = new URLSearchParams({ code: mailed.code, state: mailed.pkce.state, iss: service.url });
    expect(response.json).toEqual({ redirectUrl: `${REDIRECT}?${parameters}` });
    expect([response.setCookies, response.headers['cache-control']]).toEqual([[], 'no-store']);
    expect((await opener.get('/api/user/me')).status).toBe(401);
    expect(await stage.query('select 1 from remembered_keys where email = $1', [mailed.email])).toEqual([]);
    expect((await exchange(mailed)).json.email).toBe(mailed.email);
    expect((await confirmLink(opener, mailed.mail, mailed.email)).json.code).toBe('bad_link');
  });

  test('expires after five wrong addresses, and its code cannot be exchanged', async () => {
    const mailed = await begin();
    for (let n = 0; n < 4; n++) expect((await confirmLink(service.client(), mailed.mail, freshAddress())).json.code).toBe('bad_link');
    for (let n = 0; n < 3; n++) expect((await confirmLink(service.client(), mailed.mail, mailed.email)).status).toBe(200);
    const fifth = await confirmLink(service.client(), mailed.mail, freshAddress());
    expect([fifth.status, JSON.stringify(fifth.json).includes(mailed.code)]).toEqual([400, false]);
    expect((await confirmLink(service.client(), mailed.mail, mailed.email)).json.code).toBe('bad_link');
    expect(linkOf(await service.client().get(mailed.mail.link)).state).toBe('expired');
    expect((await exchange(mailed)).json.code).toBe('bad_grant');
  });

  test('allows five tries in all to concurrent requests with wrong addresses', async () => {
    const mailed = await begin();
    await Promise.all(Array.from({ length: 20 }, () => confirmLink(service.client(), mailed.mail, freshAddress())));
    expect(await stage.query('select secret_tries from sign_in_attempts where email = $1', [mailed.email])).toEqual([{ secret_tries: 5 }]);
  });

  test.each([
    [
      'its attempt has expired',
      async ({ email }: Mailed) => {
        await stage.query("update sign_in_attempts set expires_at = now() - interval '1 second' where email = $1", [email]);
      },
    ],
    ['the application is deactivated', (mailed: Mailed) => change(mailed, { isActive: false })],
    [
      'the application was deactivated and reactivated',
      async (mailed: Mailed) => {
        await change(mailed, { isActive: false });
        await change(mailed, { isActive: true });
      },
    ],
    ['its redirect URI was removed', (mailed: Mailed) => change(mailed, { redirectUris: ['https://new.example/callback'] })],
    ['the application is deleted', ({ application }: Mailed) => owner.client.delete(`/api/clients/${application.id}`)],
  ])('is rejected with the correct address when %s, and its page reports it', async (_what, end) => {
    const mailed = await begin();
    await end(mailed);
    const response = await confirmLink(service.client(), mailed.mail, mailed.email);
    expect(response.status).toBe(400);
    expect(response.text).not.toContain(mailed.code);
    expect(linkOf(await service.client().get(mailed.mail.link)).state).toMatch(/^(expired|invalid)$/);
  });
});

test('the links of the portal and of the command line cannot be confirmed by an address', async () => {
  const redirect_uri = 'http://127.0.0.1:51238/callback';
  for (const changes of [{}, { client_id: 'emailauth_cli', redirect_uri }]) {
    const { email } = await authorize(service.client(), freshAddress('dev'), changes);
    const { searchParams } = new URL((await stage.mailbox.waitFor(email)).link);
    const t = searchParams.get('code') ?? searchParams.get('t');
    expect((await service.client().post('/api/auth/confirm-link', { t, email })).json.code).toBe('bad_link');
  }
});
