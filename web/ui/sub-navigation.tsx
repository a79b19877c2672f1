import { useEffect, useRef } from 'react';
import { Link } from 'wouter';
import { cx } from './cx.ts';

/** Links to the pages of one subject, in one line. @param label what they are pages of, for screen readers @param current address of the page that is shown */
export function SubNavigation({
  label,
  pages,
  current,
}: {
  label: string;
  pages: readonly { href: string; label: string }[];
  current: string;
}) {
  const strip = useRef<HTMLElement>(null);
  // On a phone, the strip is wider than the screen.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the current entry depends on the page
  useEffect(() => {
    strip.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [current]);
  return (
    <nav ref={strip} aria-label={label} className="mt-3 -mx-4 overflow-x-auto px-4 shadow-[inset_0_-1px_var(--color-line)] sm:mx-0 sm:px-0">
      <ul className="flex gap-1">
        {pages.map((page) => (
          <li key={page.href}>
            <Link
              href={page.href}
              aria-current={page.href === current ? 'page' : undefined}
              className={cx(
                'flex min-h-11 items-center whitespace-nowrap border-b-2 px-3 text-sm font-medium -outline-offset-2',
                page.href === current ? 'border-accent text-ink' : 'border-transparent text-muted hover:text-ink',
              )}
            >
              {page.label}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}
