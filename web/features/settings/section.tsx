import { type ReactNode, useId } from 'react';

/** One subject of the settings: what it is on the left, its controls on the right. */
export function Section({ title, text, children }: { title: string; text: string; children: ReactNode }) {
  const id = useId();
  return (
    <section aria-labelledby={id} className="grid gap-x-10 gap-y-5 border-t border-line py-8 lg:grid-cols-[13rem_minmax(0,1fr)]">
      <div>
        <h2 id={id} className="font-semibold tracking-tight">
          {title}
        </h2>
        <p className="mt-1 max-w-md text-sm leading-6 text-muted">{text}</p>
      </div>
      <div className="min-w-0 max-w-xl">{children}</div>
    </section>
  );
}
