import { useHydrated } from '../lib/hydration.ts';
import { local, readStored, writeStored } from '../lib/storage.ts';
import { createStore, useStore } from '../lib/store.ts';
import { MoonIcon, SunIcon } from './icons.tsx';

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
