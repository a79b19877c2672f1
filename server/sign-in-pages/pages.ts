import type { IncomingMessage } from 'node:http';
import { languageOf } from '../../contract/languages.ts';
import type { SignInPage } from '../../contract/pages.ts';
import type { Cookies } from '../http/cookies.ts';
import { fieldsOf } from '../http/reading.ts';
import type { LinkPage } from '../signin/link-page.ts';
import type { Targets } from '../signin/target.ts';
import type { PageQuery, Posted, StepsReader } from './steps.ts';

/** The path of the sign-in page of websites and of the portal, and of its forms. */
export const SIGN_IN = '/auth';

const CALLBACKS = /^\/(?:auth\/callback|legacy-auth)\/?$/;

type Parts = {
  targets: Pick<Targets, 'ofPage' | 'portalHome'>;
  steps: Pick<StepsReader, 'read'>;
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
    if (CALLBACKS.test(path)) {
      const link = typeof query.code === 'string' ? await this.#parts.describePortalLink(query.code, cookies.get('attempt')) : null;
      return { language, target: { kind: 'portal' }, ...(link && { link: link.link }) };
    }
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
}

/** Returns the query of a page. A NUL character becomes another control character: the page tells what is wrong with a forward_url. */
function queryOfPage({ url = '' }: IncomingMessage): PageQuery {
  const at = url.indexOf('?');
  return at < 0 ? {} : fieldsOf(url.slice(at + 1).replaceAll('%00', '%01'));
}
