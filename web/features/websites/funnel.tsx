import { Link } from 'wouter';
import { websitePath } from '../../paths.ts';
import type { History } from './history.ts';
import { durationOf, percentOf } from './stats-text.ts';

/** A step of the funnel. `note`: how it follows from the steps before. */
type Step = { label: string; hint: string; count: number; note: string | null };

/** The steps of the sign-ins of a period, each with its share of the step before. */
export function Funnel({ domain, history: { total, median } }: { domain: string; history: History }) {
  const { sent, opened, again, completed } = total;
  const steps: Step[] = [
    { label: 'Requested', hint: 'Sign-in emails', count: sent, note: null },
    {
      label: 'Opened',
      hint: 'Link opened or code entered',
      count: opened,
      note: [percentOf(opened, sent, 'of requested'), median.all !== null && `median ${durationOf(median.all)}`].filter(Boolean).join(', '),
    },
    { label: 'Remembered', hint: 'Signed in again, without an email', count: again, note: null },
    {
      label: 'Completed',
      hint: 'Tokens that your server verified',
      count: completed,
      note: percentOf(completed, opened + again, 'of opened and remembered'),
    },
  ];
  const max = Math.max(...steps.map(({ count }) => count));
  const unverified = opened + again - completed;
  return (
    <section aria-labelledby="funnel">
      <h2 id="funnel" className="mb-4 text-lg font-semibold tracking-tight">
        From request to sign-in
      </h2>
      <dl className="divide-y divide-line rounded-panel border border-line bg-panel">
        {steps.map((step) => (
          <FunnelRow key={step.label} {...step} max={max} />
        ))}
      </dl>
      <p className="mt-3 max-w-2xl text-sm leading-6 text-muted">
        {completed > sent
          ? 'Completed is higher than Requested because remembered accounts sign in without an email, and their tokens are verified too.'
          : 'Remembered accounts sign in without an email; their tokens count as Completed, so that it can be higher than Requested.'}
        {unverified > 0 && (
          <>
            {' '}
            {unverified.toLocaleString('en')} {unverified === 1 ? 'token was' : 'tokens were'} not verified:{' '}
            <Link href={`${websitePath(domain, 'log')}?status=token_refused`} className="text-accent underline underline-offset-2">
              see rejected tokens
            </Link>
            .
          </>
        )}
      </p>
    </section>
  );
}

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
