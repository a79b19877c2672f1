import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { pages } from '../../../contract/pages.ts';
import { docPath, slugAt } from '../../../docs/pages.ts';

export const linkStyle = 'underline decoration-edge underline-offset-4 hover:text-accent hover:decoration-accent';

/** A link in a text. It opens a page of the documentation as HTML instead of Markdown, and pages of the app without a reload. */
export function DocLink({ href, className, children }: { href: string; className?: string; children: ReactNode }) {
  const path = appPathOf(href);
  if (path !== null) {
    return (
      <Link href={path} className={className}>
        {children}
      </Link>
    );
  }
  return (
    <a href={href} className={className}>
      {children}
    </a>
  );
}

/** Returns the path of a link within the app; null for a file, a fragment of the same page, or another origin. */
function appPathOf(href: string): string | null {
  if (href.startsWith('#') || !URL.canParse(href, location.href)) return null;
  const { origin, pathname, hash } = new URL(href, location.href);
  if (origin !== location.origin) return null;
  const slug = pathname.endsWith('.md') ? slugAt(pathname.slice(0, -3)) : null;
  if (slug !== null) return docPath(slug) + hash;
  return (pages as Record<string, string>)[pathname] === 'portal' ? pathname + hash : null;
}
