import { Link, useSearchParams } from 'wouter';
import type { Output } from '../../../contract/calls.ts';
import { STATS_PERIODS } from '../../../contract/limits.ts';
import { EMAIL_METHODS, METHODS, type Method, OTHERS_AS_COUNTED, ofEmails, signInsByMethod } from '../../../contract/methods.ts';
import { STALE_MS, useCall } from '../../lib/calls.ts';
import { durationOf } from '../../lib/dates.ts';
import { verifySnippet } from '../../lib/snippets.ts';
import { periodOf } from '../../lib/url-state.ts';
import { websitePath } from '../../pages.ts';
import { Snippet } from '../../ui/copyable.tsx';
import { DayBars } from '../../ui/day-bars.tsx';
import type { Series } from '../../ui/day-bars-chart.tsx';
import { Periods } from '../../ui/filters.tsx';
import { CountedEveryMinute, RowsLoading } from '../../ui/panels.tsx';
import { Empty, Failed } from '../../ui/states.tsx';
import { NO_FILTERS, parametersOf, statusOf } from './log-filters.tsx';
import type { TabProps } from './website.ts';

/** The sign-ins to a website as a funnel, by method and per day. The URL has the period. */
export function StatsTab({ website: { id, domain } }: TabProps) {
  const [parameters] = useSearchParams();
  const days = periodOf(parameters);
  const history = useCall('websiteHistory', { id, days }, { staleTime: STALE_MS });
  const { data, error } = history;
  return (
    <>
      <h2 className="sr-only">Statistics</h2>
      <div className="mb-6 grid gap-3">
        <Periods periods={STATS_PERIODS} current={days} hrefOf={(each) => `${websitePath(domain, 'stats')}?days=${each}`} />
        <CountedEveryMinute />
      </div>
      {error && <Failed {...history} fallback="The statistics could not be loaded." />}
      {!data && !error && <RowsLoading what="the statistics" rows={5} />}
      {data && data.total.completed === 0 && <NotVerified id={id} domain={domain} days={days} hasSignIns={!isEmpty(data)} />}
      {data && !isEmpty(data) && (
        <div className="grid grid-cols-1 gap-10">
          <Funnel domain={domain} history={data} />
          <Methods history={data} />
          <DayBars
            title="Sign-ins per UTC day"
            series={seriesOf(methodsOf(data.total))}
            days={data.days.map((day) => ({ date: day.date, ...methodsOf(day) }))}
          />
        </div>
      )}
    </>
  );
}

/** What is shown while no token was verified in the period: the code, unless the website has verified one before or uses OpenID Connect. */
function NotVerified({ id, domain, days, hasSignIns }: { id: string; domain: string; days: number; hasSignIns: boolean }) {
  const longest = STATS_PERIODS[STATS_PERIODS.length - 1];
  const { data } = useCall('websiteHistory', { id, days: longest }, { staleTime: STALE_MS });
  if (!data) return null;
  const { completed, openIdSent, openIdOpened, openIdAgain } = data.total;
  if (completed + openIdSent + openIdOpened + openIdAgain === 0)
    return (
      <div className={hasSignIns ? 'mb-10' : undefined}>
        <Empty
          title="Your server has not called verify-token yet"
          text="A sign-in is complete once your server has verified its token. This is the code of the callback, in any language:"
        >
          <Snippet label="GET /auth/callback" code={verifySnippet(window.location.origin, domain)} />
        </Empty>
      </div>
    );
  if (hasSignIns) return null;
  return (
    <Empty
      title={`No sign-ins in the last ${days} days`}
      text="Each sign-in is counted here from the request of the email to the token that your server verifies."
    />
  );
}

const isEmpty = ({ total }: History) => Object.values(total).every((count) => count === 0);

type Key = Method | 'openId';

const SERIES: readonly Series<Key>[] = [
  ...[...EMAIL_METHODS, ...OTHERS_AS_COUNTED].map((key) => ({ key, label: METHODS[key].short, color: METHODS[key].color })),
  { key: 'openId', label: 'OpenID Connect', color: '--color-muted' },
];

