import type { ElementType, ReactNode } from 'react';
import { type LanguageCode, languageOf, languages } from '../../contract/languages.ts';
import { local, readStored, writeStored } from '../lib/storage.ts';
import { createStore, useHydrated, useStore } from '../lib/store.ts';
import { paths } from '../pages.ts';
import { cx } from '../ui/cx.ts';
import { DownIcon, GlobeIcon, Mark, MoonIcon, SunIcon } from '../ui/icons.tsx';

/** The bar at the top of every page. @param as the router's link component, in the portal @param wide as wide as the dashboard */
export function Bar({ as: Anchor = 'a', wide, children }: { as?: ElementType; wide?: boolean; children?: ReactNode }) {
  return (
    <header className="border-b border-line bg-page">
      <div className={cx('mx-auto flex h-14 items-center justify-between gap-2 px-2 sm:px-4', wide ? 'max-w-6xl' : 'max-w-5xl')}>
        <div className="flex shrink-0 items-center">
          <Anchor href={paths.landing} aria-label="Home" className="grid size-11 place-items-center rounded-control">
            <Mark />
          </Anchor>
          <Anchor href={paths.guide} className="flex min-h-11 items-center rounded-control pr-2 font-semibold tracking-tight">
            Email Auth
          </Anchor>
        </div>
        <div className="flex min-w-0 items-center">{children}</div>
      </div>
    </header>
  );
}

/**
 * The footer of every page.
 * @param as the router's link component, in the portal
 * @param status with a link to the status page
 * @param wide as wide as the dashboard
 */
export function Footer({
  as: Anchor = 'a',
  notice,
  terms = 'Terms',
  privacy = 'Privacy',
  status,
  wide,
}: {
  as?: ElementType;
  /** Instead of the copyright line. */
  notice?: string;
  terms?: string;
  privacy?: string;
  status?: boolean;
  wide?: boolean;
}) {
  const link = 'inline-flex min-h-11 items-center rounded-control px-2 hover:text-ink';
  return (
    <footer className="mt-auto border-t border-line text-sm text-muted">
      <div
        className={cx('mx-auto flex flex-wrap items-center justify-between gap-x-4 px-4 py-2 sm:px-6', wide ? 'max-w-6xl' : 'max-w-5xl')}
      >
        <p>{notice ?? `© ${new Date().getFullYear()} Email Auth`}</p>
        <nav aria-label={`${terms}, ${privacy}`} className="-mx-2 flex flex-wrap">
          {status && (
            <Anchor href={paths.status} className={link}>
              Status
            </Anchor>
          )}
          <Anchor href={paths.terms} className={link}>
            {terms}
          </Anchor>
          <Anchor href={paths.privacy} className={link}>
            {privacy}
          </Anchor>
        </nav>
      </div>
    </footer>
  );
}

/** The id of a page's content. */
export const CONTENT = 'content';

/** The first link of a page: skips the bar. */
export function SkipLink() {
  return (
    <a
      href={`#${CONTENT}`}
      className="fixed top-2 left-2 z-50 flex min-h-11 -translate-y-20 items-center rounded-control border border-line bg-panel px-4 text-sm font-medium shadow-raised focus:translate-y-0"
    >
      Skip to content
    </a>
  );
}

type Theme = 'light' | 'dark';

// The inline script in the head of both pages reads the same key, before the first paint.
const STORED = 'theme';

// The service renders the sign-in pages without knowing the theme.
const theme = createStore<Theme>(typeof document === 'undefined' ? 'light' : initialTheme());

/** Returns the theme of the page: the chosen one, else the system's. */
export const useTheme = () => useStore(theme);

/** Switches between light and dark and stores the choice. */
export function switchTheme() {
  theme.set(theme.get() === 'dark' ? 'light' : 'dark');
  writeStored(local, STORED, theme.get());
  document.documentElement.dataset.theme = theme.get();
}

function initialTheme(): Theme {
  const chosen = readStored(local, STORED);
  if (chosen === 'light' || chosen === 'dark') return chosen;
  return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
}

/** Switches between light and dark. The system decides until it is used. Without a script, it is an empty space of the same size. */
export function ThemeSwitch({ toLight = 'Switch to light theme', toDark = 'Switch to dark theme' }: { toLight?: string; toDark?: string }) {
  const hydrated = useHydrated();
  const dark = useTheme() === 'dark';
  if (!hydrated) return <div className="size-11" />;
  return (
    <button
      type="button"
      aria-label={dark ? toLight : toDark}
      onClick={switchTheme}
      className="grid size-11 place-items-center rounded-control text-muted hover:bg-sunk hover:text-ink"
    >
      {dark ? <SunIcon /> : <MoonIcon />}
    </button>
  );
}

/** The choice of the language, of pages that are in several. */
export function LanguageSelect({
  label,
  language,
  onChange,
}: {
  label: string;
  language: LanguageCode;
  onChange: (language: LanguageCode) => void;
}) {
  return (
    <div className="relative flex min-w-0 items-center text-muted focus-within:text-ink hover:text-ink">
      <GlobeIcon className="pointer-events-none absolute left-3 size-4 max-[22rem]:hidden" />
      <select
        name="language"
        aria-label={label}
        value={language}
        onChange={(event) => onChange(languageOf(event.target.value))}
        className="language-names h-11 w-full max-w-40 text-ellipsis appearance-none rounded-control bg-page pr-8 pl-9 max-[22rem]:pl-3 text-sm hover:bg-sunk"
      >
        {languages.map(({ code, name }) => (
          <option key={code} value={code} lang={code}>
            {name}
          </option>
        ))}
      </select>
      <DownIcon className="pointer-events-none absolute right-2.5 size-3.5" />
    </div>
  );
}
