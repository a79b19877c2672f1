import { useInput } from 'ink';
import type { ViewKey } from './view.ts';

export type KeyName = ViewKey | 'refresh' | 'auto' | 'quit' | 'escape';

const LETTERS: Readonly<Record<string, KeyName>> = { j: 'down', k: 'up', r: 'refresh', a: 'auto', q: 'quit', '?': 'help', '\x03': 'quit' };
const NAMED = {
  leftArrow: 'left',
  rightArrow: 'right',
  upArrow: 'up',
  downArrow: 'down',
  pageUp: 'pageUp',
  pageDown: 'pageDown',
  home: 'home',
  end: 'end',
  tab: 'tab',
  escape: 'escape',
} as const;

/** Calls back with each key that means something here; keys that come at once, held down or pasted, one after the other. */
export function useKeys(onKey: (key: KeyName) => void): void {
  useInput((input, key) => {
    if (key.ctrl && input === 'c') return onKey('quit');
    for (const [flag, name] of Object.entries(NAMED)) if (key[flag as keyof typeof NAMED]) return onKey(name);
    if (key.ctrl || key.meta) return;
    for (const letter of input) if (LETTERS[letter]) onKey(LETTERS[letter]);
  });
}
