import type { ElementType, ReactNode } from 'react';
import { paths } from '../paths.ts';
import { cx } from '../ui/cx.ts';
import { Mark } from '../ui/mark.tsx';

/** The bar on top of every page. @param as the router's link component where the app has one @param wide as wide as the dashboard */
export function Bar({ as: Anchor = 'a', wide, children }: { as?: ElementType; wide?: boolean; children?: ReactNode }) {
  return (
    <header className="border-b border-line bg-page">
      <div className={cx('mx-auto flex h-14 items-center justify-between gap-2 px-2 sm:px-4', wide ? 'max-w-6xl' : 'max-w-5xl')}>
        <div className="flex shrink-0 items-center">
          <Anchor href={paths.landing} aria-label="Home" className="grid size-11 place-items-center rounded-control">
            <Mark />
          </Anchor>
          <Anchor href={paths.guide} className="flex min-h-11 items-center rounded-control pr-2 font-semibold tracking-tight">
            Email Auth
          </Anchor>
        </div>
        <div className="flex min-w-0 items-center">{children}</div>
      </div>
    </header>
  );
}
