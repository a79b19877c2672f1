import { type LookupAddress, lookup as systemLookup } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import type { LookupFunction } from 'node:net';

/** DNS queries. A name or record that does not exist is an empty list; a name server that fails is an error. */
export type Dns = {
  /** Returns the TXT records of a name, each as one text. */
  texts(name: string): Promise<string[]>;
  /** Returns the mail servers, best first; `.` alone means that the name accepts no mail (RFC 7505). */
  mailServers(name: string): Promise<string[]>;
  /** Returns the IPv4 and IPv6 addresses of a name. */
  addresses(name: string): Promise<string[]>;
  /** Returns the names of an address (PTR records). */
  names(address: string): Promise<string[]>;
  /**
   * Resolves the host of a connection. It goes to exactly the addresses that were checked: a name cannot give another address the second
   * time. Its error has the code ENOTFOUND, ENOTPUBLIC or EAI_AGAIN.
   */
  lookup: LookupFunction;
};

export type DnsOptions = {
  /** Name servers as `ip[:port]`; null: the system's. */
  servers: readonly string[] | null;
  /** Which addresses `lookup` may return; null: all of them. */
  isAllowedAddress: ((address: string) => boolean) | null;
  /** Hosts that `lookup` resolves as the operating system does, without the check of addresses. */
  usesSystemLookup?: (host: string) => boolean;
  /** Time limit for each name server and try. */
  timeoutMs?: number;
  tries?: number;
};

const TIMEOUT_MS = 3_000;
const MAX_ADDRESSES = 4;
// EBADNAME: a record may refer to something that is not a valid name.
const ABSENT = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME']);

/** Returns the name servers of a DNS_SERVERS variable (`ip[:port],…`), or null when it is unset. */
export function parseDnsServers(variable: string | undefined): string[] | null {
  return variable?.trim() ? variable.split(',').map((server) => server.trim()) : null;
}

/** Opens a resolver. @throws Error when `servers` holds something that is not an address of a name server */
export function openDns(options: DnsOptions): Dns {
  const { isAllowedAddress, usesSystemLookup = () => false } = options;
  newResolver(options);
  const lookupAddresses = async (host: string): Promise<LookupAddress[]> => {
    const found = await resolveAddresses(host, options);
    if (found.length === 0) throw codedError('ENOTFOUND', `${host} has no address`);
    const allowed = isAllowedAddress ? found.filter(({ address }) => isAllowedAddress(address)) : found;
    if (allowed.length === 0) throw codedError('ENOTPUBLIC', `${host} has no public address`);
    return allowed.slice(0, MAX_ADDRESSES);
  };
  return {
    async texts(name) {
      const records = await query(options, (resolver) => emptyIfAbsent(resolver.resolveTxt(name)));
      return records.map((chunks) => chunks.join(''));
    },
    async mailServers(name) {
      const records = await query(options, (resolver) => emptyIfAbsent(resolver.resolveMx(name)));
      return records.sort((one, other) => one.priority - other.priority).map(({ exchange }) => exchange || '.');
    },
    addresses: async (name) => (await resolveAddresses(name, options)).map(({ address }) => address),
    names: (address) => query(options, (resolver) => emptyIfAbsent(resolver.reverse(address))),
    lookup(host, lookupOptions, done) {
      if (usesSystemLookup(host)) return systemLookup(host, lookupOptions, done);
      lookupAddresses(host).then(
        (addresses) => {
          if (lookupOptions.all) done(null, addresses);
          else done(null, addresses[0].address, addresses[0].family);
        },
        (error) => done(error, []),
      );
    },
  };
}

/** Returns the addresses of a host. One result is enough: some name servers fail for one of the two record types. */
async function resolveAddresses(host: string, options: DnsOptions): Promise<LookupAddress[]> {
  const results = await query(options, (resolver) =>
    Promise.allSettled([emptyIfAbsent(resolver.resolve4(host)), emptyIfAbsent(resolver.resolve6(host))]),
  );
  const found = results.flatMap((result, i) =>
    result.status === 'fulfilled' ? result.value.map((address) => ({ address, family: i === 0 ? 4 : 6 })) : [],
  );
  const failure = results.find((result) => result.status === 'rejected');
  if (found.length === 0 && failure) throw failure.reason;
  return found;
}

async function emptyIfAbsent<Item>(response: Promise<Item[]>): Promise<Item[]> {
  try {
    return await response;
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (ABSENT.has(code)) return [];
    throw codedError('EAI_AGAIN', `the name server did not answer (${code})`, error);
  }
}

const codedError = (code: string, message: string, cause?: unknown) => Object.assign(new Error(message, { cause }), { code });

/** A resolver's own time limit is for each name server; the timer limits all of them together. */
async function query<T>(options: DnsOptions, ask: (resolver: Resolver) => Promise<T>): Promise<T> {
  const { timeoutMs = TIMEOUT_MS, tries = 1 } = options;
  const resolver = newResolver(options);
  // c-ares doubles the time limit with each try.
  const timer = setTimeout(() => resolver.cancel(), timeoutMs * (2 ** tries - 1));
  try {
    return await ask(resolver);
  } finally {
    clearTimeout(timer);
  }
}

function newResolver({ servers, timeoutMs = TIMEOUT_MS, tries = 1 }: DnsOptions): Resolver {
  const resolver = new Resolver({ timeout: timeoutMs, tries });
  if (servers) resolver.setServers(servers);
  return resolver;
}
