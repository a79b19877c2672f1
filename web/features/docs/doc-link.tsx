import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { pages } from '../../../contract/pages.ts';
import { docPath, slugAt } from '../../../templates/doc-pages.ts';

export const linkLook = 'underline decoration-edge underline-offset-4 hover:text-accent hover:decoration-accent';

/** A link in a text. A link to the Markdown of another page leads to that page, through the router. */
export function DocLink({ href, className, children }: { href: string; className?: string; children: ReactNode }) {
  const inside = pathInside(href);
  if (inside !== null) {
    return (
      <Link href={inside} className={className}>
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

/** Returns the path of a link to a page of the portal, or null for a file, an anchor of the same page or another site. */
function pathInside(href: string): string | null {
  if (href.startsWith('#') || !URL.canParse(href, location.href)) return null;
  const { origin, pathname, hash } = new URL(href, location.href);
  if (origin !== location.origin) return null;
  const slug = pathname.endsWith('.md') ? slugAt(pathname.slice(0, -3)) : null;
  if (slug !== null) return docPath(slug) + hash;
  return (pages as Record<string, string>)[pathname] === 'portal' ? pathname + hash : null;
}
