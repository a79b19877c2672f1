import { expect, test } from 'vitest';
import { CLI_CLIENT_ID } from '../../contract/pkce.ts';
import type { Client } from '../support/client.ts';
import { freshNetworkAddress, production, useProduction } from '../support/harness.ts';
import { addWebsite, authorize, codeOf, exchange, freshAddress, openLink } from '../support/sign-ins.ts';

// Two instances with production limits, which count together.
const { stage, service } = await useProduction();
const second = await stage.start({ ...production, PUBLIC_URL: service.url, TRUST_PROXY: '1' });
const shop = await addWebsite(stage, service);

/** Returns headers of a network that no other request has. */
const from = () => ({ 'X-Forwarded-For': freshNetworkAddress() });

type Begun = { client: Client; email: string; code: string; text: string; html: string; link: string };

/** Requests an email from a network of its own. */
async function begin(email: string, client = service.client()): Promise<Begun> {
  const body = { email, forward_url: `https://${shop}/` };
  const response = await client.post('/api/auth/domain-auth', body, from());
  expect(response.status).toBe(200);
  const { code, text, html, link } = await stage.mailbox.waitFor(email);
  return { client, email, code, text, html, link };
}

const enter = ({ client, email }: Begun, code: string, at = client) => at.post('/api/auth/email-code', { email, code }, from());
const wrongOf = (code: string) => (code === '000000' ? '000001' : '000000');
const tryWrong = (begun: Begun, at?: Client) => enter(begun, wrongOf(begun.code), at);
const [STARTED, GUESSING] = ['Sign in to', 'Someone is guessing the codes of this address'];

/** Adds 30 wrong codes of other browsers to a mailbox. */
const addGuesses = (email: string) =>
  stage.query(
    `insert into rate_limits values ('guesses ' || $1, 30, now() + interval '1 day')
     on conflict (key) do update set hits = 30, resets_at = excluded.resets_at`,
    [email],
  );

/** Enters 30 wrong codes for a mailbox, of six emails to three of its spellings. */
async function guess(email: string): Promise<void> {
  const spellings = [email, email.replace('@', '+a@'), email.replace('@', '+b@')];
  for (let mail = 0; mail < 6; mail++) {
    const begun = await begin(spellings[mail % 3]);
    expect(begun.text).not.toContain(GUESSING);
    for (let left = 4; left >= 0; left--) {
      const { status, json } = await tryWrong(begun);
      expect([status, json.code, json.triesLeft]).toEqual([400, 'bad_code', left === 0 || mail === 5 ? expect.any(Number) : left]);
    }
  }
}

const hitsOf = async (email: string) =>
  (await stage.query("select hits from rate_limits where key = 'guesses ' || $1", [email]))[0]?.hits ?? 0;

test('after thirty wrong codes for a mailbox, each email accepts one code of a new browser, and says so', async () => {
  const email = freshAddress();
  await guess(email);
  expect(await hitsOf(email)).toBe(30);
  const wrong = await begin(email);
  expect(wrong.text).toContain(GUESSING);
  expect(wrong.html.replaceAll(/=\r?\n/g, '')).toContain(GUESSING);
  expect((await tryWrong(wrong)).json).toMatchObject({ code: 'bad_code', triesLeft: 0 });
  expect((await enter(wrong, wrong.code)).json.code).toBe('bad_code');
  expect((await wrong.client.get(`/api/auth/attempt?email=${email}`)).json.status).toBe('code_spent');
  const right = await begin(email.replace('@', '+c@'));
  expect(right.text).toContain(GUESSING);
  expect((await enter(right, right.code)).status).toBe(200);
});

test('of emails that were sent before, one without a try accepts one code, and others none', async () => {
  const email = freshAddress();
  const [fresh, used] = [await begin(email), await begin(email)];
  expect((await tryWrong(used)).json.triesLeft).toBe(4);
  await addGuesses(email);
  expect((await enter(used, used.code)).json.code).toBe('bad_code');
  expect((await enter(fresh, fresh.code)).status).toBe(200);
});

test('a program has one try for each email too', async () => {
  const email = freshAddress('dev');
  await addGuesses(email);
  const start = async () => {
    const client = service.client();
    const redirect = { client_id: CLI_CLIENT_ID, redirect_uri: 'http://127.0.0.1:9/callback' };
    const { attempt, pkce, response } = await authorize(client, email, redirect);
    expect(response.status).toBe(200);
    const mail = await stage.mailbox.waitFor(email);
    expect(mail.text).toContain(GUESSING);
    const enterCode = (code: string) => service.client().post('/api/auth/email-code', { email, code, state: pkce.state, attempt }, from());
    return { mail, enterCode };
  };
  const one = await start();
  expect((await one.enterCode(wrongOf(one.mail.code))).json).toMatchObject({ code: 'bad_code', triesLeft: 0 });
  expect((await one.enterCode(one.mail.code)).json.code).toBe('bad_code');
  const other = await start();
  const entered = await other.enterCode(other.mail.code);
  expect([entered.status, entered.json.code]).toEqual([200, expect.stringMatching(/^[\w-]{64}$/)]);
});

