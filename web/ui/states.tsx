import type { ReactNode } from 'react';
import { errorText } from '../lib/api.ts';
import { Button, Spinner } from './button.tsx';
import { cx } from './cx.ts';

/** A placeholder for something that is being loaded. */
export const Skeleton = ({ className }: { className: string }) => (
  <span aria-hidden="true" className={cx('pulse block rounded-control bg-sunk', className)} />
);

/** A page that is being loaded. */
export function Loading() {
  return (
    <p role="status" data-loading className="flex grow items-center justify-center gap-2.5 py-24 text-muted">
      <Spinner />
      Loading...
    </p>
  );
}

/** An error, which screen readers announce at once. */
export function Alert({ children }: { children: ReactNode }) {
  return (
    <div role="alert" className="rounded-control border border-danger/40 bg-danger-tint px-4 py-3 text-sm wrap-anywhere">
      {children}
    </div>
  );
}

/**
 * A query that failed, with a button to try again. It takes the `error`, `isFetching` and `refetch` of the query.
 * @param texts in another language, instead of the reason and `fallback`
 */
export function Failed({
  error,
  fallback = '',
  texts = { reason: errorText(error, fallback), retry: 'Try again' },
  isFetching,
  refetch,
}: {
  error: unknown;
  fallback?: string;
  texts?: { reason: string; retry: string };
  isFetching: boolean;
  refetch: () => unknown;
}) {
  return (
    <div className="grid gap-3">
      <Alert>{texts.reason}</Alert>
      <Button variant="secondary" className="justify-self-start" busy={isFetching} onClick={() => refetch()}>
        {texts.retry}
      </Button>
    </div>
  );
}

/** An empty list: what it will contain, what that is for, and the next step. */
export function Empty({ title, text, children }: { title: string; text: ReactNode; children?: ReactNode }) {
  return (
    <div className="rounded-panel border border-dashed border-edge/60 px-5 py-12 text-center">
      <h3 className="font-semibold tracking-tight">{title}</h3>
      <p className="mx-auto mt-1.5 max-w-md text-[0.9375rem] leading-6 text-muted">{text}</p>
      {children && <div className="mt-5 grid justify-items-center gap-4">{children}</div>}
    </div>
  );
}

/** A short status. `live` has a dot in the accent color: the thing works now. */
export function Badge({ tone = 'plain', children }: { tone?: 'plain' | 'live'; children: ReactNode }) {
  return (
    <span
      className={cx(
        'inline-flex items-center gap-1.5 whitespace-nowrap rounded-full border px-2 py-0.5 text-xs font-medium',
        tone === 'live' ? 'border-accent/35 bg-tint text-accent' : 'border-line bg-sunk text-muted',
      )}
    >
      {tone === 'live' && <span aria-hidden="true" className="size-1.5 rounded-full bg-current forced-colors:bg-[CanvasText]" />}
      {children}
    </span>
  );
}

// Forced colors replace every background that is not a color of the system: a circle is off, and a square bad.
const tones = {
  live: 'bg-accent forced-colors:bg-[CanvasText]',
  off: 'bg-edge forced-colors:border',
  bad: 'bg-danger forced-colors:rounded-none forced-colors:bg-[CanvasText]',
};

/** A state as a dot and a text: the color alone is not accessible. */
export function StatusDot({ tone, children }: { tone: keyof typeof tones; children: string }) {
  return (
    <span className="inline-flex items-center gap-2 whitespace-nowrap text-sm">
      <span aria-hidden="true" className={cx('size-2 rounded-full', tones[tone])} />
      {children}
    </span>
  );
}
