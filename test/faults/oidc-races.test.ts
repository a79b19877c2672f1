// A stage of its own: it has two instances, and sees each 503.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Client, HttpResponse } from '../support/client.ts';
import { openStage, type Service, type Stage } from '../support/harness.ts';
import {
  addApplication,
  authorizeAt,
  exchangeCode,
  expectOauthError,
  type OidcClient,
  refresh,
  signInAt,
  userinfo,
} from '../support/oidc-driver.ts';
import { runRounds } from '../support/overlap.ts';
import { signInDeveloper } from '../support/sign-ins.ts';

const ROUNDS = 20;
const RACERS = 50;
const MINUTES = 60_000;

// Two instances on one database; the requests of a round go to both.
let stage: Stage;
let service: Service;
let clients: [Client, Client];
let app: OidcClient;
beforeAll(async () => {
  stage = await openStage({ seesOutages: true });
  service = await stage.start({ TRUST_PROXY: '1' });
  const other = await stage.start({ TRUST_PROXY: '1', PUBLIC_URL: service.url });
  clients = [service.client(), other.client()];
  app = await addApplication(await signInDeveloper(stage, service));
});
afterAll(() => stage.close());

/**
 * Sends RACERS concurrent requests to both instances.
 * @returns the successful responses; the others are `invalid_grant`
 */
async function race(run: (client: Client) => Promise<HttpResponse>): Promise<HttpResponse[]> {
  const responses = await Promise.all(Array.from({ length: RACERS }, (_, racer) => run(clients[racer % 2])));
  for (const { status, text } of responses) if (status === 503) throw new Error(`A request got 503: ${text}`);
  for (const response of responses) if (response.status !== 200) expectOauthError(response, 'invalid_grant');
  return responses.filter(({ status }) => status === 200);
}

test(`an authorization code is exchanged once for ${RACERS} concurrent requests, ${ROUNDS} times`, { timeout: 10 * MINUTES }, async () => {
  await runRounds(ROUNDS, async () => {
    const { request, callback } = await authorizeAt(stage, service, app);
    const winners = await race((client) => exchangeCode(client, request, callback));
    expect(winners).toHaveLength(1);
    // The code was used twice, so it may have been stolen: its token is worthless.
    expectOauthError(await userinfo(clients[1], winners[0].json.access_token), 'invalid_token', 401);
  });
});

test(`a refresh token is used once for ${RACERS} concurrent requests, ${ROUNDS} times, and its family ends`, {
  timeout: 10 * MINUTES,
}, async () => {
  await runRounds(ROUNDS, async () => {
    const changes = { scope: 'openid email offline_access', prompt: 'consent' };
    const { tokens } = await signInAt(stage, service, app, { changes });
    const winners = await race((client) => refresh(client, app, tokens.refresh_token));
    expect(winners).toHaveLength(1);
    for (const token of [tokens.refresh_token, winners[0].json.refresh_token])
      expectOauthError(await refresh(clients[0], app, token), 'invalid_grant');
    expectOauthError(await userinfo(clients[1], winners[0].json.access_token), 'invalid_token', 401);
  });
});
