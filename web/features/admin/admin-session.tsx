import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useLocation } from 'wouter';
import type { Output } from '../../../contract/calls.ts';
import { api, errorText } from '../../lib/api.ts';
import { useAct } from '../../lib/calls.ts';
import { paths } from '../../pages.ts';
import { Button } from '../../ui/button.tsx';
import { cx } from '../../ui/cx.ts';
import { toastFailure } from '../../ui/toast.tsx';

const pages = [
  { href: paths.admin, label: 'Admin' },
  { href: paths.loginStats, label: 'Login statistics' },
  { href: paths.developer, label: 'Developer Portal' },
];

/** Links between the admin pages. */
export function AdminNav() {
  const [path] = useLocation();
  return (
    <nav aria-label="Admin pages" className="-mx-3 mb-6 flex flex-wrap">
      {pages.map(({ href, label }) => (
        <Link
          key={href}
          href={href}
          aria-current={path === href ? 'page' : undefined}
          className={cx(
            'flex min-h-11 items-center rounded-control px-3 text-sm font-medium',
            path === href ? 'text-ink' : 'text-muted hover:bg-sunk hover:text-ink',
          )}
        >
          {label}
        </Link>
      ))}
    </nav>
  );
}

/** Ends the admin session. */
export function LogoutButton() {
  const queries = useQueryClient();
  const changeSession = useChangeSession();
  const logout = useAct('adminLogout');
  const lock = () =>
    logout.mutate(
      {},
      {
        onSuccess: () => {
          changeSession({ unlocked: false, ended: false });
          queries.removeQueries({ predicate: ({ queryKey }) => ADMIN_CALLS.has(queryKey[0]) });
        },
        onError: (error) => toastFailure('Logout failed', errorText(error, 'The admin pages are still open.')),
      },
    );
  return (
    <Button variant="secondary" busy={logout.isPending} onClick={lock}>
      {logout.isPending ? 'Logging out...' : 'Logout'}
    </Button>
  );
}

/** `ended`: it was open in this page and has expired. */
export type AdminSession = Output<'adminSession'> & { ended: boolean };

const SESSION = ['adminSession'];

/** The calls whose results only an admin may keep. */
const ADMIN_CALLS = new Set<unknown>(['dailyLogins', 'adminWebsites', 'adminUsers', 'adminMails', 'adminMailHistory', 'adminAuditLog']);

/** Loads the admin session of this browser, again at each focus of the window, since it may have ended. */
export function useAdminSession() {
  const queries = useQueryClient();
  return useQuery({
    queryKey: SESSION,
    queryFn: async ({ signal }): Promise<AdminSession> => {
      const session = await api.adminSession({}, { signal });
      const before = queries.getQueryData<AdminSession>(SESSION);
      return { ...session, ended: !session.unlocked && (before?.unlocked || before?.ended || false) };
    },
    refetchOnMount: 'always',
    refetchOnWindowFocus: 'always',
  });
}

/** Returns a function that changes the admin session as this page shows it. */
export function useChangeSession() {
  const queries = useQueryClient();
  return (change: Partial<AdminSession>) => queries.setQueryData<AdminSession>(SESSION, (session) => session && { ...session, ...change });
}
