import { createContext, useContext, useEffect, useState } from 'react';
import type { Input, Output } from '../../../contract/calls.ts';
import type { ApiError } from '../../../contract/client.ts';
import type { NextPage, PageCall, RequiredPasskey, SignInBoot, SignInPage } from '../../../contract/pages.ts';
import { api } from '../../lib/api.ts';
import { safePath } from '../../lib/storage.ts';
import { isApiError } from '../../lib/texts.ts';
import { paths } from '../../pages.ts';

type ActOptions<Name extends PageCall> = {
  /** Receives the call's own response, before the page changes. */
  onResponse?(response: Output<Name>): void;
  /** The page has no entry in the history after it was left. */
  replaces?: boolean;
};

/**
 * Makes a call of the page, and shows the page that follows.
 * @returns why the call was refused, once the page shows its state; null for another page. Of a page that is left, the promise never
 * resolves, so that its form stays busy.
 */
type Act = <Name extends PageCall>(name: Name, input: Input<Name>, options?: ActOptions<Name>) => Promise<ApiError | null>;

/** The page that the browser shows, and what changes it. */
type Page = {
  boot: SignInBoot;
  /** Shows another page, in the language of this one. */
  show(page: SignInPage): void;
  /** Changes a part of the page. */
  change(next: (boot: SignInBoot) => SignInBoot): void;
  act: Act;
  /** Leaves the page for where its sign-in leads. */
  leave(url: string, replaces?: boolean): void;
  /** The page is being left. */
  isLeaving: boolean;
};

/** Provides the page. */
export const PageContext = createContext<Page | null>(null);

/** Returns the page that the browser shows. */
export function usePage(): Page {
  const page = useContext(PageContext);
  if (!page) throw new Error('usePage() needs the PageContext of the sign-in pages.');
  return page;
}

/** Returns the data of the page that the browser shows. */
export const useBoot = (): SignInBoot => usePage().boot;

/** Returns the address of a page in its language. The URL may have another one, after the back button. */
function addressOf({ language }: SignInBoot): string {
  const query = new URLSearchParams(location.search);
  query.set('language', language);
  return `${location.pathname}?${query}`;
}

/** What the calls of a page respond. */
type Responses = {
  sent: true;
  success: true;
  redirectUrl: string | null;
  addPasskey: RequiredPasskey;
};

/** Returns the address of step 2. */
const codeAddress = ({ steps }: SignInBoot) => `${steps?.base}${steps?.query}&step=code`;

/** Holds the page of the sign-in entry. @param first as the service rendered it */
export function useSignInPage(first: SignInBoot): Page {
  const [boot, setBoot] = useState(first);
  const [isLeaving, setLeaving] = useState(false);
  const [actions] = useState(() => actionsOf(first, setBoot, () => setLeaving(true)));
  const { change } = actions;
  const { steps, authorization } = boot;
  // The back button may restore the page from memory, with a busy form or a step that has ended.
  const endsWhenLeft = isLeaving || steps?.step === 'code' || authorization !== undefined;

  useEffect(() => {
    const reload = ({ persisted }: PageTransitionEvent) => persisted && endsWhenLeft && location.reload();
    addEventListener('pageshow', reload);
    return () => removeEventListener('pageshow', reload);
  }, [endsWhenLeft]);

  const hasSteps = steps !== undefined;
  const hasAttempt = Boolean(steps?.attempt);
  // Each step has its own entry in the history.
  useEffect(() => {
    const follow = () => {
      const isCode = hasAttempt && new URLSearchParams(location.search).get('step') === 'code';
      if (hasSteps) change(atStep(isCode ? 'code' : 'address'));
      else location.reload();
    };
    addEventListener('popstate', follow);
    return () => removeEventListener('popstate', follow);
  }, [hasSteps, hasAttempt, change]);

  return { boot, isLeaving, ...actions };
}

/** Returns a change of a page to one of its steps. */
export const atStep = (step: 'address' | 'code') => (boot: SignInBoot) => ({ ...boot, steps: boot.steps && { ...boot.steps, step } });

/** Returns what changes a page. @param onChange shows the page @param onLeave is called before it is left */
function actionsOf(first: SignInBoot, onChange: (boot: SignInBoot) => void, onLeave: () => void): Omit<Page, 'boot' | 'isLeaving'> {
  let shown = first;

  const change: Page['change'] = (next) => {
    shown = next(shown);
    onChange(shown);
  };

  const show = (next: SignInPage) =>
    change(({ path, search, language, texts, accounts, passkey, verification }) => ({
      path,
      search,
      ...next,
      language,
      texts,
      accounts,
      // What is bound to the browser stays valid, and the form of the page may be using it.
      passkey: passkey ?? next.passkey,
      verification: verification ?? next.verification,
    }));

  const leave: Page['leave'] = (url, replaces = false) => {
    onLeave();
    // The browser may keep the page when a program is opened.
    if (!/^(?:https?:|\/)/.test(url)) change((boot) => ({ ...boot, leaving: { url } }));
    if (replaces) location.replace(url);
    else location.assign(url);
  };
  /** Returns where a call leads; the portal is always at this origin. */
  const ownTarget = (url: string) => (shown.target.kind === 'portal' ? safePath(url, paths.developer) : url);

  /** Continues from the response to a call that has succeeded, where the next page is missing. */
  const continueFrom = (response: Partial<Responses>) => {
    const { language, target, confirmBrowser } = shown;
    if (response.sent) location.assign(codeAddress(shown));
    else if (response.redirectUrl) leave(ownTarget(response.redirectUrl));
    else if (response.addPasskey) show({ language, target, addPasskey: response.addPasskey });
    // Another tab has confirmed the browser first.
    else if (response.success && confirmBrowser) leave(safePath(confirmBrowser.back, paths.signIn), true);
  };

  const act: Act = async (name, input, { onResponse, replaces } = {}) => {
    const from = shown.steps?.step;
    /** Shows a page, at the step to which the person has gone meanwhile. */
    const showNext = (page: SignInPage) => {
      const now = shown.steps?.step;
      const hasMoved = now !== undefined && now !== from;
      if (page.steps && hasMoved) return show({ ...page, failure: undefined, steps: { ...page.steps, step: now } });
      if (page.steps && page.steps.step !== now && !page.failure) history.pushState(null, '', `${page.path}${page.search}`);
      show({ ...page, failure: undefined });
    };
    try {
      const call = api[name] as (input: unknown, options: { page: string }) => Promise<Output<typeof name> & Partial<NextPage>>;
      const { page, leave: url, ...response } = await call(input, { page: addressOf(shown) });
      onResponse?.(response as Output<typeof name>);
      if (url !== undefined) {
        leave(ownTarget(url), replaces);
        return new Promise(() => {});
      }
      if (!page) {
        continueFrom(response);
        return null;
      }
      showNext(page);
      return null;
    } catch (error) {
      if (!isApiError(error)) throw error;
      if (error.page) showNext(error.page);
      // The page says that the authorization request has ended.
      return error.page?.authorization?.step === 'expired' ? new Promise(() => {}) : error;
    }
  };

  return { show, change, act, leave };
}
