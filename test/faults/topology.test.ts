import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addWebsite, freshAddress, openLink, tokenOf } from '../support/sign-ins.ts';
import { beginAtRate, waitUntil } from '../support/waiting.ts';
import { waitWithin } from './full-run.ts';
import { promotionOf } from './patroni.ts';
import { hasTopology, startTopology, type Topology, type TopologyClient } from './topology.ts';

/** Requests per second while the leader is killed. */
const RATE = 100;
/** How soon sign-ins must succeed after the promotion. */
const RECOVERY_MS = 5_000;

describe.skipIf(!hasTopology)('four instances with two workers each on PostgreSQL 15 with a synchronous standby', () => {
  let topology: Topology;
  beforeAll(async () => {
    topology = await startTopology(4);
  }, 300_000);
  afterAll(() => topology?.stop(), 60_000);

  test('lose no acknowledged sign-in when the leader is killed, and serve again within 5 s of the promotion', {
    timeout: 300_000,
  }, async () => {
    const { cluster, stage, instances } = topology;
    const domain = await addWebsite(stage, { ...instances[0], client: topology.client });
    const leader = await cluster.leader();
    const [standby] = cluster.members.filter((member) => member !== leader);
    const acknowledged: { email: string; client: TopologyClient; at: number }[] = [];
    const statuses = new Map<number, number>();
    const signIn = async () => {
      const [email, client] = [freshAddress(), topology.client()];
      const { status } = await client.post('/api/auth/domain-auth', { email, forward_url: `https://${domain}/` });
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      if (status === 200) acknowledged.push({ email, client, at: performance.now() });
    };
    const end = beginAtRate(RATE, signIn);
    await waitUntil('sign-ins succeed', 60_000, () => acknowledged.length > 2 * RATE);
    await leader.kill();
    const before = acknowledged.length;
    const promoted = await promotionOf(standby);
    const prober = topology.client();
    await waitWithin(
      'sign-ins succeed again',
      RECOVERY_MS,
      () => prober.get('/healthz'),
      () => acknowledged.some(({ at }) => at > promoted),
    );
    await waitUntil('many sign-ins succeed', 60_000, () => acknowledged.length > before + 2 * RATE);
    await end();

    // 502 and 503 are also what HAProxy answers while no instance is ready.
    expect([...statuses.keys()].filter((status) => ![200, 502, 503, 504].includes(status))).toEqual([]);
    const kept = new Set((await stage.query('select email from sign_in_attempts')).map(({ email }) => email));
    expect(acknowledged.filter(({ email }) => !kept.has(email))).toEqual([]);
    await waitUntil('every acknowledged email is delivered', 120_000, () => {
      const missing = acknowledged.filter(({ email }) => stage.mailbox.mailsFor(email).length === 0);
      return missing.length === 0 || `${missing.length} of ${acknowledged.length} are missing`;
    });
    for (const { client, email } of [...acknowledged.slice(before - 5, before), ...acknowledged.slice(-5)]) {
      const token = tokenOf(await openLink(client, stage.mailbox.mailsFor(email)[0]));
      expect((await client.get(`/api/verify-token?token=${token}`)).json).toMatchObject({ valid: true, email });
    }
    const recovered = Math.min(...acknowledged.filter(({ at }) => at > promoted).map(({ at }) => at)) - promoted;
    console.info(
      `${acknowledged.length} sign-ins acknowledged, none lost; ${JSON.stringify(Object.fromEntries(statuses))}; ` +
        `first sign-in ${Math.round(recovered)} ms after the promotion`,
    );
  });
});
