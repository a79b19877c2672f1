import { once } from 'node:events';
import { connect, type PeerCertificate, type TLSSocket } from 'node:tls';
import { type CheckResult, type Finding, fail, oneLine, pass, runCheck, skip } from './check.ts';
import { describeNetworkError, isLocalProblem, type RequestOptions, requestPage } from './request.ts';
import { type CheckOptions, registrableDomain, type Target } from './website.ts';

const MIN_DAYS_LEFT = 14;
const DAY_MS = 86_400_000;
const MAX_REDIRECTS = 5;
const CHECK_REACHABLE = 'Check that the website is running and that its firewall accepts connections from everywhere.';

/**
 * Checks whether the website's certificate is trusted, is for this host and does not expire soon. Node.js itself refuses anything
 * older than TLS 1.2.
 */
export function checkTls({ isLocal, callback }: Target, options: CheckOptions): Promise<CheckResult> {
  const timedOut = fail('The website did not respond in time.', CHECK_REACHABLE);
  return runCheck({ id: 'tls', name: 'Certificate', ...options, timedOut }, async (signal) => {
    if (!callback || isLocal) return skip('Not needed on this machine.');
    try {
      return await inspectCertificate(callback.hostname, Number(callback.port || 443), options.dns, signal);
    } catch (error) {
      if (signal.aborted) return timedOut;
      const problem = describeNetworkError(error, callback.host);
      return isLocalProblem(problem) ? skip(problem.detail) : fail(problem.detail, problem.fix || CHECK_REACHABLE);
    }
  });
}

/** Connects without sending anything, so that a certificate that is not trusted can be inspected as well. */
async function inspectCertificate(host: string, port: number, dns: CheckOptions['dns'], signal: AbortSignal): Promise<Finding> {
  const socket: TLSSocket = connect({ host, port, servername: host, lookup: dns.lookup, rejectUnauthorized: false });
  const abort = () => socket.destroy();
  signal.addEventListener('abort', abort);
  try {
    await once(socket, 'secureConnect', { signal });
    const certificate = socket.getPeerCertificate();
    if (!socket.authorized) {
      // The declared type is Error, but the value is its code.
      const problem = describeNetworkError(Object.assign(new Error(), { code: String(socket.authorizationError) }), host);
      const fix = problem.fix || 'Get a certificate from an authority that browsers trust.';
      return fail(`${problem.detail}${describeNames(certificate)}`, fix);
    }
    return evaluateExpiry(host, certificate.valid_to, `${socket.getProtocol()?.replace('v', ' ')}`, Date.now());
  } finally {
    signal.removeEventListener('abort', abort);
    socket.on('error', () => {});
    socket.destroy();
  }
}

function describeNames({ subjectaltname, valid_to }: PeerCertificate): string {
  const names = subjectaltname?.replaceAll('DNS:', '') ?? '';
  return names ? ` It is for ${oneLine(names, 80)}, until ${oneLine(valid_to, 30)}.` : '';
}

/** Returns the finding for a trusted certificate. @param now in milliseconds */
export function evaluateExpiry(host: string, validTo: string, protocol: string, now: number): Finding {
  const days = Math.floor((Date.parse(validTo) - now) / DAY_MS);
  const until = new Date(validTo).toISOString().slice(0, 10);
  if (days >= MIN_DAYS_LEFT) return pass(`${host} has a trusted certificate until ${until}, and uses ${protocol}.`);
  const left = days === 1 ? '1 day' : `${days} days`;
  return fail(
    `The certificate of ${host} expires in ${left}, on ${until}.`,
    'Renew it, and find out why it was not renewed automatically.',
  );
}

/** Checks whether a visitor who types the domain without https ends at https. */
export function checkRedirect({ isLocal, callback }: Target, options: CheckOptions): Promise<CheckResult> {
  const noResponse = pass('No server responds without TLS.');
  return runCheck({ id: 'redirect', name: 'http to https', ...options, timedOut: noResponse }, async (signal) => {
    if (!callback || isLocal) return skip('Not needed on this machine.');
    if (callback.port) return skip(`Port ${callback.port} has no counterpart without TLS.`);
    try {
      return await followRedirects(new URL(`http://${callback.hostname}/`), { ...options, signal });
    } catch (error) {
      const problem = describeNetworkError(error, callback.hostname);
      return isLocalProblem(problem) || problem.code === 'ENOTFOUND' ? skip(problem.detail) : noResponse;
    }
  });
}

/** Follows redirects within the registrable domain until one leads to https. */
export async function followRedirects(from: URL, options: RequestOptions): Promise<Finding> {
  const domain = registrableDomain(from.hostname);
  const fix = `Redirect every http address of ${from.hostname} to https (status 301 or 308).`;
  let url = from;
  for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
    const { status, location } = await requestPage(url, options);
    const next = status >= 300 && status < 400 && location && URL.canParse(location, url.href) ? new URL(location, url) : null;
    if (!next) return fail(`http://${url.host}/ answers ${status} without TLS.`, fix);
    if (next.hostname !== domain && !next.hostname.endsWith(`.${domain}`)) {
      return fail(`http://${url.host}/ redirects to another website, ${oneLine(next.hostname, 60)}.`, fix);
    }
    if (next.protocol === 'https:') return pass(`http://${from.host}/ redirects to https.`);
    url = next;
  }
  return fail(`http://${from.host}/ redirects in a loop.`, 'Redirect it directly to https.');
}
