import { local, readStored, writeStored } from '../lib/storage.ts';
import { createStore, useStore } from '../lib/store.ts';
import { MoonIcon, SunIcon } from './icons.tsx';

type Theme = 'light' | 'dark';

// The inline script in the head of both pages reads the same key, before the first paint.
const STORED = 'theme';

const theme = createStore<Theme>(initialTheme());

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

/** Switches between light and dark. The system decides until it is used. */
export function ThemeSwitch({ toLight = 'Switch to light theme', toDark = 'Switch to dark theme' }: { toLight?: string; toDark?: string }) {
  const dark = useTheme() === 'dark';
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
