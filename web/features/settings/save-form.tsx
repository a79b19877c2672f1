import type { FormEvent, ReactNode } from 'react';
import { ApiError } from '../../../contract/client.ts';
import { wordsOf } from '../../lib/failure.ts';
import { Alert } from '../../ui/alert.tsx';
import { Button } from '../../ui/button.tsx';

/**
 * A form that says when something in it is not saved yet.
 * @param onSave is called unless the last save is still under way
 * @param error of the last save; one that names a field stands at that field instead
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
      {children}
      {error && !busy && !fieldOf(error) ? <Alert>{wordsOf(error, 'The change could not be saved.')}</Alert> : null}
      <div className="flex min-h-11 flex-wrap items-center gap-x-3 gap-y-2">
        <Button type="submit" look={changed ? 'primary' : 'secondary'} busy={busy}>
          {button}
        </Button>
        {changed && (
          <Button look="quiet" onClick={onDiscard}>
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

/** What the service says of one field, if that is what it refused. */
export function fieldFault(error: unknown, field: string): string | null {
  return error instanceof ApiError && error.field === field ? error.message.replace(`${field}: `, '') : null;
}

const fieldOf = (error: unknown) => (error instanceof ApiError ? error.field : undefined);
