import { oneLine } from '../contract/check.ts';
import type { Client } from '../contract/client.ts';
import type { Output } from '../contract/routes.ts';
import { normalHost } from '../contract/rules.ts';
import { isAnswer, refusal } from './result.ts';

export type OwnSite = Output<'listWebsites'>[number];

/** The domain that local mode serves without a registration. */
export const LOCALHOST = 'localhost';

/** The caller's own site of a domain, as people or machines write it. @throws ApiError, website_not_found for anybody else's */
export async function ownSite(client: Client, domain: string, signal: AbortSignal): Promise<OwnSite> {
  const sites = await client.listWebsites({}, { signal });
  const site = siteAmong(sites, domain);
  if (site) return site;
  throw refusal(
    'website_not_found',
    `"${oneLine(domain, 80)}" is not one of your sites.`,
    'list_sites shows them; register_domain adds one.',
  );
}

/** @returns undefined when it is not one of these */
export const siteAmong = (sites: readonly OwnSite[], domain: string): OwnSite | undefined =>
  sites.find((site) => site.domain === normalHost(domain.trim()));

/** Who calls, and their sites; null: nobody who has sites. @throws ApiError, also for an API key that is not valid */
export async function signedIn(client: Client, signal: AbortSignal): Promise<{ email: string; sites: OwnSite[] } | null> {
  try {
    // An application's token tells who somebody is, and opens nothing of theirs.
    const [sites, { email }] = await Promise.all([client.listWebsites({}, { signal }), client.me({}, { signal })]);
    return { email, sites };
  } catch (error) {
    if (isAnswer(error, 'sign_in_needed')) return null;
    throw error;
  }
}

/** Whether visitors can sign in at a host: it or a parent is registered, or it is localhost and the service in local mode. @throws ApiError */
export async function isServed(client: Client, host: string, signal: AbortSignal): Promise<boolean> {
  try {
    await client.findWebsite({ domain: host }, { signal });
    return true;
  } catch (error) {
    if (isAnswer(error, 'website_not_found')) return false;
    throw error;
  }
}

/** The domains of the caller's own sites that begin so, for completion; none when nobody is signed in or the service is away. */
export async function ownDomains(client: Client, typed: string): Promise<string[]> {
  const sites = await client.listWebsites({}).catch(() => []);
  return sites.map(({ domain }) => domain).filter((domain) => domain.startsWith(typed.toLowerCase()));
}
