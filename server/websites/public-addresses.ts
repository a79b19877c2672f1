import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** All addresses of the public internet are in 2000::/3 (RFC 4291 §2.4); NAT64 prefixes and IPv4-compatible addresses are not. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * Returns whether an address is on the public internet: not private, loopback, link-local, shared (RFC 6598), multicast, reserved
 * or an IPv4 address embedded in an IPv6 address.
 * @param address an IP address; any other text is not public
 */
export function isPublicAddress(address: string): boolean {
  // The address of an interface (`%eth0`) is not public, and ipaddr.js also parses forms such as `127.1`.
  if (isIP(address) === 0 || address.includes('%')) return false;
  const parsed = ipaddr.parse(address);
  return parsed.range() === 'unicast' && (parsed.kind() === 'ipv4' || parsed.match(GLOBAL_UNICAST));
}
