import { randomBytes } from 'node:crypto';
import { v7 as uuid } from 'uuid';
import { expect, test } from 'vitest';
import { digest } from '../../server/platform/secrets.ts';
import { TokenVerifier } from '../../server/signin/verify.ts';
import { freshAddress, freshDomain } from '../support/sign-ins.ts';
import { insert, useDatabase } from './database.ts';

const database = await useDatabase();
const limits = { hit: async () => {}, refuseBlocked: () => {} };
const verifier = new TokenVerifier({
  core: database.core,
  limits: limits as never,
  events: { record: async () => {} },
  keyOwnerOf: async () => undefined,
});
const verify = (token: string, domain?: string, key?: string) =>
  verifier.verify({ token, domain }, { clientAddress: '192.0.2.1', header: (name) => (name === 'idempotency-key' ? key : undefined) });

/** Adds a token of a visitor for a registered website. @param changes columns of the token */
async function issued(changes: Record<string, unknown> = {}, domain = freshDomain()) {
  const [token, email] = [randomBytes(32).toString('base64url'), freshAddress()];
  await insert(database, 'websites', { id: uuid(), domain, domain_since: "sql:now() - interval '1 day'" });
  const row = { domain, audience: domain, email, expires_at: "sql:now() + interval '1 hour'", ...changes };
  await insert(database, 'tokens', { hash: digest(token), ...row });
  return { token, email, domain };
}

test('a token is valid once', async () => {
  const { token, email, domain } = await issued();
  expect(await verify(token)).toMatchObject({ valid: true, email, domain });
  expect(await verify(token)).toEqual({ email: null, valid: false, reason: 'used' });
});

test('of 50 concurrent verifications of a token one is valid', async () => {
  const { token } = await issued();
  const results = await Promise.all(Array.from({ length: 50 }, () => verify(token)));
  expect(results.filter(({ valid }) => valid)).toHaveLength(1);
});

test.each<[string, Record<string, unknown>]>([
  ['expired', { expires_at: "sql:now() - interval '1 second'" }],
  ['used', { used_at: 'sql:now()' }],
  // Of the portal, and of an authorization request.
  ['unknown', { domain: null, audience: null }],
  ['unknown', { domain: null, audience: null, used_at: 'sql:now()' }],
])('a token is refused as %s with %j', async (reason, changes) => {
  const { token } = await issued(changes);
  expect(await verify(token)).toEqual({ email: null, valid: false, reason });
});

test('a token of another host stays valid for its own, whose name may be in Unicode', async () => {
  const { token } = await issued({ audience: 'xn--bcher-kva.example' });
  for (const domain of ['bucher.example', 'bücher', 'xn--bcher-kva.example.evil.example', '192.0.2.1', ''])
    expect([domain, await verify(token, domain)]).toEqual([domain, { email: null, valid: false, reason: 'other_domain' }]);
  expect(await verify(token, 'BÜCHER.example')).toMatchObject({ valid: true });
});

test('the same Idempotency-Key gets the first result again for 60 s', async () => {
  const { token } = await issued();
  const first = await verify(token, undefined, 'one');
  expect(await verify(token, undefined, 'one')).toEqual(first);
  expect(await verify(token, undefined, 'two')).toMatchObject({ reason: 'used' });
  await database.core.query("update tokens set used_at = now() - interval '60 seconds' where hash = $1", [digest(token)]);
  expect(await verify(token, undefined, 'one')).toMatchObject({ reason: 'used' });
});
