import type { ReactNode } from 'react';

/** Something that went wrong, said at once to everybody. */
export function Alert({ children }: { children: ReactNode }) {
  return (
    <div role="alert" className="rounded-control border border-danger/40 bg-danger-tint px-4 py-3 text-sm [overflow-wrap:anywhere]">
      {children}
    </div>
  );
}
