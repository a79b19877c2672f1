import { createPkce } from '../../contract/pkce.ts';
import type { Output, Parsed } from '../../contract/routes.ts';
import { hasOwnScheme, isLoopbackRedirectHost, redirectUriFault } from '../../contract/rules.ts';
import { type CheckResult, type Finding, fail, oneLine, pass, runCheck, skip } from '../../diagnostics/check.ts';
import { type Dns, openDns } from '../../diagnostics/dns.ts';
import { describeNetworkError, isLocalProblem, type PageResponse, requestPage } from '../../diagnostics/request.ts';
import type { Config } from '../config.ts';
import { type Account, type Served, serve } from '../http/invoke.ts';
import type { Limits } from '../http/limits.ts';
import { isPublicAddress } from '../websites/guarded-fetch.ts';
import type { Applications } from './applications.ts';

/** How long one request to the redirect URI may take. */
const REQUEST_MS = 5_000;
const USER_AGENT = 'EmailAuth redirect test';

type Application = Awaited<ReturnType<Applications['get']>>;

type Parts = {
  config: Pick<Config, 'mode' | 'publicUrl' | 'dnsServers'>;
  applications: Pick<Applications, 'get'>;
  limits: Pick<Limits, 'hit'>;
};

/** Tests of redirect URIs, before a person meets the error page. */
export class RedirectTests {
  readonly #parts: Parts;
  readonly #isLocal: boolean;
  readonly #dns: Dns;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#isLocal = parts.config.mode === 'local';
    this.#dns = openDns({
      servers: parts.config.dnsServers,
      isAllowedAddress: isPublicAddress,
      usesSystemLookup: (host) => this.#isLocal && isLoopbackRedirectHost(host),
    });
  }

  /**
   * Checks a redirect URI of an application, and returns the authorization URL with which a browser tests it. The code that this
   * sign-in ends with cannot be exchanged, because its verifier is not kept.
   * @throws Fault application_not_found, rate_limited
   */
  async run(account: Account, { id, redirectUri, scopes }: Parsed<'testClient'>): Promise<Output<'testClient'>> {
    const application = await this.#parts.applications.get(account, id);
    await this.#parts.limits.hit('site_checks', account.email);
    const wanted = scopes ?? application.scopes.filter((scope) => scope === 'openid' || scope === 'email');
    const checks = [
      toResult('application', 'Application', checkActive(application)),
      toResult('redirect_uri', 'Redirect URI', checkRegistered(application, redirectUri)),
      toResult('scopes', 'Scopes', checkScopes(application, wanted)),
    ];
    const isAccepted = checks.every(({ ok }) => ok !== false);
    if (isAccepted) checks.push(await this.#checkReachable(redirectUri));
    return { url: isAccepted ? await this.#authorizationUrl(application, redirectUri, wanted) : null, checks };
  }

  async #authorizationUrl({ clientId }: Application, redirectUri: string, scopes: string[]): Promise<string> {
    const { codeChallenge } = await createPkce();
    const url = new URL('/oauth/authorize', this.#parts.config.publicUrl);
    url.search = new URLSearchParams({
      client_id: clientId,
      response_type: 'code',
      redirect_uri: redirectUri,
      scope: scopes.join(' '),
      state: 'redirect-test',
      code_challenge: codeChallenge,
      code_challenge_method: 'S256',
    }).toString();
    return url.href;
  }

  /** Requests the redirect URI without a code, as a person who opens it by hand would. */
  #checkReachable(redirectUri: string): Promise<CheckResult> {
    const { signal } = new AbortController();
    const timedOut = fail('It did not respond in time.', 'Check that the application is running.');
    const options = { id: 'response', name: 'Response', signal, timeoutMs: REQUEST_MS, timedOut };
    return runCheck(options, async (stop) => {
      if (hasOwnScheme(redirectUri)) return skip('It opens a program on the device, which cannot be checked from here.');
      const url = new URL(redirectUri);
      // A query could trigger an action, and other ports are none of the web.
      url.search = '';
      const isLoopback = isLoopbackRedirectHost(url.hostname);
      if (isLoopback && !this.#isLocal) return skip('It is on the machine of the person, which cannot be checked from here.');
      if (url.port && !isLoopback) return skip('Only port 443 is checked from here.');
      try {
        return describeResponse(url, await requestPage(url, { dns: this.#dns, userAgent: USER_AGENT, signal: stop }));
      } catch (error) {
        if (stop.aborted) return timedOut;
        const problem = describeNetworkError(error, url.host);
        return isLocalProblem(problem)
          ? skip(problem.detail)
          : fail(problem.detail, problem.fix || 'Check that the application is running.');
      }
    });
  }
}

const toResult = (id: string, name: string, finding: Finding): CheckResult => ({ id, name, ...finding });

function checkActive({ isActive, name }: Application): Finding {
  if (isActive) return pass(`${oneLine(name, 80)} is switched on.`);
  return fail(`${oneLine(name, 80)} is switched off, so it signs no one in.`, 'Switch it on.');
}

function checkScopes({ scopes: allowed }: Application, wanted: string[]): Finding {
  const missing = wanted.filter((scope) => !(allowed as string[]).includes(scope));
  if (missing.length > 0)
    return fail(`It may not request ${missing.join(' ')}.`, 'Allow the scope for the application, or request fewer scopes.');
  return wanted.length > 0 ? pass(`It may request ${wanted.join(' ')}.`) : skip('It requests no scope.');
}

/** The finding names the registered URI that is closest, because redirect URIs are compared exactly. */
function checkRegistered({ redirectUris }: Application, redirectUri: string): Finding {
  const shown = oneLine(redirectUri, 200);
  const fault = redirectUriFault(redirectUri);
  if (fault) return fail(`${shown} ${fault}.`, 'Correct the address in the application, then register it unchanged.');
  if (redirectUris.includes(redirectUri)) return pass(`${shown} is registered.`);
  const isLoopback = redirectUri.startsWith('http:');
  if (isLoopback && redirectUris.some((own) => withoutPort(own) === withoutPort(redirectUri)))
    return pass(`${shown} is registered, with any port of this machine.`);
  const similar = redirectUris.map((own) => [own, differenceOf(own, redirectUri)] as const).find(([, difference]) => difference !== null);
  if (similar)
    return fail(
      `${shown} is not registered: it differs from ${similar[0]} in ${similar[1]}.`,
      'Send or register exactly the same address.',
    );
  return fail(`${shown} is not registered.`, `Add it to the redirect URIs of the application. Registered: ${redirectUris.join(', ')}`);
}

function withoutPort(uri: string): string {
  const url = new URL(uri);
  url.port = '';
  return url.href;
}

/** Returns in what two similar addresses differ, or null when they differ in more. */
function differenceOf(registered: string, given: string): string | null {
  const one = new URL(registered);
  const other = new URL(given);
  const path = (url: URL) => url.pathname.replace(/\/$/, '');
  if (one.hostname !== other.hostname) {
    const isWww = one.hostname.replace(/^www\./, '') === other.hostname.replace(/^www\./, '');
    return isWww && path(one) === path(other) ? 'the www. before the host' : null;
  }
  if (path(one).toLowerCase() !== path(other).toLowerCase()) return `the path: ${one.pathname} is registered`;
  if (one.protocol !== other.protocol) return `the scheme: ${one.protocol.slice(0, -1)} is registered`;
  if (one.port !== other.port) return 'the port';
  if (path(one) !== path(other)) return 'upper and lower case of the path';
  if (one.pathname !== other.pathname) return 'the slash at the end of the path';
  return 'the query';
}

/** Returns the finding for the response to a request without a code. */
function describeResponse({ host, pathname }: URL, { status }: PageResponse): Finding {
  const where = `${host}${pathname}`;
  if (status === 404 || status === 410)
    return fail(`There is nothing at ${where} (${status}).`, 'Serve the callback of the application there.');
  if (status === 405)
    return fail(`${where} does not accept GET (405), with which browsers follow a redirect.`, 'Let the callback accept GET.');
  if (status >= 500)
    return fail(`${where} fails with ${status} when there is no code.`, "See the application's log; it should show an error page.");
  return pass(`${where} responds with ${status} to a request without a code.`);
}

/** Binds the call that tests a redirect URI. */
export function redirectTestRoutes(tests: RedirectTests): Served[] {
  // The application may take its time to respond.
  return [serve('testClient', (input, { account }) => tests.run(account, input), { timeoutSeconds: 15 })];
}
