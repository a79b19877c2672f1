import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { listStateOf, websitesQuery } from '../../lib/url-state.ts';
import { HOME_WEBSITES, paths, websitePath } from '../../pages.ts';
import { cx } from '../../ui/cx.ts';
import { ArrowIcon, CheckIcon, SiteIcon } from '../../ui/icons.tsx';
import { Rows, RowsLoading } from '../../ui/panels.tsx';
import { Sparkline } from '../../ui/sparkline.tsx';
import { Badge, Failed } from '../../ui/states.tsx';
import { type ListedWebsite, STEP_TITLES, sumOf } from './website.ts';

/** The newest websites, each with its sign-ins and the next step of its set-up. Renders nothing without a website. */
export function WebsiteCards() {
  const found = useQuery(websitesQuery(listStateOf(new URLSearchParams()), HOME_WEBSITES));
  const { data, error } = found;
  if (data?.total === 0) return null;
  return (
    <section aria-labelledby="websites" className="mt-10">
      <div className="mb-1 flex min-h-11 flex-wrap items-center justify-between gap-x-4">
        <h2 id="websites" className="text-lg font-semibold tracking-tight">
          My Websites
        </h2>
        {data && data.total > data.websites.length && (
          <Link href={paths.websites} className="inline-flex min-h-11 items-center gap-2 text-sm text-muted hover:text-ink">
            All {data.total.toLocaleString('en')} websites
            <ArrowIcon className="size-4" />
          </Link>
        )}
      </div>
      {error && <Failed {...found} fallback="Your websites could not be loaded." />}
      {!data && !error && <RowsLoading what="your websites" rows={3} />}
      {data && (
        <Rows>
          {data.websites.map((website) => (
            <WebsiteCard key={website.id} website={website} />
          ))}
        </Rows>
      )}
    </section>
  );
}

function WebsiteCard({ website: { domain, displayDomain, iconUrl, verified, signIns, nextStep } }: { website: ListedWebsite }) {
  const failed = nextStep?.state === 'failed';
  return (
    <li>
      <Link href={websitePath(domain)} className="group flex items-center gap-4 px-4 py-3.5 -outline-offset-2 sm:px-5">
        <SiteIcon name={displayDomain} iconUrl={iconUrl} />
        <span className="flex min-w-0 grow flex-wrap items-center gap-x-6 gap-y-1">
          <span className="min-w-0 grow basis-52">
            <span className="flex flex-wrap items-center gap-x-2.5 gap-y-1">
              <bdi dir="ltr" className="font-medium wrap-anywhere group-hover:underline group-hover:underline-offset-4">
                {displayDomain}
              </bdi>
              {verified && (
                <Badge>
                  <CheckIcon className="size-3" />
                  Verified
                </Badge>
              )}
            </span>
            <span className={cx('block text-sm leading-6', failed ? 'text-danger' : 'text-muted')}>
              {nextStep
                ? failed
                  ? `${STEP_TITLES[nextStep.step]} needs attention`
                  : `Next step: ${STEP_TITLES[nextStep.step]}`
                : 'Set up is complete'}
            </span>
          </span>
          <span className="flex items-center gap-2.5 text-sm text-muted">
            <Sparkline days={signIns} />
            <span className="min-w-36 tabular-nums">{countOf(sumOf(signIns))}</span>
          </span>
        </span>
        <ArrowIcon className="size-4 shrink-0 text-muted transition-transform group-hover:translate-x-0.5" />
      </Link>
    </li>
  );
}

const countOf = (signIns: number) => `${signIns.toLocaleString('en')} ${signIns === 1 ? 'sign-in' : 'sign-ins'} in 7 days`;
