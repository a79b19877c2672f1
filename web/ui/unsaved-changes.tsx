import { useUnsavedChanges } from '../lib/unsaved-changes.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';

/** Asks before a page with unsaved changes is left. Every form with changes renders one; the first one shows the dialog. */
export function UnsavedChanges({ changed }: { changed: boolean }) {
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
