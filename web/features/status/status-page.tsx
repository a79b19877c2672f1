import { type ReactNode, useEffect, useRef } from 'react';
import { Link } from 'wouter';
import { paths } from '../../paths.ts';
import { cx } from '../../ui/cx.ts';
import { Failed } from '../../ui/failed.tsx';
import { PageHeading } from '../../ui/page-heading.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { Stat, Stats } from '../../ui/stat.tsx';
import { DayStrip } from './day-strip.tsx';
import { Incidents } from './incidents.tsx';
import { useStatus } from './queries.ts';
import { Systems } from './systems.tsx';
import { headlines, states, troubleOf } from './words.ts';

const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const navLink = 'flex min-h-11 items-center rounded-control px-3 text-sm font-medium text-muted hover:bg-sunk hover:text-ink';
const dots = { live: 'bg-accent', off: 'bg-edge', bad: 'bg-danger' };

/** /status: what the service has measured of itself. */
export function StatusPage() {
  const { data: status, error, isFetching, refetch } = useStatus();
  const history = status?.history;
  // While nobody answers, what was said last is no longer a claim.
  const current = error ? undefined : status;
  const headline = error ? 'The Service Cannot Be Reached' : current && headlines[current.state];
  const tone = error ? 'bad' : current ? states[current.state].tone : 'off';
  useAnchor(Boolean(status));

  return (
    <div className="py-8 sm:py-12">
      <nav aria-label="Status page" className="-mx-3 flex flex-wrap">
        <a href="#status" className={navLink}>
          Status
        </a>
        <a href="#incidents" className={navLink}>
          Incidents
        </a>
        <a href="#maintenance" className={navLink}>
          Maintenance
        </a>
        {/* The sign-in page is an entry of its own, which only a page load reaches. */}
        <a href={paths.signIn} className={navLink}>
          Sign In
        </a>
        <Link href={paths.dashboard} className={navLink}>
          Dashboard
        </Link>
      </nav>

      <section id="status" aria-label="Status" className="mt-8 scroll-mt-4">
        <div className="flex items-start gap-3.5">
          <span aria-hidden="true" className={cx('mt-[0.8125rem] size-3.5 shrink-0 rounded-full', dots[tone])} />
          <PageHeading title="Status" className="text-3xl leading-10">
            {headline ?? <Unknown />}
          </PageHeading>
        </div>
        <p role="status" className="mt-2 min-h-6 text-muted">
          {current &&
            [troubleOf(current), current.checkedAt && `Checked at ${clock.format(Date.parse(current.checkedAt))}.`]
              .filter(Boolean)
              .join(' ')}
        </p>
        {error && (
          <div className="mt-4">
            <Failed error={error} fallback="The service did not answer." isFetching={isFetching} refetch={refetch} />
          </div>
        )}
        <h2 className="sr-only">Systems</h2>
        <div className="mt-8">
          <Systems status={current} unknown={Boolean(error)} />
        </div>
      </section>

      {history !== null && !(error && !history) && (
        <section aria-label="Measured" className="mt-8 grid gap-8">
          <Stats>
            <Stat label="Uptime (30 days)" value={history && percent(history.uptimePercent)} />
            <Stat label="Average response (30 days)" value={history && milliseconds(history.responseMs)} />
            <Stat label="Incidents (30 days)" value={history && String(history.incidents.length)} />
          </Stats>
          {history ? <DayStrip days={history.days} /> : <Skeleton className="h-44 w-full" />}
        </section>
      )}
      {history === null && <p className="mt-8 text-muted">The history cannot be read while the database does not answer.</p>}

      <Section id="incidents" title="Incidents">
        {history && <Incidents incidents={history.incidents} />}
        {!history && (error || history === null) && <p className="text-muted">Past incidents are shown again once the service answers.</p>}
        {!history && !error && history !== null && <Skeleton className="h-24 w-full" />}
      </Section>
      <Section id="maintenance" title="Maintenance">
        <p className="max-w-2xl text-muted">
          None is planned. Updates go to one instance after the other and need no pause; should work ever need one, whoever runs this
          service tells the linked addresses by email beforehand.
        </p>
      </Section>
    </div>
  );
}

/** As high as the usual headline, so that nothing moves when it is known. */
const Unknown = () => (
  <>
    <span className="sr-only">Status</span>
    <span className="invisible">{headlines.operational}</span>
  </>
);

const Section = ({ id, title, children }: { id: string; title: string; children: ReactNode }) => (
  <section id={id} aria-labelledby={`${id}-title`} className="mt-12 scroll-mt-4">
    <h2 id={`${id}-title`} className="mb-4 text-lg font-semibold tracking-tight">
      {title}
    </h2>
    {children}
  </section>
);

/** An address with an anchor leads to its section, which is there only once the page is loaded. */
function useAnchor(ready: boolean) {
  const done = useRef(false);
  useEffect(() => {
    if (!ready || done.current) return;
    done.current = true;
    if (location.hash) document.getElementById(location.hash.slice(1))?.scrollIntoView();
  }, [ready]);
}

const percent = (value: number | null) => (value === null ? null : `${value}%`);
const milliseconds = (value: number | null) => (value === null ? null : `${value} ms`);
