import { type ComponentType, useEffect, useState } from 'react';
import { createStore, useStore } from '../lib/store.ts';
import { toastFailure } from '../ui/toast.tsx';

type Overlay = ComponentType<{ onClose: () => void }>;

/** The functions that load what is shown over every page. */
const overlays = {
  palette: async (): Promise<Overlay> => (await import('./palette.tsx')).Palette,
  shortcuts: async (): Promise<Overlay> => (await import('./shortcuts.tsx')).Shortcuts,
};

const open = createStore<keyof typeof overlays | null>(null);
const close = () => open.set(null);

/** Opens the commands. */
export const openPalette = () => open.set('palette');
/** Opens the list of keyboard shortcuts. */
export const openShortcuts = () => open.set('shortcuts');

/** The keys that open the commands, as they are printed on the keyboard of this system. */
export const PALETTE_KEYS = /Mac|iPhone|iPad/.test(navigator.platform) ? '⌘K' : 'Ctrl K';

/** Listens for keyboard shortcuts and shows what they open. */
export function Overlays() {
  const name = useStore(open);
  const [loaded, setLoaded] = useState<{ [Name in keyof typeof overlays]?: Overlay }>({});
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
        close();
        toastFailure('The commands could not be loaded', 'Check your connection and try again.');
      },
    );
  }, [name, Shown]);

  return Shown ? <Shown onClose={close} /> : null;
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
    else if (document.querySelector('[role=dialog] [cmdk-root]')) close();
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
