import type { LanguageCode } from '../../contract/languages.ts';
import type { SignInSteps } from '../../contract/pages.ts';
import { normalEmail } from '../../contract/rules.ts';
import type { Sessions } from '../accounts/sessions.ts';
import type { Cookies } from '../http/cookies.ts';
import type { queryOf } from '../http/reading.ts';
import { digest, isRandomSecret } from '../secrets.ts';
import type { AttemptTarget, OwnAttempts } from '../signin/own-attempts.ts';

/** The parameters of a page's URL. */
export type PageQuery = ReturnType<typeof queryOf>;

/** What a form post that was refused shows again instead of what the URL says. */
export type Posted = { step: 'address' | 'code'; email: string };

/** A page of a sign-in: its path, its parameters and what it signs in to. */
export type StepsRequest = {
  base: string;
  query: PageQuery;
  language: LanguageCode;
  target: AttemptTarget;
  /** The login_hint of the page. */
  hint: string | string[] | undefined;
  posted?: Posted;
};

/** Returns which step of a sign-in a page shows, from the cookies of its browser. It changes nothing. */
export class StepsReader {
  readonly #attempts: Pick<OwnAttempts, 'newest'>;
  readonly #sessions: Pick<Sessions, 'signedInBy'>;

  constructor(attempts: Pick<OwnAttempts, 'newest'>, sessions: Pick<Sessions, 'signedInBy'>) {
    this.#attempts = attempts;
    this.#sessions = sessions;
  }

  /** The database is asked only for a browser that has begun an attempt or, for the portal, may be signed in. */
  async read(cookies: Pick<Cookies, 'get'>, { base, query, language, target, hint, posted }: StepsRequest): Promise<SignInSteps> {
    const asked = posted?.step ?? query.step;
    const offersSession = target.kind === 'portal' && asked === undefined;
    const [attempt, session] = await Promise.all([
      this.#attemptOf(cookies, target, posted?.step === 'code' ? posted.email : undefined),
      offersSession ? this.#sessions.signedInBy(cookies.get('sid')) : null,
    ]);
    const atCode = asked === 'code' && attempt !== null;
    // Step 1 offers an open attempt, and names the address of no other one: its account may have been removed from the page.
    const isOpen = attempt?.status === 'waiting' || attempt?.status === 'code_spent';
    const shown = atCode || isOpen ? attempt : null;
    return {
      base,
      query: pageQuery(query, language),
      step: atCode ? 'code' : session ? 'signed_in' : 'address',
      email: posted?.email ?? emailIn(hint) ?? shown?.email ?? '',
      attempt: shown,
      attemptMissing: asked === 'code' && attempt === null,
      signedInAs: session?.email ?? null,
    };
  }

  async #attemptOf(cookies: Pick<Cookies, 'get'>, target: AttemptTarget, email: string | undefined) {
    const attempt = cookies.get('attempt');
    if (!isRandomSecret(attempt)) return null;
    const device = cookies.get('device');
    const browser = { attempt: digest(attempt), device: isRandomSecret(device) ? digest(device) : null };
    return this.#attempts.newest(browser, target, normalEmail(email ?? '') ?? undefined);
  }
}

/** Returns the query of a page and of its forms, without `step` and the parameters that only its first display needs. */
export function pageQuery({ forward_url }: PageQuery, language: LanguageCode, step?: 'address' | 'code'): string {
  const query = new URLSearchParams();
  if (typeof forward_url === 'string') query.set('forward_url', forward_url);
  query.set('language', language);
  if (step) query.set('step', step);
  return `?${query}`;
}

function emailIn(hint: string | string[] | undefined): string | undefined {
  return typeof hint === 'string' ? (normalEmail(hint) ?? undefined) : undefined;
}
