import type { Context } from '../context.ts';
import { checkCallback } from '../doctor/callback.ts';
import type { Check } from '../doctor/check.ts';
import { checkClock } from '../doctor/clock.ts';
import { checkCredentials } from '../doctor/credentials.ts';
import { checkMail } from '../doctor/mail.ts';
import { type Names, openNames } from '../doctor/names.ts';
import { checkProof } from '../doctor/proof.ts';
import { checkRegistration } from '../doctor/registration.ts';
import { reportOf } from '../doctor/report.ts';
import { checkService } from '../doctor/service.ts';
import { readTarget, type Target } from '../doctor/target.ts';
import { checkRedirect, checkTls } from '../doctor/tls.ts';
import { EXIT, type ExitCode, usageError } from '../exit.ts';
import { version } from '../version.ts';

/** Looks at the service, the sign-in, the clock and the mail, and at a site; says what is wrong and how to mend it. */
export async function doctor(context: Context, { domain, url }: { domain?: string; url?: string }): Promise<ExitCode> {
  const { terminal, env } = context;
  if (url !== undefined && domain === undefined)
    throw usageError('--url needs the domain that it is on.', 'Run `emailauth doctor <domain> --url <url>`.');
  const target = domain === undefined ? null : readTarget(domain, url);
  const names = openNames(env.DNS_SERVERS);
  if (terminal.interactive) terminal.note(`Looking at ${await context.host()}${target ? ` and ${target.domain}` : ''}…`);
  const checks = await examine(context, target, names);
  terminal.answer({ checks }, reportOf(checks, terminal.style));
  return checks.some(({ ok }) => ok === false) ? EXIT.no : EXIT.ok;
}

/** Everything that waits for nothing else goes on at once; the order of the answers stays the same. */
async function examine(context: Context, target: Target | null, names: Names): Promise<Check[]> {
  const { signal } = context;
  const host = await context.host();
  const client = await context.anonymous();
  const fromOutside = target ? examineSite(target, host, names, signal) : Promise.resolve([]);
  // A Ctrl-C rejects all of them; the first to be awaited tells it.
  fromOutside.catch(() => {});
  const { check: service, seen } = await checkService({ host, client, version: version(), signal });
  const [credentials, clock, mail, site] = await Promise.all([
    checkCredentials(context, seen !== null),
    checkClock(seen, signal),
    checkMail(seen?.about ?? null, names, signal),
    target ? examineAtService(context, target, names, seen !== null) : [],
  ]);
  return [service, credentials, clock, ...mail, ...site, ...(await fromOutside)];
}

async function examineAtService(context: Context, target: Target, names: Names, answers: boolean): Promise<Check[]> {
  const { signal } = context;
  const owner = await context.signedIn().then(
    ({ client }) => client,
    () => null,
  );
  const { check, site } = await checkRegistration({ target, client: answers ? await context.anonymous() : null, owner, signal });
  return [check, await checkProof(target, site, owner, names, signal)];
}

async function examineSite(target: Target, service: string, names: Names, signal: AbortSignal): Promise<Check[]> {
  const [tls, redirect, callback] = await Promise.all([
    checkTls(target, names, signal),
    checkRedirect(target, names, signal),
    checkCallback({ target, service, names, signal }),
  ]);
  return [tls, redirect, ...callback];
}
