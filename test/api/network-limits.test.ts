import { randomInt } from 'node:crypto';
import { expect, test } from 'vitest';
import type { Client } from '../support/client.ts';
import { freshNetworkAddress, production, useProduction } from '../support/harness.ts';
import { addWebsite, freshAddress, openLink } from '../support/sign-ins.ts';

// Two instances with production limits behind a proxy. A network may request two emails an hour here, and a block of networks sixteen.
const [PER_NETWORK, PER_BLOCK] = [2, 16];

const { stage, service: usual } = await useProduction();
const settings = { ...production, TRUST_PROXY: '1', MAILS_PER_NETWORK: String(PER_NETWORK) };
const service = await stage.start(settings);
const second = await stage.start({ ...settings, PUBLIC_URL: service.url });
const shop = await addWebsite(stage, usual);

/** Returns the first 24 bits of an IPv4 block, or the first 48 of an IPv6 block, that no other test uses. */
const freshBlock = () => freshNetworkAddress().replace(/\.\d+$/, '');
const freshBlock6 = () => `2001:${[1, 2].map(() => randomInt(0x1000, 0xffff).toString(16)).join(':')}`;
const ask = (address: string, { at = service.client(), email = freshAddress() }: { at?: Client; email?: string } = {}) =>
  at.post('/api/auth/domain-auth', { email, forward_url: `https://${shop}/` }, { 'X-Forwarded-For': `203.0.113.77, ${address}` });
const statusOf = async (address: string, options?: Parameters<typeof ask>[1]) => (await ask(address, options)).status;
const useUp = (block: string, hits = PER_BLOCK) =>
  stage.query("insert into rate_limits values ('block ' || $1, $2, now() + interval '1 hour')", [block, hits]);

test.each([
  ['IPv6 /48', freshBlock6(), (block: string, network: number) => `${block}:${network.toString(16)}::1`],
  ['IPv4 /24', freshBlock(), (block: string, network: number) => `${block}.${network}`],
])(
  'an %s gets eight times the emails of a network, and then the first email of each network from a reserve as large',
  async (kind, block, addressIn) => {
    const own = (network: number) => addressIn(block, network);
    const other = addressIn(kind === 'IPv4 /24' ? freshBlock() : freshBlock6(), 1);
    for (let network = 1; network <= 8; network++) {
      for (let i = 0; i < PER_NETWORK; i++) expect(await statusOf(own(network))).toBe(200);
      if (network === 1) expect(await statusOf(own(network))).toBe(429);
    }
    expect(await statusOf(own(2))).toBe(429);
    expect(await statusOf(own(9))).toBe(200);
    const unsent = freshAddress();
    const refused = await ask(own(9), { email: unsent });
    expect([refused.status, refused.json.code, refused.json.field]).toEqual([429, 'rate_limited', undefined]);
    expect(refused.json.error).toBe(
      'There are many sign-ins from your network, so no email was sent. Sign in with a passkey or a remembered account, or wait a little.',
    );
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(3000);
    expect(await stage.query('select 1 from sign_in_attempts where email = $1', [unsent])).toEqual([]);
    expect(await statusOf(other)).toBe(200);
    for (let network = 10; network < 9 + PER_BLOCK; network++) expect(await statusOf(own(network))).toBe(200);
    expect(await statusOf(own(100))).toBe(429);
  },
);

test('a network that has requested an email in its hour gets none of the reserve', async () => {
  const block = freshBlock();
  const address = `${block}.1`;
  expect(await statusOf(address)).toBe(200);
  await stage.query("update rate_limits set hits = $1 where key = 'block ' || $2", [PER_BLOCK, `${block}.0/24`]);
  expect(await statusOf(address)).toBe(429);
  await stage.query("update rate_limits set resets_at = now() where key = 'network ' || $1", [address]);
  expect(await statusOf(address)).toBe(200);
});

test('a browser that is known for the address neither counts nor is refused', async () => {
  const [client, email] = [service.client(), freshAddress()];
  await ask(freshNetworkAddress(), { at: client, email });
  await openLink(client, await stage.mailbox.waitFor(email));
  const block = freshBlock();
  await useUp(`${block}.0/24`, PER_BLOCK - 1);
  for (let i = 0; i < PER_NETWORK; i++) expect(await statusOf(`${block}.1`, { at: client, email })).toBe(200);
  expect(await statusOf(`${block}.2`)).toBe(200);
  expect(await statusOf(`${block}.2`)).toBe(429);
});

test('requests at once, at two instances, get exactly the emails of their blocks, and no statements deadlock', async () => {
  const deadlocks = async () =>
    (await stage.query('select deadlocks from pg_stat_database where datname = current_database()'))[0].deadlocks;
  const before = await deadlocks();
  // Each network sends one, so that all above the limit of a block are first ones.
  const blocks = [freshBlock6(), freshBlock6()];
  const requests = Array.from({ length: 50 }, (_, network) =>
    blocks.map((block) => ask(`${block}:${network}::1`, { at: (network % 2 ? service : second).client() })),
  );
  const responses = await Promise.all(requests.flat());
  for (const block of [0, 1]) {
    const sent = responses.filter(({ status }, i) => i % 2 === block && status === 200);
    expect(sent).toHaveLength(2 * PER_BLOCK);
  }
  expect(responses.filter(({ status }) => status === 429)).toHaveLength(2 * (50 - 2 * PER_BLOCK));
  expect(await deadlocks()).toBe(before);
});

test('without the setting, a network may request 30 emails an hour and its block 240', async () => {
  const block = freshBlock();
  await useUp(`${block}.0/24`, 210);
  for (let i = 0; i < 30; i++) expect(await statusOf(`${block}.1`, { at: usual.client() })).toBe(200);
  expect(await statusOf(`${block}.1`, { at: usual.client() })).toBe(429);
  expect(await statusOf(`${block}.2`, { at: usual.client() })).toBe(200);
  expect(await statusOf(`${block}.2`, { at: usual.client() })).toBe(429);
});
