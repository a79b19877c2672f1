import type { Output } from '../contract/calls.ts';
import type { Client } from '../contract/client.ts';
import { hasCode } from '../contract/errors.ts';
import { websiteHome } from '../contract/pages.ts';
import { findByDomain } from '../contract/urls.ts';
import type { Context } from './command.ts';
import { CommandError, EXIT } from './exit.ts';
import { promptText } from './prompts.ts';
import { dayOf, details, type Terminal } from './terminal.ts';

type Site = Output<'listWebsites'>[number];

/** Returns the domain for people, and in parentheses its A-label where the two differ (RFC 5890). */
export const displayName = ({ domain, displayDomain }: { domain: string; displayDomain: string }) =>
  displayDomain === domain ? domain : `${displayDomain} (${domain})`;

/**
 * Returns the caller's website with a domain, in any case and as people or machines write it.
 * @throws CommandError website_not_found
 */
export async function requireSite(client: Client, text: string): Promise<Site> {
  const sites = await client.listWebsites({});
  const site = findByDomain(sites, text);
  if (site) return site;
  const parent = sites.find(({ domain }) => belongsTo(hostIn(text), domain));
  const hint = parent ? `Did you mean ${parent.displayDomain}?` : 'See yours with `emailauth sites list`.';
  throw new CommandError(EXIT.notFound, 'website_not_found', `${text} is not one of your websites.`, hint);
}

/** Returns the host of an address as a browser shows it. */
function hostIn(text: string): string {
  const address = text.includes('://') ? text : `https://${text}`;
  return URL.canParse(address) ? new URL(address).hostname : '';
}

const belongsTo = (host: string, domain: string) => host === domain || host.endsWith(`.${domain}`);

/**
 * Prompts for a domain, and validates it as the service does.
 * @throws CommandError usage where no prompt is possible
 */
export async function promptDomain(terminal: Terminal): Promise<string> {
  // The validation is only loaded for a prompt.
  const validate = terminal.interactive ? await loadDomainValidation() : undefined;
  return promptText(terminal, { message: 'Domain', flag: '<domain>', placeholder: 'shop.example', validate });
}

/** Returns a function that returns why a text is not a domain to register, or undefined. */
export async function loadDomainValidation(): Promise<(text: string) => string | undefined> {
  const { rootDomainOf } = await import('../server/websites/domains.ts');
  return (text) => {
    try {
      rootDomainOf(text);
      return undefined;
    } catch (error) {
      return (error as Error).message;
    }
  };
}

/** Throws an error with the command that verifies a domain which is registered already; any other error is thrown unchanged. */
export function throwTaken(error: unknown, domain: string, proof: string): never {
  if (!hasCode(error, 'domain_taken')) throw error;
  throw new CommandError(EXIT.conflict, 'domain_taken', `${domain} is registered already.`, `If it is yours: ${proof}.`, error);
}

/** Returns a website as data for `--json`, with the URL of its icon in full. */
export const siteData = (site: Site, host: string): Site => ({ ...site, iconUrl: site.iconUrl && `${host}${site.iconUrl}` });

/** Returns a website as lines of text. */
export function formatSite({ terminal }: Context, site: Site, host: string): string {
  const rows = [
    ['verified', site.verified ? 'yes' : `no; verify it with \`emailauth sites verify ${site.domain}\``],
    ['icon', siteData(site, host).iconUrl ?? 'none'],
    ['since', dayOf(site.createdAt)],
    ['linked to', site.linkedAddress],
    ['your role', site.role],
    ['page', `${host}${websiteHome(site.domain)}`],
  ];
  return details(displayName(site), rows, 10, terminal);
}
