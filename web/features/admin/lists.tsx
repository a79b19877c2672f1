import { type ReactNode, useEffect, useRef, useState } from 'react';
import { useSearchParams } from 'wouter';
import type { Input, Output } from '../../../contract/calls.ts';
import { errorText } from '../../lib/api.ts';
import { type PagedName, useAct, usePages, useRefresh } from '../../lib/calls.ts';
import { dateTimeOf, dayOf, timeAgo, timeUntil } from '../../lib/dates.ts';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copyable.tsx';
import { Select } from '../../ui/field.tsx';
import { SearchField } from '../../ui/filters.tsx';
import { Rows, RowsLoading, wordsOf } from '../../ui/panels.tsx';
import { Badge, Empty, Failed, StatusDot } from '../../ui/states.tsx';
import { toast, toastFailure } from '../../ui/toast.tsx';

/** The page size of the service. */
const PAGE_SIZE = 50;

/** The registered websites. */
export function WebsiteList() {
  return (
    <Entries
      title="Websites"
      what="websites"
      call="adminWebsites"
      empty={{ title: 'No websites', text: 'Every registered domain is listed here.' }}
      row={({ id, domain, email, claimed, verified, createdAt }) => (
        <>
          <div className="min-w-0 grow basis-64">
            <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
              <h3 className="font-medium wrap-anywhere">{domain}</h3>
              {claimed || email === null ? <StatusDot tone="live">Active</StatusDot> : <StatusDot tone="off">On probation</StatusDot>}
              {verified && <Badge>Verified</Badge>}
            </div>
            <p className="mt-0.5 text-sm text-muted wrap-anywhere">
              {email ?? 'No owner: it stands for this computer'} · Added {dayOf(createdAt)}
            </p>
          </div>
          <Id id={id} of={domain} />
        </>
      )}
    />
  );
}

/** The developers. */
export function UserList() {
  return (
    <Entries
      title="Users"
      what="users"
      call="adminUsers"
      empty={{ title: 'No users', text: 'Everyone who signs in to the developer portal is listed here, but no visitor of a website.' }}
      row={({ id, email, name, websites, createdAt }) => (
        <>
          <div className="min-w-0 grow basis-64">
            <h3 className="font-medium wrap-anywhere">{email}</h3>
            <p className="mt-0.5 text-sm text-muted wrap-anywhere">
              {name && `${name} · `}
              {websites === 1 ? '1 website' : `${websites} websites`} · Since {dayOf(createdAt)}
            </p>
          </div>
          <Id id={id} of={email} />
        </>
      )}
    />
  );
}

/** Long enough for a mail server to accept an email. */
const REFETCH_DELAY_MS = 2_000;

/** The emails that the mail server has not accepted yet. */
export function MailList() {
  const refresh = useRefresh();
  const retry = useAct('retryMail');
  const send = (id: string, recipient: string) =>
    retry.mutate(
      { id },
      {
        onSuccess: () => {
          toast('Retry requested', `The email to ${recipient} is sent now, or within 30 seconds when it is already being sent.`);
          setTimeout(() => void refresh('adminMails'), REFETCH_DELAY_MS);
        },
        onError: (error) => {
          toastFailure('Retry failed', errorText(error, 'The email could not be retried.'));
          void refresh('adminMails');
        },
      },
    );

  return (
    <Entries
      title="Mail queue"
      what="pending emails"
      call="adminMails"
      empty={{
        title: 'No pending emails',
        text: 'An email is listed here from its request until the mail server has accepted or refused it, or it has expired.',
      }}
      row={({ id, kind, recipient, tries, createdAt, dueAt, expiresAt }) => (
        <>
          <div className="min-w-0 grow basis-64">
            <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
              <h3 className="font-medium wrap-anywhere">{recipient}</h3>
              <Badge>{kind.replaceAll('_', ' ')}</Badge>
            </div>
            <p className="mt-0.5 text-sm text-muted">
              Requested {timeAgo(Date.parse(createdAt), 'en')} · {tries === 1 ? '1 failed try' : `${tries} failed tries`} · Next try{' '}
              {timeUntil(Date.parse(dueAt), 'en')} · Expires {timeUntil(Date.parse(expiresAt), 'en')}
            </p>
          </div>
          <Button
            variant="secondary"
            small
            aria-label={`Retry the email to ${recipient}`}
            busy={retry.isPending && retry.variables.id === id}
            onClick={() => send(id, recipient)}
          >
            Retry
          </Button>
        </>
      )}
    />
  );
}

const RESULTS = [
  { value: 'all', label: 'Sent and failed' },
  { value: 'sent', label: 'Sent' },
  { value: 'failed', label: 'Failed' },
] as const;

