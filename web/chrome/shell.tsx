import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { useAccountHint, useUser } from '../lib/session.ts';
import { paths } from '../paths.ts';
import { SearchIcon } from '../ui/icons.tsx';
import { ThemeSwitch } from '../ui/theme-switch.tsx';
import { Tooltip } from '../ui/tooltip.tsx';
import { Bar, CONTENT, Footer, SkipLink } from './page-frame.tsx';
import { openPalette, shortcut } from './palette-host.tsx';

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
export function PaletteButton() {
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
export function ThemeButton() {
  return (
    <span className="max-[22.5rem]:hidden">
      <Tooltip text="Switch between light and dark">
        <ThemeSwitch />
      </Tooltip>
    </span>
  );
}
