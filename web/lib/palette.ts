import { useSyncExternalStore } from 'react';

let open = false;
const watchers = new Set<() => void>();

/** Whether the commands are open; the button of a bar and the shortcut open them. */
export const usePaletteOpen = () => useSyncExternalStore(watch, () => open);

export const openPalette = () => set(true);
export const closePalette = () => set(false);

function set(next: boolean) {
  open = next;
  for (const watcher of watchers) watcher();
}

function watch(watcher: () => void) {
  watchers.add(watcher);
  return () => void watchers.delete(watcher);
}
