import type { IncomingMessage } from 'node:http';
import type { RequestHandler } from 'express';
import helmet from 'helmet';
import type { Access } from '../../contract/endpoints.ts';
import { Fault } from '../../contract/errors.ts';

const HSTS = 'max-age=63072000; includeSubDomains';

/** The headers of every answer that is data, made once. */
export function dataHeaders(secure: boolean): Record<string, string> {
  return {
    'Cache-Control': 'no-store',
    'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
    ...(secure && { 'Strict-Transport-Security': HSTS }),
  };
}

/** The headers of pages and files. Pages keep the referrer to themselves; same-origin, so that a form's Origin is not `null`. */
export function pageHeaders(secure: boolean, scriptHashes: readonly string[]): RequestHandler {
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
        // The preview of a mail in the settings.
        frameSrc: ["'self'"],
        manifestSrc: ["'self'"],
        formAction: ["'self'"],
        frameAncestors: ["'none'"],
        baseUri: ["'none'"],
        // No page creates markup or scripts from text, so no policy is needed.
        requireTrustedTypesFor: ["'script'"],
        trustedTypes: ["'none'"],
      },
    },
    referrerPolicy: { policy: 'same-origin' },
    frameguard: { action: 'deny' },
    hsts: secure && { maxAge: 63_072_000 },
    xPoweredBy: true,
  });
}

/**
 * A call that changes something comes from our own pages or from a program, never from another origin's page.
 * @throws Fault foreign_origin
 */
export function requireOwnOrigin(request: IncomingMessage, access: Access, origins: ReadonlySet<string>): void {
  if (access === 'any-origin') return;
  const { origin } = request.headers;
  const site = request.headers['sec-fetch-site'];
  if (origin !== undefined ? !origins.has(origin) : site === 'cross-site' || site === 'same-site') throw new Fault('foreign_origin');
}
