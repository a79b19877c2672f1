import { local, readStored, writeStored } from './storage.ts';

export type Theme = 'light' | 'dark';

// The inline script in the head of both pages reads the same key, before the first paint.
const STORED = 'theme';

/** The theme that is shown: the chosen one, else the system's. */
export function currentTheme(): Theme {
  const chosen = readStored(local, STORED);
  if (chosen === 'light' || chosen === 'dark') return chosen;
  return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
}

export function chooseTheme(theme: Theme) {
  writeStored(local, STORED, theme);
  document.documentElement.dataset.theme = theme;
}
