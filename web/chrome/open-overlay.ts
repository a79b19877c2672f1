import { createStore } from '../lib/store.ts';

/** What is shown over every page: the commands or the list of keyboard shortcuts. */
export type OverlayName = 'palette' | 'shortcuts';

/** What is open. Apart from overlays.tsx, which loads what opens others. */
export const openOverlay = createStore<OverlayName | null>(null);

export const openPalette = () => openOverlay.set('palette');
export const openShortcuts = () => openOverlay.set('shortcuts');
export const closeOverlay = () => openOverlay.set(null);

/** Returns the keys that open the commands, as they are printed on the keyboard of this system. */
export const paletteKeys = () => (/Mac|iPhone|iPad/.test(navigator.platform) ? '⌘K' : 'Ctrl K');
