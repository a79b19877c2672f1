import { type ComponentType, useEffect, useState } from 'react';
import { closePalette, openPalette, usePaletteOpen } from '../lib/palette.ts';
import { toastFailure } from '../lib/toast.ts';

type Palette = ComponentType<{ onClose: () => void }>;

/** Listens for the shortcut, and shows the commands, which are loaded when they are first wanted. */
export function PaletteHost() {
  const open = usePaletteOpen();
  const [Loaded, setLoaded] = useState<Palette | null>(null);

  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (!(event.metaKey || event.ctrlKey) || event.shiftKey || event.altKey || event.key.toLowerCase() !== 'k') return;
      event.preventDefault();
      // Over another dialog they would lead away from what is being done there.
      if (!document.querySelector('dialog[open]')) openPalette();
      else if (document.querySelector('dialog[open] [cmdk-root]')) closePalette();
    };
    addEventListener('keydown', listen);
    return () => removeEventListener('keydown', listen);
  }, []);

  useEffect(() => {
    if (!open || Loaded) return;
    import('./palette.tsx').then(
      ({ Palette }) => setLoaded(() => Palette),
      () => {
        closePalette();
        toastFailure('The commands could not be loaded', 'Check your connection and try again.');
      },
    );
  }, [open, Loaded]);

  return open && Loaded ? <Loaded onClose={closePalette} /> : null;
}
