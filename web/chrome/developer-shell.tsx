import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { AccountMenu } from './account-menu.tsx';
import { Bar } from './bar.tsx';
import { PaletteButton, ThemeButton } from './bar-tools.tsx';
import { Footer } from './footer.tsx';
import { ServicesMenu } from './services-menu.tsx';
import { CONTENT, SkipLink } from './skip-link.tsx';

/** Bar with the developer's menus and footer around a page of the portal. */
export function DeveloperShell({ children }: { children: ReactNode }) {
  return (
    <>
      <SkipLink />
      <Bar as={Link}>
        <PaletteButton wide />
        <ServicesMenu />
        <AccountMenu logoutLabel="Logout" />
        <ThemeButton className="max-[22.5rem]:hidden" />
      </Bar>
      <main id={CONTENT} tabIndex={-1} className="mx-auto w-full max-w-5xl grow px-4 py-8 sm:px-6 sm:py-12">
        {children}
      </main>
      <Footer as={Link} terms="Terms of Service" privacy="Privacy Policy" />
    </>
  );
}
