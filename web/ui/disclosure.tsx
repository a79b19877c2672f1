import type { ReactNode } from 'react';
import { DownIcon } from './icons.tsx';

/** A bordered section that its heading opens and closes. */
export function Disclosure({ summary, children }: { summary: string; children: ReactNode }) {
  return (
    <details className="group rounded-control border border-line">
      <summary className="flex min-h-11 list-none items-center justify-between gap-3 rounded-control px-4 text-sm font-medium hover:bg-sunk [&::-webkit-details-marker]:hidden">
        {summary}
        <DownIcon className="size-4 shrink-0 text-muted group-open:rotate-180" />
      </summary>
      <div className="border-t border-line">{children}</div>
    </details>
  );
}
