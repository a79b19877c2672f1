import { type ReactNode, useEffect } from 'react';
import { useLocationProperty } from 'wouter/use-browser-location';
import { Button } from '../../ui/button.tsx';
import { CodeBlock } from '../../ui/copyable.tsx';
import { PlusIcon } from '../../ui/icons.tsx';

/** A list of the page with its heading and the button that adds to it. */
export function Section({ title, add, onAdd, children }: { title: string; add: string; onAdd: () => void; children: ReactNode }) {
  return (
    // The position of the sections below is not known until the list is loaded.
    <section className="mt-10 [&:has([data-loading])~*]:invisible">
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

/** Code in an empty list, whose other text is centered. */
export const Snippet = ({ label, code }: { label: string; code: string }) => (
  <div className="w-full min-w-0 max-w-xl text-left">
    <CodeBlock label={label} code={code} />
  </div>
);

/**
 * Scrolls to the element that the fragment of the address names and focuses it, once the list that contains it is rendered: the
 * browser looks for it when nothing is loaded yet.
 */
export function useFragment(isRendered: boolean) {
  const hash = useLocationProperty(() => location.hash);
  useEffect(() => {
    const element = isRendered && hash ? document.getElementById(hash.slice(1)) : null;
    element?.scrollIntoView({ block: 'center' });
    element?.focus({ preventScroll: true });
  }, [isRendered, hash]);
}
