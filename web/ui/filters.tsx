import { type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { Link } from 'wouter';
import { MAX_HOST_LENGTH } from '../../contract/urls.ts';
import { cx } from './cx.ts';
import { DownIcon, SearchIcon } from './icons.tsx';

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

/** Returns a day of an address, YYYY-MM-DD; empty when it has none or it is not valid. */
export function dayIn(query: URLSearchParams, name: string): string {
  const day = query.get(name) ?? '';
  return /^\d{4}-\d\d-\d\d$/.test(day) && !Number.isNaN(Date.parse(day)) ? day : '';
}

/** After the last key. Safari rejects more than 100 changes of the address in 30 seconds. */
const DELAY_MS = 200;

/** A search field with its label for screen readers. It calls `onSearch` shortly after the last key, and at once for Enter. */
export function SearchField({
  label,
  value,
  maxLength = MAX_HOST_LENGTH,
  onSearch,
}: {
  label: string;
  value: string;
  maxLength?: number;
  onSearch: (text: string) => void;
}) {
  const id = useId();
  const [text, setText] = useState(value);
  const reported = useRef(value);
  const report = () => {
    if (text.trim() === reported.current) return;
    reported.current = text.trim();
    onSearch(reported.current);
  };
  const latest = useRef(report);
  latest.current = report;

  // The value changes from outside, such as by the back button.
  useEffect(() => {
    if (value === reported.current) return;
    reported.current = value;
    setText(value);
  }, [value]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: begins again at each key
  useEffect(() => {
    const timer = setTimeout(() => latest.current(), DELAY_MS);
    return () => clearTimeout(timer);
  }, [text]);

  return (
    <search>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          report();
        }}
        className="relative"
      >
        <label htmlFor={id} className="sr-only">
          {label}
        </label>
        <SearchIcon className="pointer-events-none absolute top-1/2 left-3 size-4 -translate-y-1/2 text-muted" />
        <input
          id={id}
          type="search"
          value={text}
          placeholder={label}
          maxLength={maxLength}
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          onChange={(event) => setText(event.target.value)}
          className="block h-11 w-full min-w-0 rounded-control border border-edge/60 bg-panel pr-3 pl-9 text-base hover:border-edge"
        />
      </form>
    </search>
  );
}

/** Links to the same page for other periods, in days. */
export function Periods<Days extends number>({
  periods,
  current,
  hrefOf,
}: {
  periods: readonly Days[];
  current: Days;
  hrefOf: (days: Days) => string;
}) {
  return (
    <nav aria-label="Period" className="flex">
      <ul className="flex divide-x divide-line overflow-hidden rounded-control border border-line">
        {periods.map((days) => (
          <li key={days}>
            <Link
              href={hrefOf(days)}
              replace
              aria-current={days === current ? 'true' : undefined}
              className={cx(
                'flex min-h-11 items-center px-4 text-sm font-medium -outline-offset-2',
                days === current ? 'bg-sunk text-ink' : 'text-muted hover:text-ink',
              )}
            >
              {days} days
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}
