import type { IncomingMessage, ServerResponse } from 'node:http';
import type { JWK, KoaContextWithOIDC, Provider } from 'oidc-provider';
import type { EventRecorder } from '../events/recorder.ts';
import type { DescribeError } from '../http/errors.ts';
import { FIRST_SCOPES } from '../http/errors.ts';
import { requestIdOf } from '../http/request-record.ts';
import type { Log } from '../log.ts';
import { keepLocale } from './claims.ts';
import { limitRegistrations } from './client-registration.ts';
import { ClientRequestRecorder } from './client-requests.ts';
import { applyClientRules } from './client-rules.ts';
import { type ConfigurationParts, configurationOf } from './configuration.ts';
import type { ProviderKeys } from './keys.ts';
import type { Context, ProviderPages } from './pages.ts';
import { limitRequests } from './request-limits.ts';

type Parts = Omit<ConfigurationParts, 'salt'> & {
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
export type Serving = { provider: Provider; handle(request: IncomingMessage, response: ServerResponse): Promise<void> };

/** The OpenID provider. oidc-provider is imported on first use, which the start of the service does not wait for. */
export class OpenIdProvider {
  readonly #parts: Parts;
  readonly #requests: ClientRequestRecorder;
  #library: Promise<Library> | undefined;
  #current: (Serving & { keys: readonly object[] }) | undefined;

  constructor(parts: Parts) {
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
