import type { IncomingMessage, ServerResponse } from 'node:http';
import type { JWK, Provider } from 'oidc-provider';
import { Fault } from '../../contract/errors.ts';
import type { SignInPage } from '../../contract/pages.ts';
import { isThisMachine } from '../../contract/urls.ts';
import { openDns } from '../../diagnostics/dns.ts';
import type { EventRecorder } from '../activity/recorder.ts';
import { clientAddressOf } from '../platform/http/client-address.ts';
import { cookiesOf, receivedCookies } from '../platform/http/cookies.ts';
import { type AllowedOrigins, corsHeaders, isPreflight, preflightHeaders } from '../platform/http/cors.ts';
import { handle } from '../platform/http/endpoint.ts';
import { sendError } from '../platform/http/errors.ts';
import { isBodyEmpty, readText } from '../platform/http/reading.ts';
import type { Log } from '../platform/log.ts';
import type { Platform } from '../platform/platform.ts';
import { digest, isRandomSecret } from '../platform/secrets.ts';
import type { StepsReader } from '../signin/pages.ts';
import { createGuardedFetch, isPublicAddress } from '../websites/guarded-fetch.ts';
import { AccessTokens } from './access-tokens.ts';
import { ClientRequestRecorder, limitRequests } from './client-requests.ts';
import { applyClientRules, limitRegistrations, type RegistrationParts } from './client-rules.ts';
import { OpenIdClients } from './clients.ts';
import { type ConfigurationParts, configurationOf } from './configuration.ts';
import { endpointAt, type OpenIdEndpoint } from './endpoints.ts';
import { Connections, connectionEndpoints, keepLocale } from './grants.ts';
import { Interactions } from './interactions.ts';
import { ProviderKeys } from './keys.ts';
import { type Context, ProviderPages } from './pages.ts';
import { applyParameterRules } from './parameters.ts';
import { RecordsStore } from './store.ts';

type Needs = {
  events: EventRecorder;
  sendPage(response: ServerResponse, page: SignInPage, status?: number): void;
  /** Reads the steps of a sign-in's page. */
  steps: StepsReader;
};

/** OpenID Connect: the provider, its clients and the steps of a person. Nothing is loaded or read before the first request. */
export function createOpenId(platform: Platform, { events, sendPage, steps }: Needs) {
  const { config, core, database, limits, describeError, isLocal, publicUrl, secure, trustProxy, headers } = platform;
  const deviceOf = (request: IncomingMessage) => {
    const device = receivedCookies(request, secure).get('device');
    return isRandomSecret(device) ? digest(device) : undefined;
  };
  const keys = new ProviderKeys(platform);
  const store = new RecordsStore(core);
  const clients = new OpenIdClients({ core, isLocal });
  const pages = new ProviderPages(sendPage, describeError);
  const usesSystemLookup = (host: string) => isLocal && isThisMachine(host);
  const dns = openDns({ servers: config.dnsServers, isAllowedAddress: isPublicAddress, usesSystemLookup });
  const registration: RegistrationParts = {
    count: (limit, request) => limits.hit(limit, clientAddressOf(request, trustProxy)),
    isLocal,
    fetch: createGuardedFetch({ dns, isLocal }),
  };
  const provider = new OpenIdProvider({
    ...platform,
    events,
    keys,
    store,
    clients,
    pages,
    deviceOf,
    registration,
    limits: { pages, limits, clientAddressOf: (request) => clientAddressOf(request, trustProxy) },
  });
  const interactions = new Interactions({
    publicUrl,
    secure,
    core,
    store,
    sendPage,
    provider: async () => (await provider.current()).provider,
    cookiesOf: (request, response) => cookiesOf(request, response, secure),
    steps,
  });
  const listener = createOpenIdListener({
    publicUrl,
    origins: config.mcpOrigins,
    store,
    interactions,
    pages,
    headers,
    serving: () => provider.current(),
  });
  return {
    interactions,
    listener,
    accessTokens: new AccessTokens({ core, keys, issuer: publicUrl }),
    endpoints: [
      handle('decideInteraction', (input, { header }) => store.inRequest(() => interactions.decide(input, header('cookie')))),
      ...connectionEndpoints(new Connections(database)),
    ],
    jobs: [{ name: 'maintain-provider-keys', minute: 53, run: () => keys.maintain() }],
    /** Replaces old signing keys, and encrypts all of them with SECRET_KEY. */
    maintainKeys: () => keys.maintain(),
  };
}

