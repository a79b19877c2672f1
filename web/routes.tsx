import { type ComponentType, lazy, type ReactNode, useEffect } from 'react';
import { Redirect, Route, Switch, useLocation } from 'wouter';
import { DashboardShell } from './chrome/dashboard-shell.tsx';
import { NotFoundPage, PageBoundary, SignedInOnly } from './chrome/page-states.tsx';
import { DeveloperShell, PublicShell } from './chrome/shell.tsx';
import { LandingPage } from './features/landing/landing-page.tsx';
import { docPattern, paths, websitePattern } from './paths.ts';

/** Returns a page that is loaded when it is rendered. */
const page = <Name extends string, Props = object>(load: () => Promise<Record<Name, ComponentType<Props>>>, name: Name) =>
  lazy(async () => ({ default: (await load())[name] }));

const DeveloperPage = page(() => import('./features/developer/developer-page.tsx'), 'DeveloperPage');
const TokenLogin = page<'TokenLogin', { children: ReactNode }>(() => import('./features/developer/token-login.tsx'), 'TokenLogin');
const WebsitesPage = page(() => import('./features/websites/websites-page.tsx'), 'WebsitesPage');
const WebsitePage = page<'WebsitePage', { notFound: ReactNode }>(() => import('./features/websites/website-page.tsx'), 'WebsitePage');
const LivePage = page(() => import('./features/websites/live-page.tsx'), 'LivePage');
const OverviewPage = page(() => import('./features/overview/overview-page.tsx'), 'OverviewPage');
const ApplicationsPage = page(() => import('./features/applications/applications-page.tsx'), 'ApplicationsPage');
const AnalyticsPage = page(() => import('./features/waitlist/waitlist-pages.tsx'), 'AnalyticsPage');
const BugsPage = page(() => import('./features/waitlist/waitlist-pages.tsx'), 'BugsPage');
const SettingsPage = page<'SettingsPage', { devices: ReactNode; connections: ReactNode }>(
  () => import('./features/settings/settings-page.tsx'),
  'SettingsPage',
);
const ProfilePage = page<'ProfilePage', { devices: ReactNode }>(() => import('./features/profile/profile-page.tsx'), 'ProfilePage');
const Connections = page(() => import('./features/connections/connections.tsx'), 'Connections');
const Devices = page(() => import('./features/devices/devices.tsx'), 'Devices');
const StatusPage = page(() => import('./features/status/status-page.tsx'), 'StatusPage');
const AdminPage = page(() => import('./features/admin/admin-page.tsx'), 'AdminPage');
const LoginStatsPage = page(() => import('./features/admin/login-stats-page.tsx'), 'LoginStatsPage');
const GuidePage = page(() => import('./features/guide/guide-page.tsx'), 'GuidePage');
const DocPage = page<'DocPage', { notFound: ReactNode }>(() => import('./features/docs/doc-page.tsx'), 'DocPage');
const RegisterPage = page(() => import('./features/registration/register-page.tsx'), 'RegisterPage');
const RegisteredPage = page(() => import('./features/registration/registered-page.tsx'), 'RegisteredPage');
const TermsPage = page(() => import('./features/legal/terms-page.tsx'), 'TermsPage');
const PrivacyPage = page(() => import('./features/legal/privacy-page.tsx'), 'PrivacyPage');

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
        <DeveloperShell>
          <PageBoundary>
            <TokenLogin>
              <SignedInOnly>
                <DeveloperPage />
              </SignedInOnly>
            </TokenLogin>
          </PageBoundary>
        </DeveloperShell>
      </Route>
      <DeveloperRoute path={paths.websites} page={<WebsitesPage />} />
      <DeveloperRoute path={paths.live} page={<LivePage />} />
      <DeveloperRoute path={paths.profile} page={<ProfilePage devices={<Devices />} />} />
      <DashboardRoute path={paths.dashboard} page={<OverviewPage />} />
      <DashboardRoute path={websitePattern} page={<WebsitePage notFound={<NotFoundPage />} />} />
      <Route path={paths.overview}>
        <Redirect to={paths.dashboard} replace />
      </Route>
      <DashboardRoute path={paths.applications} page={<ApplicationsPage />} />
      <DashboardRoute path={paths.analytics} page={<AnalyticsPage />} />
      <DashboardRoute path={paths.bugs} page={<BugsPage />} />
      <DashboardRoute path={paths.settings} page={<SettingsPage devices={<Devices />} connections={<Connections />} />} />
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

function PublicRoute({ path, page }: { path?: string; page: ReactNode }) {
  return (
    <Route path={path}>
      <PublicShell>
        <PageBoundary key={path}>{page}</PageBoundary>
      </PublicShell>
    </Route>
  );
}

/** A portal page, for a signed-in developer. */
function DeveloperRoute({ path, page }: { path: string; page: ReactNode }) {
  return (
    <Route path={path}>
      <DeveloperShell>
        <SignedInOnly>
          <PageBoundary key={path}>{page}</PageBoundary>
        </SignedInOnly>
      </DeveloperShell>
    </Route>
  );
}

/** A dashboard page, for a signed-in developer. */
function DashboardRoute({ path, page }: { path: string; page: ReactNode }) {
  return (
    <Route path={path}>
      <DashboardShell>
        <SignedInOnly>
          <PageBoundary key={path}>{page}</PageBoundary>
        </SignedInOnly>
      </DashboardShell>
    </Route>
  );
}
