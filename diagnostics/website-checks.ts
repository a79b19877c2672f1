import { type Client, refusal } from '../contract/client.ts';
import { isThisMachine } from '../contract/urls.ts';
import { attackWebsite } from './attack.ts';
import { checkCallback } from './callback.ts';
import type { CheckResult } from './check.ts';
import { hasInbox, LocalInbox } from './inbox.ts';
import { checkProof, checkRegistration } from './service.ts';
import { checkRedirect, checkTls } from './tls.ts';
import { type CheckOptions, parseTarget, type Remedies, type Target, type WebsitePaths } from './website.ts';

/** A check as the MCP tool check_integration reports it. */
export type WebsiteCheck = { id: string; ok: boolean | null; detail: string; fix: string | null };

/**
 * Checks a website of the account.
 * @param website.url of the callback: https://<domain>/auth/callback by default; its query is dropped
 * @throws ApiError for a website that may not be checked
 */
export type CheckWebsite = (website: WebsiteToCheck, signal: AbortSignal) => Promise<WebsiteCheck[]>;

type WebsiteToCheck = WebsitePaths & { domain: string; url?: string };

type WebsiteChecksOptions = {
  /** The API as the account that asks. */
  client: Client;
  /** Origin of the service. */
  service: string;
  dns: CheckOptions['dns'];
  /**
   * Where the checks connect from. A developer's machine may connect to its own localhost, and to any port of the developer's
   * websites. A service may only connect to port 443 of the public internet, and only to websites with a verified domain.
   * Otherwise anyone could register a foreign domain and make the service send requests to it.
   */
  from: 'developer-machine' | 'service';
  /** Whether visitors are signed in at a website on this machine. It needs a service in local mode that has an inbox. */
  signsIn?: boolean;
  /** Called after the website was found to be the account's, before any request to it. @throws ApiError to refuse the check */
  beforeRequests?(): Promise<void>;
};

/** Time limit for all checks together. */
const TIMEOUT_MS = 10_000;
/** The same where visitors are signed in; clients of MCP wait for a minute. */
const SIGN_IN_TIMEOUT_MS = 50_000;

const remedies: Remedies = {
  urlOption: 'url',
  writeCallback: 'scaffold_integration writes one.',
  signIn: 'Sign in, and try again.',
  prove: (domain) =>
    `publish the proof of ${domain} that the dashboard shows, and have it verified there (or run: emailauth sites verify ${domain})`,
  register: (domain) => `register_domain with ${domain}`,
  wholeSignIn:
    'Run `emailauth try` in the project, or check_integration of `emailauth mcp` for the app on localhost, with a service in local mode.',
  nameLogin: 'Give the path that starts a sign-in with loginPath.',
};

/** Returns a function that checks, from outside, a website of the account or a subdomain of it. */
export function createWebsiteChecks(options: WebsiteChecksOptions): CheckWebsite {
  return async ({ domain, url, loginPath, page }, signal) => {
    const target = parseTarget(domain, url, { urlOption: remedies.urlOption, loginPath, page, refuse: badRequest });
    requireReachableAddress(target, options);
    if (!target.isLocal) await requireOwnWebsite(target, options, signal);
    await options.beforeRequests?.();
    const inbox = await findInbox(target, options, signal);
    const deadline = AbortSignal.timeout(inbox ? SIGN_IN_TIMEOUT_MS : TIMEOUT_MS);
    const results = await runChecks(target, inbox, options, { dns: options.dns, userAgent: 'emailauth-check', remedies, signal, deadline });
    return results.map(({ id, ok, detail, fix }) => ({ id, ok, detail, fix: fix || null }));
  };
}

/** Returns the inbox with which visitors can be signed in at the website, or null. */
async function findInbox(
  target: Target,
  { service, from, signsIn }: WebsiteChecksOptions,
  signal: AbortSignal,
): Promise<LocalInbox | null> {
  const isPossible = signsIn && from === 'developer-machine' && target.isLocal && isThisMachine(new URL(service).hostname);
  return isPossible && (await hasInbox(service, signal)) ? new LocalInbox(service, signal) : null;
}

/** Runs independent checks at the same time. */
async function runChecks(
  target: Target,
  inbox: LocalInbox | null,
  { client, service, from }: WebsiteChecksOptions,
  options: CheckOptions,
): Promise<CheckResult[]> {
  const atService = async () => {
    const { result, website } = await checkRegistration(target, { anonymous: client, account: client }, options);
    return [result, await checkProof(target, website, client, options)];
  };
  const groups = await Promise.all([
    atService(),
    checkTls(target, options),
    from === 'developer-machine' ? checkRedirect(target, options) : [],
    inbox ? attackWebsite(target, service, inbox, options) : checkCallback(target, service, options),
  ]);
  return groups.flat();
}

/** @throws ApiError bad_request for an address that a service must not connect to */
function requireReachableAddress({ isLocal, callback }: Target, { from }: WebsiteChecksOptions): void {
  if (from === 'developer-machine') return;
  if (isLocal) {
    throw badRequest(
      "The service does not check localhost, which would be the service's own machine.",
      'Run `emailauth doctor localhost --url http://localhost:5173/auth/callback` on yours, or use the MCP server of `emailauth mcp`.',
    );
  }
  if (callback?.port) {
    throw badRequest(`url names port ${callback.port}, but visitors are only sent to port 443.`, 'Give the address without a port.');
  }
}

/** @throws ApiError website_not_found, sign_in_needed; not_proven when a service checks a website whose domain is not verified */
async function requireOwnWebsite({ domain }: Target, { client, from }: WebsiteChecksOptions, signal: AbortSignal): Promise<void> {
  const websites = await client.listWebsites({}, { signal });
  const website = websites.find((each) => domain === each.domain || domain.endsWith(`.${each.domain}`));
  if (!website) {
    throw refusal(
      'website_not_found',
      `${domain} is not one of your websites, and only those are checked.`,
      'See list_sites; register_domain adds one that is yours.',
    );
  }
  if (from === 'service' && !website.verified) {
    throw refusal(
      'not_proven',
      `${website.domain} is not verified, and the service only connects to verified domains.`,
      `get_site shows the DNS record and the file that verify it: publish one, then verify it under My Websites, or with \`emailauth sites verify ${website.domain}\`. On the developer's machine, \`emailauth doctor ${website.domain}\` and the MCP server of \`emailauth mcp\` check it without a proof.`,
    );
  }
}

const badRequest = (message: string, hint: string) => refusal('bad_request', message, hint);
