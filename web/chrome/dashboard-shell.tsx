import { type ReactNode, useEffect, useRef } from 'react';
import { Link, useLocation } from 'wouter';
import { useAccountHint, useLogout, useUser } from '../lib/session.ts';
import { paths } from '../paths.ts';
import { Badge } from '../ui/badge.tsx';
import { cx } from '../ui/cx.ts';
import { AccountMenu, ServicesMenu } from './menus.tsx';
import { Bar, CONTENT, Footer, SkipLink } from './page-frame.tsx';
import { PaletteButton, ThemeButton } from './shell.tsx';

const tabs = [
  { href: paths.dashboard, label: 'Overview', soon: false },
  { href: paths.applications, label: 'Authentication', soon: false },
  { href: paths.analytics, label: 'Analytics', soon: true },
  { href: paths.bugs, label: 'Bug Reports', soon: true },
  { href: paths.settings, label: 'Settings', soon: false },
];
const more = [
  { href: paths.developer, label: 'Developer Home' },
  { href: paths.profile, label: 'Profile' },
];

const entry = 'flex min-h-11 shrink-0 items-center justify-between gap-3 rounded-control px-3 text-sm font-medium';
const inactive = 'text-muted hover:bg-sunk hover:text-ink';

/** Bar, sidebar and footer of a dashboard page. On a phone the sidebar is a strip under the bar. */
export function DashboardShell({ children }: { children: ReactNode }) {
  const [path, navigate] = useLocation();
  const { data: user, isPending } = useUser();
  const hint = useAccountHint();
  const logout = useLogout(() => navigate(paths.landing, { replace: true }));
  const strip = useRef<HTMLElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the current tab depends on the path
  useEffect(() => {
    strip.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [path]);
  return (
    <>
      <SkipLink />
      <Bar as={Link} wide>
        <PaletteButton />
        <ServicesMenu />
        <span className="min-w-0 md:hidden">
          <AccountMenu logoutLabel="Sign Out" />
        </span>
        <ThemeButton />
      </Bar>
      <div className="mx-auto grid w-full max-w-6xl grow grid-cols-1 content-start md:grid-cols-[14rem_1fr] md:content-stretch">
        <aside className="min-w-0 border-line max-md:border-b md:border-r">
          <div className="flex flex-col md:sticky md:top-0 md:max-h-dvh md:min-h-[calc(100dvh-8rem)]">
            <nav ref={strip} aria-label="Dashboard" className="flex gap-1 overflow-x-auto px-2 py-2 sm:px-4 md:flex-col md:py-4">
              {tabs.map(({ href, label, soon }) => (
                <Link
                  key={href}
                  href={href}
                  aria-current={path === href ? 'page' : undefined}
                  className={cx(entry, '-outline-offset-2', path === href ? 'bg-sunk text-ink' : inactive)}
                >
                  {label}
                  {soon && <Badge>Soon</Badge>}
                </Link>
              ))}
            </nav>
            <div className="mt-auto hidden gap-1 border-t border-line p-4 md:grid">
              <p className="min-h-5 truncate px-3 text-sm text-muted">{user?.email ?? (isPending ? hint : null) ?? 'Not authenticated'}</p>
              {more.map(({ href, label }) => (
                <Link key={href} href={href} className={cx(entry, inactive)}>
                  {label}
                </Link>
              ))}
              {(user || isPending) && (
                <button type="button" onClick={() => logout.mutate()} className={cx(entry, inactive)}>
                  Sign Out
                </button>
              )}
            </div>
          </div>
        </aside>
        <main id={CONTENT} tabIndex={-1} className="min-w-0 px-4 py-8 sm:px-8 sm:py-10">
          {children}
        </main>
      </div>
      <Footer as={Link} status wide />
    </>
  );
}
