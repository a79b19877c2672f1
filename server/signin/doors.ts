import type { IncomingMessage, ServerResponse } from 'node:http';
import accepts from 'accepts';
import type { CallName } from '../../contract/calls.ts';
import { Fault } from '../../contract/errors.ts';
import { type LanguageCode, languageOf } from '../../contract/languages.ts';
import { type PageCall, SIGN_IN_PATHS, type SignInPage, VERIFICATION_FIELD } from '../../contract/pages.ts';
import { WEB_CLIENT_ID } from '../../contract/pkce.ts';
import type { DestinationParameters } from '../../contract/signin.ts';
import { isApplicationId } from '../developers/applications.ts';
import { browserOf, clearSession, forgetAccount, forgetKey, rememberAccount, rememberedKeyOf, setSession } from '../developers/browser.ts';
import type { Sessions } from '../developers/sessions.ts';
import { type Addition, type Endpoint, handle, type Listener, type RequestSource } from '../platform/http/endpoint.ts';
import { requireOwnForm } from '../platform/http/protection.ts';
import { bearerOf, inAscii, queryTextOf, readBody } from '../platform/http/reading.ts';
import { countSignIn } from '../platform/metrics/metrics.ts';
import { digest } from '../platform/secrets.ts';
import type { OwnAttempts } from './attempts.ts';
import { pageAddress, pageUrl } from './destination.ts';
import { isPageCall, type Next, type SignInMachine, textOf } from './machine.ts';
import type { SignInCodes } from './methods/code.ts';
import type { SignInLinks } from './methods/link.ts';
import type { QuickLogins } from './methods/quick-login.ts';
import { type OAuth, tokenResponse } from './oauth.ts';
import { type PasskeyOffers, respondToProof } from './opener.ts';
import { destinationOf, isPage, type PageQuery, type PageRequest, queryOfPage, type SignInPages } from './pages.ts';
import type { PortalSessions } from './portal.ts';
import { forgetRefusal, rememberRefusal, rememberRequest, type SignInRequests } from './request.ts';

/** The flows of signing in. */
type SignIn = {
  requests: SignInRequests;
  ownAttempts: OwnAttempts;
  links: SignInLinks;
  codes: SignInCodes;
  quickLogins: QuickLogins;
  oauth: OAuth;
  sessions: Sessions;
  portalSessions: PortalSessions;
  passkeys: PasskeyOffers;
  emailVerification: { refuseVerifiable(input: { email: string; verifiable?: boolean }): Promise<void> };
};

/** Binds the calls of signing in. */
export function signInEndpoints({
  requests,
  ownAttempts,
  links,
  codes,
  quickLogins,
  oauth,
  sessions,
  portalSessions,
  passkeys,
  emailVerification,
}: SignIn): Endpoint[] {
  return [
    handle('domainAuth', async (input, caller) => {
      await emailVerification.refuseVerifiable(input);
      const browser = browserOf(caller, 'renew');
      rememberRequest(caller.cookies, browser);
      return rememberRefusal(caller.cookies, input, () => requests.start(input, browser));
    }),
    handle('attempt', async (input, caller) => {
      const { attempt, device } = browserOf(caller);
      return { status: await ownAttempts.status({ attempt: digest(attempt), device: digest(device) }, input) };
    }),
    handle('confirmLink', async (input, caller) => {
      // A sign-in to an application remembers nothing in this browser: its own program continues.
      const redirectUrl = await oauth.confirmLink(input);
      if (redirectUrl) return { redirectUrl };
      const browser = browserOf(caller);
      const opened = await countSignIn('confirmed_link', links.confirm(input, browser));
      return respondToProof(passkeys, caller.cookies, opened, browser, { offers: false });
    }),
    handle('confirmBrowser', async (input, caller) => {
      await links.confirmBrowser(input, browserOf(caller, 'renew'));
      forgetRefusal(caller.cookies);
      return { success: true };
    }),
    handle('emailCode', async (input, caller) => {
      const browser = browserOf(caller);
      const entered = await countSignIn(input.code.method, codes.enter(input, browser));
      return 'code' in entered ? entered : respondToProof(passkeys, caller.cookies, entered, browser);
    }),
    handle('authorize', async ({ email, language, verifiable, ...input }, caller) => {
      await emailVerification.refuseVerifiable({ email, verifiable });
      const browser = browserOf(caller, 'renew');
      const request = () => oauth.authorize({ email, language, ...input }, browser);
      if (input.client_id !== WEB_CLIENT_ID) return request();
      rememberRequest(caller.cookies, browser);
      return rememberRefusal(caller.cookies, { email, language }, request);
    }),
    handle('token', async (input, caller) => {
      if (isApplicationId(input.client_id)) return countSignIn('application', oauth.exchangeForApplication(input));
      const browser = browserOf(caller, 'renew');
      const session = await countSignIn('developer', oauth.exchange(input, browser));
      setSession(caller.cookies, session);
      const passkey =
        input.client_id === WEB_CLIENT_ID ? await passkeys.offer(caller.cookies, { email: session.email, device: browser.device }) : null;
      return { ...tokenResponse(session, input.client_id, browser), ...(passkey && { passkey }) };
    }),
    handle('validateKey', async (input, caller) => {
      const { email, authKey, redirectUrl } = await countSignIn('remembered_account', quickLogins.login(input, browserOf(caller, 'renew')));
      if (authKey !== null) rememberAccount(caller.cookies, email, authKey);
      return { redirectUrl, ...(authKey !== null && authKey !== input.key && { key: authKey }) };
    }),
    handle('tokenLogin', async (input, caller) => {
      const signedIn = await sessions.signedInBy(caller.cookies.get('sid'));
      const session = await countSignIn('portal_token', portalSessions.tokenLogin(input, browserOf(caller, 'renew'), signedIn));
      setSession(caller.cookies, session);
      return { success: true, email: session.email };
    }),
    handle('session', async (_input, { cookies }) => {
      const user = await sessions.signedInBy(cookies.get('sid'));
      return { user: user && { id: user.id, email: user.email, name: user.name } };
    }),
    handle('logout', async (_input, { cookies, header }) => {
      const wasApplication = await sessions.logout(bearerOf(header('authorization')) ?? cookies.get('sid'), cookies.get('device'));
      if (!wasApplication) clearSession(cookies);
      return { success: true };
    }),
  ];
}

