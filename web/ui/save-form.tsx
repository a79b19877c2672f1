import type { FormEvent, ReactNode } from 'react';
import { ApiError } from '../../contract/client.ts';
import { errorText } from '../lib/api.ts';
import { Button } from './button.tsx';
import { Alert } from './states.tsx';
import { UnsavedChanges } from './unsaved-changes.tsx';

/**
 * A form that shows when it has unsaved changes, and asks before they get lost.
 * @param onSave is called unless the last save is still pending
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
    if (!busy) onSave();
  };
  return (
    <form noValidate onSubmit={submit} className="grid gap-5">
      <UnsavedChanges changed={changed} />
      {children}
      {error && !busy && !fieldOf(error) ? <Alert>{errorText(error, 'The change could not be saved.')}</Alert> : null}
      <div className="flex min-h-11 flex-wrap items-center gap-x-3 gap-y-2">
        <Button type="submit" variant={changed ? 'primary' : 'secondary'} busy={busy}>
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
