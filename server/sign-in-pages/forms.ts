import type { IncomingMessage, ServerResponse } from 'node:http';
import { Fault } from '../../contract/errors.ts';
import { type LanguageCode, languageOf } from '../../contract/languages.ts';
import { type FormFailure, type FormName, type RequiredPasskey, type SignInPage, VERIFICATION_FIELD } from '../../contract/pages.ts';
import type { Output, RouteName } from '../../contract/routes.ts';
import { CODE_DIGITS, readCode } from '../../contract/rules.ts';
import { type BrowserRequest, forgetAccount, forgetKey, rememberedKeyOf } from '../accounts/browser.ts';
import type { DescribedError } from '../http/errors.ts';
import { type InvokeSettings, invoke, type Listener, type Served } from '../http/invoke.ts';
import { requireOwnForm } from '../http/protection.ts';
import { inAscii, queryOf, queryTextOf, readBody } from '../http/reading.ts';
import { forgetRefusal, refusalOf } from '../signin/request.ts';
import {
  baseOf,
  destinationOf,
  type PageQuery,
  type Posted,
  pageOfRefusal,
  pageQuery,
  prefersJson,
  SIGN_IN,
  type SignInPages,
  withoutEmptyUrl,
} from './pages.ts';

type Parts = {
  publicUrl: string;
  origins: ReadonlySet<string>;
  call: FormCall;
  pages: Pick<SignInPages, 'read' | 'readLink' | 'targetOf'>;
  /** Returns the page of an authorization request. */
  interactionPage(request: IncomingMessage, uid: string, posted?: Posted): Promise<{ page: SignInPage; status: number }>;
  /** Voids the key of a remembered account. @param device the cookie of the browser */
  forgetKey(email: string, device: string | undefined): Promise<void>;
  browserRequestOf(request: IncomingMessage, response: ServerResponse): BrowserRequest;
  sendPage(response: ServerResponse, page: SignInPage, status?: number): void;
  /** Headers of the redirects. */
  headers: Record<string, string>;
};

/** A form post: the page that it belongs to, and what it contains. */
type Post = {
  request: IncomingMessage;
  response: ServerResponse;
  browser: BrowserRequest;
  /** The authorization request that the page belongs to. */
  uid: string | undefined;
  query: PageQuery;
  language: LanguageCode;
  fields: Record<string, unknown>;
};

const PATH =
  /^(?:\/(?:domain-)?auth|\/oauth\/interaction\/([A-Za-z0-9_-]{21,64}))(?:\/(code|resend|account|forget|consent|link|browser))?\/?$/;

/**
 * The forms of the sign-in pages, for browsers without a script. Each makes the call of the API that the script makes, and responds
 * with a redirect to the next page, or with its own page again and the error.
 */
