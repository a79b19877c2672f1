import type { ElementType } from 'react';
import { paths } from '../paths.ts';
import { cx } from '../ui/cx.ts';

/**
 * The line at the end of every page.
 * @param as the router's link component where the app has one
 * @param status with a link to the status page
 * @param wide as wide as the dashboard
 */
export function Footer({
  as: Anchor = 'a',
  terms = 'Terms',
  privacy = 'Privacy',
  status,
  wide,
}: {
  as?: ElementType;
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
        <p>© {new Date().getFullYear()} Email Auth</p>
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
