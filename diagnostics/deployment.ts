import { isIP } from 'node:net';
import { isThisMachine } from '../contract/rules.ts';
import { About } from '../contract/status.ts';
import { type Finding, fail, oneLine, pass, skip } from './check.ts';
import type { Dns } from './dns.ts';
import { describeNetworkError, isLocalProblem } from './request.ts';

/** An address of documentation (RFC 5737), which no client has. */
const FORGED_ADDRESS = '192.0.2.77';
const MIN_FREE_SHARE = 0.1;
const MIN_FREE_BYTES = 1e9;
const GIGABYTE = 1e9;

/** Returns whether the host of PUBLIC_URL has an address. */
export async function checkPublicName(publicUrl: string, dns: Pick<Dns, 'addresses'>): Promise<Finding> {
  const { hostname } = new URL(publicUrl);
  if (isThisMachine(hostname)) return skip(`PUBLIC_URL is ${publicUrl}, on this machine.`, 'Set PUBLIC_URL to the address for visitors.');
  if (isIP(hostname)) return pass(`PUBLIC_URL is the address ${hostname}.`);
  const addresses = await dns.addresses(hostname);
  if (addresses.length > 0) return pass(`${hostname} has the address ${addresses.map((address) => oneLine(address, 40)).join(', ')}.`);
  return fail(`${hostname} has no address in the DNS.`, `Add an A or AAAA record for ${hostname} that leads to the proxy of the service.`);
}

/** Sends two requests through the proxies in front of the service, one of them with an address that it made up. */
export async function checkProxy(settings: ProxySettings, signal: AbortSignal): Promise<Finding> {
  const request = async (headers: Record<string, string>) => {
    const response = await fetch(`${settings.publicUrl}/api/about`, { headers, redirect: 'error', signal });
    return About.safeParse(await response.json()).data?.request ?? null;
  };
  try {
    const plain = await request({});
    const forged = await request({ 'X-Forwarded-For': FORGED_ADDRESS });
    if (!plain || !forged) return skip('The service does not report how requests arrive.', 'Upgrade it to the version of this program.');
    return evaluateProxy({ plain, forged }, settings);
  } catch (error) {
    if (error instanceof SyntaxError)
      return fail(`${settings.publicUrl} does not answer as an Email Auth service.`, 'Let the proxy pass all paths on.');
    const problem = describeNetworkError(error, settings.publicUrl);
    return isLocalProblem(problem)
      ? skip(problem.detail)
      : fail(problem.detail, problem.fix || 'Check that the proxy and the service run.');
  }
}

export type ProxySettings = { publicUrl: string; trustProxy: number };
type Arrived = NonNullable<About['request']>;

const APPEND =
  'Let the proxy append the address: `option forwardfor` of HAProxy, `proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for` of nginx.';

/** Returns the finding for how a plain request and one with a forged X-Forwarded-For have arrived. */
export function evaluateProxy({ plain, forged }: Record<'plain' | 'forged', Arrived>, { publicUrl, trustProxy }: ProxySettings): Finding {
  const count = plain.forwarded;
  const proxies = count === 1 ? '1 proxy appends' : `${count} proxies append`;
  if (forged.address === FORGED_ADDRESS) {
    const detail = `The service counts the address that a client claims in X-Forwarded-For: TRUST_PROXY is ${trustProxy}, and ${proxies} the address.`;
    return fail(
      detail,
      count > 0 ? `Set TRUST_PROXY=${count}.` : publicUrl.startsWith('https:') ? APPEND : `Without a proxy, set TRUST_PROXY=0. ${APPEND}`,
    );
  }
  if (count > trustProxy) {
    return fail(
      `${proxies} the address, but TRUST_PROXY is ${trustProxy}: all visitors share the limits of a proxy.`,
      `Set TRUST_PROXY=${count}.`,
    );
  }
  if (count < trustProxy)
    return fail(`TRUST_PROXY is ${trustProxy}, but ${proxies} the address.`, count === 0 ? APPEND : `Set TRUST_PROXY=${count}.`);
  if (count === 0 && publicUrl.startsWith('https:')) return fail('The proxy that terminates TLS sends no X-Forwarded-For.', APPEND);
  if (!plain.isHostPublic) {
    const fix = `Let the proxy pass Host on (\`proxy_set_header Host $http_host\` of nginx), or correct PUBLIC_URL.`;
    return fail(`Requests to ${publicUrl} arrive with another Host.`, fix);
  }
  if (count === 0) return pass('No proxy is in front of the service.');
  return pass(`${proxies} the address of the client, and a forged one is ignored.`);
}

