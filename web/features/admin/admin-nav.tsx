import { Link, useLocation } from 'wouter';
import { errorText } from '../../lib/api.ts';
import { paths } from '../../paths.ts';
import { Button } from '../../ui/button.tsx';
import { cx } from '../../ui/cx.ts';
import { toastFailure } from '../../ui/toast.tsx';
import { useAdminLogout } from './queries.ts';

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
  const logout = useAdminLogout();
  const lock = () =>
    logout.mutate(undefined, { onError: (error) => toastFailure('Logout failed', errorText(error, 'The admin pages are still open.')) });
  return (
    <Button variant="secondary" busy={logout.isPending} onClick={lock}>
      {logout.isPending ? 'Logging out...' : 'Logout'}
    </Button>
  );
}
