import { useEffect, useState } from 'react';
import type { LanguageCode } from '../../../contract/languages.ts';
import type { FormName, SignInSteps } from '../../../contract/pages.ts';
import type { RememberedAccount } from '../../../contract/remembered.ts';
import { rememberedAccounts } from '../../lib/storage.ts';
import { hydrated } from '../../lib/store.ts';
import { type Failure, isAddressError, type OwnTexts, type TextKey, translateFailure, useTranslator } from '../../lib/texts.ts';
import { paths } from '../../pages.ts';
import { atStep, useBoot, usePage } from './page.ts';

/**
 * Returns the remembered accounts and a function that reads them again. The first render has those that the service knows by the
 * cookies; their keys, and accounts in the local storage, follow.
 */
export function useRememberedAccounts(): [RememberedAccount[], () => void] {
  const boot = useBoot();
  const [accounts, setAccounts] = useState<RememberedAccount[]>(() =>
    hydrated.get() ? rememberedAccounts() : boot.accounts.map((account) => ({ ...account, key: '' })),
  );
  useEffect(() => {
    const read = () => setAccounts(rememberedAccounts());
    read();
    // A page that the back button restores from memory may show accounts that were removed.
    addEventListener('pageshow', read);
    return () => removeEventListener('pageshow', read);
  }, []);
  return [accounts, () => setAccounts(rememberedAccounts())];
}

const typed = new Map<string, string>();

/** Remembers what was typed into the fields of a page before the script took it over: the first render replaces it. */
export function keepTyped(page: HTMLElement) {
  for (const { name, value } of page.querySelectorAll<HTMLInputElement>('input:not([type="hidden"])')) if (value) typed.set(name, value);
}

/** Returns what was typed into a field before the script took the page over; undefined for nothing, and in later renders. */
export const typedBefore = (name: string) => typed.get(name);

/** Forgets what was typed, once the first render is over. */
export const forgetTyped = () => typed.clear();

/** Returns the steps of the page. */
export function useSteps(): SignInSteps {
  const { steps } = useBoot();
  if (!steps) throw new Error('This page has no steps.');
  return steps;
}

/** Returns the steps of the portal's page, which the script opens without a request. */
export function portalSteps(language: LanguageCode): SignInSteps {
  const none = { destination: null, email: '', attempt: null, attemptMissing: false, signedInAs: null };
  return { base: paths.signIn, query: `?language=${language}`, step: 'address', ...none };
}

/** Returns where a form of the steps is posted; without a name the one of step 1. */
export function formAction({ base, query }: SignInSteps, form?: 'code' | 'resend' | 'account' | 'forget' | 'consent'): string {
  return `${base}${form ? `/${form}` : ''}${query}`;
}

/** Returns the URL of a step. */
export function stepUrl({ base, query }: SignInSteps, step: 'address' | 'code'): string {
  return `${base}${query}&step=${step}`;
}

/** Returns a function that goes to step 1, with an entry in the history. Its field contains the address that it is called with. */
export function useStepOne(): (email?: string) => void {
  const { change } = usePage();
  const steps = useSteps();
  return (email) => {
    history.pushState(null, '', stepUrl(steps, 'address'));
    change(atStep('address'));
    if (email !== undefined) change((boot) => ({ ...boot, steps: boot.steps && { ...boot.steps, email } }));
  };
}

/** What a form post was refused for: the text for the field, or for the whole form. Both are null when it was not refused. */
export type FormErrors = { atField: string | null; ofForm: string | null };

/** Returns why the form post was refused to which this page is the response. @param fallback the text for an error without a text */
export function useFormErrors(form: FormName, fallback: TextKey, ownTexts?: OwnTexts): FormErrors {
  const { failure } = useBoot();
  const translator = useTranslator();
  if (failure?.form !== form) return { atField: null, ofForm: null };
  const text = translateFailure(translator, failure as Failure, fallback, ownTexts);
  const atField = form === 'code' || isAddressError(failure as Failure);
  return atField ? { atField: text, ofForm: null } : { atField: null, ofForm: text };
}
