import { createContext, type ReactNode, useContext, useEffect, useLayoutEffect, useRef } from 'react';
import { cx } from './cx.ts';

/** Receives the title of a page that the service renders; null in the browser. */
export const TitleContext = createContext<{ title: string } | null>(null);

/** Sets the title of the document. */
function usePageTitle(title: string) {
  const rendered = useContext(TitleContext);
  if (rendered) rendered.title = title;
  useEffect(() => {
    document.title = title;
  }, [title]);
}

let shown = false;

/** Returns whether another page was shown before in this document. The first one leaves the focus as the browser set it. */
function markPageShown(): boolean {
  const before = shown;
  shown = true;
  return before;
}

/** The h1 of a page and the title of the document. It takes the focus after a navigation, so that a screen reader reads it. */
export function PageHeading({ title, className, children }: { title: string; className?: string; children?: ReactNode }) {
  usePageTitle(`${title} · Email Auth`);
  const heading = useRef<HTMLHeadingElement>(null);
  // Before the effects by which a field takes the focus.
  useLayoutEffect(() => {
    if (markPageShown()) heading.current?.focus({ preventScroll: true });
  }, []);
  return (
    <h1 ref={heading} tabIndex={-1} className={cx('font-semibold tracking-tight', className ?? 'text-2xl leading-8')}>
      {children ?? title}
    </h1>
  );
}

/** A step of a numbered list, such as the parts of an integration. */
export function Step({ number, title, children }: { number: number; title: string; children: ReactNode }) {
  return (
    <li className="grid min-w-0 gap-3">
      <h3 className="flex items-baseline gap-3 font-semibold tracking-tight">
        <span className="font-mono text-sm text-accent">{number}</span>
        {title}
      </h3>
      <div className="grid min-w-0 gap-3 [&>p]:text-[0.9375rem] [&>p]:leading-6 [&>p]:text-muted">{children}</div>
    </li>
  );
}
