import { Link, useLocation } from 'wouter';
import { paths } from '../../paths.ts';
import { cx } from '../../ui/cx.ts';

const pages = [
  { href: paths.admin, label: 'Admin' },
  { href: paths.loginStats, label: 'Login statistics' },
  { href: paths.developer, label: 'Developer Portal' },
];

/** The way between the pages of an administrator. */
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
