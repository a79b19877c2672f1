import { dismissToast, useToast } from '../lib/toast.ts';
import { cx } from './cx.ts';
import { CrossIcon } from './icons.tsx';

/** Shows the notification of lib/toast. Its two live regions are always there, or a screen reader would miss the first one. */
export function Toaster({ dismissLabel = 'Dismiss' }: { dismissLabel?: string }) {
  const toast = useToast();
  const body = toast && (
    <div
      key={toast.id}
      className={cx(
        'rise pointer-events-auto flex items-start gap-3 rounded-panel border bg-panel py-2 pr-2 pl-4 text-sm shadow-raised',
        toast.tone === 'failure' ? 'border-danger/50' : 'border-line',
      )}
    >
      <div className="min-w-0 grow py-2">
        <p className={cx('font-medium', toast.tone === 'failure' && 'text-danger')}>{toast.title}</p>
        {toast.text && <p className="mt-0.5 text-muted [overflow-wrap:anywhere]">{toast.text}</p>}
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
    <div className="pointer-events-none fixed inset-x-4 bottom-4 z-50 sm:left-auto sm:w-96">
      <div aria-live="polite">{toast?.tone === 'plain' && body}</div>
      <div aria-live="assertive">{toast?.tone === 'failure' && body}</div>
    </div>
  );
}
