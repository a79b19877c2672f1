import { type ComponentType, lazy, type ReactNode, Suspense, useEffect } from 'react';
import { Route, Switch, useLocation } from 'wouter';
import { DeveloperShell } from './chrome/developer-shell.tsx';
import { PublicShell } from './chrome/public-shell.tsx';
import { SignedInOnly } from './chrome/signed-in-only.tsx';
import { LandingPage } from './features/landing/landing-page.tsx';
import { NotFoundPage } from './features/not-found/not-found-page.tsx';
import { paths } from './paths.ts';
import { Loading } from './ui/loading.tsx';

const page = <Name extends string, Props = object>(load: () => Promise<Record<Name, ComponentType<Props>>>, name: Name) =>
  lazy(async () => ({ default: (await load())[name] }));

const DeveloperPage = page(() => import('./features/developer/developer-page.tsx'), 'DeveloperPage');
const TokenLogin = page<'TokenLogin', { children: ReactNode }>(() => import('./features/developer/token-login.tsx'), 'TokenLogin');
const WebsitesPage = page(() => import('./features/websites/websites-page.tsx'), 'WebsitesPage');
const GuidePage = page(() => import('./features/guide/guide-page.tsx'), 'GuidePage');
const RegisterPage = page(() => import('./features/registration/register-page.tsx'), 'RegisterPage');
const RegisteredPage = page(() => import('./features/registration/registered-page.tsx'), 'RegisteredPage');
const TermsPage = page(() => import('./features/legal/terms-page.tsx'), 'TermsPage');
const PrivacyPage = page(() => import('./features/legal/privacy-page.tsx'), 'PrivacyPage');

/** Which page stands at which path of the portal entry. */
export function Routes() {
  const [path] = useLocation();
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new page begins at its top
  useEffect(() => {
    scrollTo(0, 0);
  }, [path]);
  return (
    <Switch>
      <PublicRoute path={paths.landing} page={<LandingPage />} />
      <Route path={paths.developer}>
        <DeveloperShell>
          <Loaded>
            <TokenLogin>
              <SignedInOnly>
                <DeveloperPage />
              </SignedInOnly>
            </TokenLogin>
          </Loaded>
        </DeveloperShell>
      </Route>
      <Route path={paths.websites}>
        <DeveloperShell>
          <SignedInOnly>
            <Loaded>
              <WebsitesPage />
            </Loaded>
          </SignedInOnly>
        </DeveloperShell>
      </Route>
      <PublicRoute path={paths.guide} page={<GuidePage />} />
      <PublicRoute path={paths.register} page={<RegisterPage />} />
      <PublicRoute path={paths.registered} page={<RegisteredPage />} />
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
        <Loaded>{page}</Loaded>
      </PublicShell>
    </Route>
  );
}

const Loaded = ({ children }: { children: ReactNode }) => <Suspense fallback={<Loading />}>{children}</Suspense>;
