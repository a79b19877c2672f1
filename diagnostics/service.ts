import { About } from '../contract/about.ts';
import { ApiError, type Client } from '../contract/client.ts';
import type { Output } from '../contract/routes.ts';
import { type CheckResult, type Finding, fail, oneLine, pass, runCheck, skip } from './check.ts';
import { describeNetworkError } from './request.ts';

/** What a service reports about itself, and when it was asked, in milliseconds of this machine's clock. */
export type ServiceProbe = { about: Output<'about'>; requestedAt: number; respondedAt: number };

const START_OR_NAME = 'Start it with `emailauth start`, or name another one with --host.';
const NOT_EMAIL_AUTH = 'Pass only the address of the service with --host, such as https://auth.example.com.';
const MAX_CLOCK_DIFFERENCE_SECONDS = 60;

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
    const fix = `Use the same major version: npx emailauth@${/^\d+/.exec(serviceVersion)?.[0] ?? 'latest'}`;
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
