import type { IncomingMessage } from 'node:http';
import { Fault } from '../../../contract/errors.ts';
import { isLoopbackRedirectHost, normalHost } from '../../../contract/urls.ts';

/** A protected app, as the proxy's configuration names it in the URL of its request. */
type App = {
  /** Serialized, such as `https://notes.example`. */
  origin: string;
  /** `host` of the URL: of a loopback host with its port. */
  host: string;
  /** `hostname` of the URL. */
  hostname: string;
};

/** The request of a browser that a proxy asks about. */
export type OriginalRequest = App & {
  /** The path as the browser sent it. */
  path: string;
  query: URLSearchParams;
  /** Path and query to which a sign-in returns. */
  returnPath: string;
  /** A browser navigates, so that it can be redirected to the sign-in page. */
  isNavigation: boolean;
};

const MAX_APP_LENGTH = 260;
/** A longer path is not kept: the visitor returns to `/`. */
const MAX_RETURN_PATH_LENGTH = 1000;

const BAD_APP = `The path has to name the host of the app: /api/forward-auth/notes.example.com, or /api/forward-auth/nginx/notes.example.com for nginx. The host is a domain name without a port; in local mode also localhost with its port.`;
const BAD_PATH = 'The proxy has to send path and query of the original request as X-Forwarded-Uri, beginning with a slash.';

/**
 * Reads the request of a browser. The app comes from the path that the proxy's configuration contains; only path, method and Accept
 * come from headers, because a proxy passes on what the browser writes into others. Caddy and Traefik send `X-Forwarded-Uri` and
 * `X-Forwarded-Method`; where these are missing, `X-Original-URI` and `X-Original-Method` count.
 * @param app the host in the path, percent-encoded or in UTF-8 as Node.js reads it
 * @param isLocal local mode: loopback hosts are allowed, by http and with any port
 * @throws Fault bad_request
 */
export function readOriginalRequest(
  app: string,
  { headers, method }: Pick<IncomingMessage, 'headers' | 'method'>,
  isLocal: boolean,
): OriginalRequest {
  const found = readApp(app, isLocal);
  if (found === null) throw new Fault('bad_request', { message: BAD_APP, hint: 'Correct the configuration of the proxy.' });
  const target = String(headers['x-forwarded-uri'] ?? headers['x-original-uri'] ?? '');
  if (!target.startsWith('/')) throw new Fault('bad_request', { message: BAD_PATH, hint: 'Correct the configuration of the proxy.' });
  const [path] = target.split('?', 1);
  const originalMethod = headers['x-forwarded-method'] ?? headers['x-original-method'] ?? method;
  return {
    ...found,
    path,
    query: new URLSearchParams(target.slice(path.length)),
    returnPath: returnPathOf(target, path),
    isNavigation: originalMethod === 'GET' && (headers.accept ?? '').includes('text/html'),
  };
}

/** Returns the app of a host in any case, as U-label or A-label, with or without a final dot and the default port; else null. */
function readApp(encoded: string, isLocal: boolean): App | null {
  const text = encoded.length > MAX_APP_LENGTH ? null : decoded(encoded);
  if (text === null) return null;
  const port = /:\d{1,5}$/.exec(text)?.[0] ?? '';
  const name = text.slice(0, text.length - port.length).replace(/\.$/, '');
  const url = isLoopbackRedirectHost(name.toLowerCase()) ? isLocal && `http://${name}${port}` : isWebsite(name, port) && `https://${name}`;
  if (!url || !URL.canParse(url)) return null;
  const { origin, host, hostname } = new URL(url);
  return { origin, host, hostname };
}

const isWebsite = (name: string, port: string) => normalHost(name) !== null && (port === '' || port === ':443');

/** Returns the text of a percent-encoded part of a URL, whose bytes beyond ASCII Node.js reads as ISO-8859-1; null when it is not UTF-8. */
function decoded(encoded: string): string | null {
  try {
    return decodeURIComponent(Buffer.from(encoded, 'latin1').toString());
  } catch {
    return null;
  }
}

/** A control character, space, backslash or `#`, or a NUL that is percent-encoded. Characters beyond ASCII are bytes. */
const NOT_IN_TARGET = /[^\x21-\x7e\x80-\xff]|[\\#]|%00/;
const DOT_SEGMENT = /\/(?:\.|%2e){1,2}(?:\/|$)/i;

/** Returns a path and query as ASCII; `/` for what is not a plain path on the app's host (RFC 9112 §3.2.1), or too long. */
function returnPathOf(target: string, path: string): string {
  if (NOT_IN_TARGET.test(target) || path.startsWith('//') || DOT_SEGMENT.test(path)) return '/';
  const ascii = target.replace(/[^\x21-\x7e]|["<>]/g, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`);
  return ascii.length <= MAX_RETURN_PATH_LENGTH ? ascii : '/';
}
