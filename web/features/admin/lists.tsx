import { errorText } from '../../lib/api.ts';
import { dateTimeOf, dayOf, timeAgo, timeUntil } from '../../lib/dates.ts';
import { Badge, StatusDot } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { toast, toastFailure } from '../../ui/toast.tsx';
import { Entries, Id, useSearch } from './entries.tsx';
import { useAdminAuditLog, useAdminMails, useAdminUsers, useAdminWebsites, useRetryMail } from './queries.ts';

export function WebsiteList() {
  const search = useSearch();
  return (
    <Entries
      title="Websites"
      what="websites"
      search={search}
      pages={useAdminWebsites(search.q)}
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

export function UserList() {
  const search = useSearch();
  return (
    <Entries
      title="Users"
      what="users"
      search={search}
      pages={useAdminUsers(search.q)}
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

export function MailList() {
  const search = useSearch();
  const mails = useAdminMails(search.q);
  const retry = useRetryMail();
  const send = (id: string, recipient: string) =>
    retry.mutate(id, {
      onSuccess: () => {
        toast('Retry requested', `The email to ${recipient} is sent now, or within 30 seconds when it is already being sent.`);
        setTimeout(() => void mails.refetch(), REFETCH_DELAY_MS);
      },
      onError: (error) => {
        toastFailure('Retry failed', errorText(error, 'The email could not be retried.'));
        void mails.refetch();
      },
    });

  return (
    <Entries
      title="Mail queue"
      what="pending emails"
      search={search}
      pages={mails}
      empty={{ title: 'No pending emails', text: 'An email is listed here from its request until the mail server has accepted it.' }}
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
            busy={retry.isPending && retry.variables === id}
            onClick={() => send(id, recipient)}
          >
            Retry
          </Button>
        </>
      )}
    />
  );
}

export function AuditList() {
  const search = useSearch();
  return (
    <Entries
      title="Audit trail"
      what="audit trail"
      search={search}
      pages={useAdminAuditLog(search.q)}
      empty={{ title: 'Nothing happened yet', text: 'Every sign-in and every change is listed here, and nothing can be deleted.' }}
      row={({ action, email, domain, createdAt }) => (
        <>
          <div className="min-w-0 grow basis-64">
            <h3 className="font-medium first-letter:uppercase">{action.replaceAll('_', ' ')}</h3>
            {(email || domain) && <p className="mt-0.5 text-sm text-muted wrap-anywhere">{[email, domain].filter(Boolean).join(' · ')}</p>}
          </div>
          <time dateTime={createdAt} className="text-sm text-muted tabular-nums">
            {dateTimeOf(createdAt)}
          </time>
        </>
      )}
    />
  );
}
