import { Link, useLocation } from 'wouter';
import { useAccountHint, useLogout, useUser } from '../lib/session.ts';
import { paths } from '../paths.ts';
import { UserIcon } from '../ui/icons.tsx';
import { Menu, menuItem } from '../ui/menu.tsx';

/** Who is signed in, and what they may do about it. */
export function AccountMenu({ logoutLabel }: { logoutLabel: 'Logout' | 'Sign Out' }) {
  const [path, navigate] = useLocation();
  const { data: user, isPending } = useUser();
  const hint = useAccountHint();
  const logout = useLogout(() => navigate(paths.landing, { replace: true }));
  // The hint keeps the bar from moving when the service has answered.
  const name = user?.email ?? (isPending && hint ? hint : 'Not authenticated');
  const to = (href: string) => ({ href, className: menuItem, 'aria-current': path === href ? ('page' as const) : undefined });
  return (
    <Menu
      icon={<UserIcon />}
      label={
        <>
          <span className="sr-only">Account:</span>
          <span className="min-w-0 truncate max-sm:sr-only">{name}</span>
        </>
      }
    >
      <p className="border-b border-line px-3 py-2 text-sm text-muted [overflow-wrap:anywhere] sm:hidden">{name}</p>
      {user ? (
        <>
          <Link {...to(paths.profile)}>Profile</Link>
          <Link {...to(paths.settings)}>Settings</Link>
          <button type="button" className={menuItem} onClick={() => logout.mutate()}>
            {logoutLabel}
          </button>
        </>
      ) : (
        <a href={paths.signIn} className={menuItem}>
          Sign in
        </a>
      )}
    </Menu>
  );
}
