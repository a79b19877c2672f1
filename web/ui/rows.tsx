import type { ReactNode } from 'react';
import { Skeleton } from './skeleton.tsx';

/** A list of dense rows; its children are `li`. */
export const Rows = ({ children }: { children: ReactNode }) => (
  <ul className="divide-y divide-line rounded-panel border border-line bg-panel">{children}</ul>
);

/** The same while it is loaded. @param what is loaded, for screen readers */
export function RowsLoading({ what, rows = 2 }: { what: string; rows?: number }) {
  return (
    <div role="status" aria-label={`Loading ${what}`} className="grid divide-y divide-line rounded-panel border border-line bg-panel">
      {Array.from({ length: rows }, (_, row) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: all alike, and never moved
        <div key={row} className="grid gap-2 px-4 py-5 sm:px-5">
          <Skeleton className="h-4 w-40" />
          <Skeleton className="h-3 w-56 max-w-full" />
        </div>
      ))}
    </div>
  );
}
