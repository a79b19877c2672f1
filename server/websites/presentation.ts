import type { Output } from '../../contract/routes.ts';
import type { WebsiteRole } from '../../contract/websites.ts';
import type { Database } from '../db/database.ts';
import type { Account } from '../http/serve.ts';
import { uploadPath } from '../uploads/upload-url.ts';
import { obtainChallenges, type WebsiteRecord } from './claims-store.ts';
import { displayDomainOf } from './domains.ts';
import { proofFor } from './proof.ts';

/** Returns the path of the icon, or null; a website on probation shows none. */
export const iconUrlOf = ({ icon, claimedAt }: WebsiteRecord): string | null => (icon && claimedAt ? uploadPath(icon) : null);

/** Returns websites as an account that manages them sees them, in the same order. */
export async function presentWebsites(database: Database, { email }: Account, websites: WebsiteRecord[]): Promise<Output<'listWebsites'>> {
  const [challenges, roles] = await Promise.all([challengesOf(database, websites), rolesAt(database, email, websites)]);
  return websites.map((website) => ({
    id: website.id,
    domain: website.domain,
    displayDomain: displayDomainOf(website.domain),
    verified: website.provenAt !== null,
    iconUrl: iconUrlOf(website),
    onProbation: website.claimedAt === null,
    createdAt: website.createdAt.toISOString(),
    // A membership that ended after the website was read gives the smaller role.
    role: website.email === email ? 'owner' : (roles.get(website.id) ?? 'member'),
    linkedAddress: website.email ?? email,
    proof: proofFor(website.domain, challenges.get(website.domain) as string),
  }));
}

/** Returns a website as an account that manages it sees it. */
export async function presentWebsite(database: Database, account: Account, website: WebsiteRecord): Promise<Output<'createWebsite'>> {
  return (await presentWebsites(database, account, [website]))[0];
}

/** Returns the challenges of websites by domain, each that of the linked address. */
async function challengesOf({ core }: Database, websites: WebsiteRecord[]): Promise<Map<string, string>> {
  const challenges = new Map<string, string>();
  for (const linked of new Set(websites.map(({ email }) => email))) {
    const domains = websites.filter(({ email }) => email === linked).map(({ domain }) => domain);
    for (const [domain, challenge] of await obtainChallenges(core, linked as string, domains)) challenges.set(domain, challenge);
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