/** Whether a method is shown only where visitors use it. */
const isOccasional = (key: Key) => key === 'openId' || (!METHODS[key].sendsMail && METHODS[key].count !== null);

const seriesOf = (counts: Record<Key, number>) => SERIES.filter(({ key }) => counts[key] > 0 || !isOccasional(key));

/** Returns the sign-ins by method; those by OpenID Connect without an email are among the sign-ins by their method. */
export const methodsOf = (counts: Counts): Record<Key, number> => ({ ...signInsByMethod(counts), openId: counts.openIdOpened });

/** Returns the methods without an email that a period shows. */
const othersIn = (signIns: Record<Key, number>) => OTHERS_AS_COUNTED.filter((method) => signIns[method] > 0 || !isOccasional(method));

const OPENED = ofEmails('or', (noun, done) => `${noun} ${done}`).replace(/^./, (first) => first.toUpperCase());

/** A step of the funnel. `note`: how it follows from the steps before. */
type Step = { label: string; hint: string; count: number; note: string | null };

/** The steps of the sign-ins of a period, those by email and those without one apart, each with its share of the step before. */
function Funnel({ domain, history: { total, median, days } }: { domain: string; history: History }) {
  const { sent, opened, completed, completedAgain } = total;
  const again = total.again - total.openIdAgain;
  const signIns = methodsOf(total);
  const byEmail: Step[] = [
    { label: 'Requested', hint: 'Sign-in emails', count: sent, note: null },
    {
      label: 'Opened',
      hint: OPENED,
      count: opened,
      note: [percentOf(opened, sent, 'of requested'), median.all !== null && `median ${durationOf(median.all)}`].filter(Boolean).join(', '),
    },
    {
      label: 'Verified',
      hint: TOKENS,
      count: completed - completedAgain,
      note: percentOf(completed - completedAgain, opened, 'of opened'),
    },
  ];
  const methods = othersIn(signIns).map((method) => METHODS[method].plural.text);
  const withoutEmail: Step[] = [
    { label: 'Signed in', hint: `With ${methods.join(' or ')}`, count: again, note: null },
    { label: 'Verified', hint: TOKENS, count: completedAgain, note: percentOf(completedAgain, again, 'of signed in') },
  ];
  const max = Math.max(...[...byEmail, ...withoutEmail].map(({ count }) => count));
  const unverified = opened + again - completed;
  return (
    <section aria-labelledby="funnel">
      <h2 id="funnel" className="mb-4 text-lg font-semibold tracking-tight">
        From request to sign-in
      </h2>
      <div className="grid gap-6">
        <Steps title="By email" steps={byEmail} max={max} />
        <Steps title="Without an email" steps={withoutEmail} max={max} />
      </div>
      {unverified > 0 && (
        <p className="mt-3 max-w-2xl text-sm leading-6 text-muted">
          {unverified.toLocaleString('en')} {unverified === 1 ? 'token was' : 'tokens were'} not verified: your server did not ask for{' '}
          {unverified === 1 ? 'it' : 'them'}, or was told why not.{' '}
          <Link href={logOfUnverified(domain, days[0].date)} className="text-accent underline underline-offset-2">
            See these sign-ins in the log
          </Link>
          .
        </p>
      )}
    </section>
  );
}

const TOKENS = 'Tokens that your server verified';

/** Returns the log of the sign-ins whose tokens were not verified, since a UTC day. */
const logOfUnverified = (domain: string, from: string) =>
  `${websitePath(domain, 'log')}?${new URLSearchParams(parametersOf({ ...NO_FILTERS, status: statusOf('unverified'), from }))}`;

const Steps = ({ title, steps, max }: { title: string; steps: Step[]; max: number }) => (
  <div>
    <h3 className="mb-2 text-sm font-medium">{title}</h3>
    <dl className="divide-y divide-line rounded-panel border border-line bg-panel">
      {steps.map((step) => (
        <FunnelRow key={step.label} {...step} max={max} />
      ))}
    </dl>
  </div>
);

