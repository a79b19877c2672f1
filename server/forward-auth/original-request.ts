import type { IncomingMessage } from 'node:http';
import { Fault } from '../../contract/errors.ts';
import { readForwardUrl } from '../signin/target.ts';

/** The request of a browser that a proxy asks about. */
export type OriginalRequest = {
  /** Serialized, such as `https://notes.example`. */
  origin: string;
  /** `hostname` of the URL. */
  host: string;
  /** Path and query. */
  path: string;
  /** A browser navigates, so that it can be redirected to the sign-in page. */
  isNavigation: boolean;
};

/**
 * Reads the URL from `X-Original-URL`, which other proxies on the way do not overwrite, or else from `X-Forwarded-Proto`,
 * `X-Forwarded-Host` and `X-Forwarded-Uri`, which Caddy and Traefik send.
 * @param local local mode: http and any port are allowed on loopback hosts
 * @throws Fault bad_request, bad_forward_url
 */
export function readOriginalRequest({ headers, method }: IncomingMessage, local: boolean): OriginalRequest {
  const header = (name: string) => headers[name]?.toString() ?? '';
  const text = header('x-original-url') || `${header('x-forwarded-proto')}://${header('x-forwarded-host')}${header('x-forwarded-uri')}`;
  if (!/^https?:\/\/[^/]/.test(text) || !URL.canParse(text)) {
    const message = 'The proxy has to send the URL of the original request as X-Original-URL, or as X-Forwarded-Proto, -Host and -Uri.';
    throw new Fault('bad_request', { message });
  }
  const { origin, pathname, search } = new URL(text);
  const { host } = readForwardUrl(`${origin}/`, local);
  const originalMethod = header('x-original-method') || header('x-forwarded-method') || method;
  const isNavigation = originalMethod === 'GET' && header('accept').includes('text/html');
  return { origin, host, path: pathname + search, isNavigation };
}
