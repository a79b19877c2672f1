import type { IncomingMessage } from 'node:http';
import accepts from 'accepts';
import { parse } from 'cookie';
import { readEmail } from '../../contract/emails.ts';
import { type LanguageCode, languageCodes, languageOf } from '../../contract/languages.ts';
import { SIGN_IN_PATHS, type SignInPage, type SignInSteps } from '../../contract/pages.ts';
import { hintCookies, LANGUAGE_COOKIE, readRememberedAccounts } from '../../contract/remembered.ts';
import type { Conditions, Destination, DestinationParameters } from '../../contract/signin.ts';
import type { Sessions } from '../developers/sessions.ts';
import type { Cookies, ReceivedCookies } from '../platform/http/cookies.ts';
import type { DescribedError } from '../platform/http/errors.ts';
import { fieldsOf, pathOf, type queryOf, queryTextOf } from '../platform/http/reading.ts';
import { digest, isRandomSecret } from '../platform/secrets.ts';
import type { OwnAttempts } from './attempts.ts';
import { type Destinations, pageAddress, pageUrl, WEBSITE_PARAMETERS } from './destination.ts';
import type { LinkPage, Opening } from './methods/link.ts';
import type { QuickLogins } from './methods/quick-login.ts';
import { refusalOf } from './request.ts';

const { signIn: SIGN_IN, link: LINK, callback: CALLBACK } = SIGN_IN_PATHS;
const CALLBACKS = /^\/(?:auth\/callback|legacy-auth)\/?$/;
const INTERACTION = /^\/oauth\/interaction\/([A-Za-z0-9_-]{21,64})\/?$/;
const PAGES = /^\/(?:(?:domain-)?auth|auth\/link|auth\/callback|legacy-auth)\/?$/;

/** Returns whether a page of a sign-in has this address. */
export const isPage = (url: string) => PAGES.test(pathOf({ url })) || INTERACTION.test(pathOf({ url }));

/** A request for a page: its own, or that of a call or a form post of the page, with the address of the page. */
export type PageRequest = Pick<IncomingMessage, 'headers' | 'url'> & {
  /** It is a call of the API, which has no cookie of the page's own path. */
  ofCall?: true;
};

/** The parameters of a page's URL. */
export type PageQuery = ReturnType<typeof queryOf>;

/** What a call or form post has sent, which the page shows instead of what its URL says. */
export type Posted = { step: 'address' | 'code'; email: string };

/** A page with the status of its response. */
export type PageResponse = { page: SignInPage; status: number };

/** The pages of authorization requests (server/oidc/interactions.ts). */
export type InteractionPages = {
  /** Returns the page of the next step of an authorization request. */
  page(request: PageRequest, cookies: Cookies, uid: string, posted?: Posted): Promise<PageResponse>;
};

type Parts = {
  destinations: Destinations;
  steps: StepsReader;
  interactions: InteractionPages;
  /** Returns the page of an emailed link, which is not used up. */
  describeLink(secret: string, opening: Opening, cookies: ReceivedCookies): Promise<LinkPage>;
  describePortalLink(code: string, cookies: ReceivedCookies): Promise<LinkPage | null>;
};

/** What the pages of a sign-in show. Reading a page uses up no link, code or token. */
export class SignInPages {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Returns a page of /auth, /domain-auth, /auth/callback or /legacy-auth. */
  async read(request: PageRequest, cookies: Cookies, posted?: Posted): Promise<SignInPage> {
    const query = queryOfPage(request);
    const language = languageOf(query.language);
    if (CALLBACKS.test(pathOf(request))) return this.#readCallback(query, cookies);
    const { destinations, steps } = this.#parts;
    const page = destinations.ofPage(query);
    const { destination } = page;
    const [target, read] = await Promise.all([
      destinations.targetOf(page),
      destination && steps.read(cookies, { destination, query, language, hint: query.login_hint, posted }),
    ]);
    return target.kind === 'unsupported' || !read ? { language, target } : { language, target, ...read };
  }

  /** Returns the page at an address, with its path and query, for a call or a form post of the page. */
  async at(request: PageRequest, cookies: Cookies, posted?: Posted): Promise<PageResponse> {
    const path = pathOf(request);
    const uid = INTERACTION.exec(path)?.[1];
    if (path.startsWith(LINK) || CALLBACKS.test(path)) return { page: await this.ofLink(request, cookies), status: 200 };
    const { page, status } = uid
      ? await this.#parts.interactions.page(request, cookies, uid, posted)
      : { page: await this.read(request, cookies, posted), status: 200 };
    const step = (posted?.step ?? queryOfPage(request).step) === 'code' ? 'code' : undefined;
    return { page: { ...page, ...pageAddress({ interaction: uid, ...queryOfPage(request) }, page.language, step) }, status };
  }

