import { once } from 'node:events';
import { connect, type PeerCertificate, type TLSSocket } from 'node:tls';
import { type Check, fail, oneLine, pass, runCheck, skip, type Verdict } from '../../contract/check.ts';
import { askSite } from './ask-site.ts';
import { organisationOf } from './hosts.ts';
import type { Look, SiteNames } from './look.ts';
import { isOurs, networkFault } from './network-fault.ts';
import type { Target } from './target.ts';

const MIN_DAYS = 14;
const DAY_MS = 86_400_000;
const MAX_REDIRECTS = 5;
const LOOK = 'See that the site runs and that its firewall lets everybody in.';

/** Whether the site's certificate is trusted, for this host, and lasts; Node.js itself speaks nothing older than TLS 1.2. */
export function checkTls({ local, callback }: Target, look: Look): Promise<Check> {
  const late = fail('The site did not answer in time.', LOOK);
  return runCheck({ id: 'tls', name: 'Certificate', ...look, late }, async (until) => {
    if (!callback || local) return skip('Not needed on this machine.');
    const port = Number(callback.port || 443);
    try {
      return await judgeTls(callback.hostname, port, look.names, until);
    } catch (error) {
      if (until.aborted) return late;
      const fault = networkFault(error, callback.host);
      return isOurs(fault) ? skip(fault.detail) : fail(fault.detail, fault.fix || LOOK);
    }
  });
}

/** Nothing is sent on the connection, so that a certificate that is not trusted can be looked at as well. */
async function judgeTls(host: string, port: number, names: SiteNames, signal: AbortSignal): Promise<Verdict> {
  const socket: TLSSocket = connect({ host, port, servername: host, lookup: names.lookup, rejectUnauthorized: false });
  const leave = () => socket.destroy();
  signal.addEventListener('abort', leave);
  try {
    await once(socket, 'secureConnect', { signal });
    const certificate = socket.getPeerCertificate();
    if (!socket.authorized) {
      // The type says Error; it is the code alone.
      const { detail, fix } = networkFault(Object.assign(new Error(), { code: String(socket.authorizationError) }), host);
      return fail(`${detail}${namesOf(certificate)}`, fix || 'Get a certificate from an authority that browsers trust.');
    }
    return judgeDays(host, certificate, `${socket.getProtocol()?.replace('v', ' ')}`, Date.now());
  } finally {
    signal.removeEventListener('abort', leave);
    socket.on('error', () => {});
    socket.destroy();
  }
}

function namesOf({ subjectaltname, valid_to }: PeerCertificate): string {
  const all = subjectaltname?.replaceAll('DNS:', '') ?? '';
  return all ? ` It is for ${oneLine(all, 80)}, until ${oneLine(valid_to, 30)}.` : '';
}

/** @param now in ms */
export function judgeDays(host: string, { valid_to }: Pick<PeerCertificate, 'valid_to'>, protocol: string, now: number): Verdict {
  const days = Math.floor((Date.parse(valid_to) - now) / DAY_MS);
  const until = new Date(valid_to).toISOString().slice(0, 10);
  if (days >= MIN_DAYS) return pass(`${host} has a trusted certificate until ${until}, and speaks ${protocol}.`);
  const left = days === 1 ? '1 day' : `${days} days`;
  return fail(`The certificate of ${host} ends in ${left}, on ${until}.`, 'Renew it, and see why that did not happen by itself.');
}

/** Whether who types the domain without https ends at https. */
export function checkRedirect({ local, callback }: Target, look: Look): Promise<Check> {
  const silent = pass('Nothing answers without TLS.');
  return runCheck({ id: 'redirect', name: 'http to https', ...look, late: silent }, async (until) => {
    if (!callback || local) return skip('Not needed on this machine.');
    if (callback.port) return skip(`Port ${callback.port} has no counterpart without TLS.`);
    try {
      return await judgeRedirect(new URL(`http://${callback.hostname}/`), { ...look, signal: until });
    } catch (error) {
      const fault = networkFault(error, callback.hostname);
      return isOurs(fault) || fault.code === 'ENOTFOUND' ? skip(fault.detail) : silent;
    }
  });
}

/** Follows redirects within the registrable domain, until one says https. */
export async function judgeRedirect(from: URL, look: Pick<Look, 'names' | 'userAgent' | 'signal'>): Promise<Verdict> {
  const site = organisationOf(from.hostname);
  let url = from;
  for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
    const { status, location } = await askSite(url, look);
    const target = status >= 300 && status < 400 && location && URL.canParse(location, url.href) ? new URL(location, url) : null;
    const fix = `Redirect every http address of ${from.hostname} to https (status 301 or 308).`;
    if (!target) return fail(`http://${url.host}/ answers ${status} without TLS.`, fix);
    if (target.hostname !== site && !target.hostname.endsWith(`.${site}`)) {
      return fail(`http://${url.host}/ redirects to another site, ${oneLine(target.hostname, 60)}.`, fix);
    }
    if (target.protocol === 'https:') return pass(`http://${from.host}/ redirects to https.`);
    url = target;
  }
  return fail(`http://${from.host}/ redirects in a circle.`, 'Let it redirect to https at once.');
}
