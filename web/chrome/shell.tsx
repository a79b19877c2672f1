import { type ComponentType, type ReactNode, useEffect, useRef, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { useAccountHint, useLogout, useUser } from '../lib/session.ts';
import { createStore, useStore } from '../lib/store.ts';
import { paths, websitesFolder } from '../pages.ts';
import { cx } from '../ui/cx.ts';
import { MenuIcon, SearchIcon, UserIcon } from '../ui/icons.tsx';
import { Menu } from '../ui/menu.tsx';
import { Badge } from '../ui/states.tsx';
import { toastFailure } from '../ui/toast.tsx';
import { Tooltip } from '../ui/tooltip.tsx';
import { Bar, CONTENT, Footer, SkipLink, ThemeSwitch } from './page-frame.tsx';

const link =
  'flex min-h-11 items-center gap-[0.25em] whitespace-nowrap rounded-control px-2 text-sm sm:px-3 font-medium text-muted hover:bg-sunk hover:text-ink';

/** Bar and footer of a public page. */
export function PublicShell({ children }: { children: ReactNode }) {
  const { data: user, isPending } = useUser();
  const hint = useAccountHint();
  return (
    <>
      <SkipLink />
      <Bar as={Link}>
        <PaletteButton />
        {user || (isPending && hint) ? (
          <Link href={paths.developer} className={link}>
            Developer <span className="max-sm:sr-only">Home</span>
          </Link>
        ) : (
          // The sign-in page is a separate entry: only a page load reaches it.
          <a href={paths.signIn} className={link}>
            Sign in
          </a>
        )}
        <ThemeButton />
      </Bar>
      <main id={CONTENT} tabIndex={-1} className="mx-auto w-full max-w-5xl grow px-4 sm:px-6">
        {children}
      </main>
      <Footer as={Link} status />
    </>
  );
}

/** Opens the commands. */
function PaletteButton() {
  return (
    <Tooltip text={`Go anywhere: ${shortcut}`}>
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
          {shortcut}
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

const pages = [
  { href: paths.websites, label: 'Websites', below: websitesFolder },
  { href: paths.dashboard, label: 'Overview' },
  { href: paths.applications, label: 'Authentication' },
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

const SideLink = ({ href, current, children }: { href: string; current: 'page' | boolean; children: ReactNode }) => (
  <Link href={href} aria-current={current || undefined} className={cx(entry, '-outline-offset-2', current ? 'bg-sunk text-ink' : inactive)}>
    {children}
  </Link>
);

function Pages({ path }: { path: string }) {
  const strip = useRef<HTMLElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the current entry depends on the path
  useEffect(() => {
    strip.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [path]);
  return (
    <nav ref={strip} aria-label="Dashboard" className="flex gap-1 overflow-x-auto px-2 py-2 sm:px-4 md:flex-col md:py-4">
      {pages.map(({ href, label, below, soon }) => {
        const current = path === href ? 'page' : below !== undefined && path.startsWith(below);
        return (
          <SideLink key={href} href={href} current={current}>
            {label}
            {soon && <Badge>Soon</Badge>}
          </SideLink>
        );
      })}
    </nav>
  );
}

/** Links and the sign-out at the bottom of the sidebar; a phone has them in the menus of the bar. */
function More({ path }: { path: string }) {
  const [, navigate] = useLocation();
  const { data: user, isPending } = useUser();
  const logout = useLogout(() => navigate(paths.landing, { replace: true }));
  return (
    <div className="mt-auto hidden gap-1 border-t border-line p-4 md:grid">
      {more.map(({ href, label }) => (
        <SideLink key={href} href={href} current={path === href && 'page'}>
          {label}
        </SideLink>
      ))}
      {(user || isPending) && (
        <button type="button" onClick={() => logout.mutate()} className={cx(entry, inactive)}>
          Sign Out
        </button>
      )}
    </div>
  );
}

const services = [
  { href: paths.developer, label: 'Developer Home' },
  { href: paths.websites, label: 'Email Auth Service' },
  { href: paths.dashboard, label: 'Dashboard' },
  { href: paths.status, label: 'Status' },
  { href: paths.guide, label: 'Documentation' },
];

/** The main pages of the portal. */
function ServicesMenu() {
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
function AccountMenu({ logoutLabel }: { logoutLabel: 'Logout' | 'Sign Out' }) {
  const [path, navigate] = useLocation();
  const { data: user, isPending } = useUser();
  const hint = useAccountHint();
  const logout = useLogout(() => navigate(paths.landing, { replace: true }));
  // The hint keeps the bar from moving when the service has responded.
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

const paletteOpen = createStore(false);

const openPalette = () => paletteOpen.set(true);
const closePalette = () => paletteOpen.set(false);

/** The keys that open the commands, as they are printed on the keyboard of this system. */
const shortcut = /Mac|iPhone|iPad/.test(navigator.platform) ? '⌘K' : 'Ctrl K';

/** Listens for the shortcut and shows the commands, which are loaded when they are opened for the first time. */
export function PaletteHost() {
  const isOpen = useStore(paletteOpen);
  const [Palette, setPalette] = useState<ComponentType<{ onClose: () => void }> | null>(null);

  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (!(event.metaKey || event.ctrlKey) || event.shiftKey || event.altKey || event.key.toLowerCase() !== 'k') return;
      event.preventDefault();
      // Over another dialog, a command would leave the page and what was typed there.
      if (!document.querySelector('[role=dialog]')) openPalette();
      else if (document.querySelector('[role=dialog] [cmdk-root]')) closePalette();
    };
    addEventListener('keydown', onKeyDown);
    return () => removeEventListener('keydown', onKeyDown);
  }, []);

  useEffect(() => {
    if (!isOpen || Palette) return;
    import('./palette.tsx').then(
      (module) => setPalette(() => module.Palette),
      () => {
        closePalette();
        toastFailure('The commands could not be loaded', 'Check your connection and try again.');
      },
    );
  }, [isOpen, Palette]);

  return isOpen && Palette ? <Palette onClose={closePalette} /> : null;
}