  /** Returns the page of the emailed link that an address names. */
  async ofLink(request: PageRequest, cookies: ReceivedCookies, opening: Opening = 'none'): Promise<SignInPage> {
    const query = queryOfPage(request);
    const search = `?${queryTextOf(request)}`;
    if (query.code !== undefined) return { ...(await this.#readCallback(query, cookies)), search };
    const link = await this.#parts.describeLink(typeof query.t === 'string' ? query.t : '', opening, cookies);
    const page = { ...offerConfirmation(link, cookies), path: LINK, search };
    // The page is in the language of the email, unless another one is chosen on it.
    return query.language === undefined ? page : { ...page, language: languageOf(query.language) };
  }

  async #readCallback({ code, language }: PageQuery, cookies: ReceivedCookies): Promise<SignInPage> {
    const link = await this.#parts.describePortalLink(typeof code === 'string' ? code : '', cookies);
    const portal = { path: CALLBACK, language: languageOf(language), target: { kind: 'portal' } } as const;
    const page: SignInPage = { ...portal, ...(link && { link: link.link }) };
    const offered = offerConfirmation(page, cookies);
    return language === undefined ? offered : { ...offered, language: page.language };
  }
}

/** Returns the page of an emailed link; in a browser whose request for an email was refused, with the offer to confirm the browser. */
function offerConfirmation(page: SignInPage, cookies: ReceivedCookies): SignInPage {
  const refusal = page.link && page.link.state !== 'invalid' ? refusalOf(cookies) : null;
  if (!refusal) return page;
  return { ...page, language: refusal.language, confirmBrowser: { email: refusal.email, back: pageUrl(refusal, refusal.language) } };
}

/** Returns the query of a page. A NUL character becomes another control character: the page shows what is wrong with a forward_url. */
export const queryOfPage = (request: PageRequest): PageQuery => withoutEmptyUrl(fieldsOf(queryTextOf(request).replaceAll('%00', '%01')));

/** A forward_url that is empty is not given: the page signs in to the portal. */
function withoutEmptyUrl({ forward_url, ...others }: PageQuery): PageQuery {
  return forward_url ? { forward_url, ...others } : others;
}

/** A page of a sign-in: where it leads, its parameters, and what a form of it posted. `hint`: its login_hint. */
type StepsPage = {
  destination: Destination;
  query: PageQuery;
  language: LanguageCode;
  hint: string | string[] | undefined;
  posted?: Posted;
};

/** What the pages of steps 1 and 2 have besides their target. */
type StepsContent = Pick<SignInPage, 'steps' | 'inbox' | 'passkey' | 'verification'>;

type StepsParts = {
  attempts: Pick<OwnAttempts, 'newest'>;
  sessions: Pick<Sessions, 'signedInBy'>;
  accounts: Pick<QuickLogins, 'provenWithin'>;
  passkeys: { ofPage(cookies: Cookies): SignInPage['passkey'] };
  emailVerification: { ofPage(cookies: Cookies): SignInPage['verification'] };
  /** Emails stay in the built-in inbox. */
  hasInbox: boolean;
};

/** Returns which step of a sign-in a page shows, from the cookies of its browser. */
export class StepsReader {
  readonly #parts: StepsParts;

  constructor(parts: StepsParts) {
    this.#parts = parts;
  }

  /**
   * The database is asked only for a browser that has begun an attempt or, for the portal, may be signed in. The challenge and the nonce
   * of the page are bound to its browser by a cookie.
   */
  async read(cookies: Cookies, page: StepsPage): Promise<StepsContent> {
    const { passkeys, emailVerification, hasInbox } = this.#parts;
    const steps = await this.#stepsOf(cookies, page);
    const passkey = passkeys.ofPage(cookies);
    const verification = steps.passkeyOnly ? undefined : emailVerification.ofPage(cookies);
    return { steps, ...(hasInbox && { inbox: true }), ...(passkey && { passkey }), ...(verification && { verification }) };
  }

  async #stepsOf(cookies: ReceivedCookies, page: StepsPage): Promise<SignInSteps> {
    const { destination, query, language, hint, posted } = page;
    const { conditions } = destination;
    const interaction = destination.to === 'application' ? destination.interaction : undefined;
    const asked = posted?.step ?? query.step;
    const offersSession = destination.to === 'portal' && asked === undefined && conditions.maxAge === null;
    const [attempt, session, oneClick] = await Promise.all([
      this.#attemptOf(cookies, destination, posted?.step === 'code' ? posted.email : undefined),
      offersSession ? this.#parts.sessions.signedInBy(cookies.get('sid')) : null,
      this.#oneClickOf(cookies, conditions),
    ]);
    const atCode = asked === 'code' && attempt !== null;
    // Step 1 offers an open attempt, and names the address of no other one: its account may have been removed from the page.
    const isOpen = attempt?.status === 'waiting' || attempt?.status === 'code_spent';
    const shown = atCode || isOpen ? attempt : null;
    const { path: base, search } = pageAddress({ interaction, ...query }, language);
    return {
      base,
      query: search,
      destination: destinationOf(interaction, query),
      step: atCode ? 'code' : session ? 'signed_in' : 'address',
      email: posted?.email ?? emailIn(hint) ?? shown?.email ?? '',
      attempt: shown,
      attemptMissing: asked === 'code' && attempt === null,
      signedInAs: session?.email ?? null,
      ...(oneClick && { oneClick }),
      ...(conditions.passkey && { passkeyOnly: true }),
    };
  }

