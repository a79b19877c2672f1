import type { Check } from '../../contract/check.ts';
import type { Look } from '../../diagnostics/website/look.ts';
import type { Target } from '../../diagnostics/website/target.ts';
import type { Context } from '../context.ts';
import { checkClock } from '../doctor/clock.ts';
import { checkCredentials } from '../doctor/credentials.ts';
import { checkMail } from '../doctor/mail.ts';
import { type Names, openNames } from '../doctor/names.ts';
import { reportOf } from '../doctor/report.ts';
import { checkService } from '../doctor/service.ts';
import { ways } from '../doctor/ways.ts';
import { EXIT, type ExitCode, usageError } from '../exit.ts';
import { version } from '../version.ts';

/** Looks at the service, the sign-in, the clock and the mail, and at a site; says what is wrong and how to mend it. */
export async function doctor(context: Context, { domain, url }: { domain?: string; url?: string }): Promise<ExitCode> {
  const { terminal, env } = context;
  if (url !== undefined && domain === undefined)
    throw usageError('--url needs the domain that it is on.', 'Run `emailauth doctor <domain> --url <url>`.');
  const target = domain === undefined ? null : await readSite(domain, url);
  const names = openNames(env.DNS_SERVERS);
  if (terminal.interactive) terminal.note(`Looking at ${await context.host()}${target ? ` and ${target.domain}` : ''}…`);
  const checks = await examine(context, target, names);
  terminal.answer({ checks }, reportOf(checks, terminal.style));
  return checks.some(({ ok }) => ok === false) ? EXIT.no : EXIT.ok;
}

async function readSite(domain: string, url: string | undefined): Promise<Target> {
  const { readTarget } = await import('../../diagnostics/website/target.ts');
  return readTarget(domain, url, { ways, refuse: usageError });
}

/** Everything that waits for nothing else goes on at once; the order of the answers stays the same. */
async function examine(context: Context, target: Target | null, names: Names): Promise<Check[]> {
  const { signal } = context;
  const host = await context.host();
  const client = await context.anonymous();
  const look: Look = { names, userAgent: `emailauth-doctor/${version()}`, ways, signal };
  const fromOutside = target ? examineSite(target, host, look) : Promise.resolve([]);
  // A Ctrl-C rejects all of them; the first to be awaited tells it.
  fromOutside.catch(() => {});
  const { check: service, seen } = await checkService({ host, client, version: version(), signal });
  const [credentials, clock, mail, site] = await Promise.all([
    checkCredentials(context, seen !== null),
    checkClock(seen, signal),
    checkMail(seen?.about ?? null, names, signal),
    target ? examineAtService(context, target, look, seen !== null) : [],
  ]);
  return [service, credentials, clock, ...mail, ...site, ...(await fromOutside)];
}

async function examineAtService(context: Context, target: Target, look: Look, answers: boolean): Promise<Check[]> {
  const [{ checkRegistration }, { checkProof }] = await Promise.all([
    import('../../diagnostics/website/registration.ts'),
    import('../../diagnostics/website/proof.ts'),
  ]);
  const owner = await context.signedIn().then(
    ({ client }) => client,
    () => null,
  );
  const client = answers ? await context.anonymous() : null;
  const { check, site } = await checkRegistration(target, { client, owner }, look);
  return [check, await checkProof(target, site, owner, look)];
}

async function examineSite(target: Target, service: string, look: Look): Promise<Check[]> {
  const [{ checkRedirect, checkTls }, { checkCallback }] = await Promise.all([
    import('../../diagnostics/website/tls.ts'),
    import('../../diagnostics/website/callback.ts'),
  ]);
  const [tls, redirect, callback] = await Promise.all([
    checkTls(target, look),
    checkRedirect(target, look),
    checkCallback(target, service, look),
  ]);
  return [tls, redirect, ...callback];
}
