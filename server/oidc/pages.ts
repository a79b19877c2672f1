import type { IncomingMessage, ServerResponse } from 'node:http';
import { parse } from 'cookie';
import type { Client, Configuration, KoaContextWithOIDC, Provider } from 'oidc-provider';
import { type LanguageCode, languageOf, languages } from '../../contract/languages.ts';
import type { AuthorizationStep, SignInBoot, SignInPage } from '../../contract/pages.ts';
import { LANGUAGE_COOKIE } from '../../contract/remembered.ts';
import { hasOwnScheme } from '../../contract/rules.ts';
import { redirectHostOf } from '../signin/target.ts';
import { displayDomainOf } from '../websites/domains.ts';
import { clientKindOf } from './clients.ts';

/** The context of a request of Koa, on which oidc-provider is built. */
export type Context = Parameters<Parameters<Provider['use']>[0]>[0];

type Sources = NonNullable<Configuration['features']>;
type Failure = Extract<AuthorizationStep, { step: 'device_code' }>['failure'];

const MAX_NAME_LENGTH = 60;

/** The pages that oidc-provider shows itself: errors, sign-out and the device flow. They are sent once its cookies are set. */
export class ProviderPages {
  readonly #pending = new WeakMap<IncomingMessage, { page: SignInPage; status: number }>();
  readonly #send: (response: ServerResponse, page: SignInPage, status: number) => void;

  constructor(send: (response: ServerResponse, page: SignInPage, status: number) => void) {
    this.#send = send;
  }

  /** Sends the page of a request that oidc-provider has handled. Returns false when there is none. */
  sendPending(request: IncomingMessage, response: ServerResponse): boolean {
    const pending = this.#pending.get(request);
    if (pending) this.#send(response, pending.page, pending.status);
    return pending !== undefined;
  }

  /** Shows that a request was refused before oidc-provider handled it. */
  showError(ctx: Context, error: string, status: number): void {
    const step: AuthorizationStep = { step: 'error', error, description: null, reason: 'other' };
    const page: SignInPage = {
      language: pageLanguage(ctx.req, ctx.query.ui_locales),
      target: { kind: 'portal' },
      authorization: step,
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

  readonly renderError: Configuration['renderError'] = (ctx, { error, error_description }) => {
    const reason = error === 'invalid_client' ? 'client' : error === 'invalid_redirect_uri' ? 'redirect_uri' : 'other';
    const expired = ctx.oidc.route === 'resume' && error === 'invalid_request' && !ctx.oidc.client;
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
      userCodeInputSource: (ctx, form, _out, error) => {
        const userCode = (error as { userCode?: string } | undefined)?.userCode ?? null;
        this.#show(ctx, { step: 'device_code', form: formOf(form), userCode, failure: error ? failureOf(error) : null });
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
export function pageLanguage(request: IncomingMessage, uiLocales: unknown): LanguageCode {
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
  { clientId, clientName = clientId }: Pick<Client, 'clientId' | 'clientName'>,
  redirectUri: unknown,
  { interaction, onDevice }: { interaction: string; onDevice: boolean },
): Extract<SignInBoot['target'], { kind: 'application' }> {
  const uri = typeof redirectUri === 'string' ? redirectUri : clientKindOf(clientId) === 'website' ? clientId : '';
  const host = redirectHostOf(uri);
  const program = hasOwnScheme(uri) ? 'here' : onDevice ? 'elsewhere' : undefined;
  const name = clientName.slice(0, MAX_NAME_LENGTH);
  return { kind: 'application', name, host, displayHost: displayDomainOf(host) || host, ...(program && { program }), interaction };
}

/** Returns the action and the hidden fields of a form that oidc-provider made. */
function formOf(html: string): { action: string; fields: Record<string, string> } {
  const action = /action="([^"]*)"/.exec(html)?.[1] ?? '';
  const inputs = [...html.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)"/g)];
  return { action: new URL(action).pathname, fields: Object.fromEntries(inputs.map(([, name, value]) => [name, value])) };
}

const FAILURES: Record<string, Failure> = {
  NotFoundError: 'unknown',
  NoCodeError: 'unknown',
  ExpiredError: 'expired',
  AlreadyUsedError: 'used',
  AbortedError: 'aborted',
};

const failureOf = ({ name }: Error): Failure => FAILURES[name] ?? 'failed';