export class SignInForms {
  readonly #parts: Parts;
  readonly #forms: Record<string, (post: Post) => Promise<void>> = {
    address: (post) => this.#requestEmail(post, 'address'),
    code: (post) => this.#enterCode(post),
    resend: (post) => this.#requestEmail(post, 'resend'),
    account: (post) => this.#signInAgain(post),
    forget: (post) => this.#forget(post),
    consent: (post) => this.#decide(post),
    link: (post) => this.#confirmLink(post),
    browser: (post) => this.#confirmBrowser(post),
  };

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Returns the listener of a form, or of the address of a form that is opened as a page; undefined for any other path. */
  at(method: string | undefined, path: string): Listener | undefined {
    const [, uid, name = 'address'] = PATH.exec(path) ?? [];
    if (!PATH.test(path) || (name === 'consent') > (uid !== undefined) || (isOfLink(name) && uid !== undefined)) return undefined;
    if (method === 'POST') return (request, response) => this.#handle(request, response, uid, name);
    const isPage = name === 'address' || name === 'link';
    return method === 'GET' && !isPage ? (request, response) => this.#openPage(request, response, uid, name) : undefined;
  }

  /**
   * Handles a form post.
   * @throws Fault foreign_origin, and those of readBody
   */
  async #handle(request: IncomingMessage, response: ServerResponse, uid: string | undefined, name: string): Promise<void> {
    const query = withoutEmptyUrl(queryOf(request));
    const browser = this.#parts.browserRequestOf(request, response);
    const post = { request, response, browser, uid, query, language: languageOf(query.language), fields: {} };
    requireOwnForm(request, this.#parts.origins);
    await this.#forms[name]({ ...post, fields: await readBody(request, true) });
  }

  /** Redirects to the page of a form: a browser may open the address of the form after a refused post. */
  async #openPage(request: IncomingMessage, response: ServerResponse, uid: string | undefined, name: string): Promise<void> {
    const query = withoutEmptyUrl(queryOf(request));
    if (name === 'browser') {
      const { path } = await this.#parts.pages.readLink(query, this.#parts.browserRequestOf(request, response).cookies);
      return this.#redirect(response, path + searchOf(request));
    }
    const step = name === 'code' || name === 'resend' ? 'code' : undefined;
    this.#redirect(response, baseOf(uid) + pageQuery(query, languageOf(query.language), step));
  }

  async #requestEmail(post: Post, form: 'address' | 'resend'): Promise<void> {
    const { browser, fields, language, query, response, uid } = post;
    const verifiedUrl = form === 'address' ? await this.#signInVerified(post) : null;
    if (verifiedUrl !== null) return this.#redirectTo(post, verifiedUrl);
    const { error } = await this.#parts.call('domainAuth', { email: fields.email, ...destinationOf(uid, query), language }, browser);
    const step = form === 'address' ? 'address' : 'code';
    if (error) return this.#refuse(post, form, error, { step, email: textOf(fields.email) });
    this.#redirect(response, baseOf(uid) + pageQuery(query, language, 'code'));
  }

  /** Signs in with the token of the browser. Returns where the sign-in leads, or null when the form has none that verifies the address. */
  async #signInVerified(post: Post): Promise<string | null> {
    const { fields, uid, query } = post;
    const { email, [VERIFICATION_FIELD]: token } = fields;
    if (!token) return null;
    const { output } = await this.#parts.call('verifiedEmailSignIn', { email, token, ...destinationOf(uid, query) }, post.browser);
    return output?.redirectUrl ?? null;
  }

  async #enterCode(post: Post): Promise<void> {
    const { email, code } = post.fields;
    const { output, error } = await this.#parts.call('emailCode', { email, code }, post.browser);
    const { digits: typed } = readCode(textOf(code));
    if (error) return this.#refuse(post, 'code', error, { step: 'code', email: textOf(email), typed });
    if ('code' in output) throw new Fault('internal');
    return this.#showOutcome(post, output);
  }

  async #signInAgain(post: Post): Promise<void> {
    const { browser, query, request, response, uid } = post;
    const { cookies } = browser;
    const email = textOf(post.fields.email);
    const posted: Posted = { step: 'address', email };
    if (uid || query.max_age !== undefined || query.require !== undefined) {
      // The website or application may ask for a newer proof of the address, so that the account only fills it in.
      const { page, status } = uid
        ? await this.#parts.interactionPage(request, uid, posted)
        : { page: await this.#ownPage(post, posted), status: 200 };
      if (page.steps?.oneClick && !page.steps.oneClick.includes(email)) return this.#parts.sendPage(response, page, status);
    }
    const key = rememberedKeyOf(cookies, email);
    if (!key) return this.#show(post, { form: 'account', code: 'no_saved_login' }, posted, 400);
    const { output, error } = await this.#parts.call('validateKey', { email, key, ...destinationOf(uid, query) }, browser);
    if (output) return this.#redirectTo(post, output.redirectUrl);
    if (error.fault.status === 401) forgetKey(cookies, email);
    return this.#refuse(post, 'account', error, posted);
  }

  async #forget({ browser, fields, language, query, response, uid }: Post): Promise<void> {
    const email = textOf(fields.email);
    await this.#parts.forgetKey(email, browser.cookies.get('device'));
    forgetAccount(browser.cookies, email);
    this.#redirect(response, baseOf(uid) + pageQuery(query, language));
  }

  /** @throws Fault bad_request */
  async #decide(post: Post): Promise<void> {
    const { uid, fields, browser } = post;
    const { output, error } = await this.#parts.call('decideInteraction', { uid, decision: fields.decision }, browser);
    // A decision that the page does not offer: the form was changed.
    if (error?.fault.status === 400) throw error.fault;
    if (error) return this.#refuse(post, 'consent', error, { step: 'address', email: '' });
    this.#redirectTo(post, output.redirectUrl);
  }

  async #confirmLink(post: Post): Promise<void> {
    const { email } = post.fields;
    const { output, error } = await this.#parts.call('confirmLink', { t: post.query.t, email }, post.browser);
    if (error) return this.#refuse(post, 'link', error, { step: 'address', email: textOf(email) });
    return this.#showOutcome(post, output);
  }

  /** Confirms the browser by the link of its page, or shows the page without that offer. */
  async #confirmBrowser(post: Post): Promise<void> {
    const { browser, fields, language, query, request, response } = post;
    if (fields.skip !== undefined) {
      const { path } = await this.#parts.pages.readLink(query, browser.cookies);
      forgetRefusal(browser.cookies);
      return this.#redirect(response, path + searchOf(request));
    }
    const refusal = refusalOf(browser.cookies);
    const { error } = await this.#parts.call('confirmBrowser', { t: query.t ?? query.code, email: fields.email }, browser);
    if (error) return this.#refuse(post, 'browser', error, { step: 'address', email: textOf(fields.email) });
    this.#redirect(response, refusal ? pageOfRefusal(refusal) : SIGN_IN + pageQuery({}, language));
  }

  /** Shows the page of a refused form again. @throws Fault the reason, for a client that wants JSON */
  async #refuse(post: Post, form: FormName, { fault }: DescribedError, posted: Posted): Promise<void> {
    if (prefersJson(post.request)) throw fault;
    if (fault.retryAfter) post.response.setHeader('Retry-After', String(fault.retryAfter));
    const typed = fault.code === 'bad_request' && (posted.typed ?? '').length < CODE_DIGITS ? posted.typed : undefined;
    return this.#show(post, { form, code: fault.code, field: fault.field, retryAfter: fault.retryAfter, typed }, posted, fault.status);
  }

  /** Sends the page of a form again, with what was typed and the reason why it was refused. */
  async #show({ request, response, browser, uid, query }: Post, failure: FormFailure, posted: Posted, status: number): Promise<void> {
    const { pages, interactionPage, sendPage } = this.#parts;
    const step = posted.step === 'code' ? 'code' : undefined;
    if (isOfLink(failure.form)) {
      const page = await pages.readLink(query, browser.cookies);
      return sendPage(response, { ...page, failure: { ...failure, typed: posted.email } }, status);
    }
    const page = uid ? (await interactionPage(request, uid, posted)).page : await pages.read(request, browser.cookies, posted);
    const needsScript = failure.code === 'bad_code' && typeof page.steps?.attempt?.state === 'string';
    const code = needsScript ? 'needs_script' : failure.code;
    const search = pageQuery(query, page.language, step);
    sendPage(response, { ...page, path: baseOf(uid), search, failure: { ...failure, code } }, status);
  }

  /** Returns the page of a form, at its own path. */
  async #ownPage({ request, browser, query, language }: Post, posted: Posted): Promise<SignInPage> {
    const page = await this.#parts.pages.read(request, browser.cookies, posted);
    return { ...page, path: SIGN_IN, search: pageQuery(query, language) };
  }

  /** Goes to where a sign-in leads, or shows the page on which the visitor has to add a passkey. */
  async #showOutcome(post: Post, output: { redirectUrl: string } | { addPasskey: RequiredPasskey }): Promise<void> {
    if ('redirectUrl' in output) return this.#redirectTo(post, output.redirectUrl);
    const { forwardUrl } = output.addPasskey;
    const { pages, interactionPage, sendPage } = this.#parts;
    const { uid, request, response, language } = post;
    const target = uid ? (await interactionPage(request, uid)).page.target : await pages.targetOf(forwardUrl);
    sendPage(response, { language, target, addPasskey: output.addPasskey });
  }

  /**
   * Goes to where a sign-in leads. A redirect to another origin would be blocked by `form-action` of the page's policy, and an
   * authorization request continues there, so that a page goes on instead.
   */
  #redirectTo({ response, uid, language }: Post, url: string): void {
    const { publicUrl, sendPage } = this.#parts;
    if (!URL.canParse(url, publicUrl)) throw new Fault('internal');
    const { origin, hostname } = new URL(url, publicUrl);
    if (origin === publicUrl && !uid) {
      this.#redirect(response, url);
      return;
    }
    const target = { kind: 'site', host: uid ? '' : hostname, displayHost: uid ? '' : hostname, iconUrl: null } as const;
    sendPage(response, { language, target, leaving: { url } });
  }

  #redirect(response: ServerResponse, url: string): void {
    response.writeHead(303, { ...this.#parts.headers, Location: inAscii(url), 'Content-Length': 0 }).end();
  }
}

