import type { QueryClient } from '@tanstack/react-query';
import { type ComponentType, type LazyExoticComponent, lazy, type ReactNode, Suspense, useEffect } from 'react';
import { Redirect, Route, Switch, useLocation } from 'wouter';
import { NotFoundPage, PageBoundary, SignedInOnly } from './chrome/page-states.tsx';
import { PortalShell, PublicShell } from './chrome/shell.tsx';
import { accountLoginsQuery, listStateOf, overviewQuery, periodOf, recentActivityQuery, websitesQuery } from './lib/queries.ts';
import { hasSession, isSessionFresh } from './lib/session.ts';
import { latestAddress } from './lib/storage.ts';
import { docPattern, paths, websitePattern, websitesFolder } from './paths.ts';

const LandingPage = page(() => import('./features/landing/landing-page.tsx'), 'LandingPage');
const DeveloperPage = page<'DeveloperPage'>(() => import('./features/developer/developer-page.tsx'), 'DeveloperPage');
const TokenLogin = page<'TokenLogin', { children: ReactNode }>(() => import('./features/developer/developer-page.tsx'), 'TokenLogin');
const WebsitesPage = page(() => import('./features/websites/websites-page.tsx'), 'WebsitesPage');
const WebsitePage = page<'WebsitePage', { notFound: ReactNode }>(() => import('./features/websites/website-page.tsx'), 'WebsitePage');
const Invitations = page(() => import('./features/websites/invitations.tsx'), 'Invitations');
const OverviewPage = page<'OverviewPage'>(() => import('./features/overview/overview-page.tsx'), 'OverviewPage');
const ActivityPage = page<'ActivityPage'>(() => import('./features/activity/activity-page.tsx'), 'ActivityPage');
const ApplicationsPage = page(() => import('./features/applications/applications-page.tsx'), 'ApplicationsPage');
const AnalyticsPage = page(() => import('./features/waitlist/waitlist-pages.tsx'), 'AnalyticsPage');
const BugsPage = page(() => import('./features/waitlist/waitlist-pages.tsx'), 'BugsPage');
const SettingsPage = page<'SettingsPage', { devices: ReactNode; passkeys: ReactNode; connections: ReactNode }>(
  () => import('./features/settings/settings-page.tsx'),
  'SettingsPage',
);
const ProfilePage = page<'ProfilePage', { devices: ReactNode }>(() => import('./features/profile/profile-page.tsx'), 'ProfilePage');
const Connections = page(() => import('./features/connections/connections.tsx'), 'Connections');
const Devices = page(() => import('./features/devices/devices.tsx'), 'Devices');
const Passkeys = page(() => import('./features/passkeys/passkeys-page.tsx'), 'Passkeys');
const PasskeysPage = page(() => import('./features/passkeys/passkeys-page.tsx'), 'PasskeysPage');
const StatusPage = page(() => import('./features/status/status-page.tsx'), 'StatusPage');
const AdminPage = page(() => import('./features/admin/admin-page.tsx'), 'AdminPage');
const LoginStatsPage = page(() => import('./features/admin/login-stats-page.tsx'), 'LoginStatsPage');
const GuidePage = page(() => import('./features/guide/guide-page.tsx'), 'GuidePage');
const DocPage = page<'DocPage', { notFound: ReactNode }>(() => import('./features/docs/doc-page.tsx'), 'DocPage');
const RegisterPage = page(() => import('./features/registration/registration-pages.tsx'), 'RegisterPage');
const RegisteredPage = page(() => import('./features/registration/registration-pages.tsx'), 'RegisteredPage');
const TermsPage = page(() => import('./features/legal/legal-pages.tsx'), 'TermsPage');
const PrivacyPage = page(() => import('./features/legal/legal-pages.tsx'), 'PrivacyPage');

const overviewData: Needs['data'] = (queries, query) => {
  void queries.prefetchQuery(overviewQuery);
  void queries.prefetchQuery(accountLoginsQuery(periodOf(query)));
  void queries.prefetchQuery(recentActivityQuery);
  void queries.prefetchQuery(websitesQuery(listStateOf(new URLSearchParams())));
};

/** What the pages need, by path. */
const needs: Record<string, Needs> = {
  [paths.landing]: { chunks: [LandingPage] },
  [paths.developer]: { chunks: [DeveloperPage, TokenLogin] },
  [paths.websites]: { chunks: [WebsitesPage], data: (queries, query) => queries.prefetchQuery(websitesQuery(listStateOf(query))) },
  [paths.profile]: { chunks: [ProfilePage, Devices] },
  [paths.dashboard]: { chunks: [OverviewPage], data: overviewData },
  [paths.activity]: { chunks: [ActivityPage] },
  [paths.applications]: { chunks: [ApplicationsPage] },
  [paths.analytics]: { chunks: [AnalyticsPage] },
  [paths.bugs]: { chunks: [BugsPage] },
  [paths.settings]: { chunks: [SettingsPage, Devices, Passkeys, Connections] },
  [paths.passkeys]: { chunks: [PasskeysPage] },
  [paths.status]: { chunks: [StatusPage] },
  [paths.admin]: { chunks: [AdminPage] },
  [paths.loginStats]: { chunks: [LoginStatsPage] },
  [paths.guide]: { chunks: [GuidePage] },
  [paths.register]: { chunks: [RegisterPage] },
  [paths.registered]: { chunks: [RegisteredPage] },
  [paths.terms]: { chunks: [TermsPage] },
  [paths.privacy]: { chunks: [PrivacyPage] },
};

