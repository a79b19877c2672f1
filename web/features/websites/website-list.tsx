import { type ReactNode, useEffect, useRef } from 'react';
import { Link } from 'wouter';
import type { Output } from '../../../contract/calls.ts';
import type { WebsiteSort } from '../../../contract/website-list.ts';
import { errorText } from '../../lib/api.ts';
import { useAct } from '../../lib/calls.ts';
import { dayOf } from '../../lib/dates.ts';
import { type ListState, listPath, sortedBy, sorts } from '../../lib/url-state.ts';
import { WEBSITES_PER_PAGE, websitePath } from '../../pages.ts';
import { Button } from '../../ui/button.tsx';
import { cx } from '../../ui/cx.ts';
import { Select } from '../../ui/field.tsx';
import { SearchField } from '../../ui/filters.tsx';
import { CheckIcon, DownIcon, SiteIcon } from '../../ui/icons.tsx';
import { Pager } from '../../ui/panels.tsx';
import { Sparkline } from '../../ui/sparkline.tsx';
import { Empty, Skeleton, StatusDot } from '../../ui/states.tsx';
import { toast, toastFailure } from '../../ui/toast.tsx';
import { type ListedWebsite, STEP_TITLES, sumOf, WEBSITES } from './website.ts';

/** With fewer websites, there is nothing to search. */
const MIN_FOR_TOOLS = 6;

type Props = RowActions & {
  state: ListState;
  found: Output<'searchWebsites'>;
  /** The rows are those of the state before. */
  busy: boolean;
  onShow: (change: Partial<ListState>, replace?: boolean) => void;
};

/** One page of the websites as a table, with what is needed for many: search, order and pages. */
export function WebsiteList({ state, found, busy, onShow, ...actions }: Props) {
  const { total, page, websites } = found;
  const top = useScrollToTop(page);
  const hasTools = total >= MIN_FOR_TOOLS || state.q !== '';
  return (
    <div ref={top} className="@container scroll-mt-4">
      {hasTools && (
        <div className="mb-3 grid gap-3 sm:grid-cols-[1fr_12rem] @[52rem]:grid-cols-[24rem]">
          <SearchField label="Search websites" value={state.q} onSearch={(q) => onShow({ q }, true)} />
          <div className="@[52rem]:hidden">
            <Select
              label="Order"
              hideLabel
              value={state.sort}
              options={sorts}
              onChange={({ target }) => onShow(sortedBy({ ...state, sort: 'added' }, target.value as WebsiteSort))}
            />
          </div>
        </div>
      )}
      <p role="status" className="sr-only">
        {countOf(found)}
      </p>
      {total === 0 ? (
        <Empty title="No website found" text={`None of your websites has “${state.q}” in its domain.`}>
          <Button variant="secondary" onClick={() => onShow({ q: '' })}>
            Show all websites
          </Button>
        </Empty>
      ) : (
        <div aria-busy={busy} className={cx('transition-opacity', busy && 'opacity-60')}>
          <Table state={state}>
            {websites.map((website) => (
              <WebsiteRow key={website.id} website={website} {...actions} />
            ))}
          </Table>
          <p className="mt-3 text-[0.8125rem] leading-5 text-muted">
            Sign-ins and success are of the last 7 UTC days, at most a minute late. Success is the share of the emails that were opened.
          </p>
          <Pager page={page} pages={Math.ceil(total / WEBSITES_PER_PAGE)} hrefOf={(to) => listPath({ ...state, page: to })} />
        </div>
      )}
    </div>
  );
}

function countOf({ total, page, websites }: Output<'searchWebsites'>): string {
  if (total <= WEBSITES_PER_PAGE) return total === 1 ? '1 website' : `${total.toLocaleString('en')} websites`;
  const first = (page - 1) * WEBSITES_PER_PAGE + 1;
  return `Websites ${first.toLocaleString('en')} to ${(first + websites.length - 1).toLocaleString('en')} of ${total.toLocaleString('en')}`;
}

/** Returns a ref to the element that another page of the list is shown from. */
function useScrollToTop(page: number) {
  const element = useRef<HTMLDivElement>(null);
  const shown = useRef(page);
  useEffect(() => {
    if (shown.current === page) return;
    shown.current = page;
    element.current?.scrollIntoView({ block: 'start' });
  }, [page]);
  return element;
}