/** Whether a form is on the page of an emailed link. */
const isOfLink = (form: string): form is 'link' | 'browser' => form === 'link' || form === 'browser';

function searchOf(request: IncomingMessage): string {
  const query = queryTextOf(request);
  return query && `?${query}`;
}

const textOf = (field: unknown) => (typeof field === 'string' ? field.slice(0, 512) : '');

/** Makes a call of the API for a form post, with the cookies of its browser. Never rejects. */
type FormCall = <Name extends RouteName>(
  name: Name,
  input: Record<string, unknown>,
  browser: BrowserRequest,
) => Promise<{ output: Output<Name>; error: null } | { output: null; error: DescribedError }>;

/** Returns the calls of the API as forms make them: with the same schemas, limits and time limits as over HTTP, and without an account. */
export function createFormCall(served: readonly Served[], settings: InvokeSettings): FormCall {
  const servedByName = new Map(served.map((each) => [each.name, each]));
  return async (name, input, browser) => {
    const found = servedByName.get(name);
    if (!found) throw new Error(`There is no call ${name}.`);
    const call = {
      ...browser,
      readInput: () => input,
      identify: async () => null,
      isAdmin: async () => false,
      isFromThisMachine: () => false,
    };
    const result = await invoke(found, call, settings);
    return result.error ? { output: null, error: result.error } : { output: JSON.parse(result.json), error: null };
  };
}
