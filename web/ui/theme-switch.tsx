import { useState } from 'react';
import { chooseTheme, currentTheme } from '../lib/theme.ts';
import { MoonIcon, SunIcon } from './icons.tsx';

/** Switches between light and dark; until it is used, the system decides. */
export function ThemeSwitch({ toLight = 'Switch to light theme', toDark = 'Switch to dark theme' }: { toLight?: string; toDark?: string }) {
  const [theme, setTheme] = useState(currentTheme);
  const other = theme === 'dark' ? 'light' : 'dark';
  const change = () => {
    chooseTheme(other);
    setTheme(other);
  };
  return (
    <button
      type="button"
      aria-label={other === 'light' ? toLight : toDark}
      onClick={change}
      className="grid size-11 place-items-center rounded-control text-muted hover:bg-sunk hover:text-ink"
    >
      {theme === 'dark' ? <SunIcon /> : <MoonIcon />}
    </button>
  );
}
