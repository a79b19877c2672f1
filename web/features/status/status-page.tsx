import { type ReactNode, useEffect, useRef } from 'react';
import { Link } from 'wouter';
import { useCall } from '../../lib/calls.ts';
import { paths } from '../../pages.ts';
import { cx } from '../../ui/cx.ts';
import { PageHeading } from '../../ui/page-heading.tsx';
import { Rows, Stat, Stats } from '../../ui/panels.tsx';
import { Failed, Skeleton, StatusDot } from '../../ui/states.tsx';
import { components, duration, type History, headlines, incidentTitle, problemsOf, type Status, states } from './status.ts';

/** The status is loaded again every minute while the page is open. */
const MINUTE_MS = 60_000;

const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const navLink = 'flex min-h-11 items-center rounded-control px-3 text-sm font-medium text-muted hover:bg-sunk hover:text-ink';
const dots = { live: 'bg-accent', off: 'bg-edge', bad: 'bg-danger' };

/** /status: the measured state and history of the service. */
export function StatusPage() {
  const {
    data: status,
    error,
    isFetching,
    refetch,
  } = useCall('status', {}, { staleTime: 0, refetchInterval: MINUTE_MS, refetchOnWindowFocus: true });
  const history = status?.history;
  // The last status is outdated while the service does not respond.
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
        {/* The sign-in page is a separate entry: only a page load reaches it. */}
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
            {headline ?? <HeadlineLoading />}
          </PageHeading>
        </div>
        <p role="status" className="mt-2 min-h-6 text-muted">
          {current &&
            [problemsOf(current), current.checkedAt && `Checked at ${clock.format(Date.parse(current.checkedAt))}.`]
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
      {history === null && <p className="mt-8 text-muted">The history cannot be read while the database does not respond.</p>}

      <Section id="incidents" title="Incidents">
        {history && <Incidents incidents={history.incidents} />}
        {!history && (error || history === null) && <p className="text-muted">Past incidents are shown again once the service responds.</p>}
        {!history && !error && history !== null && <Skeleton className="h-24 w-full" />}
      </Section>
      <Section id="maintenance" title="Maintenance">
        <p className="max-w-2xl text-muted">
          None is planned. Updates are installed without an interruption. If one is ever needed, the operator of this service announces it
          by email to the linked addresses.
        </p>
      </Section>
    </div>
  );
}

/** A placeholder of the same height as the usual headline. */
const HeadlineLoading = () => (
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

/** Scrolls to the anchor of the address once the page is loaded. */
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

const parts = ['database', 'mail', 'response'] as const;
const soon = ['Analytics Service', 'Bug Reporting Service'];

/** The services, with the measured components of the available one. @param status undefined: not loaded @param unknown it could not be loaded */
function Systems({ status, unknown }: { status: Status | undefined; unknown: boolean }) {
  const dot = (state: Status['state'] | undefined) => {
    if (unknown) return <StatusDot tone="off">Not known</StatusDot>;
    return state ? <StatusDot tone={states[state].tone}>{states[state].label}</StatusDot> : <Skeleton className="h-5 w-24" />;
  };
  return (
    <ul className="divide-y divide-line rounded-panel border border-line bg-panel">
      <li className="px-4 py-4 sm:px-5">
        <div className="flex items-center justify-between gap-4">
          <h3 className="font-medium">Authentication Service</h3>
          {dot(status?.state)}
        </div>
        <ul className="mt-3 grid gap-2 border-l border-line pl-4">
          {parts.map((id) => (
            <li key={id} className="flex items-center justify-between gap-4 text-sm">
              <p className="min-w-0">
                {components[id].name} <span className="text-muted max-sm:hidden">· {components[id].about}</span>
              </p>
              {dot(status?.components.find((component) => component.id === id)?.state)}
            </li>
          ))}
        </ul>
      </li>
      {soon.map((name) => (
        <li key={name} className="flex items-center justify-between gap-4 px-4 py-4 sm:px-5">
          <h3 className="font-medium">{name}</h3>
          <StatusDot tone="off">Coming Soon</StatusDot>
        </li>
      ))}
    </ul>
  );
}

type Day = History['days'][number];

const dayFormat = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });

const dayName = (date: string) => dayFormat.format(new Date(`${date}T00:00:00Z`));

// Forced colors replace every background that is not a color of the system.
const GOOD = 'bg-accent forced-colors:bg-[LinkText]';

