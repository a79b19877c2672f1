import { type ComponentType, useEffect, useState } from 'react';
import { useStore } from '../lib/store.ts';
import { toastFailure } from '../ui/toast.tsx';
import { closeOverlay, type OverlayName, openOverlay, openPalette } from './open-overlay.ts';

type Overlay = ComponentType<{ onClose: () => void }>;

/** The functions that load what is shown over every page. */
const overlays: Record<OverlayName, () => Promise<Overlay>> = {
  palette: async () => (await import('./palette.tsx')).Palette,
  shortcuts: async () => (await import('./shortcuts.tsx')).Shortcuts,
};

/** Listens for keyboard shortcuts and shows what they open. */
export function Overlays() {
  const name = useStore(openOverlay);
  const [loaded, setLoaded] = useState<Partial<Record<OverlayName, Overlay>>>({});
  const Shown = name && loaded[name];

  useEffect(() => {
    addEventListener('keydown', onKeyDown);
    return () => removeEventListener('keydown', onKeyDown);
  }, []);

  useEffect(() => {
    if (!name || Shown) return;
    overlays[name]().then(
      (component) => setLoaded((others) => ({ ...others, [name]: component })),
      () => {
        closeOverlay();
        toastFailure('The commands could not be loaded', 'Check your connection and try again.');
      },
    );
  }, [name, Shown]);

  return Shown ? <Shown onClose={closeOverlay} /> : null;
}

/** One promise for all keys, so that they are handled in their order. */
let shortcuts: Promise<typeof import('./shortcuts.tsx')> | undefined;

function onKeyDown(event: KeyboardEvent) {
  const { key, target } = event;
  const isModified = event.metaKey || event.ctrlKey;
  if (event.altKey || event.defaultPrevented) return;
  if (isModified && !event.shiftKey && key.toLowerCase() === 'k') {
    event.preventDefault();
    // Over another dialog, a command would leave the page and what was typed there.
    if (!document.querySelector('[role=dialog]')) openPalette();
    else if (document.querySelector('[role=dialog] [cmdk-root]')) closeOverlay();
  } else if (!isModified && !(target as Element).closest('input,textarea,select,[role=dialog],[role=menu]')) {
    // Before the module is loaded: Firefox would open its search, and the page would scroll.
    if (key === '/' || (key.startsWith('Arrow') && (target as Element).closest('[data-rows]'))) event.preventDefault();
    shortcuts ??= import('./shortcuts.tsx');
    shortcuts.then(
      ({ runShortcut }) => runShortcut(event),
      () => {
        shortcuts = undefined;
      },
    );
  }
}
