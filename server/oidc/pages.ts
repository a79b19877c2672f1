import type { IncomingMessage, ServerResponse } from 'node:http';
import { parse } from 'cookie';
import type { Configuration, KoaContextWithOIDC, Provider } from 'oidc-provider';
import type { Fault } from '../../contract/errors.ts';
import { type LanguageCode, languageOf, languages } from '../../contract/languages.ts';
import type { AuthorizationStep, SignInBoot, SignInPage } from '../../contract/pages.ts';
import { hasOwnScheme } from '../../contract/redirect-uris.ts';
import { LANGUAGE_COOKIE } from '../../contract/remembered.ts';
import { type DescribedError, type DescribeError, errorHeaders } from '../platform/http/errors.ts';
import { requestIdOf } from '../platform/http/request-record.ts';
import { redirectHostOf } from '../signin/destination.ts';
import type { PageRequest } from '../signin/pages.ts';
import { displayDomainOf } from '../websites/domains.ts';
import { clientNameOf } from './client-names.ts';
import { clientKindOf } from './clients.ts';
import { endpointAt, PATHS } from './endpoints.ts';

/** The context of a request of Koa, on which oidc-provider is built. */
export type Context = Parameters<Parameters<Provider['use']>[0]>[0];

type Sources = NonNullable<Configuration['features']>;
type Failure = Extract<AuthorizationStep, { step: 'device_code' }>['failure'];

/** The pages that oidc-provider shows itself: errors, sign-out and the device flow. They are sent once its cookies are set. */
export class ProviderPages {
  readonly #pending = new WeakMap<IncomingMessage, { page: SignInPage; status: number }>();
  readonly #described = new WeakMap<object, DescribedError>();
  readonly #send: (response: ServerResponse, page: SignInPage, status: number) => void;
  readonly #describe: DescribeError;

  constructor(send: (response: ServerResponse, page: SignInPage, status: number) => void, describeError: DescribeError) {
    this.#send = send;
    this.#describe = describeError;
  }

  /** Sends the page of a request that oidc-provider has handled, if it has one. */
  sendPending(request: IncomingMessage, response: ServerResponse): void {
    const pending = this.#pending.get(request);
    if (pending && !response.headersSent) this.#send(response, pending.page, pending.status);
  }

  /** Returns an error as the API reports it. An error of the service is logged once. */
  describe(ctx: Context, error: unknown): DescribedError {
    const key = Object(error);
    const described = this.#described.get(key) ?? this.#describe(error, endpointAt(ctx.path)?.name, requestIdOf(ctx.req));
    this.#described.set(key, described);
    return described;
  }

  /**
   * Responds to a request that failed in the service or was refused by it.
   * @param asPage with a page; else as RFC 6749 §5.2 says
   */
  showFailure(ctx: Context, error: unknown, asPage = ctx.accepts('json', 'html') === 'html'): void {
    const { fault, body } = this.describe(ctx, error);
    const { code, status, retryAfter, message } = fault;
    ctx.set(errorHeaders(fault));
    ctx.status = status;
    if (!asPage) {
      this.#pending.delete(ctx.req);
      ctx.respond = true;
      ctx.body = { error: oauthCodeOf(fault), error_description: message, reference: body.reference };
      return;
    }
    const page: SignInPage = {
      language: pageLanguage(ctx.req, ctx.query.ui_locales),
      target: { kind: 'portal' },
      error: { code, reference: body.reference, retryAfter },
      // Where the person can go on.
      ...(endpointAt(ctx.path)?.name === 'end_session_confirm' && { path: PATHS.end_session }),
    };
    this.#pending.set(ctx.req, { page, status });
    ctx.respond = false;
  }

  /** Shows where to go on after a sign-out by a form. */
  showLeaving(ctx: Context, url: string): void {
    const page: SignInPage = { language: pageLanguage(ctx.req, undefined), target: { kind: 'portal' }, leaving: { url } };
    this.#pending.set(ctx.req, { page, status: 200 });
    ctx.respond = false;
  }

  /** Returns whether a request that oidc-provider has handled had a user code that does not exist. */
  isWrongUserCode(request: IncomingMessage): boolean {
    const step = this.#pending.get(request)?.page.authorization;
    return step?.step === 'device_code' && step.failure === 'unknown';
  }

  readonly renderError: Configuration['renderError'] = (ctx, { error, error_description }, cause) => {
    if (error === 'server_error') return this.showFailure(ctx, cause, true);
    const { client, route } = ctx.oidc;
    const reason = error === 'invalid_client' ? 'client' : error === 'invalid_redirect_uri' ? 'redirect_uri' : 'other';
    // The browser has no session, another one than the page that it shows, or a form that was posted before.
    const expired = error === 'invalid_request' && (route === 'end_session_confirm' || (route === 'resume' && !client));
    const step: AuthorizationStep = expired
      ? { step: 'expired' }
      : { step: 'error', error, description: error_description ?? null, reason };
    this.#show(ctx, step, Math.max(ctx.status, 400));
  };

