import { domainToUnicode } from 'node:url';
import { LRUCache } from 'lru-cache';
import { getDomain } from 'tldts';
import { Fault } from '../../contract/errors.ts';
import { domainMessage, normalHost } from '../../contract/rules.ts';

/** The one site that nobody registers: every loopback host of local mode. */
export const LOCALHOST = 'localhost';

const LOOPBACK_HOSTS = new Set([LOCALHOST, '127.0.0.1', '[::1]']);
/** By host; an empty text stands for null. */
const domains = new LRUCache<string, string>({ max: 10_000 });

/**
 * The registrable domain of a host by the Public Suffix List, private suffixes included (`a.me.vercel.app` → `me.vercel.app`).
 * Answers are cached, since every request for a sign-in asks.
 * @param host `hostname` of a URL
 * @returns the domain as A-label in lower case, `localhost` for a loopback host, null for any other address and for a public suffix
 */
export function registrableOf(host: string): string | null {
  const cached = domains.get(host);
  if (cached !== undefined) return cached || null;
  if (host.length > 253) return null;
  const domain = findRegistrable(host);
  domains.set(host, domain ?? '');
  return domain;
}

/**
 * The host that a token is for, by the host of its forward_url: `www.` and the bare name count as one, and so do all loopback hosts.
 * @param host `hostname` of a URL, as A-label
 */
export function audienceOf(host: string): string {
  if (LOOPBACK_HOSTS.has(host)) return LOCALHOST;
  return host.startsWith('www.') && registrableOf(host) !== host ? host.slice(4) : host;
}

function findRegistrable(host: string): string | null {
  if (LOOPBACK_HOSTS.has(host)) return LOCALHOST;
  const normal = normalHost(host);
  return normal && getDomain(normal, { allowPrivateDomains: true, extractHostname: false, validateHostname: false });
}

/**
 * The domain that a person typed to register it: a registrable domain itself, nothing around it.
 * @returns the domain as A-label in lower case
 * @throws Fault bad_domain, whose message says what to give instead
 */
export function rootDomainOf(input: string): string {
  const text = input.trim();
  const host = normalHost(text);
  if (host && registrableOf(host) === host && !isLocal(host)) return host;
  throw new Fault('bad_domain', { message: adviceOn(text), field: 'domain' });
}

/** The domain for people: its A-labels (RFC 5890) decoded. */
export function displayDomainOf(domain: string): string {
  return domainToUnicode(domain) || domain;
}

function adviceOn(text: string): string {
  const meant = hostMeantBy(text);
  const domain = meant && registrableOf(meant);
  if (domain && isLocal(domain)) return 'localhost needs no registration: local mode accepts it.';
  if (domain) return `Give the root domain only: ${domain}`;
  if (meant && /^(?:\[.*\]|\d[\d.]*)$/.test(meant)) return 'An IP address cannot be registered. Give a domain such as example.com';
  if (meant && normalHost(meant)) return `${meant} is a public suffix. Give a domain below it, such as example.${meant}`;
  return domainMessage('example.com');
}

/** RFC 6761 §6.3: every name below localhost is the visitor's own machine. */
function isLocal(domain: string): boolean {
  return domain === LOCALHOST || domain.endsWith(`.${LOCALHOST}`);
}

/** The host in what looks like a URL, or like a host with a port or a path. */
function hostMeantBy(text: string): string | null {
  if (text.length > 2048) return null;
  const schemeless = text.replace(/^(?:[a-z][a-z0-9+.-]*:)?\/\//i, '').replace(/^\*\./, '');
  const isBareIpv6 = /^[0-9a-f.]*:[0-9a-f.]*:[0-9a-f:.]*$/i.test(schemeless);
  try {
    return new URL(`http://${isBareIpv6 ? `[${schemeless}]` : schemeless}`).hostname.replace(/\.$/, '');
  } catch {
    return null;
  }
}
