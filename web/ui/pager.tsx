import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { cx } from './cx.ts';
import { ArrowIcon, BackIcon } from './icons.tsx';

/** Links to the previous and the next page of a list. Renders nothing when there is one page. @param hrefOf the address of a page */
export function Pager({ page, pages, hrefOf }: { page: number; pages: number; hrefOf: (page: number) => string }) {
  if (pages < 2) return null;
  return (
    <nav aria-label="Pages of the list" className="mt-4 flex items-center justify-between gap-4">
      <Step href={page > 1 ? hrefOf(page - 1) : null}>
        <BackIcon />
        Previous
      </Step>
      <p className="text-sm text-muted tabular-nums">
        Page {page.toLocaleString('en')} of {pages.toLocaleString('en')}
      </p>
      <Step href={page < pages ? hrefOf(page + 1) : null}>
        Next
        <ArrowIcon />
      </Step>
    </nav>
  );
}

const step = 'flex min-h-11 items-center gap-2 rounded-control px-3 text-sm font-medium';

/** At an end, only its place stays. */
const Step = ({ href, children }: { href: string | null; children: ReactNode }) =>
  href ? (
    <Link href={href} className={cx(step, 'hover:bg-sunk')}>
      {children}
    </Link>
  ) : (
    <span aria-hidden="true" className={cx(step, 'invisible')}>
      {children}
    </span>
  );
