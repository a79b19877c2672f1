import { keepPreviousData } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useSearchParams } from 'wouter';
import type { Input } from '../../../contract/calls.ts';
import { MAX_EMAIL_LENGTH, readEmail } from '../../../contract/emails.ts';
import { VISITOR_DAYS, VISITORS_PAGE } from '../../../contract/limits.ts';
import { useCall } from '../../lib/calls.ts';
import { dateTimeOf, timeAgo } from '../../lib/dates.ts';
import { websitePath } from '../../pages.ts';
import { Button } from '../../ui/button.tsx';
import { Select } from '../../ui/field.tsx';
import { SearchField } from '../../ui/filters.tsx';
import { Pager, Rows, RowsLoading } from '../../ui/panels.tsx';
import { Empty, Failed } from '../../ui/states.tsx';
import { EraseDialog, type Visitor, VisitorsExport } from './visitors.tsx';
import type { TabProps, Website } from './website.ts';

const sorts = [
  { value: 'last desc', label: 'Last sign-in, newest first' },
  { value: 'last asc', label: 'Last sign-in, oldest first' },
  { value: 'first desc', label: 'First sign-in, newest first' },
  { value: 'first asc', label: 'First sign-in, oldest first' },
  { value: 'count desc', label: 'Most sign-ins' },
  { value: 'email asc', label: 'Address' },
] as const;
type Sort = (typeof sorts)[number]['value'];

/** The addresses that signed in to a website. The URL has the search, the order and the page. */
export function VisitorsTab({ website }: TabProps) {
  const [parameters, setParameters] = useSearchParams();
  const search = parameters.get('search') ?? '';
  const sort = sorts.find(({ value }) => value === parameters.get('sort'))?.value ?? 'last desc';
  const page = Math.max(1, Math.floor(Number(parameters.get('page')) || 1));
  const [by, order] = sort.split(' ') as [Input<'listVisitors'>['sort'], Input<'listVisitors'>['order']];
  const { data, error, isFetching, isPlaceholderData, refetch } = useCall(
    'listVisitors',
    { id: website.id, search, sort: by, order, page },
    { placeholderData: keepPreviousData },
  );
  const [erasing, setErasing] = useState<string | null>(null);
  const change = (name: 'search' | 'sort', value: string) =>
    setParameters(
      (current) => {
        const next = new URLSearchParams(current);
        next.delete('page');
        if (value === '' || value === 'last desc') next.delete(name);
        else next.set(name, value);
        return next;
      },
      { replace: true },
    );
  const pageHref = (to: number) => {
    const query = new URLSearchParams(parameters);
    query.set('page', String(to));
    return `${websitePath(website.domain, 'visitors')}?${query}`;
  };
  if (!data && !error) return <RowsLoading what="the visitors" rows={6} />;
  const masked = data?.masked ?? !website.verified;
  const manages = website.role === 'owner' && !masked;

  return (
    <>
      <h2 className="sr-only">Visitors</h2>
      <div className="flex flex-wrap items-end gap-3">
        {!masked && (
          <div className="min-w-0 grow basis-64">
            <SearchField label="Search addresses" value={search} maxLength={MAX_EMAIL_LENGTH} onSearch={(text) => change('search', text)} />
          </div>
        )}
        <div className="min-w-0 basis-64 max-sm:grow">
          <Select
            label="Order"
            options={masked ? sorts.filter(({ value }) => value !== 'email asc') : sorts}
            value={sort}
            onChange={(event) => change('sort', event.target.value as Sort)}
          />
        </div>
        {manages && <VisitorsExport website={website} />}
      </div>
      <Notes website={website} masked={masked} />
      {error && <Failed error={error} fallback="The visitors could not be loaded." isFetching={isFetching} refetch={refetch} />}
      {data && !error && (
        <div aria-busy={isPlaceholderData}>
          {data.total > 0 && (
            <p role="status" className="mb-2 text-sm text-muted">
              {data.total.toLocaleString('en')} {data.total === 1 ? 'visitor' : 'visitors'}
            </p>
          )}
          {data.visitors.length > 0 && (
            <Rows>
              {data.visitors.map((visitor, index) => (
                <VisitorRow
                  key={masked ? index : visitor.email}
                  visitor={visitor}
                  website={website}
                  onErase={manages ? setErasing : null}
                />
              ))}
            </Rows>
          )}
          <Pager page={page} pages={Math.ceil(data.total / VISITORS_PAGE)} hrefOf={pageHref} />
          {data.total === 0 && <NobodyFound search={search} onErase={manages ? setErasing : null} />}
        </div>
      )}
      {erasing !== null && <EraseDialog website={website} email={erasing} onClose={() => setErasing(null)} />}
    </>
  );
}

