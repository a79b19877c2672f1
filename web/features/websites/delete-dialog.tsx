import { wordsOf } from '../../lib/failure.ts';
import { toast } from '../../lib/toast.ts';
import { Alert } from '../../ui/alert.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { useDeleteWebsite, type Website } from './queries.ts';

export function DeleteDialog({ website, onClose }: { website: Website; onClose: () => void }) {
  const remove = useDeleteWebsite();
  const confirm = () =>
    remove.mutate(website.id, {
      onSuccess: () => {
        onClose();
        toast('Website deleted', website.displayDomain);
      },
    });
  return (
    <Dialog title={`Delete ${website.displayDomain}`} onClose={onClose}>
      <div className="grid gap-5">
        {remove.error && <Alert>Failed to delete website. {wordsOf(remove.error, '')}</Alert>}
        <p className="text-muted">
          Are you sure you want to delete this website? This action cannot be undone and will remove all email authentication access for
          this domain.
        </p>
        <div className="flex flex-wrap justify-end gap-2">
          <Button look="secondary" onClick={onClose}>
            Cancel
          </Button>
          <Button look="danger" busy={remove.isPending} onClick={confirm}>
            Delete
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
