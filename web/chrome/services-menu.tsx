import { Link, useLocation } from 'wouter';
import { paths } from '../paths.ts';
import { MenuIcon } from '../ui/icons.tsx';
import { Menu, menuItem } from '../ui/menu.tsx';

const entries = [
  { href: paths.developer, label: 'Developer Home' },
  { href: paths.websites, label: 'Email Auth Service' },
  { href: paths.dashboard, label: 'Dashboard' },
  { href: paths.status, label: 'Status' },
  { href: paths.guide, label: 'Documentation' },
];

/** The ways through the portal. */
export function ServicesMenu() {
  const [path] = useLocation();
  return (
    <Menu
      icon={<MenuIcon className="size-4 sm:hidden" />}
      label={<span className="whitespace-nowrap max-sm:sr-only">Developer Services</span>}
    >
      {entries.map(({ href, label }) => (
        <Link key={href} href={href} className={menuItem} aria-current={path === href ? 'page' : undefined}>
          {label}
        </Link>
      ))}
    </Menu>
  );
}
