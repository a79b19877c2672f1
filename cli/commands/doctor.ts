import { statSync } from 'node:fs';
import type { CheckResult, Finding } from '../../diagnostics/check.ts';
import type { Dns } from '../../diagnostics/dns.ts';
import type { CheckOptions, Remedies, Target, WebsitePaths } from '../../diagnostics/website.ts';
import type { CommandSpec, Context } from '../command.ts';
import { CommandError, EXIT, usageError } from '../exit.ts';
import { version } from '../installation.ts';
import type { Caller } from '../settings.ts';
import { type Appearance, shellLine, textWidth, wrap } from '../terminal.ts';

const DNS_TIMEOUT_MS = 2_500;
const DNS_TRIES = 2;

/** What to do next after a check, as commands. */
export const commandRemedies = {
  urlOption: '--url',
  writeCallback: '`emailauth init` writes one.',
  signIn: 'Run `emailauth login`.',
  prove: (domain: string) => `emailauth sites verify ${domain}`,
  register: (domain: string) => `emailauth register ${domain}`,
} satisfies Partial<Remedies>;

const remedies: Remedies = {
  ...commandRemedies,
  wholeSignIn: '`emailauth try` in the project checks it.',
  nameLogin: 'Give the path that starts a sign-in with --login-path; `emailauth try` in the project makes a whole sign-in.',
};

export const doctor: CommandSpec = {
  usage: 'doctor [domain]',
  choices: { domain: 'sites' },
  group: 'Integration',
  summary: 'find what is wrong, and how to fix it',
  about:
    'Checks the service, your sign-in, the clock and the email setup; with a domain also its registration, proof, certificate and callback. FAIL has its fix below it; SKIP has the reason why the check was not possible, and what makes it. It signs no visitor in: `emailauth try` does. Requests to the website carry no credentials. With --deployment, on the machine that runs the service and with its settings in the environment, it checks what the service needs there: settings, address, certificate, proxy headers, database, pooler, clocks, replication, backups, disk, mail server and its records; it changes nothing. DNS_SERVERS=9.9.9.9 uses other name servers.',
  flags: {
    '--url <url>': "the callback's address, if not /auth/callback of the domain",
    '--login-path <path>': 'what starts a sign-in, if not /login',
    '--page <path>': 'a page for signed-in visitors, if not /account',
    '--deployment': 'check the service of the settings in the environment, for its operator',
    '--backups <directory>': 'with --deployment, where `emailauth backup` writes its files',
  },
  examples: [
    'doctor',
    'doctor shop.example',
    'doctor shop.example --url https://shop.example/login/done',
    'doctor localhost --url http://localhost:5173/auth/callback',
    'doctor --deployment --backups /backups',
  ],
  json: '{checks:[{id,name,ok,detail,fix}]}',
  exits: { 10: 'a check failed' },
  async run(context, [domain], { url, loginPath, page, deployment, backups }) {
    const { terminal, env } = context;
    if (deployment && domain !== undefined)
      throw usageError(
        '--deployment checks the service, not a website.',
        'Run `emailauth doctor --deployment`, or `emailauth doctor <domain>`.',
      );
    if (backups !== undefined && !deployment)
      throw usageError('--backups needs --deployment.', 'Run `emailauth doctor --deployment --backups <directory>`.');
    if (url !== undefined && domain === undefined)
      throw usageError('--url needs the domain that it is on.', 'Run `emailauth doctor <domain> --url <url>`.');
    const target = domain === undefined ? null : await parseWebsite(domain, url, { loginPath, page });
    const dns = await openDoctorDns(env.DNS_SERVERS);
    const checked = deployment ? 'the deployment' : `${await context.host()}${target ? ` and ${target.domain}` : ''}`;
    if (terminal.interactive) terminal.note(`Checking ${checked}…`);
    const checks = deployment ? await runDeploymentChecks(context, backups, dns) : await runChecks(context, target, dns);
    terminal.result({ checks }, formatReport(checks, terminal));
    return checks.some(({ ok }) => ok === false) ? EXIT.negative : EXIT.ok;
  },
};

