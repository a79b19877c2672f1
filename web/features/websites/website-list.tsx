import { useEffect, useRef } from 'react';
import { Link } from 'wouter';
import type { Output } from '../../../contract/calls.ts';
import { METHODS, OTHERS_AS_COUNTED, signInsByMethod } from '../../../contract/methods.ts';
import { errorText } from '../../lib/api.ts';
import { useAct } from '../../lib/calls.ts';
import { dayOf, durationOf } from '../../lib/dates.ts';
import { type ListState, listPath, sorts } from '../../lib/url-state.ts';
import { WEBSITES_PER_PAGE, websitePath } from '../../pages.ts';
import { Button } from '../../ui/button.tsx';
import { cx } from '../../ui/cx.ts';
import { Select } from '../../ui/field.tsx';
import { SearchField } from '../../ui/filters.tsx';
import { CheckIcon, SiteIcon } from '../../ui/icons.tsx';
import { Menu } from '../../ui/menu.tsx';
import { Pager, Rows } from '../../ui/panels.tsx';
import { Badge, Empty } from '../../ui/states.tsx';
import { toast, toastFailure } from '../../ui/toast.tsx';
import { WEBSITES, type Website } from './website.ts';

/** With fewer websites, there is nothing to search or sort. */
const MIN_FOR_TOOLS = 6;

type Props = RowActions & {
  state: ListState;
  found: Output<'searchWebsites'>;
  /** The rows are those of the state before. */
  busy: boolean;
  onShow: (change: Partial<ListState>, replace?: boolean) => void;
};

/** One page of the websites, with what is needed for many: search, order and pages. */
export function WebsiteList({ state, found, busy, onShow, ...actions }: Props) {
  const { total, page, websites } = found;
  const top = useScrollToTop(page);
  const hasTools = total >= MIN_FOR_TOOLS || state.q !== '';
  return (
    <div ref={top} className="scroll-mt-4">
      {hasTools && (
        <div className="mb-3 grid gap-3 sm:grid-cols-[1fr_12rem]">
          <SearchField label="Search websites" value={state.q} onSearch={(q) => onShow({ q }, true)} />
          <Select
            label="Order"
            hideLabel
            value={state.sort}
            options={sorts}
            onChange={({ target }) => onShow({ sort: target.value as ListState['sort'] })}
          />
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
          <Rows>
            {websites.map((website) => (
              <WebsiteRow key={website.id} website={website} {...actions} />
            ))}
          </Rows>
          <p className="mt-3 text-[0.8125rem] leading-5 text-muted">
            Counts of the last 30 days. Remembered visitors sign in again without an email, so a website can verify more tokens than emails
            were sent.
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

type ListedWebsite = Output<'searchWebsites'>['websites'][number];

/** What can be done with a website of the list. */
type RowActions = Record<'onOpenId' | 'onProve' | 'onEdit' | 'onDelete', (website: Website) => void>;

/** A website of the list. Its own page has everything else. */
function WebsiteRow({ website, ...actions }: RowActions & { website: ListedWebsite }) {
  const { domain, displayDomain, verified, registeredByOthers, iconUrl, createdAt, stats } = website;
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-1 py-3 pr-2 pl-4 sm:pl-5">
      <div className="flex min-w-0 grow basis-72 items-start gap-4 sm:items-center">
        <SiteIcon name={displayDomain} iconUrl={iconUrl} />
        <div className="min-w-0 grow">
          <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
            <h3 className="font-medium wrap-anywhere">
              <Link href={websitePath(domain)} className="hover:underline hover:underline-offset-4">
                {displayDomain}
              </Link>
            </h3>
            {displayDomain !== domain && <span className="font-mono text-[0.8125rem] text-muted wrap-anywhere">{domain}</span>}
            <Badge tone="live">Active</Badge>
            {verified && (
              <Badge>
                <CheckIcon className="size-3" />
                Verified
              </Badge>
            )}
          </div>
          <p className="mt-0.5 text-sm text-muted">
            {registeredByOthers ? 'Registered with your address by someone who was not signed in' : 'Email authentication enabled'} · Added{' '}
            {dayOf(createdAt)}
          </p>
          <SignIns stats={stats} />
        </div>
      </div>
      <Actions website={website} {...actions} />
    </li>
  );
}

function Actions({ website, onOpenId, onProve, onEdit, onDelete }: RowActions & { website: Website }) {
  const { domain, displayDomain, verified } = website;
  return (
    <div className="-ml-3 flex shrink-0 flex-wrap">
      {website.registeredByOthers && <NotMine website={website} />}
      <Button variant="quiet" small aria-label={`Edit ${displayDomain}`} onClick={() => onEdit(website)}>
        Edit
      </Button>
      {website.role === 'owner' && (
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
      <Menu
        icon={null}
        label={
          <span>
            More<span className="sr-only"> actions for {displayDomain}</span>
          </span>
        }
        items={[
          { label: 'Set up', href: websitePath(domain, 'setup'), as: Link },
          { label: 'Log', href: websitePath(domain, 'log'), as: Link },
          { label: 'OpenID Connect', onSelect: () => onOpenId(website) },
          ...(verified ? [] : [{ label: 'Verify', onSelect: () => onProve(website) }]),
        ]}
      />
    </div>
  );
}

/** Gives a website back. It asks nothing: the website was never the account's own, and can be registered again. */
function NotMine({ website: { id, displayDomain } }: { website: Website }) {
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

/** The sign-ins of the last 30 days in one line. */
function SignIns({ stats }: { stats: ListedWebsite['stats'] }) {
  const { sent, opened, completed, again, medianSeconds } = stats;
  const signIns = signInsByMethod(stats);
  if (sent + opened + completed + again === 0) return <p className="text-[0.8125rem] leading-5 text-muted">No sign-ins yet</p>;
  return (
    <dl aria-label="Sign-ins of the last 30 days" className="flex flex-wrap gap-x-3 text-[0.8125rem] leading-5">
      <Count label="Emails sent" value={sent.toLocaleString('en')} />
      <Count label="Opened" value={opened.toLocaleString('en')} />
      {OTHERS_AS_COUNTED.filter((method) => signIns[method] > 0 || METHODS[method].count === null).map((method) => (
        <Count key={method} label={METHODS[method].plural.label} value={signIns[method].toLocaleString('en')} />
      ))}
      <Count label="Tokens verified" value={completed.toLocaleString('en')} />
      {medianSeconds !== null && <Count label="Median" value={durationOf(medianSeconds)} />}
    </dl>
  );
}

const Count = ({ label, value }: { label: string; value: string }) => (
  <div className="flex gap-1.5 whitespace-nowrap">
    <dt className="text-muted">{label}</dt>
    <dd className="font-medium tabular-nums">{value}</dd>
  </div>
);
