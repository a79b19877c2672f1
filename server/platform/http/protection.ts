import type { IncomingMessage, ServerResponse } from 'node:http';
import helmet from 'helmet';
import type { Access } from '../../../contract/calls.ts';
import { Fault } from '../../../contract/errors.ts';

/** Two years, in seconds. */
const HSTS_SECONDS = 63_072_000;

/** A middleware of Express or of Node's HTTP server. */
export type SetHeaders = (request: IncomingMessage, response: ServerResponse, next: () => void) => void;

/** Returns the headers of every response that is data, not a page. */
export function dataHeaders(secure: boolean): Record<string, string> {
  return {
    'Cache-Control': 'no-store',
    'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
    ...(secure && { 'Strict-Transport-Security': `max-age=${HSTS_SECONDS}; includeSubDomains` }),
  };
}

/**
 * Returns a middleware that sets the headers of pages and files. The referrer policy is same-origin and not no-referrer, because with
 * the latter the Origin of a form is `null`.
 * @param scriptHashes of the inline scripts, as the policy names them
 */
export function pageHeaders(secure: boolean, scriptHashes: readonly string[]): SetHeaders {
  return helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        scriptSrc: ["'self'", ...scriptHashes],
        styleSrc: ["'self'"],
        imgSrc: ["'self'", 'data:'],
        fontSrc: ["'self'"],
        connectSrc: ["'self'"],
        // The preview of an email in the settings.
        frameSrc: ["'self'"],
        manifestSrc: ["'self'"],
        formAction: ["'self'"],
        frameAncestors: ["'none'"],
        baseUri: ["'none'"],
        // No page creates markup or scripts from text.
        requireTrustedTypesFor: ["'script'"],
        trustedTypes: ["'none'"],
      },
    },
    referrerPolicy: { policy: 'same-origin' },
    frameguard: { action: 'deny' },
    hsts: secure && { maxAge: HSTS_SECONDS },
    xPoweredBy: true,
  });
}

/**
 * Refuses a request of another origin's page. Calls that change something may come from our own pages and from programs.
 * @throws Fault foreign_origin
 */
export function requireOwnOrigin(request: IncomingMessage, access: Access, origins: ReadonlySet<string>): void {
  if (access !== 'any-origin' && senderOf(request, origins) === 'foreign') throw new Fault('foreign_origin');
}

/**
 * Refuses a form post that does not come from a page of this service. One that does not say where it comes from is refused too: only
 * a browser submits forms, and every browser says it.
 * @throws Fault foreign_origin
 */
export function requireOwnForm(request: IncomingMessage, origins: ReadonlySet<string>): void {
  if (senderOf(request, origins) !== 'own') throw new Fault('foreign_origin');
}

/**
 * Returns whose page sent a request: by Origin, else by Referer, which text browsers send instead, else by Sec-Fetch-Site. A program,
 * or a person who entered the address, is unknown.
 */
function senderOf({ headers }: IncomingMessage, origins: ReadonlySet<string>): 'own' | 'foreign' | 'unknown' {
  const { origin, referer } = headers;
  const from = origin ?? (referer !== undefined && URL.canParse(referer) ? new URL(referer).origin : undefined);
  if (from !== undefined) return origins.has(from) ? 'own' : 'foreign';
  const site = headers['sec-fetch-site'];
  if (site === 'same-origin') return 'own';
  return site === 'cross-site' || site === 'same-site' ? 'foreign' : 'unknown';
}
