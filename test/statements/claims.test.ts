import { v7 as uuid } from 'uuid';
import { expect, test } from 'vitest';
import { grantDomain } from '../../server/websites/store.ts';
import { freshAddress, freshDomain } from '../support/sign-ins.ts';
import { freshBytes, insert, useDatabase } from './database.ts';

const database = await useDatabase();

/** Adds an account that has proven its address just now, and its challenge for a domain. @returns a claim without the kind of its proof */
async function claimOf(domain: string) {
  const [id, email, device, session] = [uuid(), freshAddress(), freshBytes(), freshBytes()];
  await insert(database, 'users', { id, email });
  await insert(database, 'sessions', { hash: session, user_id: id, device, expires_at: "sql:now() + interval '1 day'" });
  const key = { selector: freshBytes(16), device, email, verifier: freshBytes(), label: '', expires_at: "sql:now() + interval '400 days'" };
  await insert(database, 'remembered_keys', key);
  await insert(database, 'domain_claims', { domain, email, challenge: 'x' });
  const by = { id, email, name: null };
  return { id: uuid(), domain, email, challenge: 'x', leaseSeconds: 60, by, source: { session, device: null } };
}

test.each<[string, Record<string, unknown>, 'dns' | 'file', string]>([
  ['that another address has proven', { proven_at: 'sql:now()' }, 'file', 'dns_needed'],
  ['that another address has proven', { proven_at: 'sql:now()' }, 'dns', 'granted'],
  ['that another address has registered', {}, 'file', 'granted'],
])('a domain %s %j is claimed by a proof of kind %s: %s', async (_, changes, kind, status) => {
  const domain = freshDomain();
  await insert(database, 'websites', { id: uuid(), domain, email: freshAddress(), claimed_at: 'sql:now()', ...changes });
  expect(await grantDomain(database.core, { ...(await claimOf(domain)), kind }, uuid)).toMatchObject({ status });
});

test('a proof of a challenge that was replaced is outdated', async () => {
  const claim = await claimOf(freshDomain());
  expect(await grantDomain(database.core, { ...claim, kind: 'dns', challenge: 'y' }, uuid)).toEqual({ status: 'outdated' });
});
