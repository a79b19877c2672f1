import { toast } from '../../lib/toast.ts';
import { ConfirmDialog } from './confirm-dialog.tsx';
import { type Application, useDeleteApplication } from './queries.ts';

export function DeleteApplication({ application, onClose }: { application: Application; onClose: () => void }) {
  const remove = useDeleteApplication();
  const confirm = () =>
    remove.mutate(application.id, {
      onSuccess: () => {
        onClose();
        toast('Application deleted', application.name);
      },
    });
  return (
    <ConfirmDialog
      title={`Delete ${application.name}`}
      act="Delete"
      failure="The application could not be deleted."
      busy={remove.isPending}
      error={remove.error}
      onConfirm={confirm}
      onClose={onClose}
    >
      Its client ID stops working: nobody can sign in through it any more, its access tokens and open sign-ins end at once, and its logs are
      gone. This cannot be undone.
    </ConfirmDialog>
  );
}
