import { useSyncExternalStore } from 'react';

export type Toast = { id: number; tone: 'plain' | 'failure'; title: string; text?: string };

const SHOWN_MS = 5000;

let shown: Toast | null = null;
let timer: ReturnType<typeof setTimeout> | undefined;
let nextId = 1;
const watchers = new Set<() => void>();

/** Shows a notification for five seconds, in place of the one that is shown. */
export function toast(title: string, text?: string, tone: Toast['tone'] = 'plain') {
  show({ id: nextId++, tone, title, text });
  timer = setTimeout(dismissToast, SHOWN_MS);
}

/** The same for something that went wrong; screen readers are told at once. */
export const toastFailure = (title: string, text?: string) => toast(title, text, 'failure');

export const dismissToast = () => show(null);

/** The notification that is shown now. */
export const useToast = () => useSyncExternalStore(watch, () => shown);

function show(next: Toast | null) {
  clearTimeout(timer);
  shown = next;
  for (const watcher of watchers) watcher();
}

function watch(watcher: () => void) {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}