const FAILED = 'bg-danger forced-colors:bg-[CanvasText]';

/** One bar for each day, oldest first, and the same data as a table. */
function DayStrip({ days }: { days: Day[] }) {
  return (
    <figure>
      <figcaption className="flex flex-wrap items-baseline justify-between gap-x-4 gap-y-1">
        <span className="font-medium">Last 30 days</span>
        <span className="flex flex-wrap gap-x-4 text-[0.8125rem] text-muted">
          <LegendEntry className={GOOD}>Good</LegendEntry>
          <LegendEntry className={FAILED}>Failed</LegendEntry>
          <LegendEntry className="border border-edge/60">Not measured</LegendEntry>
        </span>
      </figcaption>
      <div aria-hidden="true" className="mt-4 flex h-12 gap-0.5 sm:gap-1">
        {days.map((day) => (
          <span
            key={day.date}
            title={`${dayName(day.date)}: ${textOf(day)}`}
            className={cx(
              'relative min-w-0 grow overflow-hidden rounded-sm hover:opacity-75',
              day.measured > 0 ? GOOD : 'border border-edge/60',
            )}
          >
            {day.failed > 0 && <span className={cx('absolute inset-x-0 bottom-0', FAILED, share(day))} />}
          </span>
        ))}
      </div>
      <div aria-hidden="true" className="mt-2 flex justify-between text-[0.8125rem] text-muted">
        <span>{dayName(days[0].date)}</span>
        <span>Today, UTC</span>
      </div>
      <details className="mt-2 text-sm">
        <summary className="inline-flex min-h-11 items-center rounded-control text-muted underline underline-offset-4 hover:text-ink">
          Day by day, as a table
        </summary>
        <div className="mt-2 rounded-panel border border-line">
          <table className="w-full text-left">
            <caption className="sr-only">Minutes that were measured on each of the last 30 days</caption>
            <thead className="text-muted">
              <tr>
                <th scope="col" className="px-4 py-2 font-normal">
                  Day
                </th>
                <th scope="col" className="px-4 py-2 font-normal">
                  Measured
                </th>
              </tr>
            </thead>
            <tbody className="divide-y divide-line border-t border-line tabular-nums">
              {[...days].reverse().map((day) => (
                <tr key={day.date}>
                  <th scope="row" className="whitespace-nowrap px-4 py-2 font-normal">
                    {dayName(day.date)}
                  </th>
                  <td className={cx('px-4 py-2', day.failed > 0 && 'text-danger', day.measured === 0 && 'text-muted')}>{textOf(day)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </details>
    </figure>
  );
}

const LegendEntry = ({ className, children }: { className: string; children: string }) => (
  <span className="inline-flex items-center gap-1.5">
    <span aria-hidden="true" className={cx('size-2.5 rounded-xs', className)} />
    {children}
  </span>
);

/** Returns the height of the red part of a bar, which shows even a single minute. */
function share({ measured, failed }: Day): string {
  const part = failed / measured;
  return part > 0.75 ? 'h-full' : part > 0.25 ? 'h-3/5' : 'h-1/4';
}

function textOf({ measured, failed }: Day): string {
  if (measured === 0) return 'not measured';
  return failed === 0 ? `good, ${duration(measured)} measured` : `${duration(failed)} failed of ${duration(measured)} measured`;
}

const moment = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit' });

/** The incidents of the last 30 days, newest first. */
function Incidents({ incidents }: { incidents: History['incidents'] }) {
  if (incidents.length === 0) {
    return <p className="rounded-panel border border-dashed border-edge/60 px-5 py-8 text-center text-muted">No incidents reported</p>;
  }
  return (
    <Rows>
      {incidents.map(({ startedAt, endedAt, minutes, components }) => (
        <li key={startedAt} className="flex flex-wrap items-baseline justify-between gap-x-6 gap-y-1 px-4 py-4 sm:px-5">
          <div className="min-w-0">
            <h3 className="font-medium">{incidentTitle(components)}</h3>
            <p className="mt-0.5 text-sm text-muted">
              <time dateTime={startedAt}>{moment.format(Date.parse(startedAt))}</time> · {duration(minutes)}
              {endedAt === null && ' so far'}
            </p>
          </div>
          <StatusDot tone={endedAt === null ? 'bad' : 'off'}>{endedAt === null ? 'Ongoing' : 'Resolved'}</StatusDot>
        </li>
      ))}
    </Rows>
  );
}
