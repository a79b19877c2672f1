import type { Output } from '../contract/calls.ts';
import { ApiError, type Client } from '../contract/client.ts';
import { hasCode } from '../contract/errors.ts';
import { About } from '../contract/service.ts';
import { hasProofText } from '../contract/urls.ts';
import { type CheckResult, type Finding, fail, oneLine, pass, runCheck, skip } from './check.ts';
import { describeNetworkError, requestPage } from './request.ts';
import { type CheckOptions, type Remedies, registrableDomain, type Target } from './website.ts';

/** What a service reports about itself, and when it was asked, in milliseconds of this machine's clock. */
export type ServiceProbe = { about: Output<'about'>; requestedAt: number; respondedAt: number };

const START_OR_NAME = 'Start it with `emailauth start`, or name another one with --host.';
const NOT_EMAIL_AUTH = 'Pass only the address of the service with --host, such as https://auth.example.com.';
/** How far this machine's clock may be from that of the service or of its database. */
export const MAX_CLOCK_DIFFERENCE_SECONDS = 60;

/**
 * Checks whether an Email Auth service responds at the host, is ready, and has this program's major version.
 * @param options.version of this program
 * @returns `probe` is null when no such service responded
 */
export async function checkService(options: {
  host: string;
  client: Client;
  version: string;
  signal: AbortSignal;
}): Promise<{ result: CheckResult; probe: ServiceProbe | null }> {
  const { host, client, version, signal } = options;
  let probe: ServiceProbe | null = null;
  const timedOut = fail(`${host} did not respond in time.`, START_OR_NAME);
  const result = await runCheck({ id: 'service', name: 'Service', signal, timedOut }, async (signal) => {
    const requestedAt = Date.now();
    let response: unknown;
    try {
      response = await client.about({}, { signal });
    } catch (error) {
      return describeFailedRequest(host, error);
    }
    const about = About.safeParse(response);
    if (!about.success) return notEmailAuth(host);
    probe = { about: about.data, requestedAt, respondedAt: Date.now() };
    return evaluateService(host, about.data, version, await missingPartsAt(host, signal));
  });
  return { result, probe };
}

function evaluateService(host: string, about: Output<'about'>, version: string, missing: string | null): Finding {
  const serviceVersion = oneLine(about.version, 30);
  if (missing)
    return fail(`${host} runs, but is not ready: ${missing}.`, "See the service's log; it recovers once that is available again.");
  if (majorOf(serviceVersion) !== majorOf(version)) {
    const fix = `Install version ${/^\d+/.exec(serviceVersion)?.[0] ?? 'latest'} of this program, or upgrade the service.`;
    return fail(`${host} has version ${serviceVersion} and this program ${version}.`, fix);
  }
  return pass(`${host} answers: version ${serviceVersion}, ${about.mode} mode.`);
}

const majorOf = (version: string) => version.split('.')[0];

function describeFailedRequest(host: string, error: unknown): Finding {
  const failure = error instanceof ApiError ? error : error instanceof Error && error.cause instanceof ApiError ? error.cause : null;
  if (!failure) throw error;
  const { status, cause } = failure;
  if ([200, 404, 405].includes(status)) return notEmailAuth(host);
  if (status >= 500) {
    const fix = 'Check whether the service runs, and the log of the proxy in front of it.';
    return fail(`${host} answers ${status}: the service fails, or is not reached.`, fix);
  }
  if (status > 0) return fail(`${host} answers ${status} to /api/about.`, 'Check the proxy in front of the service.');
  if (/redirect/.test(cause instanceof Error ? String(cause.cause) : '')) {
    return fail(`${host} redirects to another address.`, 'Name that one with --host.');
  }
  const { detail, fix } = describeNetworkError(failure, host);
  return fail(detail, fix || START_OR_NAME);
}

const notEmailAuth = (host: string) => fail(`${host} answers, but not as an Email Auth service.`, NOT_EMAIL_AUTH);

/** Returns what /readyz reports as missing; null when nothing is missing or it is not accessible from here. */
async function missingPartsAt(host: string, signal: AbortSignal): Promise<string | null> {
  try {
    const response = await fetch(`${host}/readyz`, { redirect: 'error', signal });
    if (response.status !== 503) return null;
    const { missing } = (await response.json()) as { missing: { name: string; detail?: string }[] };
    return oneLine(missing.map(({ name, detail }) => (detail ? `${name} (${detail})` : name)).join(', '));
  } catch {
    return null;
  }
}

/** Compares this machine's clock with that of the service. */
export function checkClock(probe: ServiceProbe | null, signal: AbortSignal): Promise<CheckResult> {
  return runCheck({ id: 'clock', name: 'Clock', signal }, async () =>
    probe ? evaluateClock(probe) : skip('No service responded to compare the clock with.'),
  );
}

