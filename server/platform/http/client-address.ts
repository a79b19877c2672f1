import type { IncomingMessage } from 'node:http';
import { isIP, isIPv4 } from 'node:net';
import ipaddr from 'ipaddr.js';
import { isThisMachine } from '../../../contract/urls.ts';

const UNKNOWN = 'unknown';

/** The first 96 bits of the addresses of translators. */
const TRANSLATORS = [[0x64, 0xff9b, 0, 0, 0, 0].join(' '), [0, 0, 0, 0, 0xffff, 0].join(' ')];

/** Headers that proxies add. */
const PROXY_HEADERS = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip'];

/**
 * Returns the client's address as rate limits count it: an IPv4 address, or an IPv6 network of 64 bits.
 * @param trustProxy number of proxies in front; the address is then the one that many from the right of X-Forwarded-For,
 * or the peer's when that entry is missing or invalid
 */
export function clientAddressOf(request: IncomingMessage, trustProxy: number): string {
  const peer = request.socket.remoteAddress ?? '';
  if (trustProxy === 0) return networkOf(peer);
  const forwarded = String(request.headers['x-forwarded-for'] ?? '').split(',');
  const network = networkOf(withoutPort(forwarded.at(-trustProxy)?.trim() ?? ''));
  return network === UNKNOWN ? networkOf(peer) : network;
}

/** Returns an entry of X-Forwarded-For without the port that some proxies add: `192.0.2.1:4711` or `[2001:db8::1]:4711`. */
function withoutPort(entry: string): string {
  const [, bracketed, plain] = /^\[([^\]]+)\](?::\d{1,5})?$|^([\d.]+):\d{1,5}$/.exec(entry) ?? [];
  return bracketed ?? plain ?? entry;
}

/**
 * Returns an IPv4 address unchanged, also one that an IPv6 address contains, the /64 of any other IPv6 address, and `unknown` for anything
 * else.
 */
export function networkOf(address: string): string {
  // Every request comes through here, and most are from IPv4: Node.js may report them as mapped addresses.
  const plain = address.startsWith('::ffff:') ? address.slice('::ffff:'.length) : address;
  if (isIPv4(plain)) return plain;
  const parsed = parseAddress(address);
  if (parsed === null) return UNKNOWN;
  if (parsed instanceof ipaddr.IPv4) return parsed.toString();
  const { parts } = parsed;
  const embedded = embeddedIPv4(parts);
  if (embedded) return embedded.map((part) => `${part >> 8}.${part & 0xff}`).join('.');
  const prefix = parts.slice(0, 4).map((part) => part.toString(16));
  return `${prefix.join(':')}::/64`;
}

/**
 * Returns the two halves of the IPv4 address that an IPv6 address stands for: of 6to4 (RFC 3056), or of a translator (64:ff9b::/96 of
 * RFC 6052, ::ffff:0:0:0/96 of RFC 7915). All clients behind a translator would share one /64, and with 6to4 an IPv4 client would have
 * a second network.
 */
function embeddedIPv4(parts: readonly number[]): readonly number[] | null {
  if (parts[0] === 0x2002) return parts.slice(1, 3);
  const prefix = parts.slice(0, 6).join(' ');
  return TRANSLATORS.includes(prefix) ? parts.slice(6) : null;
}

/** Returns an address, an IPv4 address mapped into IPv6 as IPv4, or null for any text that is not an IP address. */
function parseAddress(address: string): ipaddr.IPv4 | ipaddr.IPv6 | null {
  // ipaddr.js alone would also parse forms such as `127.1`.
  return isIP(address) === 0 ? null : ipaddr.process(address);
}

/**
 * Returns the /48 of an IPv6 network, which a single customer may have, and an IPv4 address unchanged.
 * @param network as `clientAddressOf` returns it
 */
export function siteOfNetwork(network: string): string {
  return network.replace(/:[^:]+::\/64$/, '::/48');
}

/**
 * Returns the block to which a network belongs, the /48 of an IPv6 network or the /24 of an IPv4 address.
 * @param network as `clientAddressOf` returns it
 */
export function blockOfNetwork(network: string): string {
  return siteOfNetwork(network).replace(/\.\d+$/, '.0/24');
}

/**
 * Returns whether a request comes directly from a program on this machine and is addressed to a name of this machine. A request
 * that a local proxy forwards can come from anywhere, and another name in Host means DNS rebinding: a local browser that a foreign
 * page controls. A proxy that adds no header and sets Host is recognized only by HTTP/1.0, which nginx uses by default and no local
 * client does; where `Config.behindProxy` is true, do not rely on this function.
 */
export function isFromThisMachine({ headers, httpVersion, socket }: IncomingMessage): boolean {
  const isForwarded = httpVersion === '1.0' || PROXY_HEADERS.some((name) => headers[name] !== undefined);
  return !isForwarded && parseAddress(socket.remoteAddress ?? '')?.range() === 'loopback' && isLoopbackHostHeader(headers.host);
}

/**
 * Returns whether a Host header names this machine: `localhost`, 127.0.0.0/8 or `[::1]`, with any port. Subdomains of localhost do
 * not count, because some resolvers look them up by DNS, which allows DNS rebinding.
 */
export function isLoopbackHostHeader(host: string | undefined): boolean {
  const [, hostname] = /^([a-z]+|[\d.]+|\[::1\])(?::\d{1,5})?$/i.exec(host ?? '') ?? [];
  return hostname !== undefined && isThisMachine(hostname.toLowerCase());
}
