import type { IncomingMessage } from 'node:http';
import { languageOf } from '../../contract/languages.ts';
import type { SignInPage } from '../../contract/pages.ts';
import type { Cookies } from '../http/cookies.ts';
import { fieldsOf } from '../http/reading.ts';
import type { LinkPage } from '../signin/link-page.ts';
import { type Refusal, refusalOf } from '../signin/refusals.ts';
import type { Targets } from '../signin/target.ts';
import { type PageQuery, type Posted, pageQuery, type StepsReader } from './steps.ts';

/** The path of the sign-in page of websites and of the portal, and of its forms. */
export const SIGN_IN = '/auth';

const LINK = `${SIGN_IN}/link`;
const CALLBACK = `${SIGN_IN}/callback`;
const CALLBACKS = /^\/(?:auth\/callback|legacy-auth)\/?$/;

type Parts = {
  targets: Pick<Targets, 'ofPage' | 'portalHome'>;
  steps: Pick<StepsReader, 'read'>;
  /** Returns the page of an emailed link, which is not used up. */
  describeLink(secret: string): Promise<LinkPage>;
  /** @param attempt the attempt cookie */
  describePortalLink(code: string, attempt: string | undefined): Promise<LinkPage | null>;
};

/** What the pages at /auth, /domain-auth, /auth/callback and /legacy-auth show. Reading a page changes nothing. */
export class SignInPages {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** @param posted what a form of the page posted, when the response shows the page again */
  async read(request: IncomingMessage, cookies: Cookies, posted?: Posted): Promise<SignInPage> {
    const path = (request.url ?? '').split('?')[0];
    const query = queryOfPage(request);
    const language = languageOf(query.language);
    if (CALLBACKS.test(path)) return this.#readCallback(query, cookies);
    const { forward_url } = query;
    const { targets, steps } = this.#parts;
    const toPortal = forward_url === undefined || forward_url === targets.portalHome;
    const [target, read] = await Promise.all([
      targets.ofPage(forward_url),
      steps.read(cookies, {
        base: SIGN_IN,
        query,
        language,
        target: toPortal ? { kind: 'portal' } : { kind: 'site', forwardUrl: String(forward_url) },
        hint: query.login_hint,
        posted,
      }),
    ]);
    return target.kind === 'unsupported' ? { language, target } : { language, target, steps: read };
  }

  /** Returns the page of the emailed link that a query names, at its own path. The link is not used. */
  async readLink(query: PageQuery, cookies: Pick<Cookies, 'get'>): Promise<SignInPage> {
    if (query.code !== undefined) return { ...(await this.#readCallback(query, cookies)), path: CALLBACK };
    const page = offerConfirmation(await this.#parts.describeLink(typeof query.t === 'string' ? query.t : ''), cookies);
    return { ...page, path: LINK, language: query.language === undefined ? page.language : languageOf(query.language) };
  }

  async #readCallback({ code, language }: PageQuery, cookies: Pick<Cookies, 'get'>): Promise<SignInPage> {
    const link = typeof code === 'string' ? await this.#parts.describePortalLink(code, cookies.get('attempt')) : null;
    const page: SignInPage = { language: languageOf(language), target: { kind: 'portal' }, ...(link && { link: link.link }) };
    const offered = offerConfirmation(page, cookies);
    return language === undefined ? offered : { ...offered, language: page.language };
  }
}

/** Returns the page of an emailed link; in a browser whose request for an email was refused, with the offer to confirm the browser. */
export function offerConfirmation(page: SignInPage, cookies: Pick<Cookies, 'get'>): SignInPage {
  const refusal = page.link && page.link.state !== 'invalid' ? refusalOf(cookies) : null;
  if (!refusal) return page;
  return { ...page, language: refusal.language, confirmBrowser: { email: refusal.email, back: pageOfRefusal(refusal) } };
}

/** Returns the page that requested the email of a refusal. */
export function pageOfRefusal({ interaction, forward_url, language }: Refusal): string {
  return baseOf(interaction) + pageQuery({ forward_url } as PageQuery, language);
}

/** Returns the path of the page of an authorization request; without one, of the sign-in page. */
export const baseOf = (uid: string | undefined) => (uid ? `/oauth/interaction/${uid}` : SIGN_IN);

/** Returns the query of a page. A NUL character becomes another control character: the page tells what is wrong with a forward_url. */
function queryOfPage({ url = '' }: IncomingMessage): PageQuery {
  const at = url.indexOf('?');
  return at < 0 ? {} : fieldsOf(url.slice(at + 1).replaceAll('%00', '%01'));
}
