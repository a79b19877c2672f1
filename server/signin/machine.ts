import type { CallName } from '../../contract/calls.ts';
import { readEntered } from '../../contract/entered.ts';
import { type ErrorCode, Fault } from '../../contract/errors.ts';
import type { FormFailure, FormName, PageCall, PasskeyCreationOptions, RequiredPasskey, SignInPage } from '../../contract/pages.ts';
import { browserOf } from '../developers/browser.ts';
import type { MakeCall, RequestSource, Result } from '../platform/http/endpoint.ts';
import { queryOf } from '../platform/http/reading.ts';
import { signIns } from '../platform/metrics/metrics.ts';
import { isRandomSecret } from '../platform/secrets.ts';
import { pageUrl } from './destination.ts';
import type { SignInLinks } from './methods/link.ts';
import { type PasskeyOffers, respondToProof } from './opener.ts';
import { type PageRequest, type Posted, queryOfPage, type SignInPages } from './pages.ts';
import { refusalOf } from './request.ts';

/**
 * Where a sign-in goes on: the page that its browser shows next, with the status of its response and the `fault` for which it is shown
 * again; step 2 of the same page; or the address to which it leaves the page.
 */
export type Next = NextPage | { codeFor: string };

type NextPage = { page: SignInPage; status: number; fault?: Fault } | { leave: string };

/** The form to which the error of a call belongs. */
const FORM_OF_CALL = {
  domainAuth: 'address',
  authorize: 'address',
  emailCode: 'code',
  validateKey: 'account',
  verifiedEmailSignIn: 'address',
  confirmLink: 'link',
  confirmBrowser: 'browser',
  decideInteraction: 'consent',
} as const satisfies Record<PageCall, FormName>;

/** Returns whether a page makes a call for one of its forms. */
export const isPageCall = (name: CallName): name is PageCall => name in FORM_OF_CALL;

/** What the calls of a page respond. */
type PageOutput = Partial<{ sent: true; redirectUrl: string | null; passkey: PasskeyCreationOptions; addPasskey: RequiredPasskey }>;

type Parts = {
  pages: SignInPages;
  makeCall: MakeCall;
  links: SignInLinks;
  passkeys: PasskeyOffers;
};

const OPENED = signIns.with('link', 'signed_in');
/** The page asks for the address, or says that the link has ended. */
const NOT_OPENED = signIns.with('link', 'page');