type Column = { sort: WebsiteSort; label: string; className?: string };

const COLUMNS: readonly Column[] = [
  { sort: 'name', label: 'Website', className: 'pl-5' },
  { sort: 'state', label: 'State' },
  { sort: 'sign-ins', label: 'Sign-ins' },
  { sort: 'success', label: 'Success' },
  { sort: 'last', label: 'Last sign-in' },
  { sort: 'team', label: 'Team' },
];

/** The table with its head. Where it is too narrow for the columns, each row is a block, whose cells name themselves. */
function Table({ state, children }: { state: ListState; children: ReactNode }) {
  return (
    <table
      data-rows
      className="block w-full rounded-panel border border-line bg-panel text-left @[52rem]:table @[52rem]:border-separate @[52rem]:border-spacing-0"
    >
      <caption className="sr-only">My websites</caption>
      <thead className="hidden @[52rem]:table-header-group">
        <tr>
          {COLUMNS.map((column) => (
            <Heading key={column.sort} column={column} state={state} />
          ))}
          <th scope="col" className="border-b border-line">
            <span className="sr-only">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody className="block divide-y divide-line @[52rem]:table-row-group">{children}</tbody>
    </table>
  );
}

function Heading({ column: { sort, label, className }, state }: { column: Column; state: ListState }) {
  const isSorted = state.sort === sort;
  return (
    <th
      scope="col"
      aria-sort={isSorted ? (state.order === 'asc' ? 'ascending' : 'descending') : undefined}
      className={cx('border-b border-line pr-3 text-[0.8125rem] font-medium', className)}
    >
      <Link
        href={listPath(sortedBy(state, sort))}
        className={cx('inline-flex min-h-11 items-center gap-1 whitespace-nowrap hover:text-ink', isSorted ? 'text-ink' : 'text-muted')}
      >
        {label}
        <DownIcon className={cx('size-3.5', !isSorted && 'invisible', isSorted && state.order === 'asc' && 'rotate-180')} />
      </Link>
    </th>
  );
}

/** What can be done with a website of the list. */
type RowActions = Record<'onEdit' | 'onDelete', (website: ListedWebsite) => void>;

const cell = 'block min-w-0 @[52rem]:table-cell @[52rem]:border-t @[52rem]:border-line @[52rem]:py-3 @[52rem]:pr-3 @[52rem]:align-middle';

/** A website of the list. Its own page has everything else. */
function WebsiteRow({ website, onEdit, onDelete }: RowActions & { website: ListedWebsite }) {
  const { domain, displayDomain, registeredByOthers, iconUrl, createdAt, role, signIns, success, lastSignIn, team } = website;
  return (
    <tr className="grid grid-cols-2 gap-x-4 gap-y-3 px-4 py-4 sm:grid-cols-4 sm:px-5 @[52rem]:table-row [&:first-child>*]:border-t-0">
      <th scope="row" className={cx(cell, 'col-span-full font-normal @[52rem]:w-full @[52rem]:pl-5')}>
        <span className="flex items-center gap-3.5">
          <SiteIcon name={displayDomain} iconUrl={iconUrl} />
          <span className="min-w-0">
            <Link
              href={websitePath(domain)}
              className="inline-block py-0.5 font-medium wrap-anywhere hover:underline hover:underline-offset-4"
            >
              <bdi dir="ltr">{displayDomain}</bdi>
            </Link>
            {displayDomain !== domain && (
              <bdi dir="ltr" className="block font-mono text-[0.8125rem] text-muted wrap-anywhere">
                {domain}
              </bdi>
            )}
            <span className="block text-[0.8125rem] leading-5 text-muted">
              {registeredByOthers ? 'Registered with your address by someone who was not signed in' : 'Email authentication enabled'} ·
              Added {dayOf(createdAt)}
            </span>
          </span>
        </span>
      </th>
      <Cell label="State">
        <State website={website} />
      </Cell>
      <Cell label="Sign-ins in 7 days">
        <span className="flex items-center gap-2.5">
          <Sparkline days={signIns} />
          <span className="tabular-nums">{sumOf(signIns).toLocaleString('en')}</span>
        </span>
      </Cell>
      <Cell label="Success">
        <Value none="No emails">{success === null ? null : `${Math.floor(success * 100)}%`}</Value>
      </Cell>
      <Cell label="Last sign-in">
        <Value none="None yet">{lastSignIn && dayOf(lastSignIn)}</Value>
      </Cell>
      <Cell label="Team">
        <span className="tabular-nums">{team.toLocaleString('en')}</span>
      </Cell>
      <td className={cx(cell, 'col-span-full -my-2 @[52rem]:py-1 @[52rem]:pr-2')}>
        <span className="-ml-3 flex @[52rem]:ml-0 @[52rem]:justify-end">
          {registeredByOthers && <NotMine website={website} />}
          <Button variant="quiet" small aria-label={`Edit ${displayDomain}`} onClick={() => onEdit(website)}>
            Edit
          </Button>
          {role === 'owner' && (
            <Button
              variant="quiet"
              small
              aria-label={`Delete ${displayDomain}`}
              onClick={() => onDelete(website)}
              className="hover:text-danger"
            >
              Delete
            </Button>
          )}
        </span>
      </td>
    </tr>
  );
}

