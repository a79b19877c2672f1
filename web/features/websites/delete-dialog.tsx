import { ConfirmDialog } from '../../ui/dialog.tsx';
import { toast } from '../../ui/toast.tsx';
import { useDeleteWebsite, type Website } from './queries.ts';

/** Deletes a website after its domain was typed. */
export function DeleteDialog({
  website: { id, domain, displayDomain },
  onDeleted,
  onClose,
}: {
  website: Website;
  onDeleted?: () => void;
  onClose: () => void;
}) {
  const remove = useDeleteWebsite();
  const confirm = () =>
    remove.mutate(id, {
      onSuccess: () => {
        onClose();
        onDeleted?.();
        toast('Website deleted', displayDomain);
      },
    });
  return (
    <ConfirmDialog
      title={`Delete ${displayDomain}`}
      action="Delete website"
      failure="Failed to delete website."
      typed={[displayDomain, domain]}
      busy={remove.isPending}
      error={remove.error}
      onConfirm={confirm}
      onClose={onClose}
    >
      Are you sure you want to delete this website? This action cannot be undone and will remove all email authentication access for this
      domain.
    </ConfirmDialog>
  );
}