type ListenerParts = {
  publicUrl: string;
  /** Whose pages may register clients. */
  origins: AllowedOrigins;
  serving(): Promise<Serving>;
  store: RecordsStore;
  interactions: Interactions;
  pages: ProviderPages;
  /** Headers of every response that is data. */
  headers: Record<string, string>;
};

const CONTENT_POLICY = "default-src 'none'; script-src 'none'; base-uri 'none'; frame-ancestors 'none'";

/** The requests of OpenID Connect and OAuth. */
export type OpenIdListener = {
  /** Returns the endpoint of the provider at a path, or null. */
  endpointAt(path: string): OpenIdEndpoint | null;
  /** Handles a request at an endpoint. @throws Fault method_not_allowed */
  handle(request: IncomingMessage, response: ServerResponse, endpoint: OpenIdEndpoint): Promise<void>;
};

/** Returns the listener of the endpoints of the provider, and of the pages of its interactions. */
function createOpenIdListener(parts: ListenerParts): OpenIdListener {
  const { protocol, host } = new URL(parts.publicUrl);
  // The hash of the script of a page that submits a form is added to script-src by oidc-provider.
  const headers = { ...parts.headers, 'Content-Security-Policy': CONTENT_POLICY };
  const cached = { ...headers, 'Cache-Control': 'public, max-age=300', 'Cross-Origin-Resource-Policy': 'cross-origin' };
  const headersAt = { discovery: cached, jwks: cached } as Record<string, Record<string, string>>;
  const forwarded = { 'x-forwarded-proto': protocol.slice(0, -1), 'x-forwarded-host': host };
  return {
    endpointAt,
    handle: (request, response, { name, methods, uid }) =>
      parts.store.inRequest(async () => {
        if (!methods.includes(request.method ?? '')) {
          response.setHeader('Allow', methods.join(', '));
          throw new Fault('method_not_allowed');
        }
        if (name === 'registration' && respondToPage(request, response, parts)) return;
        if (name === 'interaction' && !(await parts.interactions.open(request, response, uid ?? ''))) return;
        const { handle } = await parts.serving();
        // Every URL that the provider makes is one of PUBLIC_URL.
        Object.assign(request.headers, forwarded);
        // Some programs name a type for a body that they do not send.
        if (request.headers['content-type'] && (await isBodyEmpty(request))) delete request.headers['content-type'];
        // Of an aborted request, which is not readable, oidc-provider would warn that its body was parsed before.
        Object.defineProperty(request, 'readable', { value: true });
        for (const [header, value] of Object.entries(headersAt[name] ?? headers)) response.setHeader(header, value);
        await handle(request, response);
        parts.pages.sendPending(request, response);
      }),
  };
}

/** Sets the headers by which a page of another origin may register a client, and responds to its preflight, which oidc-provider does not. */
function respondToPage(request: IncomingMessage, response: ServerResponse, { origins, headers }: ListenerParts): boolean {
  const allowed = corsHeaders(request, origins);
  for (const [header, value] of Object.entries(allowed)) response.setHeader(header, value);
  if (request.method !== 'OPTIONS') return false;
  response.writeHead(204, { ...headers, ...allowed, ...(isPreflight(request, origins) && preflightHeaders(request, 'POST')) }).end();
  return true;
}

type ProviderParts = Omit<ConfigurationParts, 'salt'> & {
  log: Log;
  events: EventRecorder;
  limits: Parameters<typeof limitRequests>[1];
  keys: ProviderKeys;
};

