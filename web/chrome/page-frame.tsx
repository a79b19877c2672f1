import type { ElementType, ReactNode } from 'react';
import { paths } from '../paths.ts';
import { cx } from '../ui/cx.ts';
import { Mark } from '../ui/icons.tsx';

/** The bar at the top of every page. @param as the router's link component, in the portal @param wide as wide as the dashboard */
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

/**
 * The footer of every page.
 * @param as the router's link component, in the portal
 * @param status with a link to the status page
 * @param wide as wide as the dashboard
 */
export function Footer({
  as: Anchor = 'a',
  notice,
  terms = 'Terms',
  privacy = 'Privacy',
  status,
  wide,
}: {
  as?: ElementType;
  /** Instead of the copyright line. */
  notice?: string;
  terms?: string;
  privacy?: string;
  status?: boolean;
  wide?: boolean;
}) {
  const link = 'inline-flex min-h-11 items-center rounded-control px-2 hover:text-ink';
  return (
    <footer className="mt-auto border-t border-line text-sm text-muted">
      <div
        className={cx('mx-auto flex flex-wrap items-center justify-between gap-x-4 px-4 py-2 sm:px-6', wide ? 'max-w-6xl' : 'max-w-5xl')}
      >
        <p>{notice ?? `© ${new Date().getFullYear()} Email Auth`}</p>
        <nav aria-label={`${terms}, ${privacy}`} className="-mx-2 flex flex-wrap">
          {status && (
            <Anchor href={paths.status} className={link}>
              Status
            </Anchor>
          )}
          <Anchor href={paths.terms} className={link}>
            {terms}
          </Anchor>
          <Anchor href={paths.privacy} className={link}>
            {privacy}
          </Anchor>
        </nav>
      </div>
    </footer>
  );
}

/** The id of a page's content. */
export const CONTENT = 'content';

/** The first link of a page: skips the bar. */
export function SkipLink() {
  return (
    <a
      href={`#${CONTENT}`}
      className="fixed top-2 left-2 z-50 flex min-h-11 -translate-y-20 items-center rounded-control border border-line bg-panel px-4 text-sm font-medium shadow-raised focus:translate-y-0"
    >
      Skip to content
    </a>
  );
}
