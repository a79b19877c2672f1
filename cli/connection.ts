import { BlockList, isIP } from 'node:net';
import { isThisMachine } from '../contract/urls.ts';
import { usageError } from './exit.ts';
import type { Environment } from './installation.ts';

/** Time limit of a whole call, its response included. */
export const TIMEOUT_MS = 30_000;
const HTTPS_PORT = '443';

/** The proxy in use, and the variable that names it. */
type HttpProxy = { url: URL; variable: string };

/**
 * Returns the proxy that HTTPS_PROXY names for a URL, unless NO_PROXY excludes its host; lower case takes precedence, as in curl.
 * Null for http, which is only for this machine.
 * @throws CommandError usage for a variable that is not the address of an HTTP proxy
 */
export function proxyFor(target: URL, env: Environment): HttpProxy | null {
  const variable = ['https_proxy', 'HTTPS_PROXY'].find((name) => env[name]?.trim());
  if (!variable || target.protocol !== 'https:' || isExcluded(target, env.no_proxy || env.NO_PROXY || '')) return null;
  const text = env[variable]?.trim() ?? '';
  const address = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  const url = URL.canParse(address) ? new URL(address) : null;
  if (url && /^https?:$/.test(url.protocol)) return { url, variable };
  // The value may contain a password.
  throw usageError(`${variable} is not the address of an HTTP proxy.`, 'Set it to one such as http://proxy.example.com:3128, or unset it.');
}

/** Whether a list such as `localhost,.example.com,10.0.0.0/8,[::1]:8443` names a host, a domain above it, or its network. */
function isExcluded({ hostname, port }: URL, list: string): boolean {
  const host = withoutBrackets(hostname).toLowerCase();
  return list
    .toLowerCase()
    .split(/[\s,]+/)
    .filter(Boolean)
    .some((entry) => {
      if (entry === '*') return true;
      if (entry.includes('/')) return isInNetwork(host, entry);
      const [, name, wantedPort] = isIP(entry) ? ['', entry] : (/^(.*?)(?::(\d+))?$/s.exec(entry) ?? []);
      if (wantedPort && wantedPort !== (port || HTTPS_PORT)) return false;
      const domain = withoutBrackets(name ?? '').replace(/^\*?\./, '');
      return host === domain || (!isIP(host) && domain !== '' && host.endsWith(`.${domain}`));
    });
}

const withoutBrackets = (host: string) => host.replace(/^\[|\]$/g, '');

function isInNetwork(host: string, network: string): boolean {
  const [address, prefix] = network.split('/');
  const [family, other] = [isIP(host), isIP(address)];
  if (family === 0 || family !== other || !/^\d{1,3}$/.test(prefix) || Number(prefix) > (family === 4 ? 32 : 128)) return false;
  const name = family === 4 ? 'ipv4' : 'ipv6';
  const list = new BlockList();
  list.addSubnet(address, Number(prefix), name);
  return list.check(host, name);
}

let opened: { href: string; dispatcher: import('undici').ProxyAgent } | undefined;

/** Returns a fetch that goes through the proxy of the environment. */
export function createFetch(env: Environment): typeof fetch {
  return async (input, init) => {
    const proxy = proxyFor(new URL(String(input)), env);
    if (!proxy) return fetch(input, init);
    // Loaded only then: it takes as long as the rest of a command.
    const undici = await import('undici');
    const { href } = proxy.url;
    if (opened?.href !== href) opened = { href, dispatcher: new undici.ProxyAgent(href) };
    const response = await undici.fetch(String(input), { ...(init as import('undici').RequestInit), dispatcher: opened.dispatcher });
    return response as unknown as Response;
  };
}

/** Codes of errors of the connection to the server that was dialed, which is the proxy if there is one. */
const DIALING =
  /^(?:ECONNREFUSED|ECONNRESET|ENOTFOUND|EAI_AGAIN|EPIPE|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|UND_ERR_SOCKET|UND_ERR_CONNECT_TIMEOUT)$/;
const START_OR_NAME = 'Start it with `emailauth start`, or name another one with --host.';
const NAME_OTHER = 'Check the address and the port, or name another service with --host.';
const TRUST =
  'Name the file of its certificate authority in NODE_EXTRA_CA_CERTS, if you trust it; otherwise do not send anything to this server.';

