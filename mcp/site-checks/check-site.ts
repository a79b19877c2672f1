import type { Check } from '../../contract/check.ts';
import { ApiError, type Client } from '../../contract/client.ts';
import type { CheckSite } from '../context.ts';
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
   * From where it is looked: a person's own machine may look at its localhost and at any port of their sites; a service looks
   * at port 443 of the public internet alone.
   */
  from: 'own-machine' | 'service';
  /** Called once the site is known to be the caller's, before anything is sent to it. @throws ApiError to call it off */
  begin?(): Promise<void>;
};

/** All checks together, in ms. */
const MOST_MS = 10_000;

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
    if (!target.local) await refuseForeignSite(target, parts.client, signal);
    await parts.begin?.();
    const look: Look = { names: parts.names, userAgent: 'emailauth-check', ways, signal, deadline: AbortSignal.timeout(MOST_MS) };
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
  if (from === 'own-machine') {
    // What else listens on this machine may do something when it is asked so.
    if (local && callback?.search) throw refuse('url has a query.', 'Give the address of the callback alone.');
    return;
  }
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

/** @throws ApiError website_not_found for a host that is no site of the caller's and below none, sign_in_needed */
async function refuseForeignSite({ domain }: Target, client: Client, signal: AbortSignal): Promise<void> {
  const sites = await client.listWebsites({}, { signal });
  if (sites.some((site) => domain === site.domain || domain.endsWith(`.${site.domain}`))) return;
  throw new ApiError(404, {
    error: `${domain} is not among your websites, and only those are looked at.`,
    code: 'website_not_found',
    hint: 'See list_sites; register_domain adds one that is yours.',
  });
}

const refuse = (message: string, hint: string) => new ApiError(400, { error: message, code: 'bad_request', hint });
