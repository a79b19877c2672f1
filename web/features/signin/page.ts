import { createContext, useContext, useState } from 'react';
import type { ApiError } from '../../../contract/client.ts';
import type { NextPage, SignInBoot, SignInPage } from '../../../contract/pages.ts';
import type { Input, Output } from '../../../contract/routes.ts';
import { api } from '../../lib/api.ts';
import { isApiError } from '../../lib/texts.ts';
import { paths, safePath } from '../../paths.ts';

/** The calls after which the service decides the next page. */
type PageCall =
  | 'domainAuth'
  | 'authorize'
  | 'emailCode'
  | 'validateKey'
  | 'verifiedEmailSignIn'
  | 'confirmLink'
  | 'confirmBrowser'
  | 'decideInteraction';

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
export type Act = <Name extends PageCall>(name: Name, input: Input<Name>, options?: ActOptions<Name>) => Promise<ApiError | null>;

/** The page that the browser shows, and what changes it. */
export type Page = {
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

/** Returns the address of the page, as the service reads it. */
const address = () => location.pathname + location.search.replace(/["\\]/g, encodeURIComponent);

/** Returns the address of step 2. */
const codeAddress = ({ steps }: SignInBoot) => `${steps?.base}${steps?.query}&step=code`;

/** Holds the page of the sign-in entry. @param first as the service rendered it */
export function useSignInPage(first: SignInBoot): Page {
  const [boot, setBoot] = useState(first);
  const [isLeaving, setLeaving] = useState(false);
  const [actions] = useState(() => actionsOf(first, setBoot, () => setLeaving(true)));
  return { boot, isLeaving, ...actions };
}

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
    const target = shown.target.kind === 'portal' ? safePath(url, paths.developer) : url;
    if (replaces) location.replace(target);
    else location.assign(target);
  };

  const act: Act = async (name, input, { onResponse, replaces } = {}) => {
    try {
      const call = api[name] as (input: unknown, options: { page: string }) => Promise<Output<typeof name> & Partial<NextPage>>;
      const { page, leave: url, ...response } = await call(input, { page: address() });
      onResponse?.(response as Output<typeof name>);
      if (url !== undefined) {
        leave(url, replaces);
        return new Promise(() => {});
      }
      // Without the page, the call has succeeded all the same.
      if (!page && 'sent' in response) location.assign(codeAddress(shown));
      if (!page) return null;
      if (page.steps && page.steps.step !== shown.steps?.step) history.pushState(null, '', `${page.path}${page.search}`);
      show(page);
      return null;
    } catch (error) {
      if (!isApiError(error)) throw error;
      if (error.page) show({ ...error.page, failure: undefined });
      return error;
    }
  };

  return { show, change, act, leave };
}
