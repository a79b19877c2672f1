import { wordsOf } from '../../lib/failure.ts';
import { toastFailure } from '../../lib/toast.ts';
import { Button } from '../../ui/button.tsx';
import { useAdminLogout } from './queries.ts';

/** Locks the admin pages. */
export function LogoutButton() {
  const logout = useAdminLogout();
  const lock = () =>
    logout.mutate(undefined, { onError: (error) => toastFailure('Logout failed', wordsOf(error, 'The admin pages are still open.')) });
  return (
    <Button look="secondary" busy={logout.isPending} onClick={lock}>
      {logout.isPending ? 'Logging out...' : 'Logout'}
    </Button>
  );
}
