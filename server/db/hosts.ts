/** One server of a connection URI. */
export type Host = { host: string; port: string };

const DEFAULT_PORT = '5432';
const AUTHORITY = /^(postgres(?:ql)?:\/\/(?:[^@/?#]*@)?)([^/?#]*)(.*)$/s;

/**
 * Returns a connection URI of libpq as a URL that `URL` can parse: several hosts in the authority become the parameters `host` and
 * `port`, which libpq accepts as well (PostgreSQL documentation, 34.1.1.2). Other URIs are returned as they are.
 * @returns null for what is not a PostgreSQL URI
 */
export function normalizeUrl(uri: string): string | null {
  const [, start, authority, rest] = AUTHORITY.exec(uri) ?? [];
  if (authority === undefined) return null;
  if (!authority.includes(',')) return URL.canParse(uri) && hostsOf(uri) ? uri : null;
  const hosts = authority.split(',').map((part) => /^(\[[^\]]+\]|[^:[\]]+)(?::(\d+))?$/.exec(part));
  const [first] = hosts;
  if (!first || !hosts.every((host) => host !== null) || !URL.canParse(`${start}${first[1]}${rest}`)) return null;
  const url = new URL(`${start}${first[1]}${rest}`);
  url.searchParams.set('host', hosts.map(([, host]) => host).join(','));
  url.searchParams.set('port', hosts.map(([, , port = DEFAULT_PORT]) => port).join(','));
  return url.href;
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

/** Returns the hosts and the name of a database, for messages: without user and password. */
export function placeOf(url: string): string {
  const { host, pathname } = new URL(url);
  if (!hasSeveralHosts(url)) return `${host || 'this machine'}${pathname}`;
  return `${(hostsOf(url) ?? []).map(({ host: name, port }) => `${name}:${port}`).join(',')}${pathname}`;
}
