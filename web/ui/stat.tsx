import type { ReactNode } from 'react';
import { Skeleton } from './skeleton.tsx';

/** Figures side by side, divided by lines; its children are `Stat`. */
export const Stats = ({ children }: { children: ReactNode }) => (
  <dl className="flex flex-wrap gap-px overflow-hidden rounded-panel border border-line bg-line">{children}</dl>
);

/** One figure. @param value undefined: not loaded yet; null: not enough data yet */
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