/** Returns the finding for the space on the disk of DATA_DIR. */
export function evaluateDisk(dataDir: string, { freeBytes, bytes }: { freeBytes: number; bytes: number }): Finding {
  const free = `${(freeBytes / GIGABYTE).toFixed(1)} of ${(bytes / GIGABYTE).toFixed(1)} GB`;
  if (freeBytes >= MIN_FREE_BYTES && freeBytes >= bytes * MIN_FREE_SHARE) return pass(`${free} are free on the disk of ${dataDir}.`);
  return fail(`Only ${free} are free on the disk of ${dataDir}.`, 'Make space: a full disk stops writes, and so every sign-in.');
}

const MAX_BACKUP_HOURS = 26;
const HOUR_MS = 3_600_000;

/** Returns the finding for the newest file of a directory with backups. @param newest null: there is none */
export function evaluateBackup(directory: string, newest: { name: string; writtenAt: number; bytes: number } | null, now: number): Finding {
  const fix = 'Check what runs `emailauth backup` every day (docs/operations.md, Backup and restore).';
  if (!newest) return fail(`${directory} has no backup (*.tar.gz).`, fix);
  const { name, writtenAt, bytes } = newest;
  const hours = Math.floor((now - writtenAt) / HOUR_MS);
  if (bytes === 0) return fail(`The newest backup, ${oneLine(name)}, is empty.`, fix);
  if (hours > MAX_BACKUP_HOURS) return fail(`The newest backup, ${oneLine(name)}, is ${hours} hours old.`, fix);
  return pass(`The newest backup, ${oneLine(name)}, is ${hours} hours old.`);
}

/** Checks whether each public address of the mail server has a name that leads back to it, which receivers expect of a sender. */
export async function checkReverseName(
  smtpUrl: string | null,
  dns: Pick<Dns, 'addresses' | 'names'>,
  isPublic: (address: string) => boolean,
): Promise<Finding> {
  if (!smtpUrl) return skip('Emails stay in the built-in inbox of the service.');
  const host = new URL(smtpUrl).hostname.replace(/^\[|\]$/g, '');
  const elsewhere = 'Check there that the public address from which it sends has a PTR record, whose name has that address.';
  const addresses = isIP(host) ? [host] : isThisMachine(host) ? [] : await dns.addresses(host);
  const found = addresses.filter(isPublic);
  if (found.length === 0) return skip(`The mail server ${host} has no public address that is known here.`, elsewhere);
  for (const address of found) {
    const names = await dns.names(address);
    if (names.length === 0) {
      return fail(
        `${address} of ${host} has no PTR record, so receivers may refuse its email.`,
        'Let the provider of the address set one, with the name of the mail server.',
      );
    }
    const confirmed = await Promise.all(names.map(async (name) => (await dns.addresses(name)).includes(address)));
    if (!confirmed.includes(true)) {
      const shown = oneLine(names[0], 80);
      return fail(
        `${address} of ${host} has the name ${shown}, which does not have that address.`,
        `Add an A or AAAA record for ${shown} with ${address}.`,
      );
    }
  }
  return pass(
    `${found.join(', ')} of ${host} has a name that leads back to it.`,
    isIP(host) ? '' : 'If it relays to another server, this applies to that one.',
  );
}
