// A stage of its own: it has two instances, and sees each 503.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WEB_CLIENT_ID } from '../../contract/pkce.ts';
import type { Client, HttpResponse } from '../support/client.ts';
import { openStage, type Service, type Stage } from '../support/harness.ts';
import { runRounds } from '../support/overlap.ts';
import { addWebsite, authorize, codeOf, freshAddress, openLink, requestEmail, tokenOf } from '../support/sign-ins.ts';

const ROUNDS = 200;
const RACERS = 50;
const MINUTES = 60_000;

// Two instances on one database; the requests of a round go to both.
let stage: Stage;
let services: Service[];
let shop: string;
beforeAll(async () => {
  stage = await openStage({ seesOutages: true });
  const first = await stage.start({ TRUST_PROXY: '1' });
  services = [first, await stage.start({ TRUST_PROXY: '1', PUBLIC_URL: first.url })];
  shop = await addWebsite(stage, first);
});
afterAll(() => stage.close());

/** Runs `round` ROUNDS times with two browsers, one for each instance, which share the cookies of the round. */
function rounds(round: (browsers: [Client, Client], from: Record<string, string>, email: string) => Promise<void>) {
  const browsers = services.map((service) => service.client()) as [Client, Client];
  return runRounds(ROUNDS, (i) => {
    for (const browser of browsers) browser.cookies = new Map();
    // Each round has its own client address, so that rate limits do not interfere.
    return round(browsers, { 'X-Forwarded-For': `198.51.${i >> 8}.${i & 255}` }, freshAddress());
  });
}

/** Sends RACERS concurrent requests. @returns the successful responses */
async function race(
  browsers: [Client, Client],
  run: (browser: Client, racer: number) => Promise<HttpResponse>,
  won: (response: HttpResponse) => boolean,
): Promise<HttpResponse[]> {
  browsers[1].cookies = new Map(browsers[0].cookies);
  const responses = await Promise.all(Array.from({ length: RACERS }, (_, racer) => run(browsers[racer % 2], racer)));
  for (const { status, text } of responses) if (status >= 500 || status === 429) throw new Error(`A request got ${status}: ${text}`);
  return responses.filter(won);
}

/** Verifies all tokens that racers received at once, each of them several times. Returns how many verifications succeeded. */
async function validTokens(browsers: [Client, Client], from: Record<string, string>, redirects: string[]): Promise<number> {
  const tokens = redirects.map(tokenOf).filter(Boolean);
  const responses = await race(
    browsers,
    (browser, racer) => browser.get(`/api/verify-token?token=${tokens[racer % tokens.length]}`, from),
    ({ json }) => json.valid === true,
  );
  return responses.length;
}

test(
  `a link signs in once for ${RACERS} concurrent openings by its own and other browsers, ${ROUNDS} times`,
  { timeout: 15 * MINUTES },
  () =>
    rounds(async (browsers, from, email) => {
      await requestEmail(browsers[0], email, `https://${shop}/`);
      const { link } = await stage.mailbox.waitFor(email);
      const t = new URL(link).searchParams.get('t');
      const winners = await race(
        browsers,
        (browser, racer) => (racer % 5 ? browser.get(link, from) : browser.post('/api/auth/confirm-link', { t, email }, from)),
        (response) => response.status === 303 || response.json.redirectUrl !== undefined,
      );
      const redirects = winners.map(({ headers, json }) => String(headers.location ?? json.redirectUrl));
      expect(redirects.length).toBeGreaterThan(0);
      expect(new Set(redirects).size).toBe(1);
      expect(await stage.query('select 1 from tokens where email = $1', [email])).toHaveLength(1);
      expect(await validTokens(browsers, from, redirects)).toBe(1);
    }),
);

test(`a code is accepted once for ${RACERS} concurrent entries, ${ROUNDS} times`, { timeout: 15 * MINUTES }, () =>
  rounds(async (browsers, from, email) => {
    await requestEmail(browsers[0], email, `https://${shop}/`);
    const { code } = await stage.mailbox.waitFor(email);
    const winners = await race(
      browsers,
      (browser) => browser.post('/api/auth/email-code', { email, code }, from),
      (response) => response.json.redirectUrl !== undefined,
    );
    const redirects = winners.map(({ json }) => json.redirectUrl);
    expect(redirects.length).toBeGreaterThan(0);
    expect(new Set(redirects).size).toBe(1);
    expect(await validTokens(browsers, from, redirects)).toBe(1);
  }),
);

