import { ApiError, type Client } from '../contract/client.ts';
import type { ErrorCode } from '../contract/errors.ts';
import type { Output } from '../contract/routes.ts';
import { normalHost } from '../contract/rules.ts';
import type { Context } from './context.ts';
import { CommandError, EXIT } from './exit.ts';
import { askText } from './prompts.ts';
import type { Terminal } from './terminal.ts';

export type Site = Output<'listWebsites'>[number];

/** The domain for people, and beside it the form that machines read where the two differ (RFC 5890). */
export const nameOf = ({ domain, displayDomain }: Pick<Site, 'domain' | 'displayDomain'>) =>
  displayDomain === domain ? domain : `${displayDomain} (${domain})`;

/** The day of an ISO 8601 time. */
export const dayOf = (time: string) => time.slice(0, 10);

/**
 * The caller's website of a domain, in any case and as people or machines write it.
 * @throws CommandError not found
 */
export async function siteOf(client: Client, text: string): Promise<Site> {
  const sites = await client.listWebsites({});
  const site = ownSite(sites, text);
  if (site) return site;
  const meant = sites.find(({ domain }) => belongsTo(hostIn(text), domain));
  const hint = meant ? `Did you mean ${meant.displayDomain}?` : 'See yours with `emailauth sites list`.';
  throw new CommandError(EXIT.notFound, 'website_not_found', `${text} is not one of your websites.`, hint);
}

/** @returns undefined when it is not one of these */
export function ownSite(sites: readonly Site[], text: string): Site | undefined {
  const host = normalHost(text.trim());
  return sites.find(({ domain }) => domain === host);
}

/** The host in an address as a browser shows it. */
function hostIn(text: string): string {
  const address = text.includes('://') ? text : `https://${text}`;
  return URL.canParse(address) ? new URL(address).hostname : '';
}

const belongsTo = (host: string, domain: string) => host === domain || host.endsWith(`.${domain}`);

/**
 * Asks which domain, and says at once what is wrong with one, in the words of the service.
 * @throws CommandError usage where nobody can be asked
 */
export async function askDomain(terminal: Terminal): Promise<string> {
  // Nothing to load where nobody can be asked.
  const validate = terminal.interactive ? await domainCheck() : undefined;
  return askText(terminal, { message: 'Domain', flag: '<domain>', placeholder: 'shop.example', validate });
}

/** @returns a function that says why a text is no domain to register, or undefined */
export async function domainCheck(): Promise<(text: string) => string | undefined> {
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

/** Whether the service answered an error with this code. */
export const isAnswer = (error: unknown, code: ErrorCode): error is ApiError => error instanceof ApiError && error.code === code;

/** Says how to prove a domain that is registered already, with the commands of this program; any other error stays as it is. */
export function explainTaken(error: unknown, domain: string, proof: string): never {
  if (!isAnswer(error, 'domain_taken')) throw error;
  throw new CommandError(EXIT.conflict, 'domain_taken', `${domain} is registered already.`, `If it is yours: ${proof}.`, error);
}

/** What a website is, in lines. */
export function siteText({ terminal }: Pick<Context, 'terminal'>, site: Site, host: string): string {
  const rows: [string, string][] = [
    ['verified', site.verified ? 'yes' : `no; prove it with \`emailauth sites verify ${site.domain}\``],
    ['icon', site.iconUrl ? `${host}${site.iconUrl}` : 'none'],
    ['since', dayOf(site.createdAt)],
  ];
  const lines = rows.map(([name, value]) => `  ${terminal.style('dim', name.padEnd(10))}${value}`);
  return [terminal.style('bold', nameOf(site)), ...lines].join('\n');
}
