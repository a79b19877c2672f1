import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { LRUCache } from 'lru-cache';
import type pg from 'pg';
import { parse, toClientConfig } from 'pg-connection-string';

/** One server of a connection URI. */
export type Host = { host: string; port: string };

const DEFAULT_PORT = '5432';
const AUTHORITY = /^(postgres(?:ql)?:\/\/)([^@/?#]*@)?([^/?#]*)(.*)$/s;

/**
 * Returns a connection URI of libpq as a URL that `URL` can parse (PostgreSQL documentation, 34.1.1.2). Several hosts in the authority,
 * and a user without a host, become parameters, which libpq accepts as well. Other URIs are returned as they are.
 * @returns null for what is not a PostgreSQL URI
 */
export function normalizeUrl(uri: string): string | null {
  const [, scheme, user = '', authority, rest] = AUTHORITY.exec(uri) ?? [];
  if (authority === undefined) return null;
  if (user && !authority) return withUserAsParameter(`${scheme}${rest}`, user);
  if (!authority.includes(',')) return URL.canParse(uri) && hostsOf(uri) ? uri : null;
  const hosts = authority.split(',').map((part) => /^(\[[^\]]+\]|[^:[\]]+)(?::(\d+))?$/.exec(part));
  const [first] = hosts;
  const single = `${scheme}${user}${first?.[1]}${rest}`;
  if (!first || !hosts.every((host) => host !== null) || !URL.canParse(single)) return null;
  const url = new URL(single);
  url.searchParams.set('host', hosts.map(([, host]) => host).join(','));
  url.searchParams.set('port', hosts.map(([, , port = DEFAULT_PORT]) => port).join(','));
  return url.href;
}

function withUserAsParameter(uri: string, userInfo: string): string | null {
  const [, user, password] = /^([^:]*)(?::(.*))?@$/s.exec(userInfo) ?? [];
  try {
    const url = new URL(uri);
    url.searchParams.set('user', decodeURIComponent(user));
    if (password) url.searchParams.set('password', decodeURIComponent(password));
    return hostsOf(url.href) && url.href;
  } catch {
    return null;
  }
}

/** Returns the servers of a normalized URL, at least one; null when the numbers of hosts and ports differ. */
export function hostsOf(url: string): Host[] | null {
  const { hostname, port, searchParams } = new URL(url);
  const hosts = (searchParams.get('host') ?? hostname).split(',');
  const ports = (searchParams.get('port') ?? (port || DEFAULT_PORT)).split(',');
  if (ports.length !== 1 && ports.length !== hosts.length) return null;
  return hosts.map((host, index) => ({ host: host.replace(/^\[|\]$/g, ''), port: ports[index] ?? ports[0] }));
}

/**
 * Returns a URL with several hosts as one that leads to a single host of it. `target_session_attrs` is removed: the server that
 * accepts writes is used, whatever it says.
 */
export function withHost(url: string, { host, port }: Host): string {
  const single = new URL(url);
  for (const name of ['host', 'port', 'target_session_attrs']) single.searchParams.delete(name);
  single.hostname = host.includes(':') ? `[${host}]` : host;
  single.port = port;
  return single.href;
}

/** Whether a normalized URL names several servers. */
export const hasSeveralHosts = (url: string): boolean => (hostsOf(url) ?? []).length > 1;

/** Returns a URL with one host, for what only stores it. */
export function firstHostOf(url: string): string {
  return hasSeveralHosts(url) ? withHost(url, (hostsOf(url) as Host[])[0]) : url;
}

/** Returns the hosts and the name of a database, for messages: without user and password. */
export function placeOf(url: string): string {
  const { host, pathname } = new URL(url);
  if (hasSeveralHosts(url)) return `${(hostsOf(url) ?? []).map(({ host: name, port }) => `${name}:${port}`).join(',')}${pathname}`;
  return `${host || 'this machine'}${pathname}`;
}

/** Returns the user of a normalized URL; empty when it names none. */
export function userOf(url: string): string {
  const { username, searchParams } = new URL(url);
  return searchParams.get('user') ?? decodeURIComponent(username);
}

const TLS_MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'];

/** Returns what is wrong with the parameters for TLS of a normalized URL, as a sentence that says what to give; null when they can be used. */
export function tlsFaultOf(url: string): string | null {
  const { searchParams } = new URL(url);
  const mode = searchParams.get('sslmode');
  if (mode !== null && !TLS_MODES.includes(mode)) return `give sslmode as one of ${TLS_MODES.join(', ')}`;
  const root = searchParams.get('sslrootcert');
  if (mode === 'verify-ca' && !root) return 'give sslrootcert, the file of the certificate authority, for sslmode=verify-ca';
  if (root === 'system' && mode !== 'verify-full') return 'give sslmode=verify-full for sslrootcert=system';
  for (const name of ['sslrootcert', 'sslcert', 'sslkey']) {
    const file = searchParams.get(name);
    if (file && file !== 'system' && !existsSync(file)) return `give ${name} as a file that exists: ${file} does not`;
  }
  return null;
}

/** Whether TLS is used only where the server offers it: sslmode `prefer` or `allow`. */
export const isTlsOptional = (url: string): boolean => ['prefer', 'allow'].includes(new URL(url).searchParams.get('sslmode') ?? '');

/**
 * Returns how a client of `pg` connects to the host of a URL. `sslmode` means what it means in libpq (PostgreSQL documentation, 34.19.1):
 * `require` encrypts without verifying the server, unless `sslrootcert` names its authority.
 */
export function connectionOf(url: string): pg.ClientConfig {
  const plain = new URL(url);
  const { searchParams } = plain;
  if (isTlsOptional(url)) searchParams.set('sslmode', 'prefer');
  // The authorities of Node.js, which verify a server unless others are given.
  if (searchParams.get('sslrootcert') === 'system') searchParams.delete('sslrootcert');
  searchParams.delete('uselibpqcompat');
  const config = toClientConfig(parse(plain.href, { useLibpqCompat: true })) as pg.ClientConfig;
  return { ...config, database: decodeURIComponent(plain.pathname.slice(1)) || undefined };
}

/** How long the answer of a server counts: one that is reconfigured is asked again. */
const OFFER_MS = 60_000;
const OFFER_WAIT_MS = 1_000;
/** PostgreSQL documentation, 54.7: SSLRequest, answered by `S` or `N`. */
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);
const offers = new LRUCache<string, 'tls' | 'plain', Host>({
  max: 16,
  ttl: OFFER_MS,
  fetchMethod: (_key, _old, { context }) => askForTls(context),
});

/** Whether a server offers TLS; never through a socket. @throws Error when it cannot be reached */
export async function offersTls(host: string, port: number): Promise<boolean> {
  if (host.startsWith('/')) return false;
  return (await offers.fetch(`${host}:${port}`, { context: { host, port: String(port) } })) === 'tls';
}

async function askForTls({ host, port }: Host): Promise<'tls' | 'plain'> {
  const socket = connect({ host, port: Number(port) });
  try {
    const signal = AbortSignal.timeout(OFFER_WAIT_MS);
    await once(socket, 'connect', { signal });
    socket.write(SSL_REQUEST);
    const [answer] = await once(socket, 'data', { signal });
    return String(answer).startsWith('S') ? 'tls' : 'plain';
  } finally {
    socket.destroy();
  }
}
