import type { IncomingMessage } from 'node:http';
import { isIPv4, isIPv6 } from 'node:net';

/**
 * The client's address as the limits count it: an IPv4 address, or an IPv6 network of 64 bits.
 * @param trustProxy number of proxies in front; the address is then the one that many from the right of X-Forwarded-For,
 * or the peer's when there is none that can be read
 */
export function clientAddressOf(request: IncomingMessage, trustProxy: number): string {
  const peer = request.socket.remoteAddress ?? '';
  if (trustProxy === 0) return networkOf(peer);
  const forwarded = String(request.headers['x-forwarded-for'] ?? '').split(',');
  const network = networkOf(withoutPort(forwarded.at(-trustProxy)?.trim() ?? ''));
  return network === UNKNOWN ? networkOf(peer) : network;
}

/** Some proxies forward `192.0.2.1:4711` or `[2001:db8::1]:4711`. */
function withoutPort(entry: string): string {
  const [, bracketed, plain] = /^\[([^\]]+)\](?::\d{1,5})?$|^([\d.]+):\d{1,5}$/.exec(entry) ?? [];
  return bracketed ?? plain ?? entry;
}

const UNKNOWN = 'unknown';

/** An IPv4 address as it is, also where it came mapped into IPv6; an IPv6 address by its /64; anything else as `unknown`. */
export function networkOf(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '');
  if (isIPv4(plain)) return plain;
  if (!isIPv6(plain)) return UNKNOWN;
  const [head, tail] = plain.split('%')[0].split('::');
  const left = head ? head.split(':') : [];
  const right = tail ? tail.split(':') : [];
  const groups = tail === undefined ? left : [...left, ...Array(Math.max(0, 8 - left.length - right.length)).fill('0'), ...right];
  return `${groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`;
}

/**
 * Returns the /48 of an IPv6 network, which one customer may have as a whole, and an IPv4 address unchanged.
 * @param network as `clientAddressOf` returns it
 */
export function siteOfNetwork(network: string): string {
  return network.replace(/:[^:]+::\/64$/, '::/48');
}
