import { type ReactNode, useEffect, useRef } from 'react';
import { Link, useLocation } from 'wouter';
import { useLogout, useUser } from '../lib/session.ts';
import { paths, websitesFolder } from '../paths.ts';
import { Badge } from '../ui/badge.tsx';
import { cx } from '../ui/cx.ts';
import { AccountMenu, ServicesMenu } from './menus.tsx';
import { Bar, CONTENT, Footer, SkipLink } from './page-frame.tsx';
import { PaletteButton, ThemeButton } from './shell.tsx';

const pages = [
  { href: paths.websites, label: 'Websites', below: websitesFolder },
  { href: paths.dashboard, label: 'Overview' },
  { href: paths.applications, label: 'Authentication' },
  { href: paths.live, label: 'Live Sign-ins' },
  { href: paths.activity, label: 'Activity' },
  { href: paths.settings, label: 'Settings' },
  { href: paths.analytics, label: 'Analytics', soon: true },
  { href: paths.bugs, label: 'Bug Reports', soon: true },
];
const more = [
  { href: paths.developer, label: 'Developer Home' },
  { href: paths.profile, label: 'Profile' },
];

const entry = 'flex min-h-11 shrink-0 items-center justify-between gap-3 rounded-control px-3 text-sm font-medium';
const inactive = 'text-muted hover:bg-sunk hover:text-ink';

/** Bar, sidebar and footer of a page of the portal. On a phone the sidebar is a strip under the bar. */
export function PortalShell({ children }: { children: ReactNode }) {
  const [path] = useLocation();
  return (
    <>
      <SkipLink />
      <Bar as={Link} wide>
        <PaletteButton />
        <ServicesMenu />
        <AccountMenu logoutLabel={path.startsWith(paths.dashboard) ? 'Sign Out' : 'Logout'} />
        <ThemeButton />
      </Bar>
      <div className="mx-auto grid w-full max-w-6xl grow grid-cols-1 content-start md:grid-cols-[13rem_1fr] md:content-stretch">
        <aside className="min-w-0 border-line max-md:border-b md:border-r">
          <div className="flex flex-col md:sticky md:top-0 md:max-h-dvh md:min-h-[calc(100dvh-8rem)]">
            <Pages path={path} />
            <More path={path} />
          </div>
        </aside>
        <main id={CONTENT} tabIndex={-1} className="min-w-0 px-4 py-8 sm:px-8 sm:py-10">
          {children}
        </main>
      </div>
      <Footer as={Link} status terms="Terms of Service" privacy="Privacy Policy" wide />
    </>
  );
}

function Pages({ path }: { path: string }) {
  const strip = useRef<HTMLElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the current entry depends on the path
  useEffect(() => {
    strip.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [path]);
  return (
    <nav ref={strip} aria-label="Dashboard" className="flex gap-1 overflow-x-auto px-2 py-2 sm:px-4 md:flex-col md:py-4">
      {pages.map(({ href, label, below, soon }) => {
        const isBelow = below !== undefined && path.startsWith(below);
        const isCurrent = path === href || isBelow;
        return (
          <Link
            key={href}
            href={href}
            aria-current={isCurrent ? (isBelow ? 'true' : 'page') : undefined}
            className={cx(entry, '-outline-offset-2', isCurrent ? 'bg-sunk text-ink' : inactive)}
          >
            {label}
            {soon && <Badge>Soon</Badge>}
          </Link>
        );
      })}
    </nav>
  );
}

/** What a phone has in the menus of the bar. */
function More({ path }: { path: string }) {
  const [, navigate] = useLocation();
  const { data: user, isPending } = useUser();
  const logout = useLogout(() => navigate(paths.landing, { replace: true }));
  return (
    <div className="mt-auto hidden gap-1 border-t border-line p-4 md:grid">
      {more.map(({ href, label }) => (
        <Link
          key={href}
          href={href}
          aria-current={path === href ? 'page' : undefined}
          className={cx(entry, path === href ? 'bg-sunk text-ink' : inactive)}
        >
          {label}
        </Link>
      ))}
      {(user || isPending) && (
        <button type="button" onClick={() => logout.mutate()} className={cx(entry, inactive)}>
          Sign Out
        </button>
      )}
    </div>
  );
}