function FunnelRow({ label, hint, count, note, max }: Step & { max: number }) {
  return (
    <div className="grid grid-cols-[1fr_auto] gap-x-4 px-4 py-3 sm:grid-cols-[13rem_1fr_6rem] sm:items-center sm:px-5">
      <dt className="min-w-0">
        <span className="block text-[0.9375rem] font-medium leading-6">{label}</span>
        <span className="block text-[0.8125rem] leading-5 text-muted">{hint}</span>
      </dt>
      <dd className="text-right text-lg font-semibold leading-7 tabular-nums sm:order-last">{count.toLocaleString('en')}</dd>
      <dd className="col-span-2 mt-2 sm:col-span-1 sm:mt-0">
        <svg aria-hidden="true" viewBox="0 0 100 4" preserveAspectRatio="none" className="block h-2 w-full rounded-full bg-sunk">
          <rect width={max === 0 ? 0 : (100 * count) / max} height="4" fill="var(--color-accent)" />
        </svg>
        <span className="mt-1 block text-[0.8125rem] leading-5 text-muted empty:mt-0 sm:min-h-5 sm:empty:mt-1">{note}</span>
      </dd>
    </div>
  );
}

/** How visitors signed in. */
function Methods({ history: { total, median } }: { history: History }) {
  const { opened, again, openIdSent, openIdOpened } = total;
  const signIns = methodsOf(total);
  const rows = [
    ...EMAIL_METHODS.map((method) => ({ method: METHODS[method].label, count: signIns[method], seconds: median[method] })),
    ...othersIn(signIns).map((method) => ({ method: METHODS[method].label, count: signIns[method], seconds: null })),
    ...(openIdSent + openIdOpened > 0 ? [{ method: 'OpenID Connect, by email', count: openIdOpened, seconds: null }] : []),
  ];
  const all = opened + again + openIdOpened;
  return (
    <section aria-labelledby="methods">
      <h2 id="methods" className="mb-4 text-lg font-semibold tracking-tight">
        How visitors sign in
      </h2>
      <div className="overflow-x-auto rounded-panel border border-line bg-panel">
        <table className="w-full text-sm">
          <thead>
            <tr className="border-b border-line text-left text-[0.8125rem] text-muted">
              <Head>Method</Head>
              <Head right>Sign-ins</Head>
              <Head right>Share</Head>
              <Head right>Median time</Head>
            </tr>
          </thead>
          <tbody className="divide-y divide-line">
            {rows.map(({ method, count, seconds }) => (
              <tr key={method}>
                <th scope="row" className="py-2.5 pr-2 pl-4 text-left font-medium sm:px-5">
                  {method}
                </th>
                <Cell>{count.toLocaleString('en')}</Cell>
                <Cell>{percentOf(count, all) ?? '–'}</Cell>
                <Cell>{seconds === null ? '–' : durationOf(seconds)}</Cell>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {openIdSent > 0 && (
        <p className="mt-3 max-w-2xl text-sm leading-6 text-muted">
          {openIdSent.toLocaleString('en')} emails were requested through OpenID Connect; they are not part of the funnel.
        </p>
      )}
    </section>
  );
}

const Head = ({ right = false, children }: { right?: boolean; children: string }) => (
  <th
    scope="col"
    className={`px-2 py-2 align-bottom font-medium first:pl-4 last:pr-4 sm:whitespace-nowrap sm:px-5 ${right ? 'text-right' : ''} ${children.includes(' ') ? '' : 'whitespace-nowrap'}`}
  >
    {children}
  </th>
);

const Cell = ({ children }: { children: string }) => (
  <td className="whitespace-nowrap px-2 py-2.5 text-right tabular-nums last:pr-4 sm:px-5">{children}</td>
);

/**
 * Returns a share in whole percent, or null of nothing. It is at most 100%: what is opened after midnight may have been requested before
 * the period. Only a whole is 100%, and only nothing is 0%.
 * @param of appended to it
 */
export function percentOf(part: number, whole: number, of = ''): string | null {
  if (whole === 0) return null;
  const percent = (100 * part) / whole;
  const text = percent > 0 && percent < 1 ? '< 1%' : `${Math.min(100, percent > 99 ? Math.floor(percent) : Math.round(percent))}%`;
  return of ? `${text} ${of}` : text;
}

/** The sign-ins to a website, in sum and per day. */
type History = Output<'websiteHistory'>;
type Counts = History['total'];
