import { type FormEvent, type ReactNode, useEffect, useRef } from 'react';
import { ApiError } from '../../contract/client.ts';
import { errorText } from '../lib/api.ts';
import { createStore, useStore } from '../lib/store.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { Alert } from './states.tsx';

/**
 * A form that can be saved once something has changed, and asks before changes get lost.
 * @param onSave is called for a change, unless the last save is still pending
 * @param error of the last save; an error of one field is shown at that field instead
 */
export function SaveForm({
  button,
  changed,
  busy,
  error,
  onSave,
  onDiscard,
  children,
}: {
  button: string;
  changed: boolean;
  busy: boolean;
  error: unknown;
  onSave: () => void;
  onDiscard: () => void;
  children: ReactNode;
}) {
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (changed && !busy) onSave();
  };
  return (
    <form noValidate onSubmit={submit} className="grid gap-5">
      <UnsavedChanges changed={changed} />
      {children}
      {error && !busy && !fieldOf(error) ? <Alert>{errorText(error, 'The change could not be saved.')}</Alert> : null}
      <div className="flex min-h-11 flex-wrap items-center gap-x-3 gap-y-2">
        <Button type="submit" off={!changed} busy={busy}>
          {button}
        </Button>
        {changed && (
          <Button variant="quiet" onClick={onDiscard}>
            Discard
          </Button>
        )}
        <p role="status" className="text-sm text-muted">
          {changed && 'Not saved yet'}
        </p>
      </div>
    </form>
  );
}

/** Returns the message of an error about this field, or null. */
export function fieldFault(error: unknown, field: string): string | null {
  return error instanceof ApiError && error.field === field ? error.message.replace(`${field}: `, '') : null;
}

const fieldOf = (error: unknown) => (error instanceof ApiError ? error.field : undefined);

/** Asks before a page with unsaved changes is left. Every form with changes renders one; the first one shows the dialog. */
function UnsavedChanges({ changed }: { changed: boolean }) {
  const question = useUnsavedChanges(changed);
  if (!question) return null;
  return (
    <Dialog title="Leave without saving?" onClose={question.stay}>
      <p className="text-muted">This page has changes that are not saved. They are lost when you leave it.</p>
      <div className="mt-5 flex flex-wrap justify-end gap-2">
        <Button variant="danger" onClick={question.leave}>
          Leave without saving
        </Button>
        <Button onClick={question.stay}>Stay on this page</Button>
      </div>
    </Dialog>
  );
}

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
function useUnsavedChanges(changed: boolean): { leave: () => void; stay: () => void } | null {
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
