import type { ReactNode } from 'react';
import { cx } from './cx.ts';

/** A short status. `live` has a dot in the accent: something that works now. */
export function Badge({ tone = 'plain', children }: { tone?: 'plain' | 'live'; children: ReactNode }) {
  return (
    <span
      className={cx(
        'inline-flex items-center gap-1.5 whitespace-nowrap rounded-full border px-2 py-0.5 text-xs font-medium',
        tone === 'live' ? 'border-accent/35 bg-tint text-accent' : 'border-line bg-sunk text-muted',
      )}
    >
      {tone === 'live' && <span aria-hidden="true" className="size-1.5 rounded-full bg-current" />}
      {children}
    </span>
  );
}
