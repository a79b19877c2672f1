import type { IncomingMessage, ServerResponse } from 'node:http';
import { parse } from 'cookie';
import type { SignInPage } from '../../contract/pages.ts';
import { isThisMachine } from '../../contract/rules.ts';
import { openDns } from '../../diagnostics/dns.ts';
import type { Config } from '../config.ts';
import type { Database } from '../db/database.ts';
import type { EventRecorder } from '../events/recorder.ts';
import { clientAddressOf } from '../http/client-address.ts';
import type { DescribeError } from '../http/errors.ts';
import type { Limits } from '../http/limits.ts';
import { type Served, serve } from '../http/serve.ts';
import type { Log } from '../log.ts';
import type { SecretKeys } from '../secret-keys.ts';
import { digest, isRandomSecret } from '../secrets.ts';
import { createGuardedFetch } from '../websites/guarded-fetch.ts';
import { isPublicAddress } from '../websites/public-addresses.ts';
import type { RegistrationParts } from './client-rules.ts';
import { OpenIdClients } from './clients.ts';
import { Interactions, type ReadSteps } from './interactions.ts';
import type { ProviderKeys } from './keys.ts';
import { ProviderPages } from './pages.ts';
import { OpenIdProvider, type Serving } from './provider.ts';
import { RecordsStore } from './records-store.ts';

type Parts = {
  config: Config;
  secretKeys: SecretKeys;
  core: Database['core'];
  limits: Pick<Limits, 'hit' | 'refuseBlocked'>;
  /** Multiplies the limits; 100 in local mode. */
  limitFactor: number;
  log: Log;
  events: Pick<EventRecorder, 'record'>;
  describeError: DescribeError;
  keys: ProviderKeys;
  sendPage(response: ServerResponse, page: SignInPage, status?: number): void;
  readSteps: ReadSteps;
  /** Headers of every response that is data. */
  headers: Record<string, string>;
};

/** OpenID Connect: the provider, its clients and the steps of a person. */
type OpenId = { provider: OpenIdProvider; clients: OpenIdClients; interactions: Interactions; listener: OpenIdListener };

/** Puts OpenID Connect together. Nothing is loaded or read before the first request. */
export function createOpenId(parts: Parts): OpenId {
  const { config, core, limits, sendPage, headers } = parts;
  const { publicUrl, secure, mode } = config;
  const cookieOf = (request: IncomingMessage, name: 'attempt' | 'device') => {
    const value = parse(request.headers.cookie ?? '')[secure ? `__Host-${name}` : name];
    return isRandomSecret(value) ? value : undefined;
  };
  const deviceOf = (request: IncomingMessage) => {
    const device = cookieOf(request, 'device');
    return device === undefined ? undefined : digest(device);
  };
  const store = new RecordsStore(core);
  const clients = new OpenIdClients({ core, local: mode === 'local' });
  const pages = new ProviderPages(sendPage);
  const local = mode === 'local';
  const usesSystemLookup = (host: string) => local && isThisMachine(host);
  const dns = openDns({ servers: config.dnsServers, isAllowedAddress: isPublicAddress, usesSystemLookup });
  const registration: RegistrationParts = {
    count: (limit, request) => limits.hit(limit, clientAddressOf(request, config.trustProxy)),
    local,
    fetch: createGuardedFetch({ dns, local }),
  };
  const provider = new OpenIdProvider({
    ...parts,
    publicUrl,
    secure,
    store,
    clients,
    pages,
    deviceOf,
    registration,
    limits: {
      pages,
      limitFactor: parts.limitFactor,
      clientAddressOf: (request) => clientAddressOf(request, config.trustProxy),
      countRejected: async (address) => {
        limits.refuseBlocked('rejected_tokens', address);
        await limits.hit('rejected_tokens', address);
      },
      refuseUserCodes: (address) => limits.refuseBlocked('wrong_user_codes', address),
      countWrongUserCode: (address) => limits.hit('wrong_user_codes', address),
    },
  });
  const interactions = new Interactions({
    publicUrl,
    secure,
    core,
    store,
    sendPage,
    provider: async () => (await provider.current()).provider,
    attemptOf: (request) => cookieOf(request, 'attempt'),
    readSteps: parts.readSteps,
  });
  const listener = createOpenIdListener({ publicUrl, interactions, pages, headers, serving: () => provider.current() });
  return { provider, clients, interactions, listener };
}

/** Binds the calls of OpenID Connect. */
export function openIdRoutes({ interactions }: OpenId): Served[] {
  return [serve('decideInteraction', (input, { header }) => interactions.decide(input, header('cookie')))];
}

type ListenerParts = {
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
function createOpenIdListener(parts: ListenerParts): OpenIdListener {
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
