import type { ReactNode } from 'react';
import { wordsOf } from '../../lib/failure.ts';
import { Alert } from '../../ui/alert.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';

/** Asks before something ends that cannot be brought back; says what ends. */
export function ConfirmDialog({
  title,
  act,
  failure,
  busy,
  error,
  onConfirm,
  onClose,
  children,
}: {
  title: string;
  /** The verb on the button. */
  act: string;
  failure: string;
  busy: boolean;
  error: unknown;
  onConfirm: () => void;
  onClose: () => void;
  children: ReactNode;
}) {
  return (
    <Dialog title={title} onClose={onClose}>
      <div className="grid gap-5">
        {Boolean(error) && !busy && <Alert>{wordsOf(error, failure)}</Alert>}
        <p className="text-muted">{children}</p>
        <div className="flex flex-wrap justify-end gap-2">
          <Button look="secondary" onClick={onClose}>
            Cancel
          </Button>
          <Button look="danger" busy={busy} onClick={onConfirm}>
            {act}
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