/** What to do, by the code of an error. */
const HINTS: Readonly<Record<string, string>> = {
  ENOTFOUND: 'Check the spelling of the host, or name another service with --host.',
  EAI_AGAIN: 'Check the network connection, and the DNS server of this machine.',
  ENETUNREACH: 'Check the network connection of this machine.',
  EHOSTUNREACH: 'Check the network connection of this machine.',
  CERT_HAS_EXPIRED: 'The operator of the service has to renew it. Check the clock of this machine, too.',
  CERT_NOT_YET_VALID: 'Check the clock of this machine.',
  ERR_TLS_CERT_ALTNAME_INVALID: 'Name the service with --host as its certificate does.',
  CERT_REVOKED: 'The operator of the service has to replace it.',
};

/**
 * Returns what a call that got no response means, and what to do.
 * @param host origin of the service
 * @param proxy through which it was called
 */
export async function describeConnection(
  error: unknown,
  host: string,
  proxy: HttpProxy | null,
): Promise<{ message: string; hint: string }> {
  const { describeNetworkError } = await import('../diagnostics/request.ts');
  const { code, detail } = describeNetworkError(error, host);
  const texts = textsOf(error);
  if (proxy) {
    const [, status] = /Proxy response \((\d{3})\)/.exec(texts) ?? [];
    const name = `The proxy ${proxy.url.host} of ${proxy.variable}`;
    const hint = `Correct ${proxy.variable}, or add the host of the service to NO_PROXY if it needs no proxy.`;
    if (status === '407') {
      const credentials = `Set ${proxy.variable} to http://user:password@${proxy.url.host}.`;
      return { message: `${name} requires a user name and a password.`, hint: credentials };
    }
    if (status) return { message: `${name} does not connect to ${host}: it answered ${status}.`, hint };
    if (DIALING.test(code)) return { message: describeNetworkError(error, name).detail, hint };
  }
  const { protocol, hostname, host: address } = new URL(host);
  const isHere = isThisMachine(hostname);
  if (/redirect/.test(texts)) return { message: `${host} redirects to another address.`, hint: 'Name that one with --host.' };
  if (/^(?:EPROTO|ERR_SSL_.*)$/.test(code)) {
    const other = isHere ? ` If it is the service without TLS: --host http://${address}.` : '';
    return { message: `${host} does not speak TLS (https) at this port.`, hint: `Check the port of the service.${other}` };
  }
  if (/^HPE_/.test(code) || /HTTPParserError|HTTP\/1\.1 protocol/.test(texts))
    return { message: `${host} does not speak HTTP.`, hint: NAME_OTHER };
  if (/certificate|cannot be trusted/.test(detail)) return { message: detail, hint: HINTS[code] ?? TRUST };
  if (code === 'ECONNREFUSED' || code === '' || !DIALING.test(code))
    return { message: `The service at ${host} cannot be reached.`, hint: isHere ? START_OR_NAME : NAME_OTHER };
  if (/RESET|SOCKET|EPIPE/.test(code)) {
    const other = protocol === 'http:' ? ` If it speaks TLS: --host https://${address}.` : '';
    const hint = `It closed the connection before its response was complete. ${NAME_OTHER}${other}`;
    return { message: `The service at ${host} cannot be reached.`, hint };
  }
  return { message: detail, hint: HINTS[code] ?? NAME_OTHER };
}

/** Returns what describeConnection says after a time limit. */
export function describeTimeout(host: string, proxy: HttpProxy | null, timeoutMs = TIMEOUT_MS): { message: string; hint: string } {
  const through = proxy ? ` through the proxy ${proxy.url.host} of ${proxy.variable}` : '';
  return {
    message: `${host} did not respond within ${timeoutMs / 1000} s${through}.`,
    hint: 'Check that the service runs, and try again.',
  };
}

/** Returns the names and messages of an error and its causes. */
function textsOf(error: unknown): string {
  return error instanceof Error ? `${error.name} ${error.message} ${textsOf(error.cause)}` : '';
}
