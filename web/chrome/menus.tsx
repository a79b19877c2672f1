import { Link, useLocation } from 'wouter';
import { useAccountHint, useLogout, useUser } from '../lib/session.ts';
import { paths } from '../paths.ts';
import { MenuIcon, UserIcon } from '../ui/icons.tsx';
import { Menu } from '../ui/menu.tsx';

const services = [
  { href: paths.developer, label: 'Developer Home' },
  { href: paths.websites, label: 'Email Auth Service' },
  { href: paths.dashboard, label: 'Dashboard' },
  { href: paths.status, label: 'Status' },
  { href: paths.guide, label: 'Documentation' },
];

/** The main pages of the portal. */
export function ServicesMenu() {
  const [path] = useLocation();
  return (
    <Menu
      icon={<MenuIcon className="size-4 sm:hidden" />}
      label={<span className="whitespace-nowrap max-sm:sr-only">Developer Services</span>}
      items={services.map((page) => ({ ...page, as: Link, current: path === page.href }))}
    />
  );
}

/** The signed-in account, with its pages and the logout. */
export function AccountMenu({ logoutLabel }: { logoutLabel: 'Logout' | 'Sign Out' }) {
  const [path, navigate] = useLocation();
  const { data: user, isPending } = useUser();
  const hint = useAccountHint();
  const logout = useLogout(() => navigate(paths.landing, { replace: true }));
  // The hint keeps the bar from moving when the service has answered.
  const name = user?.email ?? (isPending && hint ? hint : 'Not authenticated');
  const page = (label: string, href: string) => ({ label, href, as: Link, current: path === href });
  return (
    <Menu
      icon={<UserIcon />}
      label={
        <>
          <span className="sr-only">Account:</span>
          <span className="min-w-0 truncate max-sm:sr-only">{name}</span>
        </>
      }
      heading={name}
      items={
        user
          ? [page('Profile', paths.profile), page('Settings', paths.settings), { label: logoutLabel, onSelect: () => logout.mutate() }]
          : [{ label: 'Sign in', href: paths.signIn }]
      }
    />
  );
}
