import type { ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import { WEBSITES_FOLDER } from '../../contract/pages.ts';
import { useAccountHint, useLogout, useUser } from '../lib/session.ts';
import { paths } from '../pages.ts';
import { cx } from '../ui/cx.ts';
import { AppsIcon, ChartIcon, GlobeIcon, MenuIcon, PulseIcon, SearchIcon, SlidersIcon, UserIcon } from '../ui/icons.tsx';
import { Menu } from '../ui/menu.tsx';
import { Tooltip } from '../ui/tooltip.tsx';
import { openPalette, paletteKeys } from './open-overlay.ts';
import { Bar, CONTENT, Footer, SkipLink, ThemeSwitch } from './page-frame.tsx';
import { PublicFrame } from './public-frame.tsx';

/** Bar and footer of a public page of this entry. */
export function PublicShell({ children }: { children: ReactNode }) {
  const [path] = useLocation();
  const { isKnown } = useAccount(path);
  return (
    <PublicFrame as={Link} path={path} isKnown={isKnown} tools={<PaletteButton />} theme={<ThemeButton />}>
      {children}
    </PublicFrame>
  );
}

/** Opens the commands. */
function PaletteButton() {
  return (
    <Tooltip text={`Go anywhere: ${paletteKeys()}`}>
      <button
        type="button"
        aria-label="Commands"
        aria-keyshortcuts="Control+K Meta+K"
        aria-haspopup="dialog"
        onClick={openPalette}
        className="flex min-h-11 min-w-11 items-center justify-center gap-2 rounded-control px-3 text-sm text-muted hover:bg-sunk hover:text-ink"
      >
        <SearchIcon />
        <kbd className="hidden whitespace-nowrap rounded-sm border border-line px-1.5 font-sans text-xs leading-5 md:inline">
          {paletteKeys()}
        </kbd>
      </button>
    </Tooltip>
  );
}

/** The theme switch with its tooltip. The narrowest screens have no room for it. */
function ThemeButton() {
  return (
    <span className="max-[22.5rem]:hidden">
      <Tooltip text="Switch between light and dark">
        <ThemeSwitch />
      </Tooltip>
    </span>
  );
}

const profile = { href: paths.profile, label: 'Profile' };
const settings = { href: paths.settings, label: 'Settings', icon: <SlidersIcon />, below: `${paths.settings}/` };
const pages = [
  { href: paths.dashboard, label: 'Overview', icon: <ChartIcon /> },
  { href: paths.websites, label: 'Websites', icon: <GlobeIcon />, below: WEBSITES_FOLDER },
  { href: paths.applications, label: 'Applications', icon: <AppsIcon /> },
  { href: paths.activity, label: 'Activity', icon: <PulseIcon /> },
  settings,
];
const more = [{ href: paths.developer, label: 'Developer Home' }, profile];

const entry = 'flex min-h-11 shrink-0 items-center gap-3 rounded-control px-3 text-sm font-medium';
const inactive = 'text-muted hover:bg-sunk hover:text-ink';

/** Bar, sidebar and footer of a page of the portal. Who is signed out has no sidebar. */
export function PortalShell({ children }: { children: ReactNode }) {
  const [path] = useLocation();
  const { isKnown } = useAccount(path);
  return (
    <>
      <SkipLink />
      <Bar as={Link} wide>
        <PaletteButton />
        <Menus />
        <ThemeButton />
      </Bar>
      <div className={cx('mx-auto grid w-full max-w-6xl grow content-start', isKnown && 'md:grid-cols-[13rem_1fr] md:content-stretch')}>
        {isKnown && <Sidebar />}
        <main id={CONTENT} tabIndex={-1} className="min-w-0 px-4 py-8 sm:px-8 sm:py-10">
          {children}
        </main>
      </div>
      <Footer as={Link} status terms="Terms of Service" privacy="Privacy Policy" wide />
    </>
  );
}

function Sidebar() {
  const [path] = useLocation();
  const { logout } = useAccount(path);
  return (
    <aside className="border-r border-line max-md:hidden">
      <div className="sticky top-0 flex max-h-dvh min-h-[calc(100dvh-8rem)] flex-col">
        <nav aria-label="Dashboard" className="grid gap-1 p-4">
          <SideLinks entries={pages} path={path} />
        </nav>
        <div className="mt-auto grid gap-1 border-t border-line p-4">
          <SideLinks entries={more} path={path} />
          <button type="button" onClick={logout.onSelect} className={cx(entry, inactive)}>
            Sign Out
          </button>
        </div>
      </div>
    </aside>
  );
}

type Entry = { href: string; label: string; icon?: ReactNode; below?: string };

const SideLinks = ({ entries, path }: { entries: readonly Entry[]; path: string }) =>
  entries.map(({ href, label, icon, below }) => {
    const current = path === href ? 'page' : below !== undefined && path.startsWith(below);
    return (
      <Link
        key={href}
        href={href}
        aria-current={current || undefined}
        className={cx(entry, '-outline-offset-2', current ? 'bg-sunk text-ink' : inactive)}
      >
        {icon}
        {label}
      </Link>
    );
  });

/** The entries of a menu that open pages. */
const itemsOf = (entries: readonly Entry[], path: string) =>
  entries.map(({ href, label }) => ({ href, label, as: Link, current: path === href }));

/**
 * The account of this browser, and the entry that ends its session. The hint of the last visit keeps the page from moving when the
 * service has responded.
 */
function useAccount(path: string) {
  const [, navigate] = useLocation();
  const { data: user, isPending } = useUser();
  const hint = useAccountHint();
  const logout = useLogout(() => navigate(paths.landing, { replace: true }));
  const email = user?.email ?? (isPending && hint);
  return {
    isSignedIn: Boolean(user),
    isKnown: Boolean(email),
    name: email || 'Not authenticated',
    logout: { label: path.startsWith(paths.dashboard) ? 'Sign Out' : 'Logout', onSelect: () => logout.mutate() },
  };
}

const services = [
  { href: paths.developer, label: 'Developer Home' },
  { href: paths.websites, label: 'Email Auth Service' },
  { href: paths.dashboard, label: 'Dashboard' },
  { href: paths.status, label: 'Status' },
  { href: paths.guide, label: 'Documentation' },
];

const signInItem = { label: 'Sign in', href: paths.signIn };

/** The menus of the bar; on a phone one, with everything that the sidebar has. */
function Menus() {
  const [path] = useLocation();
  const { isSignedIn, name, logout } = useAccount(path);
  return (
    <>
      <span className="flex min-w-0 max-md:hidden">
        <Menu label={<span className="whitespace-nowrap">Developer Services</span>} items={itemsOf(services, path)} />
        <Menu
          icon={<UserIcon />}
          label={
            <>
              <span className="sr-only">Account:</span>
              <span className="min-w-0 truncate">{name}</span>
            </>
          }
          items={isSignedIn ? [...itemsOf([profile, settings], path), logout] : [signInItem]}
        />
      </span>
      <span className="md:hidden">
        <Menu
          icon={<MenuIcon />}
          label={<span className="sr-only">Menu of {name}</span>}
          heading={name}
          items={
            isSignedIn ? [...itemsOf([...pages, ...more, ...services.slice(3)], path), logout] : [signInItem, ...itemsOf(services, path)]
          }
        />
      </span>
    </>
  );
}
