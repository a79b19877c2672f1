import { type ReactNode, useId, useState } from 'react';
import { cx } from './cx.ts';
import { DownIcon } from './icons.tsx';

/**
 * The filters of a list. A phone shows the first one, and the others below a button with the number of those that are active.
 * @param active how many of `children` filter something
 */
export function Filters({
  first,
  active,
  className,
  children,
}: {
  first: ReactNode;
  active: number;
  className?: string;
  children: ReactNode;
}) {
  const [isOpen, setIsOpen] = useState(false);
  const id = useId();
  return (
    <search
      aria-label="Filter"
      className={cx('grid items-end gap-x-4 gap-y-3 sm:grid-cols-2 lg:grid-cols-[1fr_1fr_10rem_10rem]', className)}
    >
      {first}
      <button
        type="button"
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setIsOpen(!isOpen)}
        className="flex h-11 items-center justify-between gap-2 rounded-control border border-edge/60 bg-panel px-3 text-[0.9375rem] font-medium hover:border-edge sm:hidden"
      >
        <span>
          Filters
          {active > 0 && (
            <>
              {' '}
              <span className="ml-1 rounded-full bg-sunk px-2 py-0.5 text-[0.8125rem] tabular-nums">
                {active}
                <span className="sr-only"> active</span>
              </span>
            </>
          )}
        </span>
        <DownIcon className={cx('size-4 text-muted transition-transform', isOpen && 'rotate-180')} />
      </button>
      <div id={id} className={cx('grid items-end gap-3 sm:contents', !isOpen && 'max-sm:hidden')}>
        {children}
      </div>
    </search>
  );
}
