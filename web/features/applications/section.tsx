import type { ReactNode } from 'react';
import { Button } from '../../ui/button.tsx';
import { PlusIcon } from '../../ui/icons.tsx';

/** A list of the page under its heading, with the button that adds to it. */
export function Section({ title, add, onAdd, children }: { title: string; add: string; onAdd: () => void; children: ReactNode }) {
  return (
    <section className="mt-10">
      <div className="mb-4 flex flex-wrap items-center justify-between gap-3">
        <h2 className="text-lg font-semibold tracking-tight">{title}</h2>
        <Button onClick={onAdd}>
          <PlusIcon />
          {add}
        </Button>
      </div>
      {children}
    </section>
  );
}