type Parts = {
  publicUrl: string;
  origins: ReadonlySet<string>;
  machine: SignInMachine;
  pages: SignInPages;
  /** Voids the key of a remembered account. @param device the cookie of the browser */
  forgetKey(email: string, device: string | undefined): Promise<void>;
  sourceOf(request: IncomingMessage, response: ServerResponse): RequestSource;
  sendPage(response: ServerResponse, page: SignInPage, status?: number): void;
  /** Headers of the redirects. */
  headers: Record<string, string>;
};

/** A form post: the page that it belongs to, and what it contains. */
type Post = {
  /** The request, with the address of the page. */
  request: PageRequest;
  source: RequestSource;
  query: PageQuery;
  language: LanguageCode;
  /** What the calls of the page are sent with. */
  destination: DestinationParameters | null;
  /** The authorization request that the page belongs to. */
  uid: string | undefined;
  fields: Record<string, unknown>;
};

/** A form: the page that has it, and the call that it makes of its fields; one without a call has a method of its own. */
type Form = { page: 'address' | 'code' | 'consent' | 'link'; call?: PageCall; inputOf?(post: Post): Record<string, unknown> };

const requestInput = ({ fields: { email }, destination, language }: Post) => ({ email, ...destination, language });

const FORMS = {
  address: { page: 'address', call: 'domainAuth', inputOf: requestInput },
  account: { page: 'address' },
  forget: { page: 'address' },
  code: { page: 'code', call: 'emailCode', inputOf: ({ fields: { email, code } }) => ({ email, code }) },
  resend: { page: 'code', call: 'domainAuth', inputOf: requestInput },
  consent: { page: 'consent', call: 'decideInteraction', inputOf: ({ fields: { decision }, uid }) => ({ uid, decision }) },
  link: { page: 'link', call: 'confirmLink', inputOf: ({ fields: { email }, query: { t } }) => ({ t, email }) },
  browser: { page: 'link', call: 'confirmBrowser', inputOf: ({ fields: { email }, query: { t, code } }) => ({ t: t ?? code, email }) },
} as const satisfies Record<string, Form>;

type FormPath = keyof typeof FORMS;

/** Matches the preference `page`; group 1 is the address of the page, as path and query in ASCII. */
const PREFERRED = /(?:^|,)\s*page\s*=\s*"(\/(?!\/)[\x21\x23-\x5b\x5d-\x7e]{0,8000})"/i;

