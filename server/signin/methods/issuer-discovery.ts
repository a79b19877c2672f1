import type { createRemoteJWKSet, errors } from 'jose';
import { LRUCache } from 'lru-cache';
import { isThisMachine } from '../../../contract/urls.ts';
import { type Dns, openDns } from '../../../diagnostics/dns.ts';
import { createGuardedFetch, isPublicAddress } from '../../websites/guarded-fetch.ts';
import type { FindKey } from './evt.ts';

/** Who is responsible for the addresses of a domain: its https origin, and the keys with which it signs. */
type Issuer = { origin: string; findKey: FindKey };

/** Why the issuer of an address is not known. They are values of a label of the metrics. */
export type DiscoveryFailure = 'no_issuer' | 'bad_record' | 'dns_failed' | 'unreachable' | 'bad_metadata';

/** The issuer of an address was not found, or cannot be used. */
export class DiscoveryFailed extends Error {
  readonly failure: DiscoveryFailure;

  constructor(failure: DiscoveryFailure, cause?: unknown) {
    super(`There is no usable issuer: ${failure}`, { cause });
    this.failure = failure;
  }
}

const METADATA = '/.well-known/email-verification';
const RECORD = /^iss=([a-z0-9.-]{1,253}(?::\d{1,5})?)$/i;

const MAX_ENTRIES = 1000;
const RECORD_SECONDS = 300;
const METADATA_SECONDS = 600;
/** How long a failure of a name server or issuer is cached, so that not every request waits for it again. */
const FAILURE_SECONDS = 10;
/** Of each step. The caller bounds all of them together. */
const STEP_TIMEOUT_MS = 1_000;

/** Finds the issuers of addresses by DNS, and their keys: from public addresses only, bounded in time and size, and cached. */
export class IssuerDiscovery {
  readonly #isLocal: boolean;
  readonly #dns: Dns;
  readonly #fetch: ReturnType<typeof createGuardedFetch>;
  readonly #origins = new LRUCache<string, Promise<string>>({ max: MAX_ENTRIES });
  readonly #issuers = new LRUCache<string, Promise<Issuer>>({ max: MAX_ENTRIES });

  constructor({ isLocal, dnsServers }: { isLocal: boolean; dnsServers: string[] | null }) {
    this.#isLocal = isLocal;
    const usesSystemLookup = (host: string) => this.#isLocal && isThisMachine(host);
    this.#dns = openDns({ servers: dnsServers, isAllowedAddress: isPublicAddress, usesSystemLookup, timeoutMs: STEP_TIMEOUT_MS });
    this.#fetch = createGuardedFetch({ dns: this.#dns, isLocal: this.#isLocal });
  }

  /** Returns the issuer of the addresses of a domain. @param domain as A-label @throws DiscoveryFailed */
  async issuerOf(domain: string): Promise<Issuer> {
    const origin = await this.#originOf(domain);
    return cached(this.#issuers, origin, METADATA_SECONDS, () => this.#readIssuer(origin));
  }

  /** Returns whether the addresses of a domain have an issuer, by its record alone. */
  hasIssuer(domain: string): Promise<boolean> {
    return this.#originOf(domain).then(
      () => true,
      () => false,
    );
  }

  #originOf(domain: string): Promise<string> {
    return cached(this.#origins, domain, RECORD_SECONDS, () => this.#findOrigin(domain));
  }

  async #findOrigin(domain: string): Promise<string> {
    const records = await this.#dns.texts(`_email-verification.${domain}`).catch((error) => {
      throw new DiscoveryFailed('dns_failed', error);
    });
    if (records.length === 0) throw new DiscoveryFailed('no_issuer');
    const origin = records.length === 1 && this.#originIn(records[0]);
    if (!origin) throw new DiscoveryFailed('bad_record');
    return origin;
  }

  /** Returns the origin that a record names; null for another text, and for a port other than that of https, except on this machine in local mode. */
  #originIn(record: string): string | null {
    const url = `https://${RECORD.exec(record.trim())?.[1] ?? ''}`;
    if (!URL.canParse(url)) return null;
    const { origin, port, hostname } = new URL(url);
    return port === '' || (this.#isLocal && isThisMachine(hostname)) ? origin : null;
  }

  async #readIssuer(origin: string): Promise<Issuer> {
    const metadata = await this.#readMetadata(origin);
    const uri = typeof metadata === 'object' && metadata !== null && 'jwks_uri' in metadata ? metadata.jwks_uri : null;
    if (typeof uri !== 'string' || !URL.canParse(uri) || new URL(uri).origin !== origin) throw new DiscoveryFailed('bad_metadata');
    // Not imported at the start, which it would slow down.
    const { createRemoteJWKSet, customFetch, errors } = await import('jose');
    const keys = createRemoteJWKSet(new URL(uri), {
      [customFetch]: this.#fetch,
      timeoutDuration: STEP_TIMEOUT_MS,
      cacheMaxAge: METADATA_SECONDS * 1000,
    });
    return { origin, findKey: (header) => findKeyIn(keys, errors, header) };
  }

  async #readMetadata(origin: string): Promise<unknown> {
    const init = { headers: { Accept: 'application/json' }, signal: AbortSignal.timeout(STEP_TIMEOUT_MS) };
    const response = await this.#fetch(origin + METADATA, init).catch((error) => {
      throw new DiscoveryFailed('unreachable', error);
    });
    if (response.status !== 200) throw new DiscoveryFailed('unreachable');
    return response.json().catch(() => null);
  }
}

/** Returns the key that a token names. @throws JWKSNoMatchingKey, DiscoveryFailed */
async function findKeyIn(
  keys: ReturnType<typeof createRemoteJWKSet>,
  { JWKSInvalid, JWKSMultipleMatchingKeys, JWKSNoMatchingKey }: typeof errors,
  header: Parameters<FindKey>[0],
): ReturnType<FindKey> {
  if (header.kid === undefined) throw new JWKSNoMatchingKey();
  try {
    return await keys(header);
  } catch (error) {
    if (error instanceof JWKSNoMatchingKey || error instanceof JWKSMultipleMatchingKeys) throw error;
    throw new DiscoveryFailed(error instanceof JWKSInvalid ? 'bad_metadata' : 'unreachable', error);
  }
}

/** Returns the entry of a cache, which concurrent callers share while it is being read. A failure is kept, too, for a shorter time. */
function cached<Value>(cache: LRUCache<string, Promise<Value>>, key: string, seconds: number, read: () => Promise<Value>): Promise<Value> {
  const known = cache.get(key);
  if (known) return known;
  const reading = read();
  cache.set(key, reading, { ttl: seconds * 1000 });
  reading.catch(() => cache.set(key, reading, { ttl: FAILURE_SECONDS * 1000 }));
  return reading;
}
