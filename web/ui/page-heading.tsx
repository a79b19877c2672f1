import { type ReactNode, useEffect, useRef } from 'react';
import { markPageShown } from '../lib/page-title.ts';
import { cx } from './cx.ts';

/** A page's one h1, with the window's title. After a change of page it takes the focus, so that the page is read out. */
export function PageHeading({ title, className, children }: { title: string; className?: string; children?: ReactNode }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (markPageShown()) heading.current?.focus({ preventScroll: true });
  }, []);
  return (
    <>
      <title>{`${title} · Email Auth`}</title>
      <h1 ref={heading} tabIndex={-1} className={cx('font-semibold tracking-tight', className ?? 'text-2xl leading-8')}>
        {children ?? title}
      </h1>
    </>
  );
}