/** The path of a form: that of its page, and its name but for that of step 1. */
const PATH = /^(?:\/(?:domain-)?auth|\/oauth\/interaction\/([A-Za-z0-9_-]{21,64}))(?:\/([a-z]+))?\/?$/;

/**
 * The requests of a sign-in's pages. A form without a script is posted below the path of its page, and gets a redirect or a page. A call
 * of a page's script gets the next page beside its own response.
 */
export class SignInDoors {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Returns the listener of a form, or of the address of a form that is opened as a page; undefined for any other path. */
  formAt(method: string | undefined, path: string): Listener | undefined {
    const [isForm, uid, name = 'address'] = PATH.exec(path) ?? [];
    if (isForm === undefined || !isFormPath(name)) return undefined;
    const { page } = FORMS[name];
    const isOnPage = page === 'consent' ? uid !== undefined : page !== 'link' || uid === undefined;
    if (!isOnPage) return undefined;
    if (method === 'POST') return (request, response) => this.#receive(request, response, uid, name);
    const isPage = name === 'address' || name === 'link';
    // A browser may open the address of a form after a refused post.
    return method === 'GET' && !isPage ? async (request, response) => this.#redirect(response, urlOfPage(request, uid, name)) : undefined;
  }

  /**
   * Opens the link of an email: the listener of GET /auth/link?t=…, the only GET that consumes anything, and only in the browser that
   * requested the email. HEAD, prefetches and every other browser get a page.
   */
  openLink: Listener = async (request, response) => {
    const { sourceOf, headers, machine, sendPage } = this.#parts;
    const mayOpen = request.method === 'GET' && !isPrefetch(request);
    const next = await machine.openLink(request, sourceOf(request, response), mayOpen);
    if ('page' in next) return sendPage(response, next.page);
    response.writeHead(303, { ...headers, Location: next.leave, 'Content-Length': 0 }).end();
  };

  /** Returns what adds the next page to the response of a call, for the script of a page: `Prefer: page="ADDRESS"` (RFC 7240 §2). */
  additionTo(name: CallName, { headers }: IncomingMessage): Addition | null {
    const url = PREFERRED.exec(headers.prefer?.toString() ?? '')?.[1];
    if (url === undefined || !isPageCall(name) || !isPage(url)) return null;
    return async (source, call) => {
      const request: PageRequest = { headers, url, ofCall: true };
      const next = await this.#parts.machine.follow(request, source, name, call);
      if (!next || 'leave' in next) return next;
      if ('page' in next) return { page: next.page };
      return { page: (await this.#parts.pages.at(request, source.cookies, { step: 'code', email: next.codeFor })).page };
    };
  }

  /**
   * Handles a form post.
   * @throws Fault foreign_origin, and those of readBody
   */
  async #receive(request: IncomingMessage, response: ServerResponse, uid: string | undefined, name: FormPath): Promise<void> {
    const ofPage = { headers: request.headers, url: pageOfForm(request, uid, name) };
    const query = queryOfPage(ofPage);
    const source = this.#parts.sourceOf(request, response);
    requireOwnForm(request, this.#parts.origins);
    const fields = await readBody(request, true);
    const language = languageOf(query.language);
    const post = { request: ofPage, source, query, language, destination: destinationOf(uid, query), uid, fields };
    const skips = name === 'browser' && fields.skip !== undefined;
    if (name !== 'forget' && !skips) {
      this.#show(request, response, post, await this.#act(name, post));
      return;
    }
    if (skips) forgetRefusal(source.cookies);
    else await this.#forget(post);
    this.#redirect(response, urlOfPage(request, uid, name));
  }

  #act(name: Exclude<FormPath, 'forget'>, post: Post): Promise<Next> {
    if (name === 'account') return this.#signInAgain(post);
    return name === 'address' ? this.#begin(post) : this.#call(name, post);
  }

  async #call(name: Exclude<FormPath, 'account' | 'forget'>, post: Post): Promise<Next> {
    const { call, inputOf } = FORMS[name];
    const next = await this.#parts.machine.act(post.request, post.source, call, inputOf(post));
    // A browser was confirmed whose refusal has expired.
    return next ?? { leave: pageUrl({}, post.language) };
  }

