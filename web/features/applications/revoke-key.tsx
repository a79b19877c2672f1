import { toast } from '../../lib/toast.ts';
import { ConfirmDialog } from './confirm-dialog.tsx';
import { type ApiKey, useRevokeApiKey } from './queries.ts';

export function RevokeKey({ apiKey, onClose }: { apiKey: ApiKey; onClose: () => void }) {
  const revoke = useRevokeApiKey();
  const confirm = () =>
    revoke.mutate(apiKey.id, {
      onSuccess: () => {
        onClose();
        toast('API key revoked', apiKey.name);
      },
    });
  return (
    <ConfirmDialog
      title={`Revoke ${apiKey.name}`}
      act="Revoke"
      failure="The key could not be revoked."
      busy={revoke.isPending}
      error={revoke.error}
      onConfirm={confirm}
      onClose={onClose}
    >
      The key <code className="font-mono text-[0.8125rem]">{apiKey.keyId}</code> stops working within a second, wherever it is used. This
      cannot be undone.
    </ConfirmDialog>
  );
}
