import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Interactions } from './interactions.ts';
import type { ProviderPages } from './pages.ts';
import type { Serving } from './provider.ts';

type Parts = {
  publicUrl: string;
  serving(): Promise<Serving>;
  interactions: Interactions;
  pages: ProviderPages;
  /** Headers of every response that is data. */
  headers: Record<string, string>;
};

const METADATA = /^\/\.well-known\/(?:openid-configuration|oauth-authorization-server)$/;
const ENDPOINTS = /^\/oauth\/(?:authorize|token|jwks|userinfo|introspect|revoke|logout|device|par|register)(?:\/|$)/;
const INTERACTION = /^\/oauth\/interaction\/([A-Za-z0-9_-]{21,64})$/;
const CONTENT_POLICY = "default-src 'none'; script-src 'none'; base-uri 'none'; frame-ancestors 'none'";
const CACHED = /^\/(?:\.well-known\/|oauth\/jwks$)/;

/** The requests of OpenID Connect and OAuth. */
export type OpenIdListener = {
  /** Whether a path is one of the provider's. */
  handles(path: string): boolean;
  handle(request: IncomingMessage, response: ServerResponse, path: string): Promise<void>;
};

/** Returns the listener of the endpoints of the provider, and of the pages of its interactions. */
export function createOpenIdListener(parts: Parts): OpenIdListener {
  const { protocol, host } = new URL(parts.publicUrl);
  // The hash of the script of a page that submits a form is added to script-src by oidc-provider.
  const headers = { ...parts.headers, 'Content-Security-Policy': CONTENT_POLICY };
  const forwarded = { 'x-forwarded-proto': protocol.slice(0, -1), 'x-forwarded-host': host };
  return {
    handles: (path) => ENDPOINTS.test(path) || METADATA.test(path) || INTERACTION.test(path),
    handle: async (request, response, path) => {
      const uid = INTERACTION.exec(path)?.[1];
      if (uid && !(await parts.interactions.open(request, response, uid))) return;
      const { handle } = await parts.serving();
      // Every URL that the provider makes is one of PUBLIC_URL.
      Object.assign(request.headers, forwarded);
      for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
      if (CACHED.test(path)) response.setHeader('Cache-Control', 'public, max-age=300');
      await handle(request, response);
      parts.pages.sendPending(request, response);
    },
  };
}