test('a browser that is known for the address keeps its five tries', async () => {
  const email = freshAddress();
  const { client, link } = await begin(email);
  await openLink(client, { link } as Parameters<typeof openLink>[1]);
  await addGuesses(email);
  const known = await begin(email, client);
  expect(known.text).toContain(GUESSING);
  for (let left = 4; left > 0; left--) expect((await tryWrong(known)).json.triesLeft).toBe(left);
  expect((await enter(known, known.code)).status).toBe(200);
});

test('a try in another browser counts nowhere', async () => {
  const begun = await begin(freshAddress());
  for (let i = 0; i < 6; i++) expect((await tryWrong(begun, service.client())).json.code).toBe('bad_code');
  expect(await hitsOf(begun.email)).toBe(0);
  expect((await enter(begun, begun.code)).status).toBe(200);
});

test.each([
  ['a link', async (begun: Begun) => void (await begun.client.get(begun.link))],
  [
    'a link in another browser',
    async ({ email, link }: Begun) => {
      const t = new URL(link).searchParams.get('t');
      expect((await service.client().post('/api/auth/confirm-link', { t, email })).status).toBe(200);
    },
  ],
  ['a code', async (begun: Begun) => expect((await enter(begun, begun.code)).status).toBe(200)],
  [
    'the portal',
    async ({ email }: Begun) => {
      const client = service.client();
      const { pkce } = await authorize(client, email.replace('@', '+portal@'));
      const mail = await stage.mailbox.waitFor(email.replace('@', '+portal@'));
      expect((await exchange(client, codeOf(mail), pkce.codeVerifier)).status).toBe(200);
    },
  ],
])('a sign-in with %s ends it', async (_, signIn) => {
  const email = freshAddress();
  await addGuesses(email);
  await signIn(await begin(email.replace('@', '+d@')));
  expect(await hitsOf(email)).toBe(0);
  const begun = await begin(email);
  expect(begun.text).toContain(STARTED);
  expect(begun.text).not.toContain(GUESSING);
  expect((await tryWrong(begun)).json.triesLeft).toBe(4);
});

test('a sign-in with a remembered account ends it', async () => {
  const email = freshAddress();
  const { client, code } = await begin(email);
  await enter({ client, email } as Begun, code);
  await addGuesses(email);
  const key = (JSON.parse(decodeURIComponent(client.cookies.get('previous_auth') ?? '[]')) as { key?: string }[])[0]?.key;
  const body = { email, key: key ?? decodeURIComponent(client.cookies.get('key') ?? ''), forward_url: `https://${shop}/` };
  expect((await client.post('/api/auth/validate-key', body)).status).toBe(200);
  expect(await hitsOf(email)).toBe(0);
});

test('it ends after 24 hours', async () => {
  const email = freshAddress();
  await tryWrong(await begin(email));
  const [{ hours }] = await stage.query(
    "select round(extract(epoch from resets_at - now()) / 3600)::int as hours from rate_limits where key = 'guesses ' || $1",
    [email],
  );
  expect(hours).toBe(24);
  await stage.query("update rate_limits set hits = 30, resets_at = now() where key = 'guesses ' || $1", [email]);
  const begun = await begin(email);
  expect(begun.text).not.toContain(GUESSING);
  expect((await tryWrong(begun)).json.triesLeft).toBe(4);
  expect(await hitsOf(email)).toBe(1);
});

test('fifty wrong codes at once, at two instances, are compared exactly up to the limit of the mailbox', async () => {
  const email = freshAddress();
  const attempts: Begun[] = [];
  for (let i = 0; i < 10; i++) attempts.push(await begin(email));
  // Every email had a try, so that none of them is accepted beyond the limit.
  await stage.query('update sign_in_attempts set code_tries = 1 where email = $1', [email]);
  await stage.query("insert into rate_limits values ('guesses ' || $1, 20, now() + interval '1 day')", [email]);
  const tries = attempts.flatMap((attempt) =>
    Array.from({ length: 5 }, (_, i) => {
      const at = Object.assign((i % 2 ? service : second).client(), { cookies: attempt.client.cookies });
      return tryWrong(attempt, at);
    }),
  );
  const responses = await Promise.all(tries);
  expect(new Set(responses.map(({ json }) => json.code))).toEqual(new Set(['bad_code']));
  const [{ compared }] = await stage.query('select sum(code_tries - 1)::int as compared from sign_in_attempts where email = $1', [email]);
  expect(compared).toBe(10);
});
