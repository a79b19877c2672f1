import type { ReactNode } from 'react';
import { cx } from './cx.ts';

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
