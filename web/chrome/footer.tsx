import type { ElementType } from 'react';
import { paths } from '../paths.ts';

/** The line at the end of every page. @param as the router's link component where the app has one */
export function Footer({ as: Anchor = 'a', terms = 'Terms', privacy = 'Privacy' }: { as?: ElementType; terms?: string; privacy?: string }) {
  const link = 'inline-flex min-h-11 items-center rounded-control px-2 hover:text-ink';
  return (
    <footer className="mt-auto border-t border-line text-sm text-muted">
      <div className="mx-auto flex max-w-5xl flex-wrap items-center justify-between gap-x-4 px-4 py-2 sm:px-6">
        <p>© {new Date().getFullYear()} Email Auth</p>
        <nav aria-label={`${terms}, ${privacy}`} className="-mx-2 flex flex-wrap">
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