async function parseWebsite(domain: string, url: string | undefined, paths: WebsitePaths): Promise<Target> {
  const { parseTarget } = await import('../../diagnostics/website.ts');
  return parseTarget(domain, url, { ...paths, urlOption: remedies.urlOption, refuse: usageError });
}

/** @param variable DNS_SERVERS; unset: the system's resolver. @throws CommandError usage */
async function openDoctorDns(variable: string | undefined): Promise<Dns> {
  const [{ openDns, parseDnsServers }, { isThisMachine }] = await Promise.all([
    import('../../diagnostics/dns.ts'),
    import('../../contract/urls.ts'),
  ]);
  const servers = parseDnsServers(variable);
  try {
    return openDns({
      servers,
      // The person may check any host that this machine can reach.
      isAllowedAddress: null,
      usesSystemLookup: (host) => !servers || isThisMachine(host),
      timeoutMs: DNS_TIMEOUT_MS,
      tries: DNS_TRIES,
    });
  } catch {
    throw usageError('DNS_SERVERS is not valid.', 'Give addresses of name servers, such as 9.9.9.9,127.0.0.1:5353.');
  }
}

/** Runs independent checks at the same time, and returns their results in a fixed order. */
async function runChecks(context: Context, target: Target | null, dns: Dns): Promise<CheckResult[]> {
  const { signal } = context;
  const [{ checkClock, checkService }, { checkMail }] = await Promise.all([
    import('../../diagnostics/service.ts'),
    import('../../diagnostics/mail.ts'),
  ]);
  const host = await context.host();
  const client = await context.anonymous();
  const options: CheckOptions = { dns, userAgent: `emailauth-doctor/${version()}`, remedies, signal };
  const fromOutside = target ? checkFromOutside(target, host, options) : Promise.resolve([]);
  // Ctrl-C rejects all of them; only the first one that is awaited is reported.
  fromOutside.catch(() => {});
  const { result: service, probe } = await checkService({ host, client, version: version(), signal });
  const [credentials, clock, mail, website] = await Promise.all([
    checkCredentials(context, probe !== null),
    checkClock(probe, signal),
    checkMail(probe?.about ?? null, dns, signal),
    target ? checkAtService(context, target, options, probe !== null) : [],
  ]);
  return [service, credentials, clock, ...mail, ...website, ...(await fromOutside)];
}

async function runDeploymentChecks(context: Context, backups: string | undefined, dns: Dns): Promise<CheckResult[]> {
  const { checkDeployment } = await import('../deployment-checks.ts');
  const { value, source } = await context.settings.host();
  const options: CheckOptions = { dns, userAgent: `emailauth-doctor/${version()}`, remedies, signal: context.signal };
  return checkDeployment(context, { host: source === 'flag' ? value : null, backups, dns, options });
}

/** Checks the registration of a website and the proof of its domain, which the service knows. */
async function checkAtService(context: Context, target: Target, options: CheckOptions, isServiceUp: boolean): Promise<CheckResult[]> {
  const { checkProof, checkRegistration } = await import('../../diagnostics/service.ts');
  const account = await context.signedIn().then(
    ({ client }) => client,
    () => null,
  );
  const anonymous = isServiceUp ? await context.anonymous() : null;
  const { result, website } = await checkRegistration(target, { anonymous, account }, options);
  return [result, await checkProof(target, website, account, options)];
}

/** Checks a website by requests to it. */
async function checkFromOutside(target: Target, service: string, options: CheckOptions): Promise<CheckResult[]> {
  const [{ checkRedirect, checkTls }, { checkCallback }] = await Promise.all([
    import('../../diagnostics/tls.ts'),
    import('../../diagnostics/callback.ts'),
  ]);
  const [tls, redirect, callback] = await Promise.all([
    checkTls(target, options),
    checkRedirect(target, options),
    checkCallback(target, service, options),
  ]);
  return [tls, redirect, ...callback];
}

