import type { IncomingMessage, ServerResponse } from 'node:http';
import { parse } from 'cookie';
import type { JWK, KoaContextWithOIDC, Provider } from 'oidc-provider';
import type { SignInPage } from '../../contract/pages.ts';
import { isThisMachine } from '../../contract/rules.ts';
import { openDns } from '../../diagnostics/dns.ts';
import type { Config } from '../config.ts';
import type { Database } from '../db/database.ts';
import type { EventRecorder } from '../events/recorder.ts';
import { type DescribeError, FIRST_SCOPES } from '../http/errors.ts';
import { type Served, serve } from '../http/invoke.ts';
import type { Limits } from '../http/limits.ts';
import { clientAddressOf, siteOfNetwork } from '../http/reading.ts';
import { requestIdOf } from '../http/request-record.ts';
import type { Log } from '../log.ts';
import { digest, isRandomSecret, type SecretKeys } from '../secrets.ts';
import { createGuardedFetch, isPublicAddress } from '../websites/guarded-fetch.ts';
import { ClientRequestRecorder, limitRequests } from './client-requests.ts';
import { applyClientRules, limitRegistrations, type RegistrationParts } from './client-rules.ts';
import { OpenIdClients } from './clients.ts';
import { type ConfigurationParts, configurationOf } from './configuration.ts';
import { keepLocale } from './grants.ts';
import { Interactions, type ReadSteps } from './interactions.ts';
import type { ProviderKeys } from './keys.ts';
import { type Context, ProviderPages } from './pages.ts';
import { RecordsStore } from './store.ts';

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
      refuseUserCodes: (address) => limits.refuseBlocked('wrong_user_codes', siteOfNetwork(address)),
      countWrongUserCode: (address) => limits.hit('wrong_user_codes', siteOfNetwork(address)),
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
      if (CACHED.test(path)) {
        response.setHeader('Cache-Control', 'public, max-age=300');
        // Public, and read by browsers in the name of a website (server/email-verification).
        response.setHeader('Cross-Origin-Resource-Policy', 'cross-origin');
      }
      await handle(request, response);
      parts.pages.sendPending(request, response);
    },
  };
}

type ProviderParts = Omit<ConfigurationParts, 'salt'> & {
  log: Pick<Log, 'warn' | 'info'>;
  events: Pick<EventRecorder, 'record'>;
  describeError: DescribeError;
  limits: Parameters<typeof limitRequests>[1];
  keys: Pick<ProviderKeys, 'signingKeys' | 'salt'>;
};

type Library = typeof import('oidc-provider');

const SIGN_OUT = '/oauth/logout/confirm';
const AUTHORIZE = '/oauth/authorize';

/** The provider, and the function that handles its requests. */
type Serving = { provider: Provider; handle(request: IncomingMessage, response: ServerResponse): Promise<void> };

/** The OpenID provider. oidc-provider is imported on first use, which the start of the service does not wait for. */
class OpenIdProvider {
  readonly #parts: ProviderParts;
  readonly #requests: ClientRequestRecorder;
  #library: Promise<Library> | undefined;
  #current: (Serving & { keys: readonly object[] }) | undefined;

  constructor(parts: ProviderParts) {
    this.#parts = parts;
    this.#requests = new ClientRequestRecorder(parts);
  }

  /** Returns the provider with the present signing keys. */
  async current(): Promise<Serving> {
    this.#library ??= importLibrary();
    const [library, keys] = await Promise.all([this.#library, this.#parts.keys.signingKeys()]);
    // oidc-provider reads its keys once, so that a rotation needs another instance of it.
    if (this.#current?.keys !== keys) {
      const provider = this.#create(library, keys);
      this.#current = { provider, handle: provider.callback(), keys };
    }
    return this.#current;
  }

  #create({ Provider, errors, interactionPolicy }: Library, keys: readonly object[]): Provider {
    const { publicUrl, log, describeError } = this.#parts;
    const parts = { ...this.#parts, salt: () => this.#parts.keys.salt() };
    const currentRequest = (): IncomingMessage | undefined => Provider.ctx?.req;
    const clientSince = () => Provider.ctx?.oidc?.client?.clientIdIssuedAt;
    const jwks = { keys: keys.map((key) => ({ ...key })) as JWK[] };
    const provider = new Provider(publicUrl, configurationOf(parts, { errors, interactionPolicy, currentRequest, clientSince }, jwks));
    // The listener sets the forwarded headers itself, so that URLs come from PUBLIC_URL and never from the request.
    provider.proxy = true;
    provider.use((ctx, next) => adjustResponse(parts.pages, ctx, next));
    provider.use(defaultScope);
    provider.on('server_error', (ctx, error) => describeServerError(ctx, error, describeError));
    provider.on('backchannel.error', (_, error, { clientId }) =>
      log.warn({ clientId, reason: error.message }, 'a logout token was not accepted'),
    );
    this.#requests.observe(provider);
    applyClientRules(provider);
    keepLocale(provider);
    limitRegistrations(provider, parts.registration);
    limitRequests(provider, parts.limits);
    return provider;
  }
}

/**
 * Changes two responses: metadata name the only subject type that is used, and a page that signs out gets the address to continue
 * at as JSON or, without a script, as a page, because a form may not redirect to another origin (`form-action` of its
 * Content-Security-Policy).
 */
async function adjustResponse(pages: ProviderPages, ctx: Context, next: () => Promise<void>): Promise<void> {
  await next();
  if (ctx.path.startsWith('/.well-known/')) Object.assign(ctx.body ?? {}, { subject_types_supported: ['pairwise'] });
  if (ctx.path !== SIGN_OUT || ctx.status !== 303) return;
  const url = ctx.response.get('Location');
  if (ctx.accepts('html', 'json') === 'json') ctx.body = { redirectUrl: url };
  else if (ctx.get('accept').includes('text/html') && new URL(url, ctx.origin).origin !== ctx.origin) pages.showLeaving(ctx, url);
  else return;
  ctx.status = 200;
  ctx.remove('Location');
}

/** Adds the default scope to an authorization request for a resource that has none (RFC 6749 §3.3); a program may know no scope. */
async function defaultScope(ctx: Context, next: () => Promise<void>): Promise<void> {
  const { scope, resource } = ctx.query;
  if (ctx.path === AUTHORIZE && ctx.method === 'GET' && scope === undefined && resource !== undefined)
    ctx.querystring += `&scope=${encodeURIComponent(FIRST_SCOPES.join(' '))}`;
  await next();
}

/** Logs an error of the service as every call does, and reports that the service is unavailable when it is (RFC 6749 §4.1.2.1). */
function describeServerError(ctx: KoaContextWithOIDC, error: Error, describeError: DescribeError): void {
  const { fault, body } = describeError(error, ctx.path, requestIdOf(ctx.req));
  ctx.status = fault.status;
  if (fault.code === 'unavailable') ctx.set('Retry-After', String(fault.retryAfter ?? 2));
  const described = { error: fault.code === 'unavailable' ? 'temporarily_unavailable' : 'server_error', error_description: fault.message };
  if (Object(ctx.body).error === 'server_error') ctx.body = { ...described, reference: body.reference };
}

/** Imports oidc-provider without its warning about releases of Node.js before 22, on which it works. */
async function importLibrary(): Promise<Library> {
  const { warn } = console;
  console.warn = (...args: unknown[]) => {
    if (!String(args[0]).includes('oidc-provider WARNING: Unsupported runtime')) warn(...args);
  };
  try {
    return await import('oidc-provider');
  } finally {
    console.warn = warn;
  }
}
