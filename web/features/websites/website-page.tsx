import { type ComponentType, type LazyExoticComponent, lazy, type ReactNode, Suspense } from 'react';
import { Link, Redirect, useParams } from 'wouter';
import { ApiError } from '../../../contract/client.ts';
import { LOCALHOST } from '../../../contract/urls.ts';
import { useCall } from '../../lib/calls.ts';
import { isLocalMode } from '../../lib/local-mode.ts';
import { signInUrlOf } from '../../lib/snippets.ts';
import { DEMO, paths, WEBSITE_TABS, type WebsiteTab, websitePath } from '../../pages.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { BackIcon, CheckIcon, OpenIcon, SiteIcon } from '../../ui/icons.tsx';
import { PageHeading } from '../../ui/page-heading.tsx';
import { RowsLoading } from '../../ui/panels.tsx';
import { Badge, Failed, Skeleton } from '../../ui/states.tsx';
import { SubNavigation } from '../../ui/sub-navigation.tsx';
import type { TabProps, Website } from './website.ts';

/** /dashboard/websites/DOMAIN and the tabs below it. */
export function WebsitePage({ notFound }: { notFound: ReactNode }) {
  const { domain = '', tab: name } = useParams<{ domain: string; tab?: string }>();
  if (name === undefined) return <FirstTab domain={domain} />;
  const current = tabs.find((tab) => tab.name === name);
  return current ? <WebsiteTabPage domain={domain} current={current} /> : notFound;
}

/** Leads to the set-up of a website until it is complete, then to its statistics, which also say what is wrong with the domain. */
function FirstTab({ domain }: { domain: string }) {
  const { data, error } = useCall('websiteSetup', { domain }, { refetchOnMount: 'always' });
  if (!data && !error) return <HeaderLoading domain={domain} />;
  return <Redirect to={websitePath(domain, data && !data.complete ? 'setup' : 'stats')} replace />;
}

function WebsiteTabPage({ domain, current }: { domain: string; current: Tab }) {
  const { data: website, error, isFetching, refetch } = useCall('readWebsite', { domain });
  return (
    <>
      <Link
        href={paths.websites}
        className="-mx-2 -mt-3 inline-flex min-h-11 items-center gap-1.5 rounded-control px-2 text-sm text-muted hover:text-ink"
      >
        <BackIcon className="size-4" />
        Websites
      </Link>
      {website && <Header website={website} current={current} />}
      {!website && !error && <HeaderLoading domain={domain} />}
      {error && !website && isNotFound(error) && <NotYours domain={domain} />}
      {error && !website && !isNotFound(error) && (
        <div className="mt-4 grid gap-6">
          <PageHeading title={domain} />
          <Failed error={error} fallback="The website could not be loaded." isFetching={isFetching} refetch={refetch} />
        </div>
      )}
      {website && (
        <div className="mt-8">
          <Suspense fallback={<RowsLoading what={current.label.toLowerCase()} rows={4} />}>
            <current.Page key={`${website.id} ${current.name}`} website={website} />
          </Suspense>
        </div>
      )}
    </>
  );
}

const isNotFound = (error: unknown) => error instanceof ApiError && error.code === 'website_not_found';

function Header({ website, current }: { website: Website; current: Tab }) {
  const { domain, displayDomain, iconUrl } = website;
  return (
    <header>
      <div className="mt-2 flex items-center gap-4">
        <SiteIcon name={displayDomain} iconUrl={iconUrl} />
        <div className="min-w-0 grow">
          <PageHeading
            title={current.name === 'stats' ? displayDomain : `${current.label} of ${displayDomain}`}
            className="text-2xl leading-8 wrap-anywhere"
          >
            {displayDomain}
          </PageHeading>
          {displayDomain !== domain && <p className="font-mono text-[0.8125rem] leading-5 text-muted wrap-anywhere">{domain}</p>}
        </div>
      </div>
      <div className="mt-3 flex flex-wrap items-center gap-x-4 gap-y-1">
        <WebsiteStatus website={website} />
        {website.role === 'member' && domain !== LOCALHOST && <Badge>Member</Badge>}
        <div className="flex flex-wrap gap-x-4">
          {domain !== LOCALHOST && <OutsideLink href={`https://${domain}/`}>Open the site</OutsideLink>}
          {isLocalMode ? (
            <OutsideLink href={DEMO}>Try the demo</OutsideLink>
          ) : (
            <OutsideLink href={signInUrlOf(location.origin, domain)}>Open the sign-in page</OutsideLink>
          )}
        </div>
      </div>
      <SubNavigation
        label="Pages of the website"
        pages={tabs.map(({ name, label }) => ({ href: websitePath(domain, name), label }))}
        current={websitePath(domain, current.name)}
      />
    </header>
  );
}

