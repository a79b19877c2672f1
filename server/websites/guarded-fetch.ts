import { once } from 'node:events';
import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { isThisMachine } from '../../contract/urls.ts';
import type { Dns } from '../../diagnostics/dns.ts';

/** The longest response that is read, in bytes, unless another one is given. */
const MAX_RESPONSE_BYTES = 65_536;
/** How long a request and its response may take together. */
const TIMEOUT_MS = 4_000;

type Parts = {
  /** Resolves only to public addresses. */
  dns: Dns;
  /** Local mode: loopback hosts may be requested, with any certificate. */
  isLocal: boolean;
  /** Whether all other hosts may have any certificate too. */
  anyCertificate?: boolean;
  maxBytes?: number;
};

/** A response has more bytes than are read. */
export class ResponseTooLarge extends TypeError {}

/**
 * Returns a `fetch` for URLs that others chose: it connects only to addresses of the public internet, to exactly those that were
 * checked, follows no redirect, and bounds the size and time of the response. It sends no cookies and no credentials.
 */
export function createGuardedFetch(parts: Parts): (input: string | URL | Request, init?: RequestInit) => Promise<Response> {
  return async (input, init = {}) => {
    const url = new URL(input instanceof Request ? input.url : input);
    const isLoopback = isThisMachine(url.hostname);
    checkUrl(url, isLoopback, parts);
    const timeout = AbortSignal.timeout(TIMEOUT_MS);
    const signal = init.signal ? AbortSignal.any([init.signal, timeout]) : timeout;
    const body = init.body === null || init.body === undefined ? undefined : String(init.body);
    const send = url.protocol === 'http:' ? requestHttp : requestHttps;
    const request = send(url, {
      method: init.method ?? 'GET',
      headers: headersOf(init, body),
      lookup: parts.dns.lookup,
      agent: false,
      // During development a website often has a certificate that only the developer's browser trusts.
      rejectUnauthorized: !isLoopback && !parts.anyCertificate,
      signal,
    }).end(body);
    // Errors after the response has started are reported by the response.
    request.on('error', () => {});
    try {
      const [response]: IncomingMessage[] = await once(request, 'response', { signal });
      return await toResponse(response, parts.maxBytes ?? MAX_RESPONSE_BYTES);
    } finally {
      request.destroy();
    }
  };
}

function checkUrl(url: URL, isLoopback: boolean, { isLocal }: Parts): void {
  if (isLoopback && isLocal) return;
  if (url.protocol !== 'https:') throw new TypeError(`${url.origin} is not https`);
  // For an address no lookup is made.
  const address = url.hostname.replace(/^\[|\]$/g, '');
  if (isLoopback || (isIP(address) !== 0 && !isPublicAddress(address))) throw new TypeError(`${url.host} is not on the public internet`);
}

function headersOf({ headers, body: given }: RequestInit, body: string | undefined): Record<string, string> {
  const sent = Object.fromEntries(new Headers(headers));
  if (body === undefined) return sent;
  if (given instanceof URLSearchParams) sent['content-type'] ??= 'application/x-www-form-urlencoded';
  return { ...sent, 'content-length': String(Buffer.byteLength(body)) };
}

/** @throws ResponseTooLarge */
async function toResponse(response: IncomingMessage, maxBytes: number): Promise<Response> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes) throw new ResponseTooLarge(`the response has more than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  const { statusCode: status = 0, headers } = response;
  if (status < 200 || status > 599) throw new TypeError(`the host responded with the status ${status}`);
  const isEmpty = status === 204 || status === 205 || status === 304;
  const kept = Object.entries(headers).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  return new Response(isEmpty ? null : Buffer.concat(chunks), { status, headers: kept });
}

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