test(`a token is valid once for ${RACERS} concurrent verifications, ${ROUNDS} times`, { timeout: 15 * MINUTES }, () =>
  rounds(async (browsers, from, email) => {
    await requestEmail(browsers[0], email, `https://${shop}/`);
    const token = tokenOf(await openLink(browsers[0], await stage.mailbox.waitFor(email)));
    const winners = await race(
      browsers,
      (browser, racer) =>
        racer % 3 ? browser.get(`/api/verify-token?token=${token}`, from) : browser.post('/api/verify-token', { token }, from),
      (response) => response.json.valid === true,
    );
    expect(winners).toHaveLength(1);
  }),
);

test(`${RACERS} concurrent verifications with one Idempotency-Key get the same response, ${ROUNDS / 10} times`, {
  timeout: 4 * MINUTES,
}, async () => {
  const [client, other] = services.map((service) => service.client());
  for (let i = 0; i < ROUNDS / 10; i++) {
    const email = freshAddress();
    await requestEmail(client, email, `https://${shop}/`);
    const token = tokenOf(await openLink(client, await stage.mailbox.waitFor(email)));
    const responses = await Promise.all(
      Array.from({ length: RACERS }, (_, racer) =>
        (racer % 2 ? client : other).get(`/api/verify-token?token=${token}`, { 'Idempotency-Key': email }),
      ),
    );
    expect(new Set(responses.map(({ text }) => text)).size).toBe(1);
    expect(responses[0].json).toMatchObject({ email, valid: true, domain: shop });
  }
});

test(
  `an authorization code opens one session for ${RACERS} concurrent exchanges of its browser, ${ROUNDS} times`,
  { timeout: 15 * MINUTES },
  () =>
    rounds(async (browsers, from, email) => {
      const { pkce } = await authorize(browsers[0], email, { redirect_uri: `${services[0].url}/developer` });
      const body = { code: codeOf(await stage.mailbox.waitFor(email)), code_verifier: pkce.codeVerifier, client_id: WEB_CLIENT_ID };
      const winners = await race(
        browsers,
        (browser) => browser.post('/api/auth/token', body, from),
        (response) => response.status === 200,
      );
      expect(winners.length).toBeGreaterThan(0);
      expect(new Set(winners.map(({ json }) => json.authKey)).size).toBe(1);
      expect(await stage.query('select 1 from sessions s join users u on u.id = s.user_id where u.email = $1', [email])).toHaveLength(1);
    }),
);

test('concurrent wrong addresses for a link are counted before they are compared', {
  timeout: 4 * MINUTES,
}, async () => {
  const [owner, anonymous, other] = [services[0].client(), services[0].client(), services[1].client()];
  for (let i = 0; i < 10; i++) {
    const email = freshAddress();
    await requestEmail(owner, email, `https://${shop}/`);
    const t = new URL((await stage.mailbox.waitFor(email)).link).searchParams.get('t');
    const confirm = (browser: Client, guess: string) => browser.post('/api/auth/confirm-link', { t, email: guess });
    await Promise.all(Array.from({ length: 30 }, (_, guess) => confirm(guess % 2 ? anonymous : other, freshAddress())));
    expect((await confirm(anonymous, email)).json).toMatchObject({ code: 'bad_link' });
  }
});

test('links of one browser opened concurrently at both instances do not block each other', { timeout: 4 * MINUTES }, async () => {
  const deadlocks = async () =>
    (await stage.query('select deadlocks from pg_stat_database where datname = current_database()'))[0].deadlocks;
  const before = await deadlocks();
  for (let i = 0; i < 10; i++) {
    const browsers = services.map((service) => service.client()) as [Client, Client];
    const email = freshAddress();
    const links: string[] = [];
    for (let mail = 0; mail < 6; mail++) {
      await requestEmail(browsers[0], email, `https://${shop}/`);
      links.push((await stage.mailbox.waitFor(email)).link);
    }
    browsers[1].cookies = new Map(browsers[0].cookies);
    const statuses = await Promise.all(
      links
        .flatMap((link) => [browsers[0].get(link), browsers[1].get(new URL(link).pathname + new URL(link).search)])
        .map(async (response) => (await response).status),
    );
    expect(statuses.filter((status) => status !== 200 && status !== 303)).toEqual([]);
    expect(statuses).toContain(303);
  }
  expect(await deadlocks()).toBe(before);
});