/** A cell, with the name of its column where the table has no head. */
const Cell = ({ label, children }: { label: string; children: ReactNode }) => (
  <td className={cx(cell, 'text-sm')}>
    <span className="mb-0.5 block text-[0.8125rem] leading-5 text-muted @[52rem]:hidden">{label}</span>
    {children}
  </td>
);

/** A figure; null: there is none. */
const Value = ({ none, children }: { none: string; children: string | null }) =>
  children === null ? (
    <span className="whitespace-nowrap text-muted">{none}</span>
  ) : (
    <span className="whitespace-nowrap tabular-nums">{children}</span>
  );

/** That visitors can sign in, with the state of the domain or what needs attention. */
function State({ website: { domain, verified, onProbation, nextStep } }: { website: ListedWebsite }) {
  const failed = nextStep?.state === 'failed' ? nextStep : null;
  return (
    <>
      <StatusDot tone={failed ? 'bad' : 'live'}>Active</StatusDot>
      {failed ? (
        <Link href={websitePath(domain, 'setup')} className="block text-[0.8125rem] leading-5 text-danger underline underline-offset-2">
          {STEP_TITLES[failed.step]} needs attention
        </Link>
      ) : (
        <span className="flex items-center gap-1 text-[0.8125rem] leading-5 whitespace-nowrap text-muted">
          {verified && <CheckIcon className="size-3" />}
          {verified ? 'Verified' : onProbation ? 'On probation' : 'Not verified'}
        </span>
      )}
    </>
  );
}

/** Gives a website back. It asks nothing: the website was never the account's own, and can be registered again. */
function NotMine({ website: { id, displayDomain } }: { website: ListedWebsite }) {
  const giveBack = useAct('giveBackWebsite', WEBSITES);
  return (
    <Button
      variant="quiet"
      small
      busy={giveBack.isPending}
      aria-label={`${displayDomain} is not mine`}
      onClick={() =>
        giveBack.mutate(
          { id },
          {
            onSuccess: () => toast('Website given back', displayDomain),
            onError: (error) => toastFailure('The website could not be given back', errorText(error, 'Try again.')),
          },
        )
      }
    >
      Not mine
    </Button>
  );
}

/** A placeholder in the shape of the table. */
export const WebsiteListLoading = () => (
  <div role="status" data-loading aria-label="Loading your websites" className="@container">
    <div className="divide-y divide-line rounded-panel border border-line bg-panel">
      <div className="hidden h-11 @[52rem]:block" />
      {Array.from({ length: 6 }, (_, row) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: identical rows that never move
        <div key={row} className="grid gap-4 px-4 py-4 sm:px-5 @[52rem]:grid-cols-[1fr_5rem_7rem_4rem_6rem_8rem] @[52rem]:items-center">
          <span className="flex items-center gap-3.5">
            <Skeleton className="size-9" />
            <span className="grid gap-2">
              <Skeleton className="h-4 w-40" />
              <Skeleton className="h-3 w-56 max-w-full" />
            </span>
          </span>
          <Skeleton className="h-20 @[52rem]:h-4" />
          {Array.from({ length: 3 }, (_, column) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: identical cells that never move
            <Skeleton key={column} className="hidden h-4 @[52rem]:block" />
          ))}
        </div>
      ))}
    </div>
  </div>
);
