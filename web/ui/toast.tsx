import { readStored, session, writeStored } from '../lib/storage.ts';
import { createStore, useStore } from '../lib/store.ts';
import { cx } from './cx.ts';
import { CrossIcon } from './icons.tsx';

type Toast = { id: number; tone: 'plain' | 'failure'; title: string; text?: string };

const TIMEOUT_MS = 5000;

const current = createStore<Toast | null>(null);
let timer: ReturnType<typeof setTimeout> | undefined;
let nextId = 1;

/** Shows a notification for five seconds. It replaces the previous one. */
export function toast(title: string, text?: string, tone: Toast['tone'] = 'plain') {
  clearTimeout(timer);
  current.set({ id: nextId++, tone, title, text });
  timer = setTimeout(dismissToast, TIMEOUT_MS);
}

/** Shows a failure, which screen readers announce at once. */
export const toastFailure = (title: string, text?: string) => toast(title, text, 'failure');

const KEPT = 'toast';

/** Keeps a notification for the page load that follows, in this tab. */
export const keepToast = (title: string, text: string) => writeStored(session, KEPT, JSON.stringify([title, text]));

/** Shows the notification that the page before has kept. */
export function showKeptToast() {
  const kept = readStored(session, KEPT);
  writeStored(session, KEPT, null);
  if (kept) toast(...(JSON.parse(kept) as [string, string]));
}

/** Removes the notification. */
export function dismissToast() {
  clearTimeout(timer);
  current.set(null);
}

/**
 * Renders the current notification, once in an app. In the middle, because the buttons of lists and code are on the right. Its two live regions are always in the page: a screen reader does not
 * announce the text of a region that is added together with it.
 */
export function Toaster({ dismissLabel = 'Dismiss' }: { dismissLabel?: string }) {
  const shown = useStore(current);
  const body = shown && (
    <div
      key={shown.id}
      className={cx(
        'rise pointer-events-auto flex items-start gap-3 rounded-panel border bg-panel py-2 pr-2 pl-4 text-sm shadow-raised',
        shown.tone === 'failure' ? 'border-danger/50' : 'border-line',
      )}
    >
      <div className="min-w-0 grow py-2">
        <p className={cx('font-medium', shown.tone === 'failure' && 'text-danger')}>{shown.title}</p>
        {shown.text && <p className="mt-0.5 text-muted wrap-anywhere">{shown.text}</p>}
      </div>
      <button
        type="button"
        aria-label={dismissLabel}
        onClick={dismissToast}
        className="grid size-11 shrink-0 place-items-center rounded-control text-muted hover:bg-sunk hover:text-ink"
      >
        <CrossIcon />
      </button>
    </div>
  );
  return (
    <div data-toaster className="pointer-events-none fixed inset-x-4 bottom-4 z-50 mx-auto max-w-96">
      <div aria-live="polite">{shown?.tone === 'plain' && body}</div>
      <div aria-live="assertive">{shown?.tone === 'failure' && body}</div>
    </div>
  );
}