/** Returns the finding for the time that a service reported, assuming that it did so halfway through the round trip. */
export function evaluateClock({ about, requestedAt, respondedAt }: ServiceProbe): Finding {
  const seconds = Math.round(((requestedAt + respondedAt) / 2 - Date.parse(about.time)) / 1000);
  const difference = Math.abs(seconds);
  if (difference <= MAX_CLOCK_DIFFERENCE_SECONDS) {
    return pass(difference === 0 ? "This machine's and the service's agree." : `${difference} s from the service's.`);
  }
  return fail(
    `This machine's clock is ${formatDuration(difference)} ${seconds > 0 ? 'ahead of' : 'behind'} the service's.`,
    "Links and tokens expire by the service's clock, so the times shown here are wrong. Set the wrong clock, for instance with `timedatectl set-ntp true`.",
  );
}

function formatDuration(seconds: number): string {
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.round(seconds / 3_600)} h` : `${Math.round(seconds / 86_400)} days`;
}

/** The public record of a registered website. */
type RegisteredWebsite = Output<'findWebsite'>;

/** Longest proof file that is read, in characters; a proof file has 50. */
const MAX_PROOF_FILE = 4_096;

/**
 * Checks whether the service knows the domain, and as a website of the account that is signed in.
 * @param clients.anonymous null: no service responds
 * @param clients.account null: no account is signed in
 * @returns `website` is null when it is not registered or the service did not respond
 */
export async function checkRegistration(
  { domain, isLocal }: Target,
  clients: { anonymous: Client | null; account: Client | null },
  options: CheckOptions,
): Promise<{ result: CheckResult; website: RegisteredWebsite | null }> {
  const { anonymous, account } = clients;
  let website: RegisteredWebsite | null = null;
  const result = await runCheck({ id: 'registered', name: 'Registration', ...options }, async (signal) => {
    if (!anonymous) return skip('No service responded.');
    let found: RegisteredWebsite;
    try {
      found = await anonymous.findWebsite({ domain }, { signal });
    } catch (error) {
      if (hasCode(error, 'website_not_found')) return notRegistered(domain, isLocal, options.remedies);
      throw error;
    }
    if (found.domain !== domain && !domain.endsWith(`.${found.domain}`)) throw new Error('the service named another domain');
    website = found;
    if (isLocal) return pass('localhost needs no registration in local mode.');
    const detail = found.domain === domain ? `${domain} is registered.` : `${domain} belongs to ${found.domain}, which is registered.`;
    if (await mayBelongTo(account, found, signal)) return pass(detail);
    return pass(detail, `It is not among your websites. If it is yours, take it over: ${options.remedies.prove(found.domain)}`);
  });
  return { result, website };
}

/** Returns false only when the account is known not to have the website. */
async function mayBelongTo(account: Client | null, { domain }: RegisteredWebsite, signal: AbortSignal): Promise<boolean> {
  const websites = await account?.listWebsites({}, { signal }).catch(() => null);
  return websites?.some((each) => each.domain === domain) ?? true;
}

function notRegistered(domain: string, isLocal: boolean, remedies: Remedies): Finding {
  if (isLocal) return fail('The service does not send visitors to localhost.', 'Use one in local mode for development: `emailauth start`.');
  return fail(`${domain} is not registered at the service.`, remedies.register(registrableDomain(domain)));
}

/**
 * Checks whether the proof of the domain is valid. Sign-ins work without one, so this fails only when the owner has published a
 * proof that does not count; otherwise a missing proof is skipped with what it would gain.
 * @param website as checkRegistration found it
 * @param account null: no account is signed in
 */
export function checkProof(
  { isLocal }: Target,
  website: RegisteredWebsite | null,
  account: Client | null,
  options: CheckOptions,
): Promise<CheckResult> {
  const { dns, remedies } = options;
  return runCheck({ id: 'proof', name: 'Proof of the domain', ...options }, async (signal) => {
    if (isLocal) return skip('localhost needs no proof.');
    if (!website) return skip('Only a registered domain has one.');
    const { domain } = website;
    if (website.verified) return pass(`${domain} is verified.`);
    const record = `_emailauth.${domain}`;
    const texts = await dns.texts(record);
    if (!account) {
      const found = texts.length > 0 ? `There is a record at ${record}, but it` : 'It';
      return skip(`${domain} is not verified. ${found} can only be checked while you are signed in.`, remedies.signIn);
    }
    const { proof } = await account.claimWebsite({ domain }, { signal });
    const prove = remedies.prove(domain);
    if (hasProofText(texts, proof.value)) {
      return fail('The TXT record of the proof is there, but the service has not checked it.', prove);
    }
    if (await hasProofFile(new URL(`https://${domain}/.well-known/emailauth.json`), proof.value, { ...options, signal })) {
      return fail('The file of the proof is there, but the service has not checked it.', prove);
    }
    if (texts.length > 0) {
      return fail(`The TXT record at ${record} is not yours: it holds another value.`, `Set it to ${oneLine(proof.value)}, then: ${prove}`);
    }
    return skip(`${domain} is not verified. Sign-ins work, but anyone who verifies the domain takes it over.`, prove);
  });
}

async function hasProofFile(url: URL, value: string, options: CheckOptions): Promise<boolean> {
  try {
    const { status, body } = await requestPage(url, { ...options, maxBody: MAX_PROOF_FILE });
    return status === 200 && JSON.parse(body)?.emailauth === value;
  } catch {
    return false;
  }
}
