import { domainToUnicode } from 'node:url';
import { LRUCache } from 'lru-cache';
import { getDomain } from 'tldts';
import { Fault } from '../../contract/errors.ts';
import { domainMessage, isLoopbackRedirectHost, LOCALHOST, MAX_HOST_LENGTH, normalDomain, normalHost } from '../../contract/urls.ts';

/** Host → registrable domain, or NO_DOMAIN: every request for a sign-in needs one. */
const cache = new LRUCache<string, string>({ max: 10_000 });
const NO_DOMAIN = '';

/**
 * Returns the registrable domain of a host by the Public Suffix List with its private suffixes (`a.me.vercel.app` → `me.vercel.app`):
 * an A-label in lower case, `localhost` for a loopback host, or null for any other IP address and for a public suffix.
 * @param host `hostname` of a URL
 */
export function registrableOf(host: string): string | null {
  if (host.length > MAX_HOST_LENGTH) return null;
  let domain = cache.get(host);
  if (domain === undefined) {
    domain = findRegistrable(host) ?? NO_DOMAIN;
    cache.set(host, domain);
  }
  return domain || null;
}

/**
 * Returns the host that a token is for, from the host of its forward_url: a name with and without `www.` are the same, and so are all
 * loopback hosts.
 * @param host `hostname` of a URL, as A-label
 */
export function audienceOf(host: string): string {
  if (isLoopbackRedirectHost(host)) return LOCALHOST;
  return host.startsWith('www.') && registrableOf(host) !== host ? host.slice(4) : host;
}

function findRegistrable(host: string): string | null {
  if (isLoopbackRedirectHost(host)) return LOCALHOST;
  const normal = normalHost(host);
  return normal && getDomain(normal, { allowPrivateDomains: true, extractHostname: false, validateHostname: false });
}

/**
 * Returns the registrable domain that a person typed or pasted to register it, as an A-label in lower case: without protocol, port,
 * path and `www.`. Another subdomain is rejected, since its website may belong to someone else.
 * @throws Fault bad_domain, with a message about what to enter instead
 */
export function rootDomainOf(input: string): string {
  const text = input.trim();
  // First as it is, since `www` itself can be a registrable label: www.co.uk.
  for (const host of [normalHost(text), normalDomain(text)]) {
    if (host && registrableOf(host) === host && !isLocal(host)) return host;
  }
  throw new Fault('bad_domain', { message: adviceFor(text), field: 'domain' });
}

/** Returns a domain for display, with its A-labels (RFC 5890) decoded. */
export function displayDomainOf(domain: string): string {
  return domainToUnicode(domain) || domain;
}

function adviceFor(text: string): string {
  const host = hostIn(text);
  const domain = host && registrableOf(host);
  if (domain && isLocal(domain)) return 'localhost cannot be registered: a service in local mode has it already, and no other accepts it.';
  if (domain) return `Give the root domain only: ${domain}`;
  if (host && /^(?:\[.*\]|\d[\d.]*)$/.test(host)) return 'An IP address cannot be registered. Give a domain such as example.com';
  if (host && normalHost(host)) return `${host} is a public suffix. Give a domain below it, such as example.${host}`;
  return domainMessage('example.com');
}

/** Whether a domain is the visitor's own machine, as every name below localhost (RFC 6761 §6.3). */
function isLocal(domain: string): boolean {
  return domain === LOCALHOST || domain.endsWith(`.${LOCALHOST}`);
}

/** Returns the host of a text that looks like a URL, or like a host with a port or a path; else null. */
function hostIn(text: string): string | null {
  if (text.length > 2048) return null;
  const schemeless = text.replace(/^(?:[a-z][a-z0-9+.-]*:)?\/\//i, '').replace(/^\*\./, '');
  const isBareIpv6 = /^[0-9a-f.]*:[0-9a-f.]*:[0-9a-f:.]*$/i.test(schemeless);
  try {
    return new URL(`http://${isBareIpv6 ? `[${schemeless}]` : schemeless}`).hostname.replace(/\.$/, '');
  } catch {
    return null;
  }
}