  /** Returns the remembered accounts of a browser that meet the conditions; null when all do. */
  async #oneClickOf(cookies: ReceivedCookies, { maxAge, passkey }: Conditions): Promise<string[] | null> {
    if (maxAge === null && !passkey) return null;
    const device = cookies.get('device');
    const emails = [hintCookies.remembered, hintCookies.previous]
      .flatMap((name) => readRememberedAccounts(cookies.get(name)))
      .map(({ email }) => email);
    if (passkey || maxAge === null || maxAge === 0 || emails.length === 0 || !isRandomSecret(device)) return [];
    return this.#parts.accounts.provenWithin(digest(device), emails, maxAge);
  }

  async #attemptOf(cookies: ReceivedCookies, destination: Destination, email: string | undefined) {
    const attempt = cookies.get('attempt');
    if (!isRandomSecret(attempt)) return null;
    const device = cookies.get('device');
    const browser = { attempt: digest(attempt), device: isRandomSecret(device) ? digest(device) : null };
    return this.#parts.attempts.newest(browser, destination, readEmail(email ?? '') ?? undefined);
  }
}

/** Returns what the calls of a page are sent with; null: the sign-in leads to the portal. The calls check the values of the query. */
export function destinationOf(interaction: string | undefined, query: PageQuery): DestinationParameters | null {
  if (interaction !== undefined) return { interaction };
  if (query.forward_url === undefined) return null;
  return Object.fromEntries(WEBSITE_PARAMETERS.filter((name) => query[name] !== undefined).map((name) => [name, query[name]]));
}

function emailIn(hint: string | string[] | undefined): string | undefined {
  return typeof hint === 'string' ? (readEmail(hint) ?? undefined) : undefined;
}

/** The sign-in pages, their forms, and everything below them. */
const SIGN_IN_PAGES = /^\/(?:(?:domain-)?auth|legacy-auth)(?:\/|$)|^(\/oauth\/interaction\/[A-Za-z0-9_-]{21,64})(?:\/|$)/;

/** Returns whether a path is one of the sign-in pages or below them. */
export const isSignInPath = (path: string): boolean => SIGN_IN_PAGES.test(path);

/** Returns whether an error is shown as a page: to a browser, at a path of the sign-in pages. Any other client gets JSON. */
export function wantsErrorPage(request: IncomingMessage): boolean {
  return isSignInPath(partsOf(request).path) && accepts(request).type(['json', 'html']) === 'html';
}

/** Returns the page of an error, with the way to where the visitor can go on. */
export function errorPage(request: IncomingMessage, { fault, body }: DescribedError): SignInPage {
  const { path, query } = partsOf(request);
  const { code, status, retryAfter } = fault;
  const language = visitorLanguage(request, query);
  const page = { language, target: { kind: 'portal' }, error: { code, reference: body.reference, retryAfter } } as const;
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  if (isRead && (status >= 500 || status === 429)) return page;
  return { ...page, ...nextPage(path, query, isRead, language) };
}

/** Returns the page to which a form belongs, or where a sign-in begins. */
function nextPage(path: string, query: URLSearchParams, isRead: boolean, language: LanguageCode): { path: string; search: string } {
  const interaction = SIGN_IN_PAGES.exec(path)?.[1];
  const names = isRead || interaction ? [] : query.has('t') ? ['t'] : query.has('code') ? ['code', 'state', 'iss'] : [];
  const link = names[0] && (names[0] === 't' ? LINK : CALLBACK);
  const kept = link ? names : WEBSITE_PARAMETERS;
  const entries = kept.flatMap((name) =>
    query
      .getAll(name)
      .slice(0, 1)
      .map((value): [string, string] => [name, value]),
  );
  return { path: interaction ?? link ?? SIGN_IN, search: `?${new URLSearchParams([...entries, ['language', language]])}` };
}

/** Returns the language of the page's URL, else the one that was chosen before, else the first known one of the browser. */
export function visitorLanguage(request: IncomingMessage, query = partsOf(request).query): LanguageCode {
  const chosen = query.get('language') ?? parse(request.headers.cookie ?? '')[LANGUAGE_COOKIE];
  return languageOf(chosen ?? accepts(request).languages([...languageCodes]));
}

/** Returns path and query of a request that may be malformed. */
function partsOf(request: IncomingMessage & { originalUrl?: string }): { path: string; query: URLSearchParams } {
  const url = request.originalUrl ?? request.url ?? '';
  const at = url.indexOf('?');
  return { path: at < 0 ? url : url.slice(0, at), query: new URLSearchParams(at < 0 ? '' : url.slice(at)) };
}
