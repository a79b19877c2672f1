import type { ElementType, ReactNode } from 'react';
import { useSite } from '../lib/site.ts';
import { DEMO, paths, QUICK_START } from '../pages.ts';
import { ButtonLink } from '../ui/button.tsx';
import { cx } from '../ui/cx.ts';
import { MenuIcon } from '../ui/icons.tsx';
import { PageHeading } from '../ui/page-heading.tsx';
import { Bar, CONTENT, Footer, SkipLink } from './page-frame.tsx';

const link =
  'flex min-h-11 items-center whitespace-nowrap rounded-control px-3 text-sm font-medium text-muted hover:bg-sunk hover:text-ink';

const signedIn = [{ href: paths.developer, label: 'Developer Home' }];
const signedOut = [
  { href: paths.signIn, label: 'Sign in' },
  { href: paths.register, label: 'Register' },
];

/**
 * Bar and footer of a public page. Its menu on phones opens without a script.
 * @param as the router's link component, in the portal
 * @param isKnown whether an account is signed in; unset: the page has the entries of both, and its style sheet shows those that fit
 * @param tools beside the links
 */
export function PublicFrame({
  as = 'a',
  path,
  isKnown,
  tools,
  theme,
  children,
}: {
  as?: ElementType;
  path: string | null;
  isKnown?: boolean;
  tools?: ReactNode;
  theme: ReactNode;
  children: ReactNode;
}) {
  const { isLocal } = useSite();
  const entries = [
    { href: QUICK_START, label: 'Docs' },
    { href: paths.guide, label: 'Guide' },
    ...(isLocal ? [{ href: DEMO, label: 'Demo' }] : []),
    ...(isKnown === false ? [] : signedIn.map((entry) => ({ ...entry, shown: 'when-signed-in' }))),
    ...(isKnown ? [] : signedOut.map((entry) => ({ ...entry, shown: 'when-signed-out' }))),
  ];
  const Anchor = as;
  const links = entries.map(({ href, label, shown }: { href: string; label: string; shown?: string }) => (
    <Anchor key={href} href={href} aria-current={href === path ? 'page' : undefined} className={cx(link, shown)}>
      {label}
    </Anchor>
  ));
  return (
    <>
      <SkipLink />
      <Bar as={as}>
        {tools}
        <nav aria-label="Main" className="hidden items-center md:flex">
          {links}
        </nav>
        <details key={path} className="relative md:hidden">
          <summary className="grid size-11 list-none place-items-center rounded-control text-muted hover:bg-sunk hover:text-ink [&::-webkit-details-marker]:hidden">
            <MenuIcon />
            <span className="sr-only">Menu</span>
          </summary>
          <nav
            aria-label="Main"
            className="absolute top-full right-0 z-40 mt-1 min-w-56 rounded-panel border border-line bg-panel p-1 shadow-raised"
          >
            {links}
          </nav>
        </details>
        {theme}
      </Bar>
      <main id={CONTENT} tabIndex={-1} className="mx-auto w-full max-w-5xl grow px-4 sm:px-6">
        {children}
      </main>
      <Footer as={as} status />
    </>
  );
}

/** Closes the menu of a phone by Escape and by a press outside it, as other menus. */
export function watchMenu() {
  const close = (isKept: (menu: HTMLDetailsElement) => boolean) => {
    for (const menu of document.querySelectorAll<HTMLDetailsElement>('header details[open]')) if (!isKept(menu)) menu.open = false;
  };
  document.addEventListener('pointerdown', ({ target }) => close((menu) => menu.contains(target as Node)));
  document.addEventListener('keydown', ({ key }) => {
    if (key !== 'Escape') return;
    document.querySelector<HTMLElement>('header details[open]:focus-within summary')?.focus();
    close(() => false);
  });
}

/** The page of an unknown path. @param path unset: a script fills it in */
export function NotFound({ as, path }: { as?: ElementType; path?: string }) {
  return (
    <div className="mx-auto max-w-md py-24 text-center">
      <PageHeading title="404 Page Not Found" />
      <p className="mt-2 text-muted">Did you forget to add the page to the router?</p>
      <p data-path className="mt-6 min-h-5 font-mono text-[0.8125rem] leading-5 text-muted wrap-anywhere">
        {path}
      </p>
      <div className="mt-6 flex flex-wrap justify-center gap-2">
        <ButtonLink as={as} href={paths.landing}>
          Go to Homepage
        </ButtonLink>
        <ButtonLink as={as} variant="secondary" href={paths.guide}>
          Documentation
        </ButtonLink>
      </div>
    </div>
  );
}