/** Returns what the page at a path needs; undefined for an unknown page. */
function needsOf(path: string): Needs | undefined {
  if (path in needs) return needs[path];
  if (path.startsWith(websitesFolder)) return { chunks: [WebsitePage] };
  return path.startsWith(`${paths.guide}/`) ? { chunks: [DocPage] } : undefined;
}

/** The pages of the portal entry. */
export function Routes() {
  const [path] = useLocation();
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new page is shown from its top
  useEffect(() => {
    scrollTo(0, 0);
  }, [path]);
  return (
    <Switch>
      <PublicRoute path={paths.landing} page={<LandingPage />} />
      <Route path={paths.developer}>
        <PortalShell>
          <PageBoundary>
            <TokenLogin>
              <SignedInOnly>
                <WithInvitations>
                  <DeveloperPage />
                </WithInvitations>
              </SignedInOnly>
            </TokenLogin>
          </PageBoundary>
        </PortalShell>
      </Route>
      <PortalRoute
        path={paths.websites}
        page={
          <WithInvitations>
            <WebsitesPage />
          </WithInvitations>
        }
      />
      <PortalRoute path={paths.profile} page={<ProfilePage devices={<Devices />} />} />
      <PortalRoute path={paths.dashboard} page={<OverviewPage />} />
      <PortalRoute path={websitePattern} page={<WebsitePage notFound={<NotFoundPage />} />} />
      <Route path={paths.overview}>
        <Redirect to={paths.dashboard} replace />
      </Route>
      <PortalRoute path={paths.activity} page={<ActivityPage />} />
      <PortalRoute path={paths.applications} page={<ApplicationsPage />} />
      <PortalRoute path={paths.analytics} page={<AnalyticsPage />} />
      <PortalRoute path={paths.bugs} page={<BugsPage />} />
      <PortalRoute
        path={paths.settings}
        page={<SettingsPage devices={<Devices />} passkeys={<Passkeys />} connections={<Connections />} />}
      />
      <Route path={paths.passkeys}>
        <PageBoundary>
          <Suspense fallback={<main data-loading className="grow" />}>
            <PasskeysPage />
          </Suspense>
        </PageBoundary>
      </Route>
      <PublicRoute path={paths.status} page={<StatusPage />} />
      <PublicRoute path={paths.admin} page={<AdminPage />} />
      <PublicRoute path={paths.loginStats} page={<LoginStatsPage />} />
      <PublicRoute path={paths.guide} page={<GuidePage />} />
      <PublicRoute path={paths.register} page={<RegisterPage />} />
      <PublicRoute path={paths.registered} page={<RegisteredPage />} />
      <PublicRoute path={docPattern} page={<DocPage notFound={<NotFoundPage />} />} />
      <PublicRoute path={paths.terms} page={<TermsPage />} />
      <PublicRoute path={paths.privacy} page={<PrivacyPage />} />
      <PublicRoute page={<NotFoundPage />} />
    </Switch>
  );
}

/** A page below the account's invitations, which are loaded without delaying it. */
function WithInvitations({ children }: { children: ReactNode }) {
  return (
    <>
      <Suspense fallback={null}>
        <Invitations />
      </Suspense>
      {children}
    </>
  );
}

function PublicRoute({ path, page }: { path?: string; page: ReactNode }) {
  return (
    <Route path={path}>
      <PublicShell>
        <PageBoundary key={path}>{page}</PageBoundary>
      </PublicShell>
    </Route>
  );
}

/** A page of the portal, for a signed-in developer. */
function PortalRoute({ path, page }: { path: string; page: ReactNode }) {
  return (
    <Route path={path}>
      <PortalShell>
        <SignedInOnly>
          <PageBoundary key={path}>{page}</PageBoundary>
        </SignedInOnly>
      </PortalShell>
    </Route>
  );
}

/** A page whose chunk is loaded when it is rendered, or before by `preload`. */
type LazyPage<Props> = LazyExoticComponent<ComponentType<Props>> & { preload(): void };

/** Returns a page that is loaded when it is rendered. @param name of its export */
function page<Name extends string, Props = object>(load: () => Promise<Record<Name, ComponentType<Props>>>, name: Name): LazyPage<Props> {
  // A chunk that could not be loaded is reported when the page is rendered.
  const preload = () => void load().catch(() => {});
  return Object.assign(
    lazy(async () => ({ default: (await load())[name] })),
    { preload },
  );
}

/** What a page needs: its chunks, and the calls that it makes first. */
type Needs = {
  chunks: readonly { preload(): void }[];
  /** Starts the first calls; they are those of a signed-in developer. */
  data?: (queries: QueryClient, query: URLSearchParams) => unknown;
};

/** Loads what the page at an address needs, all at once. */
export function preloadPage(address: URL, queries: QueryClient) {
  if (address.origin !== location.origin) return;
  const needs = needsOf(address.pathname);
  for (const chunk of needs?.chunks ?? []) chunk.preload();
  const { data } = needs ?? {};
  // Without a session, the calls would only fail.
  if (!data || !latestAddress()) return;
  if (isSessionFresh()) data(queries, address.searchParams);
  else void hasSession(queries).then((isValid) => isValid && data(queries, address.searchParams));
}

/** Preloads the page of a link that the pointer or the focus is on. */
export function watchLinks(queries: QueryClient) {
  const onIntent = ({ target }: Event) => {
    const link = target instanceof Element ? target.closest('a') : null;
    if (link?.href && link.target !== '_blank') preloadPage(new URL(link.href), queries);
  };
  document.addEventListener('pointerover', onIntent, { passive: true });
  document.addEventListener('focusin', onIntent);
}
