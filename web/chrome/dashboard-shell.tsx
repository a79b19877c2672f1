import type { ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import { useLogout, useUser } from '../lib/session.ts';
import { paths } from '../paths.ts';
import { Badge } from '../ui/badge.tsx';
import { cx } from '../ui/cx.ts';
import { Mark } from '../ui/mark.tsx';
import { ThemeSwitch } from '../ui/theme-switch.tsx';
import { Footer } from './footer.tsx';

const tabs = [
  { href: paths.dashboard, label: 'Overview', soon: false },
  { href: paths.applications, label: 'Authentication', soon: false },
  { href: paths.analytics, label: 'Analytics', soon: true },
  { href: paths.bugs, label: 'Bug Reports', soon: true },
  { href: paths.settings, label: 'Settings', soon: false },
];

/** The dashboard around one of its tabs: a sidebar, which on a phone is a strip on top. */
export function DashboardShell({ children }: { children: ReactNode }) {
  const [path, navigate] = useLocation();
  const { data: user } = useUser();
  const logout = useLogout(() => navigate(paths.landing, { replace: true }));
  return (
    <>
      <div className="mx-auto grid w-full max-w-6xl grow content-start md:grid-cols-[14rem_1fr] md:content-stretch">
        <aside className="flex flex-col border-line max-md:border-b md:border-r">
          <div className="flex h-14 items-center justify-between px-2 sm:px-4">
            <Link
              href={paths.landing}
              aria-label="Home"
              className="flex min-h-11 items-center gap-2.5 rounded-control pr-3 pl-2 font-semibold"
            >
              <Mark />
              Email Auth
            </Link>
            <ThemeSwitch />
          </div>
          <nav aria-label="Dashboard" className="flex gap-1 overflow-x-auto px-2 pb-2 sm:px-4 md:flex-col md:py-2">
            {tabs.map(({ href, label, soon }) => (
              <Link
                key={href}
                href={href}
                aria-current={path === href ? 'page' : undefined}
                className={cx(
                  'flex min-h-11 shrink-0 items-center justify-between gap-3 rounded-control px-3 text-sm font-medium',
                  path === href ? 'bg-sunk text-ink' : 'text-muted hover:bg-sunk hover:text-ink',
                )}
              >
                {label}
                {soon && <Badge>Soon</Badge>}
              </Link>
            ))}
          </nav>
          <div className="mt-auto hidden gap-1 border-t border-line p-4 md:grid">
            <p className="truncate px-3 text-sm text-muted">{user?.email}</p>
            <button
              type="button"
              onClick={() => logout.mutate()}
              className="flex min-h-11 items-center rounded-control px-3 text-sm font-medium text-muted hover:bg-sunk hover:text-ink"
            >
              Sign Out
            </button>
          </div>
        </aside>
        <main className="min-w-0 px-4 py-8 sm:px-8 sm:py-10">{children}</main>
      </div>
      <Footer as={Link} />
    </>
  );
}