  readonly features: Pick<Sources, 'deviceFlow' | 'rpInitiatedLogout'> = {
    deviceFlow: {
      enabled: true,
      charset: 'base-20',
      mask: '****-****',
      deviceInfo: () => ({}),
      userCodeInputSource: (ctx, form, out, error) => {
        const { userCode = null } = (error ?? {}) as { userCode?: string };
        const failure = error ? FAILURES[error.name] : null;
        if (failure !== undefined) return this.#show(ctx, { step: 'device_code', form: formOf(form), userCode, failure });
        // oidc-provider has put the secret of another form into the session, and fails to store it for a browser that had no session.
        if (ctx.oidc.session?.exp === undefined) Object.assign(ctx.oidc.session ?? {}, { touched: false });
        if (error && out?.error === 'server_error') this.showFailure(ctx, error, true);
        else this.#show(ctx, { step: 'expired' }, Math.max(ctx.status, 400));
      },
      userCodeConfirmSource: (ctx, form, _client, _info, userCode) => {
        this.#show(ctx, { step: 'device_confirm', form: formOf(form), userCode });
      },
      successSource: (ctx) => this.#show(ctx, { step: 'device_done' }),
    },
    rpInitiatedLogout: {
      enabled: true,
      logoutSource: (ctx, form) => this.#show(ctx, { step: 'sign_out', form: formOf(form) }),
      postLogoutSuccessSource: (ctx) => this.#show(ctx, { step: 'signed_out' }),
    },
  };

  #show(ctx: KoaContextWithOIDC, step: AuthorizationStep, status = 200): void {
    const { client, params } = ctx.oidc;
    // The one of a request that was rejected may be of anyone.
    const redirectUri = step.step === 'error' && step.reason === 'redirect_uri' ? undefined : params?.redirect_uri;
    const onDevice = step.step.startsWith('device_');
    const page: SignInPage = {
      language: pageLanguage(ctx.req, params?.ui_locales),
      target: client ? applicationTarget(client, redirectUri, { interaction: '', onDevice }) : { kind: 'portal' },
      authorization: step,
    };
    this.#pending.set(ctx.req, { page, status });
    ctx.respond = false;
  }
}

/**
 * Returns the language of a page: the one chosen on it or on an earlier one, else the first known one of `ui_locales` (OpenID
 * Connect Core §3.1.2.1).
 */
export function pageLanguage(request: PageRequest, uiLocales: unknown): LanguageCode {
  // Of a request that is rejected, so that its query may be malformed.
  const chosen = new URLSearchParams(request.url?.split('?')[1]).get('language') ?? parse(request.headers.cookie ?? '')[LANGUAGE_COOKIE];
  if (chosen !== undefined) return languageOf(chosen);
  const requested = typeof uiLocales === 'string' ? uiLocales.split(' ').map((tag) => tag.split('-')[0].toLowerCase()) : [];
  const known = requested.find((tag) => languages.some(({ code }) => code === tag));
  return languageOf(known);
}

/**
 * Returns what the sign-in page shows of a client: of its redirect URIs only the one in use, which for a website is on its own host.
 * @param request.onDevice a device began it (RFC 8628), without a redirect URI
 */
export function applicationTarget(
  { clientId, clientName = clientId }: { clientId: string; clientName?: string },
  redirectUri: unknown,
  { interaction, onDevice }: { interaction: string; onDevice: boolean },
): Extract<SignInBoot['target'], { kind: 'application' }> {
  const isWebsite = clientKindOf(clientId) === 'website';
  const uri = typeof redirectUri === 'string' ? redirectUri : isWebsite ? clientId : '';
  const host = redirectHostOf(uri);
  const program = hasOwnScheme(uri) ? 'here' : onDevice ? 'elsewhere' : undefined;
  const name = isWebsite ? clientName : (clientNameOf(clientName, [host]) ?? (host || clientId));
  return {
    kind: 'application',
    name,
    host,
    displayHost: (program !== 'here' && displayDomainOf(host)) || host,
    ...(program && { program }),
    interaction,
  };
}

/** Returns the action and the hidden fields of a form that oidc-provider made. */
function formOf(html: string): { action: string; fields: Record<string, string> } {
  const action = /action="([^"]*)"/.exec(html)?.[1] ?? '';
  const inputs = [...html.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)"/g)];
  return { action: new URL(action).pathname, fields: Object.fromEntries(inputs.map(([, name, value]) => [name, value])) };
}

const FAILURES: Record<string, Failure | undefined> = {
  NotFoundError: 'unknown',
  NoCodeError: 'unknown',
  ExpiredError: 'expired',
  AlreadyUsedError: 'used',
  AbortedError: 'aborted',
};

/** Returns the code of RFC 6749 §4.1.2.1 for an error. */
function oauthCodeOf({ code, status }: Fault): string {
  if (status < 500 && code !== 'rate_limited') return 'invalid_request';
  return code === 'internal' ? 'server_error' : 'temporarily_unavailable';
}
