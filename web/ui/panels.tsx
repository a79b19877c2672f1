import type { ReactNode } from 'react';
import { Skeleton } from './states.tsx';

/** A list of rows; its children are `li`. */
export const Rows = ({ children }: { children: ReactNode }) => (
  <ul className="divide-y divide-line rounded-panel border border-line bg-panel">{children}</ul>
);

/** A placeholder for Rows. @param what is loaded, for screen readers */
export function RowsLoading({ what, rows = 2 }: { what: string; rows?: number }) {
  return (
    <div role="status" aria-label={`Loading ${what}`} className="grid divide-y divide-line rounded-panel border border-line bg-panel">
      {Array.from({ length: rows }, (_, row) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: identical rows that never move
        <div key={row} className="grid gap-2 px-4 py-5 sm:px-5">
          <Skeleton className="h-4 w-40" />
          <Skeleton className="h-3 w-56 max-w-full" />
        </div>
      ))}
    </div>
  );
}

/** Statistics side by side; its children are `Stat`. */
export const Stats = ({ children }: { children: ReactNode }) => (
  <dl className="flex flex-wrap gap-px overflow-hidden rounded-panel border border-line bg-line">{children}</dl>
);

/** One number with its label. @param value undefined: not loaded yet; null: not enough data yet */
export function Stat({ label, value, note }: { label: string; value: string | null | undefined; note?: string }) {
  return (
    <div className="flex min-w-0 grow basis-40 flex-col gap-1 bg-panel px-5 py-4">
      <dt className="text-sm text-muted">{label}</dt>
      <dd className="min-h-8">
        {value === undefined && <Skeleton className="mt-1 h-6 w-16" />}
        {value === null && <span className="text-[0.9375rem] leading-6 text-muted">Not enough data yet</span>}
        {value && <span className="text-2xl font-semibold leading-8 tracking-tight tabular-nums">{value}</span>}
      </dd>
      {note && <dd className="text-[0.8125rem] text-muted">{note}</dd>}
    </div>
  );
}
