import type { Check } from '../../contract/check.ts';
import type { Client } from '../../contract/client.ts';
import type { CheckSite } from '../../mcp/context.ts';
import { refusal } from '../../mcp/result.ts';
import { checkCallback } from './callback.ts';
import type { Look, SiteNames, Ways } from './look.ts';
import { checkProof } from './proof.ts';
import { checkRegistration } from './registration.ts';
import { readTarget, type Target } from './target.ts';
import { checkRedirect, checkTls } from './tls.ts';

export type SiteChecksParts = {
  /** The API as whoever calls. */
  client: Client;
  /** Origin of the service. */
  service: string;
  names: SiteNames;
  /**
   * Where connections come from. A person's own machine may look at its localhost, and at any port of the person's websites. A
   * service looks at port 443 of the public internet, and only at websites whose domain is proven: else anybody could register a
   * foreign domain and have the service send requests there.
   */
  from: 'own-machine' | 'service';
  /** Called once the site is known to be the caller's, before anything is sent to it. @throws ApiError to call it off */
  begin?(): Promise<void>;
};

/** All checks together, in ms. */
const MAX_MS = 10_000;

const ways: Ways = {
  url: 'url',
  write: 'scaffold_integration writes one.',
  signIn: 'Sign in, and try again.',
  prove: (domain) => `publish the proof of ${domain} that the dashboard shows, and let it check (or run: emailauth sites verify ${domain})`,
  register: (domain) => `register_domain with ${domain}`,
};

/** Looks from outside at a site that is the caller's own: the address itself or one below it. */
export function createCheckSite(parts: SiteChecksParts): CheckSite {
  return async ({ domain, url }, signal) => {
    const target = readTarget(domain, url, { ways, refuse });
    refuseForeignPlace(target, parts);
    if (!target.local) await refuseForeignSite(target, parts, signal);
    await parts.begin?.();
    const look: Look = { names: parts.names, userAgent: 'emailauth-check', ways, signal, deadline: AbortSignal.timeout(MAX_MS) };
    const checks = await examine(target, parts, look);
    return checks.map(({ id, ok, detail, fix }) => ({ id, ok, detail, fix: fix || null }));
  };
}

/** What waits for nothing else goes on at once. */
async function examine(target: Target, { client, service, from }: SiteChecksParts, look: Look): Promise<Check[]> {
  const atService = async () => {
    const { check, site } = await checkRegistration(target, { client, owner: client }, look);
    return [check, await checkProof(target, site, client, look)];
  };
  const groups = await Promise.all([
    atService(),
    checkTls(target, look),
    from === 'own-machine' ? checkRedirect(target, look) : [],
    checkCallback(target, service, look),
  ]);
  return groups.flat();
}

function refuseForeignPlace({ local, callback }: Target, { from }: SiteChecksParts): void {
  if (from === 'own-machine') return;
  if (local) {
    throw refuse(
      'The service does not look at localhost: that would be its own machine, not yours.',
      'Run `emailauth doctor localhost --url http://localhost:5173/auth/callback` there, or use the MCP server of `emailauth mcp`.',
    );
  }
  if (callback?.port) {
    throw refuse(`url names port ${callback.port}, and visitors are sent to port 443 alone.`, 'Give the address without a port.');
  }
}

/**
 * Refuses a host that is no website of the caller's and below none, and from a service one whose domain is not proven.
 * @throws ApiError website_not_found, not_proven, sign_in_needed
 */
async function refuseForeignSite({ domain }: Target, { client, from }: SiteChecksParts, signal: AbortSignal): Promise<void> {
  const sites = await client.listWebsites({}, { signal });
  const site = sites.find((each) => domain === each.domain || domain.endsWith(`.${each.domain}`));
  if (!site) {
    throw refusal(
      'website_not_found',
      `${domain} is not among your websites, and only those are looked at.`,
      'See list_sites; register_domain adds one that is yours.',
    );
  }
  if (from === 'service' && !site.verified) {
    throw refusal(
      'not_proven',
      `${site.domain} is not proven, and the service connects to proven domains only.`,
      `get_site shows the DNS record and the file that prove it: publish one, then verify it under My Websites, or with \`emailauth sites verify ${site.domain}\`. On the machine of the person, \`emailauth doctor ${site.domain}\` and the MCP server of \`emailauth mcp\` look at it without a proof.`,
    );
  }
}

const refuse = (message: string, hint: string) => refusal('bad_request', message, hint);