/** What follows what in a sign-in, for the script of a page and for its forms without one. */
export class SignInMachine {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Makes a call for a page, and returns where its sign-in goes on. @param request has the address of the page */
  act(request: PageRequest, source: RequestSource, name: PageCall, input: Record<string, unknown>): Promise<Next | null> {
    return this.follow(request, source, name, () => this.#parts.makeCall(name, input, source));
  }

  /**
   * Returns where a sign-in goes on after a call of its page; null where the page stays, or continues from the response by itself.
   * @param make makes the call
   */
  async follow(request: PageRequest, source: RequestSource, name: PageCall, make: () => Promise<Result>): Promise<Next | null> {
    // A call that confirms the browser makes it forget the refusal.
    const refusal = refusalOf(source.cookies);
    const { input, output, error } = await make();
    if (error && request.ofCall && !ofForm(error.fault)) return null;
    if (error) return this.refuse(request, source, formOf(name, request), input, error.fault);
    if (name === 'confirmBrowser') return refusal && { leave: pageUrl(refusal, refusal.language) };
    const response: PageOutput = output;
    return response.sent ? { codeFor: textOf(input.email) } : this.#after(request, source, response, textOf(input.email));
  }

  /**
   * Opens an emailed link in the browser that requested it. Any other browser, and a request that must not open it, gets the page of the
   * link.
   * @param mayOpen a person has opened it
   */
  async openLink(request: PageRequest, source: RequestSource, mayOpen: boolean): Promise<NextPage> {
    const { links, pages, passkeys } = this.#parts;
    const { cookies } = source;
    const { t } = queryOf(request);
    if (!mayOpen) return { page: await pages.ofLink(request, cookies, 'none'), status: 200 };
    const hasCookies = isRandomSecret(cookies.get('attempt')) || isRandomSecret(cookies.get('device'));
    // With the cookies of a browser, an address that is sent twice from the page is known to come from the same one.
    const browser = browserOf(source);
    const opened = hasCookies ? await links.open(textOf(t), browser) : null;
    if (!opened || opened.kind === 'signed_in_before') {
      NOT_OPENED.value += 1;
      const opening = !opened ? 'first' : opened.verified ? 'again' : 'unverified';
      return { page: await pages.ofLink(request, cookies, opening), status: 200 };
    }
    OPENED.value += 1;
    const next = await this.#after(request, source, await respondToProof(passkeys, cookies, opened, browser), opened.email);
    if (!next) throw new Error('A link was opened without a way on.');
    return next;
  }

  /** Returns the page of a form again, with what was entered and why it was refused. */
  async refuse(
    request: PageRequest,
    { cookies }: RequestSource,
    form: FormName,
    input: Record<string, unknown>,
    fault: Fault | { code: 'no_saved_login'; status: number },
  ): Promise<Next> {
    const posted: Posted = { step: form === 'code' || form === 'resend' ? 'code' : 'address', email: textOf(input.email) };
    const { page } = await this.#parts.pages.at(request, cookies, posted);
    const code = needsScript(form, fault.code, input, page) ? 'needs_script' : fault.code;
    const details = fault instanceof Fault ? { field: fault.field, retryAfter: fault.retryAfter } : {};
    const failure: FormFailure = { form, code, ...details, typed: typedIn(form, code, input) };
    return { page: { ...page, failure }, status: fault.status, ...(fault instanceof Fault && { fault }) };
  }

  /** Returns where a sign-in goes on whose person is proven; null for one that only its page continues. */
  async #after(request: PageRequest, source: RequestSource, response: PageOutput, email: string): Promise<NextPage | null> {
    const { addPasskey, passkey, redirectUrl } = response;
    if (!addPasskey && !passkey) return redirectUrl ? { leave: redirectUrl } : null;
    const { language, target } = (await this.#parts.pages.at(request, source.cookies)).page;
    const content = addPasskey ? { addPasskey } : { offer: { email, options: passkey ?? {}, url: redirectUrl ?? '' } };
    return { page: { language, target, ...content }, status: 200 };
  }
}

/** Returns the form that makes a call: step 2 requests another email. */
function formOf(name: PageCall, request: PageRequest): FormName {
  return FORM_OF_CALL[name] === 'address' && queryOfPage(request).step === 'code' ? 'resend' : FORM_OF_CALL[name];
}

/** Whether a call was refused for what its form contains. No page follows any other failure: reading it could fail as the call did. */
const ofForm = ({ code, status }: Fault) => status < 500 && code !== 'foreign_origin' && code !== 'unsupported_media_type';

/** Returns whether only the script of a page knows the verifier of its attempt (PKCE), so that its code cannot be entered without one. */
function needsScript(
  form: FormName,
  code: ErrorCode | 'no_saved_login',
  { state }: Record<string, unknown>,
  { steps }: SignInPage,
): boolean {
  return form === 'code' && code === 'bad_code' && state === undefined && typeof steps?.attempt?.state === 'string';
}

/** Returns what a refused form contains again: an address, or what a text that was too short has of a code. */
function typedIn(form: FormName, reason: string, { email, code }: Record<string, unknown>): string | undefined {
  if (form === 'link' || form === 'browser') return textOf(email);
  if (form !== 'code' || reason !== 'bad_request') return undefined;
  const { typed, missing } = readEntered(textOf(code));
  return missing > 0 ? typed : undefined;
}

/** Returns a field of a form; an empty text when it is missing or was sent twice. */
export const textOf = (field: unknown) => (typeof field === 'string' ? field.slice(0, 512) : '');
