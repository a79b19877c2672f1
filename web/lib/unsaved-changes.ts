import { useEffect, useRef } from 'react';
import { createStore, useStore } from './store.ts';

/** A navigation that was stopped because of unsaved changes. */
type Stopped = { proceed: () => void };

/** The forms with unsaved changes, oldest first. */
const forms = createStore<readonly symbol[]>([]);
const stopped = createStore<Stopped | null>(null);
/** Whether leaving the page was confirmed. A traversal of the history begins only later. */
let confirmed = false;

/**
 * Keeps unsaved changes of a form from getting lost: another page of the portal is opened only after a confirmation, and the browser
 * asks before it closes or reloads the tab. A browser without the Navigation API (before 2026) asks only for the latter.
 * @param changed whether the form has unsaved changes
 * @returns the navigation to confirm, for one of the forms; null: none
 */
export function useUnsavedChanges(changed: boolean): { leave: () => void; stay: () => void } | null {
  const form = useRef(Symbol('form')).current;
  useEffect(() => {
    if (!changed) return;
    addForm(form);
    return () => removeForm(form);
  }, [changed, form]);
  const asked = useStore(stopped);
  const isFirst = useStore(forms)[0] === form;
  return asked && isFirst ? { leave, stay } : null;
}

function addForm(form: symbol): void {
  forms.set([...forms.get(), form]);
  if (forms.get().length > 1) return;
  confirmed = false;
  addEventListener('beforeunload', askBrowser);
  window.navigation?.addEventListener('navigate', stop);
}

function removeForm(form: symbol): void {
  forms.set(forms.get().filter((other) => other !== form));
  if (forms.get().length > 0) return;
  removeEventListener('beforeunload', askBrowser);
  window.navigation?.removeEventListener('navigate', stop);
  // The changes were saved, or their page was removed by a sign-out: there is nothing left to confirm.
  leave();
}

function leave(): void {
  const navigation = stopped.get();
  stopped.set(null);
  if (!navigation) return;
  confirmed = true;
  navigation.proceed();
}

function stay(): void {
  stopped.set(null);
}

const askBrowser = (event: BeforeUnloadEvent) => event.preventDefault();

/** Stops a navigation to another page of the portal. For all others, `beforeunload` is fired. */
function stop(event: NavigateEvent): void {
  const { destination, navigationType, cancelable } = event;
  if (confirmed || !cancelable || !destination.sameDocument || new URL(destination.url).pathname === location.pathname) return;
  event.preventDefault();
  const { key, url } = destination;
  const proceed = () => {
    if (navigationType === 'traverse') window.navigation.traverseTo(key);
    else if (navigationType === 'replace') history.replaceState(null, '', url);
    else history.pushState(null, '', url);
  };
  stopped.set({ proceed });
}