/** Checks who is signed in, until when, and whether other users can read the stored credentials. */
async function checkCredentials(context: Context, isServiceUp: boolean): Promise<CheckResult> {
  const { fail, oneLine, runCheck, skip } = await import('../../diagnostics/check.ts');
  return runCheck({ id: 'credentials', name: 'Sign-in', signal: context.signal }, async () => {
    const [credentials, named] = [await context.credentials(), await context.settings.host()];
    const host = named.value;
    const mode = fileMode(credentials.path);
    if (mode & 0o077) {
      const detail = `Other users of this machine can read ${credentials.path} (mode ${mode.toString(8)}).`;
      return fail(detail, shellLine(['chmod', '600', credentials.path]));
    }
    let caller: Caller | null;
    try {
      caller = credentials.callerAt(named);
    } catch (error) {
      if (error instanceof CommandError) return fail(oneLine(error.message), error.hint);
      throw error;
    }
    return caller ? checkCaller(context, caller, host, isServiceUp) : skip(`You are not signed in at ${host}.`, remedies.signIn);
  });
}

/** Returns the permissions of a file; 0 when it does not exist, or on a system without permissions. */
function fileMode(path: string): number {
  if (process.platform === 'win32') return 0;
  return (statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o777;
}

async function checkCaller({ signedIn }: Context, caller: Caller, host: string, isServiceUp: boolean): Promise<Finding> {
  const { fail, oneLine, pass, skip } = await import('../../diagnostics/check.ts');
  const stored = caller.source === 'credentials' ? caller : null;
  if (stored && Date.parse(stored.expiresAt) < Date.now()) {
    return fail(`The sign-in of ${oneLine(stored.email)} at ${host} has ended.`, remedies.signIn);
  }
  if (!isServiceUp) return skip('The service did not respond, so it is unknown whether the sign-in is still valid.');
  try {
    const { email } = await (await signedIn()).client.me({});
    const until = stored ? `until ${oneLine(stored.expiresAt, 11).slice(0, 10)}` : 'by EMAILAUTH_TOKEN, until it is revoked';
    return pass(`${oneLine(email)} is signed in, ${until}.`);
  } catch (error) {
    if (error instanceof CommandError && error.exitCode === EXIT.signInNeeded) return fail(oneLine(error.message), oneLine(error.hint));
    throw error;
  }
}

const STATUSES = { true: ['PASS', 'green'], false: ['FAIL', 'red'], null: ['SKIP', 'yellow'] } as const;
const INDENT = ' '.repeat(6);

/** Returns the results of checks as text: what was found, what to do, and at the end how many failed and what was not checked. */
export function formatReport(checks: readonly CheckResult[], { style, columns }: Appearance): string {
  const width = textWidth(columns);
  const lines = checks.flatMap(({ ok, name, detail, fix }) => {
    const [status, format] = STATUSES[`${ok}`];
    const [first, ...rest] = wrap(`${name}: ${detail}`, width - INDENT.length);
    const below = [...rest, ...(fix ? wrap(fix, width - INDENT.length) : [])];
    return [`${style(format, status)}  ${first}`, ...below.map((line) => INDENT + line)];
  });
  return [...lines, '', ...wrap(summaryOf(checks), width)].join('\n');
}

function summaryOf(checks: readonly CheckResult[]): string {
  const failed = checks.filter(({ ok }) => ok === false).length;
  const skipped = checks.filter(({ ok }) => ok === null).map(({ name }) => name);
  if (failed === 0 && skipped.length === 0) return 'Nothing is wrong.';
  const failures = failed === 0 ? 'No check failed.' : failed === 1 ? 'One check failed.' : `${failed} checks failed.`;
  if (skipped.length === 0) return failures;
  const notMade = skipped.length === 1 ? 'One check was not made' : `${skipped.length} checks were not made`;
  return `${failures} ${notMade}: ${skipped.join(', ')}.`;
}
