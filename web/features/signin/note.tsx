import type { ReactNode } from 'react';

/** A framed note above the controls of a step. A failure is read at once by screen readers. */
export function Note({ tone, children }: { tone: 'plain' | 'failure'; children: ReactNode }) {
  const color = tone === 'failure' ? 'border-danger/40 bg-danger-tint' : 'border-accent/40 bg-tint';
  return (
    <div role={tone === 'failure' ? 'alert' : undefined} className={`mt-5 rounded-control border px-4 py-3 text-sm wrap-anywhere ${color}`}>
      {children}
    </div>
  );
}
