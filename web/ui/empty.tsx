import type { ReactNode } from 'react';

/** A list without entries: what will stand there, why one wants it, and the next step. */
export function Empty({ title, text, children }: { title: string; text: ReactNode; children?: ReactNode }) {
  return (
    <div className="rounded-panel border border-dashed border-edge/60 px-5 py-12 text-center">
      <h3 className="font-semibold tracking-tight">{title}</h3>
      <p className="mx-auto mt-1.5 max-w-md text-[0.9375rem] leading-6 text-muted">{text}</p>
      {children && <div className="mt-5 grid justify-items-center gap-4">{children}</div>}
    </div>
  );
}
