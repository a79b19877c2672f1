import type { Output } from '../contract/calls.ts';
import { type Client, refusal } from '../contract/client.ts';
import { hasCode } from '../contract/errors.ts';
import { findByDomain } from '../contract/urls.ts';
import { oneLine } from '../diagnostics/check.ts';
import type { McpContext } from './tool.ts';

export type OwnSite = Output<'listWebsites'>[number];

/** Returns the caller's website with a domain, as people or machines write it. @throws ApiError, website_not_found for any other */
export async function requireOwnSite(client: Client, domain: string, signal: AbortSignal): Promise<OwnSite> {
  const site = findByDomain(await client.listWebsites({}, { signal }), domain);
  if (site) return site;
  const message = `"${oneLine(domain, 80)}" is not one of your websites.`;
  throw refusal('website_not_found', message, 'list_sites shows them; register_domain adds one.');
}

/** Returns the caller's address and websites, or null for an anonymous caller. @throws ApiError, also for an API key that is not valid */
export async function findCaller(client: Client, signal: AbortSignal): Promise<{ email: string; sites: OwnSite[] } | null> {
  try {
    // The token of an application identifies a person but gives no access to their websites: both calls must succeed.
    const [sites, { email }] = await Promise.all([client.listWebsites({}, { signal }), client.me({}, { signal })]);
    return { email, sites };
  } catch (error) {
    if (hasCode(error, 'sign_in_needed')) return null;
    throw error;
  }
}

/** Returns whether visitors can sign in at a host: it or its parent is registered, or it is localhost in local mode. @throws ApiError */
export async function isServed(client: Client, host: string, signal: AbortSignal): Promise<boolean> {
  try {
    await client.findWebsite({ domain: host }, { signal });
    return true;
  } catch (error) {
    if (hasCode(error, 'website_not_found')) return false;
    throw error;
  }
}

/** Returns the caller's domains with a prefix, for completion; none for an anonymous caller or when the service does not respond. */
export async function completeOwnDomains(client: Client, prefix: string): Promise<string[]> {
  const sites = await client.listWebsites({}).catch(() => []);
  return sites.map(({ domain }) => domain).filter((domain) => domain.startsWith(prefix.toLowerCase()));
}

/** Returns where to read emails that stay on the machine of the service, or undefined when they are delivered. */
export const inboxAt = (host: string, { mail }: Output<'about'>): string | undefined => (mail.delivered ? undefined : `${host}/dev/inbox`);

/** Does the same after an email was requested; undefined also when the service does not respond, since the email is sent anyway. */
export async function findInbox({ client, host }: Pick<McpContext, 'client' | 'host'>, signal: AbortSignal): Promise<string | undefined> {
  const about = await client.about({}, { signal }).catch(() => null);
  return about ? inboxAt(host, about) : undefined;
}
