import type pg from 'pg';
import type { WebsiteRecord } from './claims-store.ts';

/**
 * Returns the SQL condition that an address manages a website: the website is linked to it, or it is a member who accepted the invitation.
 * @param website the alias of `websites`
 * @param email an expression, such as `$1`
 */
export const managedBy = (website: string, email: string) =>
  `(${website}.email = ${email} or exists (
    select from website_members m where m.website_id = ${website}.id and m.email = ${email} and m.joined_at is not null))`;

const FIND_MANAGED = `
select id, domain, claimed_at as "claimedAt", proven_at as "provenAt", icon, created_at as "createdAt"
from websites w where domain = $2 and ${managedBy('w', '$1')}`;

/** Returns the website of a domain if the address manages it, or null. */
export async function findManaged(core: pg.Pool, email: string, domain: string): Promise<WebsiteRecord | null> {
  return (await core.query<WebsiteRecord>({ name: 'websites-managed', text: FIND_MANAGED, values: [email, domain] })).rows[0] ?? null;
}