  /** Signs in with the token of the browser, or requests an email. */
  async #begin(post: Post): Promise<Next> {
    const { request, source, destination, fields } = post;
    const { email, [VERIFICATION_FIELD]: token } = fields;
    const verified = token ? await this.#parts.machine.act(request, source, 'verifiedEmailSignIn', { email, token, ...destination }) : null;
    return verified && 'leave' in verified ? verified : this.#call('address', post);
  }

  /** Signs in with a remembered account. One that does not meet the conditions of the website or application only fills in its address. */
  async #signInAgain({ request, source, destination, fields }: Post): Promise<Next> {
    const { machine, pages } = this.#parts;
    const { cookies } = source;
    const email = textOf(fields.email);
    const shown = await pages.at(request, cookies, { step: 'address', email });
    const { oneClick } = shown.page.steps ?? {};
    if (oneClick && !oneClick.includes(email)) return shown;
    const key = rememberedKeyOf(cookies, email);
    if (!key) return machine.refuse(request, source, 'account', { email }, { code: 'no_saved_login', status: 400 });
    const next = await machine.act(request, source, 'validateKey', { email, key, ...destination });
    if (next && 'page' in next && next.status === 401) forgetKey(cookies, email);
    return next ?? shown;
  }

  async #forget({ source: { cookies }, fields }: Post): Promise<void> {
    const email = textOf(fields.email);
    await this.#parts.forgetKey(email, cookies.get('device'));
    forgetAccount(cookies, email);
  }

  /**
   * Goes on after a form post: with a page, or a redirect to a page with an address of its own.
   * @throws Fault why the form was refused, for a client that wants JSON, or when the form was changed
   */
  #show(request: IncomingMessage, response: ServerResponse, post: Post, next: Next): void {
    if ('leave' in next) {
      this.#leave(response, post, next.leave);
      return;
    }
    if ('codeFor' in next) {
      this.#redirect(response, pageUrl({ interaction: post.uid, ...post.query }, post.language, 'code'));
      return;
    }
    const { page, status, fault } = next;
    const { failure } = page;
    if (fault && (prefersJson(request) || (failure?.form === 'consent' && status === 400))) throw fault;
    if (failure?.retryAfter) response.setHeader('Retry-After', String(failure.retryAfter));
    this.#parts.sendPage(response, page, status);
  }

  /**
   * Goes to where a sign-in leads. A redirect to another origin would be blocked by `form-action` of the page's policy, and an
   * authorization request continues there, so that a page goes on instead.
   */
  #leave(response: ServerResponse, { uid, language }: Post, url: string): void {
    const { publicUrl, sendPage } = this.#parts;
    if (!URL.canParse(url, publicUrl)) throw new Fault('internal');
    const { origin, hostname } = new URL(url, publicUrl);
    const host = uid ? '' : hostname;
    const target = { kind: 'site', host, displayHost: host, iconUrl: null } as const;
    if (origin === publicUrl && !uid) this.#redirect(response, url);
    else sendPage(response, { language, target, leaving: { url } });
  }

  #redirect(response: ServerResponse, url: string): void {
    response.writeHead(303, { ...this.#parts.headers, Location: inAscii(url), 'Content-Length': 0 }).end();
  }
}

const isFormPath = (name: string): name is FormPath => Object.hasOwn(FORMS, name);

/** Returns the URL of the page to which a form belongs, with the query of the form. */
function pageOfForm(request: IncomingMessage, uid: string | undefined, name: FormPath): string {
  const query = queryTextOf(request);
  const { page } = FORMS[name];
  // The link of the portal has its secret as an authorization code.
  if (page === 'link') return `${queryOfPage(request).code === undefined ? SIGN_IN_PATHS.link : SIGN_IN_PATHS.callback}?${query}`;
  return `${pageAddress({ interaction: uid }, '').path}?${query}${page === 'code' ? '&step=code' : ''}`;
}

/** Returns the URL at which the page of a form is opened. */
function urlOfPage(request: IncomingMessage, uid: string | undefined, name: FormPath): string {
  const { page } = FORMS[name];
  if (page === 'link') return pageOfForm(request, uid, name);
  const query = queryOfPage(request);
  return pageUrl({ interaction: uid, ...query }, languageOf(query.language), page === 'code' ? 'code' : undefined);
}

function isPrefetch({ headers }: IncomingMessage): boolean {
  const purpose = `${headers['sec-purpose'] ?? ''} ${headers.purpose ?? ''} ${headers['x-purpose'] ?? ''} ${headers['x-moz'] ?? ''}`;
  return /prefetch|prerender|preview/i.test(purpose);
}

/** Returns whether a client wants JSON rather than a page. */
const prefersJson = (request: IncomingMessage): boolean => accepts(request).type(['html', 'json']) === 'json';
