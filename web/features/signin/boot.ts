import { createContext, useContext, useEffect, useState } from 'react';
import type { SignInBoot } from '../../../contract/pages.ts';
import { hydrated } from '../../lib/hydration.ts';
import { type Remembered, rememberedAccounts } from '../../lib/remembered.ts';

export const BootContext = createContext<SignInBoot | null>(null);

/** Returns the data by which the service rendered the page. It does not change when the script changes the page. */
export function useBoot(): SignInBoot {
  const boot = useContext(BootContext);
  if (!boot) throw new Error('useBoot() needs the BootContext of the sign-in pages.');
  return boot;
}

/**
 * Returns the remembered accounts and a function that reads them again. The first render has those that the service knows by the
 * cookies; their keys, and accounts in the local storage, follow.
 */
export function useRememberedAccounts(): [Remembered[], () => void] {
  const boot = useBoot();
  const [accounts, setAccounts] = useState<Remembered[]>(() =>
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
