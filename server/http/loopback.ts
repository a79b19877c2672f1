import type { IncomingMessage } from 'node:http';

/**
 * Whether a request comes straight from this machine, under one of its own names. A proxy on this machine forwards for
 * everybody, and a foreign name in Host means DNS rebinding: the browser of somebody here, led by somebody elsewhere.
 */
export function isFromThisMachine({ headers, socket }: IncomingMessage): boolean {
  const forwarded = headers.forwarded ?? headers['x-forwarded-for'];
  return forwarded === undefined && isLoopbackAddress(socket.remoteAddress) && isLoopbackHost(headers.host);
}

function isLoopbackAddress(address: string | undefined): boolean {
  return address !== undefined && /^(?:::ffff:)?127\.\d+\.\d+\.\d+$|^::1$/.test(address);
}

/** @param host a Host header */
export function isLoopbackHost(host: string | undefined): boolean {
  return host !== undefined && /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i.test(host);
}
