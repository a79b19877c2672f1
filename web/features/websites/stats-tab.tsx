import { Link, useSearchParams } from 'wouter';
import { STATS_DAYS, STATS_PERIODS } from '../../../contract/limits.ts';
import { websitePath } from '../../paths.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { cx } from '../../ui/cx.ts';
import { RowsLoading } from '../../ui/panels.tsx';
import { StackedDays } from '../../ui/stacked-days.tsx';
import type { Series } from '../../ui/stacked-days-chart.tsx';
import { Empty, Failed } from '../../ui/states.tsx';
import { Funnel } from './funnel.tsx';
import { type History, useHistory } from './history.ts';
import { Methods } from './methods.tsx';
import type { TabProps } from './queries.ts';

/** The sign-ins to a website as a funnel, by method and per day. The URL has the period. */
export function StatsTab({ website: { id, domain } }: TabProps) {
  const [parameters] = useSearchParams();
  const days = STATS_PERIODS.find((period) => String(period) === parameters.get('days')) ?? STATS_DAYS;
  const history = useHistory(id, days);
  const { data, error } = history;
  return (
    <>
      <h2 className="sr-only">Statistics</h2>
      <Periods domain={domain} current={days} />
      {error && <Failed {...history} fallback="The statistics could not be loaded." />}
      {!data && !error && <RowsLoading what="the statistics" rows={5} />}
      {data && isEmpty(data) && (
        <Empty
          title={`No sign-ins in the last ${days} days`}
          text="Each sign-in is counted here from the request of the email to the token that your server verifies."
        >
          <ButtonLink as={Link} href={`${websitePath(domain, 'settings')}#test`} variant="secondary">
            Test sign-in
          </ButtonLink>
        </Empty>
      )}
      {data && !isEmpty(data) && (
        <div className="grid grid-cols-1 gap-10">
          <Funnel domain={domain} history={data} />
          <Methods history={data} />
          <StackedDays
            title="Sign-ins per UTC day"
            series={data.total.openIdOpened > 0 ? SERIES : SERIES.slice(0, -1)}
            days={data.days.map(methodsOf)}
          />
        </div>
      )}
    </>
  );
}

const isEmpty = ({ total }: History) => Object.values(total).every((count) => count === 0);

type Method = 'link' | 'code' | 'remembered' | 'openId';

const SERIES: readonly Series<Method>[] = [
  { key: 'link', label: 'Link', color: '--color-accent' },
  { key: 'code', label: 'Code', color: '--color-ink' },
  { key: 'remembered', label: 'Remembered', color: '--color-edge' },
  { key: 'openId', label: 'OpenID Connect', color: '--color-muted' },
];

const methodsOf = ({ date, opened, openedByCode, again, openIdOpened }: History['days'][number]) => ({
  date,
  link: opened - openedByCode,
  code: openedByCode,
  remembered: again,
  openId: openIdOpened,
});

function Periods({ domain, current }: { domain: string; current: number }) {
  return (
    <nav aria-label="Period" className="mb-6 flex">
      <ul className="flex divide-x divide-line overflow-hidden rounded-control border border-line">
        {STATS_PERIODS.map((days) => (
          <li key={days}>
            <Link
              href={`${websitePath(domain)}?days=${days}`}
              replace
              aria-current={days === current ? 'true' : undefined}
              className={cx(
                'flex min-h-11 items-center px-4 text-sm font-medium -outline-offset-2',
                days === current ? 'bg-sunk text-ink' : 'text-muted hover:text-ink',
              )}
            >
              {days} days
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}