/** The emails to visitors that were sent or failed. The URL has which of them. */
export function MailHistory() {
  const [parameters, setParameters] = useSearchParams();
  const result = RESULTS.find(({ value }) => value === parameters.get('result'))?.value ?? 'all';
  const change = (value: string) =>
    setParameters({ list: parameters.get('list') ?? '', ...(value !== 'all' && { result: value }) }, { replace: true });
  return (
    <div className="grid gap-4">
      <div className="max-w-60">
        <Select label="Result" value={result} options={RESULTS} onChange={(event) => change(event.target.value)} />
      </div>
      <Entries
        key={result}
        title="Sent and failed emails"
        what="emails"
        call="adminMailHistory"
        input={{ result }}
        empty={{
          title: 'No emails here',
          text: 'The emails to visitors of the last seven days are listed here once they were sent or failed. Those to developers are not kept.',
        }}
        row={(mail) => (
          <>
            <div className="min-w-0 grow basis-64">
              <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
                <h3 className="font-medium wrap-anywhere">
                  <bdi dir="ltr">{mail.recipient ?? 'Erased address'}</bdi>
                </h3>
                {mail.result === 'sent' ? <StatusDot tone="live">Sent</StatusDot> : <StatusDot tone="bad">Failed</StatusDot>}
              </div>
              <p className="mt-0.5 text-sm text-muted wrap-anywhere">
                {mail.website && (
                  <>
                    <bdi dir="ltr">{mail.website}</bdi> ·{' '}
                  </>
                )}
                {mail.text} {mail.fix?.replaceAll('`', '')}
              </p>
            </div>
            <time dateTime={mail.createdAt} className="text-sm text-muted tabular-nums">
              {dateTimeOf(mail.createdAt)}
            </time>
          </>
        )}
      />
    </div>
  );
}

/** The audit log. */
export function AuditList() {
  return (
    <Entries
      title="Audit trail"
      what="audit trail"
      call="adminAuditLog"
      empty={{ title: 'Nothing happened yet', text: 'Every sign-in and every change is listed here, and nothing can be deleted.' }}
      row={({ action, email, domain, object, actor, device, createdAt }) => (
        <>
          <div className="min-w-0 grow basis-64">
            <h3 className="font-medium first-letter:uppercase">{wordsOf(action)}</h3>
            <p className="mt-0.5 text-sm text-muted wrap-anywhere">
              {[email, domain, object, actor && `by ${actor}`, device].filter(Boolean).join(' · ')}
            </p>
          </div>
          <time dateTime={createdAt} className="text-sm text-muted tabular-nums">
            {dateTimeOf(createdAt)}
          </time>
        </>
      )}
    />
  );
}

/**
 * A list of the admin page, newest first, with its empty, loading and failed states.
 * @param what is listed, as in `Loading websites`
 * @param empty title and text while there is nothing
 * @param row the content of an entry's row
 */
function Entries<Name extends PagedName>({
  title,
  what,
  call,
  input,
  empty,
  row,
}: {
  title: string;
  what: string;
  call: Name;
  input?: Partial<Input<Name>>;
  empty: { title: string; text: ReactNode };
  row: (entry: Output<Name>[number]) => ReactNode;
}) {
  const [q, setQ] = useState('');
  const pages = usePages(call, { ...input, q: q || undefined } as Input<Name>, PAGE_SIZE, { refetchOnMount: 'always' });
  const box = useRef<HTMLDivElement>(null);
  /** The number of entries when more were requested. */
  const before = useRef<number | null>(null);
  const { data: entries, error, isFetching, isFetchingNextPage, hasNextPage } = pages;

  const count = entries?.length ?? 0;

  // The last page removes the button, so the focus moves to the first new entry.
  useEffect(() => {
    if (before.current === null || count <= before.current) return;
    box.current?.querySelectorAll('li')[before.current].focus();
    before.current = null;
  }, [count]);

  const showMore = () => {
    before.current = count;
    void pages.fetchNextPage();
  };

  return (
    <section>
      <div className="mb-4 flex flex-wrap items-center justify-between gap-3">
        <h2 className="text-lg font-semibold tracking-tight">{title}</h2>
        <Button variant="secondary" small busy={isFetching && !isFetchingNextPage} onClick={() => pages.refetch()}>
          Refresh
        </Button>
      </div>
      {(q !== '' || count > 0) && (
        <div className="mb-4 max-w-md">
          <SearchField label={`Search ${what}`} value={q} onSearch={setQ} />
        </div>
      )}
      {!entries && !error && <RowsLoading what={what} rows={6} />}
      {entries?.length === 0 && q === '' && <Empty {...empty} />}
      {entries?.length === 0 && q !== '' && (
        <p role="status" className="py-6 text-muted wrap-anywhere">
          Nothing in the {what} contains “{q}”.
        </p>
      )}
      {entries && entries.length > 0 && (
        <div ref={box}>
          <Rows>
            {entries.map((entry) => (
              <li key={entry.id} tabIndex={-1} className="flex flex-wrap items-center gap-x-4 gap-y-1 px-4 py-3 sm:px-5">
                {row(entry)}
              </li>
            ))}
          </Rows>
        </div>
      )}
      {error && (
        <div className="mt-4">
          <Failed {...pages} fallback={`The ${what} could not be loaded.`} />
        </div>
      )}
      {hasNextPage && !error && (
        <div className="mt-4 flex justify-center">
          <Button variant="secondary" busy={isFetchingNextPage} onClick={showMore}>
            Show more
          </Button>
        </div>
      )}
    </section>
  );
}

/** An id with a copy button. */
function Id({ id, of }: { id: string; of: string }) {
  return (
    <div className="-mr-3 flex min-w-0 items-center">
      <span className="truncate font-mono text-[0.8125rem] text-muted">{id}</span>
      <CopyButton text={id} what={`the id of ${of}`} notice="Id copied" />
    </div>
  );
}
