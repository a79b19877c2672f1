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
  const claimant = { id, email, name: null };
  return { id: uuid(), domain, email, challenge: 'x', claimant, source: { session, device: null } };
}

test.each<['proven' | 'registered', 'dns' | 'file', string]>([
  ['proven', 'file', 'dns_needed'],
  ['proven', 'dns', 'granted'],
  ['registered', 'file', 'granted'],
])('the claim of a domain that another address has %s, by a proof of kind %s, is %s', async (state, kind, status) => {
  const domain = freshDomain();
  const site = { id: uuid(), domain, email: freshAddress(), claimed_at: 'sql:now()' };
  await insert(database, 'websites', { ...site, proven_at: state === 'proven' ? 'sql:now()' : null });
  expect(await grantDomain(database.core, { ...(await claimOf(domain)), kind }, uuid)).toMatchObject({ status });
});

test('a proof of a challenge that was replaced is outdated', async () => {
  const claim = await claimOf(freshDomain());
  expect(await grantDomain(database.core, { ...claim, kind: 'dns', challenge: 'y' }, uuid)).toEqual({ status: 'outdated' });
});
