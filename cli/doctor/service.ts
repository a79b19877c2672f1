import { type Check, fail, oneLine, pass, runCheck, type Verdict } from '../../contract/check.ts';
import { ApiError, type Client } from '../../contract/client.ts';
import type { Output } from '../../contract/routes.ts';
import { About } from '../../contract/status.ts';

/** What a service said of itself, and when, in ms of this machine's clock. */
export type Seen = { about: Output<'about'>; askedAt: number; answeredAt: number };

const START_OR_NAME = 'Start it with `emailauth start`, or name another one with --host.';
const NOT_OURS = 'Name the address of the service alone with --host, such as https://auth.example.com.';

/**
 * Whether an Email Auth service answers at the host, is ready, and is of this program's major version.
 * @param parts.version of this program
 * @returns `seen` is null when no such service answered
 */
export async function checkService(parts: {
  host: string;
  client: Client;
  version: string;
  signal: AbortSignal;
}): Promise<{ check: Check; seen: Seen | null }> {
  const { host, client, version, signal } = parts;
  let seen: Seen | null = null;
  const late = fail(`${host} did not answer in time.`, START_OR_NAME);
  const check = await runCheck({ id: 'service', name: 'Service', signal, late }, async (until) => {
    const askedAt = Date.now();
    let answer: unknown;
    try {
      answer = await client.about({}, { signal: until });
    } catch (error) {
      return await explain(host, error);
    }
    const parsed = About.safeParse(answer);
    if (!parsed.success) return notOurs(host);
    seen = { about: parsed.data, askedAt, answeredAt: Date.now() };
    return judge(host, parsed.data, version, await missingAt(host, until));
  });
  return { check, seen };
}

function judge(host: string, about: Output<'about'>, version: string, missing: string | null): Verdict {
  const theirs = oneLine(about.version, 30);
  if (missing) return fail(`${host} runs, but is not ready: ${missing}.`, "See the service's log; it heals by itself once that is back.");
  if (majorOf(theirs) !== majorOf(version)) {
    const fix = `Use the same: npx emailauth@${/^\d+/.exec(theirs)?.[0] ?? 'latest'}`;
    return fail(`${host} has version ${theirs} and this program ${version}.`, fix);
  }
  return pass(`${host} answers: version ${theirs}, ${about.mode} mode.`);
}

const majorOf = (version: string) => version.split('.')[0];

async function explain(host: string, error: unknown): Promise<Verdict> {
  const answer = error instanceof ApiError ? error : error instanceof Error && error.cause instanceof ApiError ? error.cause : null;
  if (!answer) throw error;
  if ([200, 404, 405].includes(answer.status)) return notOurs(host);
  if (answer.status >= 500) {
    const fix = 'See whether the service runs, and the log of the proxy in front of it.';
    return fail(`${host} answers ${answer.status}: the service fails, or is not reached.`, fix);
  }
  if (answer.status > 0) return fail(`${host} answers ${answer.status} when asked what it is.`, 'See what stands in front of the service.');
  if (/redirect/.test(answer.cause instanceof Error ? String(answer.cause.cause) : '')) {
    return fail(`${host} redirects to another address.`, 'Name that one with --host.');
  }
  const { networkFault } = await import('../../diagnostics/website/network-fault.ts');
  const { detail, fix } = networkFault(answer, host);
  return fail(detail, fix || START_OR_NAME);
}

const notOurs = (host: string) => fail(`${host} answers, but not as an Email Auth service.`, NOT_OURS);

/** What the service lacks to serve, by its /readyz; null: nothing, or it cannot be seen from here. */
async function missingAt(host: string, signal: AbortSignal): Promise<string | null> {
  try {
    const answer = await fetch(`${host}/readyz`, { redirect: 'error', signal });
    if (answer.status !== 503) return null;
    const { missing } = (await answer.json()) as { missing: { name: string; detail?: string }[] };
    return oneLine(missing.map(({ name, detail }) => (detail ? `${name} (${detail})` : name)).join(', '));
  } catch {
    return null;
  }
}
