import { getDomain } from 'tldts';

/** The registrable domain of a host by the Public Suffix List; the host itself when it has none. */
export function organisationOf(host: string): string {
  return getDomain(host, { allowPrivateDomains: true }) ?? host;
}
