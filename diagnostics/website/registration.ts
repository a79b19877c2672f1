import { type Check, fail, pass, runCheck, skip, type Verdict } from '../../contract/check.ts';
import { ApiError, type Client } from '../../contract/client.ts';
import type { Output } from '../../contract/routes.ts';
import { organisationOf } from './hosts.ts';
import type { Look, Ways } from './look.ts';
import type { Target } from './target.ts';

/** What anybody may know of a registered site. */
export type Registered = Output<'findWebsite'>;

/**
 * Whether the service knows the domain, and as a website of whoever is signed in.
 * @param parts.client null: no service answers
 * @param parts.owner the client of somebody signed in; null: nobody is
 * @returns `site` is null when it is not registered or could not be asked for
 */
export async function checkRegistration(
  { domain, local }: Target,
  parts: { client: Client | null; owner: Client | null },
  look: Pick<Look, 'ways' | 'signal' | 'deadline'>,
): Promise<{ check: Check; site: Registered | null }> {
  const { client, owner } = parts;
  let site: Registered | null = null;
  const check = await runCheck({ id: 'registered', name: 'Registration', ...look }, async (until) => {
    if (!client) return skip('There is no service that could be asked.');
    let found: Registered;
    try {
      found = await client.findWebsite({ domain }, { signal: until });
    } catch (error) {
      if (error instanceof ApiError && error.code === 'website_not_found') return notRegistered(domain, local, look.ways);
      throw error;
    }
    if (found.domain !== domain && !domain.endsWith(`.${found.domain}`)) throw new Error('the service named another domain');
    site = found;
    if (local) return pass('localhost needs no registration in local mode.');
    const detail = found.domain === domain ? `${domain} is registered.` : `${domain} belongs to ${found.domain}, which is registered.`;
    return pass(detail, (await isOf(owner, found, until)) ? '' : adviceTo(found.domain, look.ways));
  });
  return { check, site };
}

/** @returns true as well where it cannot be told */
async function isOf(owner: Client | null, { domain }: Registered, signal: AbortSignal): Promise<boolean> {
  const sites = await owner?.listWebsites({}, { signal }).catch(() => null);
  return sites?.some((site) => site.domain === domain) ?? true;
}

const adviceTo = (domain: string, ways: Ways) => `It is not among your websites. If it is yours, take it over: ${ways.prove(domain)}`;

function notRegistered(domain: string, local: boolean, ways: Ways): Verdict {
  if (local) return fail('The service does not send visitors to localhost.', 'Use one in local mode for development: `emailauth start`.');
  return fail(`${domain} is not registered at the service.`, ways.register(organisationOf(domain)));
}
