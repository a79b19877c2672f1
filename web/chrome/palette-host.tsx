import { type ComponentType, useEffect, useState } from 'react';
import { createStore, useStore } from '../lib/store.ts';
import { toastFailure } from '../ui/toast.tsx';

const open = createStore(false);

export const openPalette = () => open.set(true);
const closePalette = () => open.set(false);

/** The keys that open the commands, as they are printed on the keyboard of this system. */
export const shortcut = /Mac|iPhone|iPad/.test(navigator.platform) ? '⌘K' : 'Ctrl K';

/** Listens for the shortcut and shows the commands, which are loaded when they are opened for the first time. */
export function PaletteHost() {
  const isOpen = useStore(open);
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
