import type { ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import { useLogout, useUser } from '../lib/session.ts';
import { paths } from '../paths.ts';
import { MailIcon, MenuIcon, UserIcon } from '../ui/icons.tsx';
import { Menu, menuItem } from '../ui/menu.tsx';
import { ThemeSwitch } from '../ui/theme-switch.tsx';
import { Bar } from './bar.tsx';
import { Footer } from './footer.tsx';

/** Bar with the developer's menus and footer around a page of the portal. */
export function DeveloperShell({ children }: { children: ReactNode }) {
  const [path, navigate] = useLocation();
  const { data: user } = useUser();
  const logout = useLogout(() => navigate(paths.landing, { replace: true }));
  const service = (href: string) => ({ href, className: menuItem, 'aria-current': path === href ? ('page' as const) : undefined });

  return (
    <>
      <Bar as={Link}>
        <Menu
          icon={<MenuIcon className="size-4 sm:hidden" />}
          label={<span className="whitespace-nowrap max-sm:sr-only">Developer Services</span>}
        >
          <Link {...service(paths.developer)}>Developer Home</Link>
          <Link {...service(paths.websites)}>
            <MailIcon className="size-4 text-muted" />
            Email Auth Service
          </Link>
        </Menu>
        <Menu
          icon={<UserIcon />}
          label={
            <>
              <span className="sr-only">Account:</span>
              <span className="min-w-0 truncate max-sm:sr-only">{user?.email ?? 'Not authenticated'}</span>
            </>
          }
        >
          <p className="border-b border-line px-3 py-2 text-sm text-muted [overflow-wrap:anywhere] sm:hidden">
            {user?.email ?? 'Not authenticated'}
          </p>
          {user ? (
            <button type="button" className={menuItem} onClick={() => logout.mutate()}>
              Logout
            </button>
          ) : (
            <a href={paths.signIn} className={menuItem}>
              Sign in
            </a>
          )}
        </Menu>
        <ThemeSwitch />
      </Bar>
      <main className="mx-auto w-full max-w-5xl grow px-4 py-8 sm:px-6 sm:py-12">{children}</main>
      <Footer as={Link} terms="Terms of Service" privacy="Privacy Policy" />
    </>
  );
}
