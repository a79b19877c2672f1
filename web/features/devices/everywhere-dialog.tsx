import { useLocation } from 'wouter';
import { wordsOf } from '../../lib/failure.ts';
import { useSignOutEverywhere } from '../../lib/session.ts';
import { toast } from '../../lib/toast.ts';
import { paths } from '../../paths.ts';
import { Alert } from '../../ui/alert.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';

export function EverywhereDialog({ onClose }: { onClose: () => void }) {
  const [, navigate] = useLocation();
  const signOut = useSignOutEverywhere(() => {
    navigate(paths.landing, { replace: true });
    toast('Signed out everywhere', 'Every device needs an email to sign in again.');
  });
  return (
    <Dialog title="Sign out everywhere" onClose={onClose}>
      <div className="grid gap-5">
        {signOut.error && <Alert>{wordsOf(signOut.error, 'You could not be signed out.')}</Alert>}
        <p className="text-muted">
          Every browser and program is signed out and forgets your address, this one too. To come back you need an email.
        </p>
        <div className="flex flex-wrap justify-end gap-2">
          <Button look="secondary" onClick={onClose}>
            Cancel
          </Button>
          <Button look="danger" busy={signOut.isPending} onClick={() => signOut.mutate()}>
            Sign out everywhere
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
