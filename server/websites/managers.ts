import type { Transaction } from 'sequelize';
import { Fault } from '../../contract/errors.ts';
import type { WebsiteRole } from '../../contract/websites.ts';
import type { Orm, Website } from '../db/models.ts';

/**
 * Returns the SQL condition that an address manages a website: the website is linked to it, or it is a member who accepted the invitation.
 * As an array, the ids are read first and the websites are then found by their index.
 * @param website the alias of `websites`
 * @param email an expression, such as `$1`
 */
export const managedBy = (website: string, email: string) =>
  `(${website}.id = any(array(
    select linked.id from websites linked where linked.email = ${email}
    union all select joined.website_id from website_members joined where joined.email = ${email} and joined.joined_at is not null)))`;

/** Returns what an address may do with a website, or null when it does not manage it. */
export async function roleAt(
  { Op, WebsiteMember }: Orm,
  website: Pick<Website, 'id' | 'email'>,
  email: string,
  transaction?: Transaction,
): Promise<WebsiteRole | null> {
  if (website.email === email) return 'owner';
  const where = { websiteId: website.id, email, joinedAt: { [Op.ne]: null } };
  return (await WebsiteMember.findOne({ attributes: ['role'], where, transaction, raw: true }))?.role ?? null;
}

/** A website with what an address may do with it. */
export type Managed = { website: Website; role: WebsiteRole; linkedAddress: string };

/**
 * Finds a website that an address manages.
 * @param transaction locks the website, so that nothing else changes it or its members before the end of the transaction
 * @throws Fault website_not_found, the same for a website of others
 */
export async function findManaged(orm: Orm, email: string, id: string, transaction?: Transaction): Promise<Managed> {
  const website = await orm.Website.findByPk(id, transaction && { lock: true, transaction });
  const role = website && (await roleAt(orm, website, email, transaction));
  if (!role || website.email === null) throw new Fault('website_not_found');
  return { website, role, linkedAddress: website.email };
}

/** Finds a website that an address owns, as findManaged does. @throws Fault owner_needed, website_not_found */
export async function findOwned(orm: Orm, email: string, id: string, transaction?: Transaction): Promise<Managed> {
  const managed = await findManaged(orm, email, id, transaction);
  checkOwner(managed);
  return managed;
}

/** @throws Fault owner_needed */
export function checkOwner({ role }: Pick<Managed, 'role'>): void {
  if (role !== 'owner') throw new Fault('owner_needed');
}
