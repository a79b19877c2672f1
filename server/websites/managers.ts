import type { Transaction } from 'sequelize';
import type { Output } from '../../contract/calls.ts';
import { Fault } from '../../contract/errors.ts';
import { LOCALHOST } from '../../contract/urls.ts';
import type { WebsiteRole } from '../../contract/websites.ts';
import { type Database, IS_LOCAL } from '../platform/db/database.ts';
import type { Orm, Website } from '../platform/db/models.ts';
import type { Account } from '../platform/http/endpoint.ts';
import { displayDomainOf } from './domains.ts';
import { proofFor } from './proof.ts';
import { obtainChallenges, type WebsiteRecord } from './store.ts';
import { uploadPath } from './uploads.ts';

/**
 * Returns the SQL condition that an address manages a website: the website is linked to it, or it is a member who accepted the invitation.
 * In local mode, every address manages `localhost`, which is linked to none.
 * As an array, the ids are read first and the websites are then found by their index.
 * @param website the alias of `websites`
 * @param email an expression, such as `$1`
 */
export const managedBy = (website: string, email: string) =>
  `(${website}.id = any(array(
    select linked.id from websites linked where linked.email = ${email}
    union all select joined.website_id from website_members joined where joined.email = ${email} and joined.joined_at is not null
    union all select local.id from websites local where local.domain = '${LOCALHOST}' and ${IS_LOCAL})))`;

/** Returns what an address may do with a website, or null when it does not manage it. */
export async function roleAt(
  { isLocal, Op, WebsiteMember }: Orm,
  website: Website,
  email: string,
  transaction?: Transaction,
): Promise<WebsiteRole | null> {
  if (website.email === email) return 'owner';
  if (website.domain === LOCALHOST) return isLocal ? 'member' : null;
  const where = { websiteId: website.id, email, joinedAt: { [Op.ne]: null } };
  return (await WebsiteMember.findOne({ attributes: ['role'], where, transaction, raw: true }))?.role ?? null;
}

/** A website with what an address may do with it. Where it is linked to none, `linkedAddress` is the address itself. */
export type Managed = { website: Website; role: WebsiteRole; linkedAddress: string };

/**
 * Finds a website that an address manages.
 * @param transaction locks the website, so that nothing else changes it or its members before the end of the transaction
 * @throws Fault website_not_found, the same for a website of others
 */
export async function findManaged(orm: Orm, email: string, id: string, transaction?: Transaction): Promise<Managed> {
  const website = await orm.Website.findByPk(id, transaction && { lock: true, transaction });
  const role = website && (await roleAt(orm, website, email, transaction));
  if (!role) throw new Fault('website_not_found');
  return { website, role, linkedAddress: website.email ?? email };
}

/** Finds a website that an address owns, as findManaged does. @throws Fault owner_needed, website_not_found */
export async function findOwned(orm: Orm, email: string, id: string, transaction?: Transaction): Promise<Managed> {
  const managed = await findManaged(orm, email, id, transaction);
  checkOwner(managed);
  return managed;
}

/** @throws Fault owner_needed */
export function checkOwner({ role }: Managed): void {
  if (role !== 'owner') throw new Fault('owner_needed');
}

/** Whether someone else registered a website in the name of its linked address, which did not prove the domain. */
export const canBeGivenBack = ({ registeredByOthers, provenAt }: WebsiteRecord): boolean => registeredByOthers && provenAt === null;

/** Returns the path of the icon for those who manage the website, or null; one on probation has none. */
export const iconUrlOf = ({ icon, claimedAt }: WebsiteRecord): string | null => (icon && claimedAt ? uploadPath(icon) : null);

/**
 * Returns a website as an account that manages it sees it, without what proves the domain.
 * @param role of the account as a member; null: the website is linked to its address, or the membership has just ended
 */
export function withoutProof(website: WebsiteRecord, email: string, role: WebsiteRole | null): Omit<Output<'readWebsite'>, 'proof'> {
  return {
    id: website.id,
    domain: website.domain,
    displayDomain: displayDomainOf(website.domain),
    verified: website.provenAt !== null,
    iconUrl: iconUrlOf(website),
    onProbation: website.claimedAt === null,
    registeredByOthers: website.email === email && canBeGivenBack(website),
    createdAt: website.createdAt.toISOString(),
    role: website.email === email ? 'owner' : (role ?? 'member'),
    linkedAddress: website.email ?? email,
  };
}

/** Returns websites as an account that manages them sees them, in the same order. */
export async function presentWebsites(database: Database, { email }: Account, websites: WebsiteRecord[]): Promise<Output<'listWebsites'>> {
  const [challenges, roles] = await Promise.all([challengesOf(database, email, websites), rolesAt(database, email, websites)]);
  return websites.map((website) => ({
    ...withoutProof(website, email, roles.get(website.id) ?? null),
    proof: proofFor(website.domain, challenges.get(website.domain) as string),
  }));
}

/** Returns a website as an account that manages it sees it. */
export async function presentWebsite(database: Database, account: Account, website: WebsiteRecord): Promise<Output<'createWebsite'>> {
  return (await presentWebsites(database, account, [website]))[0];
}

/** Returns the challenges of websites by domain, each that of the linked address, or of `own` where there is none. */
async function challengesOf({ core }: Database, own: string, websites: WebsiteRecord[]): Promise<Map<string, string>> {
  const challenges = new Map<string, string>();
  const linkedAddress = ({ email }: WebsiteRecord) => email ?? own;
  for (const linked of new Set(websites.map(linkedAddress))) {
    const domains = websites.filter((website) => linkedAddress(website) === linked).map(({ domain }) => domain);
    for (const [domain, challenge] of await obtainChallenges(core, linked, domains)) challenges.set(domain, challenge);
  }
  return challenges;
}

/** Returns the roles of an address at the websites that are linked to other addresses. */
async function rolesAt(database: Database, email: string, websites: WebsiteRecord[]): Promise<Map<string, WebsiteRole>> {
  const shared = websites.filter((website) => website.email !== email).map(({ id }) => id);
  if (shared.length === 0) return new Map();
  const { WebsiteMember } = await database.orm();
  const members = await WebsiteMember.findAll({ attributes: ['websiteId', 'role'], where: { websiteId: shared, email }, raw: true });
  return new Map(members.map(({ websiteId, role }) => [websiteId, role]));
}
