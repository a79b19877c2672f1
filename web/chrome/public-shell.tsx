import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { useAccountHint, useUser } from '../lib/session.ts';
import { paths } from '../paths.ts';
import { Bar } from './bar.tsx';
import { PaletteButton, ThemeButton } from './bar-tools.tsx';
import { Footer } from './footer.tsx';
import { CONTENT, SkipLink } from './skip-link.tsx';

const link =
  'flex min-h-11 items-center gap-[0.25em] whitespace-nowrap rounded-control px-2 text-sm sm:px-3 font-medium text-muted hover:bg-sunk hover:text-ink';

/** Bar and footer around a page that everybody may see. */
export function PublicShell({ children }: { children: ReactNode }) {
  const { data: user, isPending } = useUser();
  const hint = useAccountHint();
  return (
    <>
      <SkipLink />
      <Bar as={Link}>
        <PaletteButton wide />
        {user || (isPending && hint) ? (
          <Link href={paths.developer} className={link}>
            Developer <span className="max-sm:sr-only">Home</span>
          </Link>
        ) : (
          // The sign-in page is an entry of its own, which only a page load reaches.
          <a href={paths.signIn} className={link}>
            Sign in
          </a>
        )}
        <ThemeButton className="max-[22.5rem]:hidden" />
      </Bar>
      <main id={CONTENT} tabIndex={-1} className="mx-auto w-full max-w-5xl grow px-4 sm:px-6">
        {children}
      </main>
      <Footer as={Link} status />
    </>
  );
}