function Notes({ website, masked }: { website: Website; masked: boolean }) {
  return (
    <div className="mt-3 mb-4 grid gap-1 text-sm text-muted">
      <p>
        Everyone who signed in, until {VISITOR_DAYS} days after their last sign-in. A sign-in is listed within a minute.{' '}
        {website.role !== 'owner' && 'Only owners of the website can export and erase them.'}
      </p>
      {masked && (
        <p>
          Addresses are masked, and cannot be searched, exported or erased, until the{' '}
          <Link href={`${websitePath(website.domain, 'settings')}#proof`} className="text-ink underline underline-offset-4">
            domain is verified
          </Link>
          .
        </p>
      )}
    </div>
  );
}

function VisitorRow({
  visitor: { email, firstAt, lastAt, byEmail, remembered, openid },
  website,
  onErase,
}: {
  visitor: Visitor;
  website: Website;
  onErase: ((email: string) => void) | null;
}) {
  const methods = [
    [byEmail, 'by email'],
    [remembered, 'remembered'],
    [openid, 'by OpenID Connect'],
  ] as const;
  const used = methods.filter(([count]) => count > 0).map(([count, name]) => `${count.toLocaleString('en')} ${name}`);
  const total = byEmail + remembered + openid;
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-1 px-4 py-2.5 sm:px-5">
      <div className="min-w-0 grow basis-64">
        <p className="font-medium wrap-anywhere">{email}</p>
        <p className="text-[0.8125rem] leading-5 text-muted">
          {total.toLocaleString('en')} {total === 1 ? 'sign-in' : 'sign-ins'}: {used.join(', ')}
        </p>
      </div>
      <dl className="grid shrink-0 gap-x-2 text-[0.8125rem] leading-5 tabular-nums sm:text-right">
        <When label="Last" at={lastAt} />
        <When label="First" at={firstAt} />
      </dl>
      {onErase && (
        <div className="-mr-3 ml-auto flex sm:-ml-3">
          <VisitorsExport website={website} email={email} />
          <Button variant="quiet" small aria-label={`Erase ${email}`} className="hover:text-danger" onClick={() => onErase(email)}>
            Erase
          </Button>
        </div>
      )}
    </li>
  );
}

const When = ({ label, at }: { label: string; at: string }) => (
  <div className="flex gap-1.5 sm:justify-end">
    <dt className="text-muted">{label}</dt>
    <dd title={dateTimeOf(at)}>{timeAgo(Date.parse(at), 'en')}</dd>
  </div>
);

/** An empty list. An address that never signed in may still be in the log, from where it can be erased too. */
function NobodyFound({ search, onErase }: { search: string; onErase: ((email: string) => void) | null }) {
  if (search === '')
    return (
      <Empty
        title="No visitors yet"
        text="Each address that signs in is listed here, with its first and last sign-in, so that you can answer a request for access or erasure."
      />
    );
  return (
    <Empty title="No one found" text={`No address with “${search}” has signed in.`}>
      {onErase && readEmail(search) && (
        <Button variant="secondary" onClick={() => onErase(search)}>
          Erase {search} from the log
        </Button>
      )}
    </Empty>
  );
}
