import type { IncomingMessage } from 'node:http';

/** Headers that proxies add. */
const PROXY_HEADERS = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip'];

/**
 * Returns whether a request comes straight from this machine, under one of its own names. A proxy on this machine forwards for
 * everybody, and a foreign name in Host means DNS rebinding: the browser of somebody here, led by somebody elsewhere. A proxy
 * that adds no header and sets Host is recognized only by HTTP/1.0, which nginx speaks by default and no client on this machine
 * does; where `Config.behindProxy` is true, this function must not decide.
 */
export function isFromThisMachine({ headers, httpVersion, socket }: IncomingMessage): boolean {
  const isForwarded = httpVersion === '1.0' || PROXY_HEADERS.some((name) => headers[name] !== undefined);
  return !isForwarded && isLoopbackAddress(socket.remoteAddress) && isLoopbackHost(headers.host);
}

function isLoopbackAddress(address: string | undefined): boolean {
  return address !== undefined && /^(?:::ffff:)?127\.\d+\.\d+\.\d+$|^::1$/.test(address);
}

/** @param host a Host header */
export function isLoopbackHost(host: string | undefined): boolean {
  return host !== undefined && /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i.test(host);
}