type Library = typeof import('oidc-provider');

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
    const { publicUrl, log, pages } = this.#parts;
    const parts = { ...this.#parts, salt: () => this.#parts.keys.salt() };
    const currentRequest = (): IncomingMessage | undefined => Provider.ctx?.req;
    const clientSince = () => Provider.ctx?.oidc?.client?.clientIdIssuedAt;
    const jwks = { keys: keys.map((key) => ({ ...key })) as JWK[] };
    const provider = new Provider(publicUrl, configurationOf(parts, { errors, interactionPolicy, currentRequest, clientSince }, jwks));
    // The listener sets the forwarded headers itself, so that URLs come from PUBLIC_URL and never from the request.
    provider.proxy = true;
    provider.use((ctx, next) => next().catch((error) => pages.showFailure(ctx, error)));
    // Koa would write an error itself, without the headers of the service and beside the page of the request.
    provider.context.onerror = function (this: Context, error: unknown) {
      if (error && this.writable && !this.headerSent) sendError(this.res, pages.describe(this, error), {}, { oauth: true });
    };
    provider.use((ctx, next) => adjustResponse(pages, ctx, next));
    provider.on('server_error', (ctx, error) => {
      pages.describe(ctx, error);
      if (Object(ctx.body).error === 'server_error') pages.showFailure(ctx, error);
    });
    provider.on('backchannel.error', (_, error, { clientId }) =>
      log.warn({ clientId, reason: error.message }, 'a logout token was not accepted'),
    );
    this.#requests.observe(provider);
    applyClientRules(provider);
    applyParameterRules(provider, publicUrl, errors);
    keepLocale(provider);
    limitRegistrations(provider, this.#parts.registration);
    limitRequests(provider, this.#parts.limits);
    provider.use(redirectPosts);
    provider.use((ctx, next) => storeBeforeResponse(this.#parts, ctx, next));
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
  const name = endpointAt(ctx.path)?.name;
  if (name === 'discovery') Object.assign(ctx.body ?? {}, { subject_types_supported: ['pairwise'] });
  if (name !== 'end_session_confirm' || ctx.status !== 303) return;
  const url = ctx.response.get('Location');
  if (ctx.accepts('html', 'json') === 'json') ctx.body = { redirectUrl: url };
  else if (ctx.get('accept').includes('text/html') && new URL(url, ctx.origin).origin !== ctx.origin) pages.showLeaving(ctx, url);
  else return;
  ctx.status = 200;
  ctx.remove('Location');
}

/** The endpoints whose failures are pages for every browser. */
const WITH_PAGES: ReadonlySet<unknown> = new Set<OpenIdEndpoint['name']>(['authorization', 'resume', 'code_verification', 'device_resume']);

/** Stores what a request has changed, then lets it respond. When it cannot be stored, the response gives the browser nothing. */
async function storeBeforeResponse({ store, pages }: ProviderParts, ctx: Context, next: () => Promise<void>): Promise<void> {
  await next();
  try {
    await store.flush();
  } catch (error) {
    ctx.remove('Location');
    ctx.remove('Set-Cookie');
    pages.showFailure(ctx, error, WITH_PAGES.has(endpointAt(ctx.path)?.name) || undefined);
  }
}

/** The longest query to which a form is redirected, in bytes: proxies accept request lines of 8 KiB. */
const MAX_REDIRECTED_BYTES = 7_168;

/**
 * Redirects a form that is posted to an endpoint for browsers to the same endpoint by GET (OpenID Connect Core §3.1.2.1, RP-Initiated
 * Logout §2). A form of another site comes without the session, whose cookie is SameSite=Lax, and its redirect with it.
 * @throws Fault unsupported_media_type, too_large, bad_request
 */
async function redirectPosts(ctx: Context, next: () => Promise<void>): Promise<void> {
  const name = endpointAt(ctx.path)?.name;
  if (ctx.method !== 'POST' || (name !== 'authorization' && name !== 'end_session')) return next();
  if (ctx.get('content-type') && !ctx.is('application/x-www-form-urlencoded'))
    throw new Fault('unsupported_media_type', { message: 'The body must be a form.' });
  const query = String(new URLSearchParams(await readText(ctx.req)));
  if (query.length > MAX_REDIRECTED_BYTES)
    throw new Fault('too_large', { message: 'The parameters are too long for a redirect; push them to /oauth/par.' });
  ctx.redirect(`${ctx.path}?${query}`);
  ctx.status = 303;
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
