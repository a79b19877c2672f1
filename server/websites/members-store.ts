import { Fault } from '../../contract/errors.ts';
import { MAX_WEBSITE_MEMBERS } from '../../contract/limits.ts';
import type { WebsiteRole } from '../../contract/websites.ts';
import type { Query } from '../db/database.ts';

type NewInvitation = { websiteId: string; email: string; role: WebsiteRole; invitedBy: string };

// The conditions are statements of their own: they see what the last holder of the lock has done.
const LOCK = 'select domain, email, proven_at is not null as proven from websites where id = $1 for update';
const OWNER = `select 1 from website_members where website_id = $1 and email = $2 and role = 'owner' and joined_at is not null`;
const COUNT = 'select count(*)::int as others from website_members where website_id = $1 and email <> $2';

const INVITE = `
with invited as (
  insert into website_members as m (website_id, email, role, invited_by) values ($1, $2, $3, $4)
  on conflict (website_id, email) do update set role = excluded.role, invited_by = excluded.invited_by, invited_at = now()
  where m.joined_at is null
  returning email, invited_by
),
audit as (
  insert into audit_log (action, email, domain)
  select action, address, $5 from invited cross join lateral (values ('member_invited', invited_by), ('invited_to_website', email)) as each (action, address)
)
select 1 from invited`;

/**
 * Adds an invitation, or renews one that was not accepted.
 * @param query runs in a transaction
 * @throws Fault already_member, owner_needed, too_many, unproven_domain, website_not_found
 */
export async function addInvitation(query: Query, { websiteId, email, role, invitedBy }: NewInvitation): Promise<void> {
  type Website = { domain: string; email: string; proven: boolean };
  const [website] = (await query(LOCK, [websiteId])).rows as Website[];
  if (!website) throw new Fault('website_not_found');
  if (website.email !== invitedBy && (await query(OWNER, [websiteId, invitedBy])).rows.length === 0) throw new Fault('owner_needed');
  if (!website.proven) throw new Fault('unproven_domain');
  if (website.email === email) throw new Fault('already_member', { field: 'email' });
  const [{ others }] = (await query(COUNT, [websiteId, email])).rows as { others: number }[];
  if (others >= MAX_WEBSITE_MEMBERS) {
    const message = `This website has ${MAX_WEBSITE_MEMBERS} members and invitations, the maximum.`;
    throw new Fault('too_many', { message, hint: 'Remove one that you do not need.' });
  }
  const { rows } = await query(INVITE, [websiteId, email, role, invitedBy, website.domain]);
  if (rows.length === 0) throw new Fault('already_member', { field: 'email' });
}