const OutsideLink = ({ href, children }: { href: string; children: string }) => (
  <a
    href={href}
    target="_blank"
    rel="noopener noreferrer"
    className="inline-flex min-h-11 items-center gap-1.5 text-sm text-muted hover:text-ink"
  >
    {children}
    <OpenIcon className="size-4" />
    <span className="sr-only">(in a new tab)</span>
  </a>
);

/** Whether the domain is verified, with what that means and a link to the proof. */
function WebsiteStatus({ website: { domain, verified, onProbation } }: { website: Website }) {
  if (verified)
    return (
      <Badge>
        <CheckIcon className="size-3" />
        Verified
      </Badge>
    );
  return (
    <span className="inline-flex flex-wrap items-center gap-x-3">
      <Badge>{onProbation ? 'On probation' : 'Not verified'}</Badge>
      <Link
        href={`${websitePath(domain, 'settings')}#proof`}
        className="inline-flex min-h-11 items-center text-sm text-accent underline underline-offset-2"
      >
        {onProbation ? 'Verify the domain to lift its limits' : 'Verify the domain'}
      </Link>
    </span>
  );
}

/** A placeholder of the size of Header. */
function HeaderLoading({ domain }: { domain: string }) {
  return (
    <div role="status" aria-label={`Loading ${domain}`}>
      <div className="mt-2 flex items-center gap-4">
        <Skeleton className="size-9" />
        <Skeleton className="h-7 w-56 max-w-full" />
      </div>
      <div className="mt-3 flex h-11 items-center">
        <Skeleton className="h-5 w-24" />
      </div>
      <div className="mt-3 flex h-11 items-center gap-6 shadow-[inset_0_-1px_var(--color-line)]">
        <Skeleton className="h-4 w-20" />
        <Skeleton className="h-4 w-12" />
        <Skeleton className="h-4 w-20" />
      </div>
      <div className="mt-8">
        <RowsLoading what={domain} rows={4} />
      </div>
    </div>
  );
}

/** The domain is not registered, or other accounts manage it. Both look the same, so that no one learns which. */
function NotYours({ domain }: { domain: string }) {
  return (
    <div className="mx-auto max-w-md py-16 text-center">
      <PageHeading title="No such website" />
      <p className="mt-2 text-muted wrap-anywhere">
        {domain} is not one of your websites. It may have been deleted or moved, or another account manages it.
      </p>
      <p className="mt-2 text-muted">
        If the domain is yours, add it: a DNS record or a file verifies it, also when it is registered already.
      </p>
      <div className="mt-6 flex flex-wrap justify-center gap-2">
        <ButtonLink as={Link} href={paths.websites}>
          My websites
        </ButtonLink>
        <ButtonLink as={Link} variant="secondary" href={`${paths.websites}?add=website`}>
          Add a website
        </ButtonLink>
      </div>
    </div>
  );
}

type Tab = { name: WebsiteTab; label: string; Page: LazyExoticComponent<ComponentType<TabProps>> };

const files = import.meta.glob<Record<string, ComponentType<TabProps>>>('./*-tab.tsx');

const tabs = (Object.keys(WEBSITE_TABS) as WebsiteTab[]).map((name): Tab => {
  const component = `${name[0].toUpperCase()}${name.slice(1)}Tab`;
  return {
    name,
    label: WEBSITE_TABS[name],
    Page: lazy(async () => ({ default: (await files[`./${name}-tab.tsx`]())[component] })),
  };
});
