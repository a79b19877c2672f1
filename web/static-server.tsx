import { renderToString } from 'react-dom/server';
import { docPageOf, slugAt } from '../docs/pages.ts';
import { ThemeSwitch } from './chrome/page-frame.tsx';
import { NotFound, PublicFrame } from './chrome/public-frame.tsx';
import { DocPage } from './features/docs/doc-page.tsx';
import { DocSearch } from './features/docs/doc-search.tsx';
import type { DocText } from './features/docs/doc-text.ts';
import { prepareGuideCode } from './features/guide/guide-code.tsx';
import { GuidePage } from './features/guide/guide-page.tsx';
import { LandingPage } from './features/landing/landing-page.tsx';
import { PrivacyPage, TermsPage } from './features/legal/legal-pages.tsx';
import { type Site, SiteContext } from './lib/site.ts';
import { paths } from './pages.ts';

/**
 * Returns the HTML of a static page. What moves in it is an element with `data-island`, which static.tsx takes over.
 * @param path null: of the page for unknown paths @param readDoc returns the text of a page of the documentation by its slug
 */
export async function renderStatic(path: string | null, site: Site, readDoc: (slug: string) => DocText): Promise<string> {
  if (path === paths.guide) await prepareGuideCode();
  return renderToString(
    <SiteContext value={site}>
      <PublicFrame
        path={path}
        theme={
          <span data-island="theme">
            <ThemeSwitch />
          </span>
        }
      >
        {pageOf(path, readDoc)}
      </PublicFrame>
    </SiteContext>,
  );
}

function pageOf(path: string | null, readDoc: (slug: string) => DocText) {
  if (path === paths.landing) return <LandingPage />;
  if (path === paths.guide) return <GuidePage search={<SearchIsland />} />;
  if (path === paths.terms) return <TermsPage />;
  if (path === paths.privacy) return <PrivacyPage />;
  const page = docPageOf((path && slugAt(path)) ?? '');
  return page ? <DocPage page={page} text={readDoc(page.slug)} search={<SearchIsland />} /> : <NotFound />;
}

const SearchIsland = () => (
  <div data-island="search" className="needs-script mb-8">
    <DocSearch />
  </div>
);
