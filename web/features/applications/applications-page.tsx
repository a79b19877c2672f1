import { useState } from 'react';
import { dayOf, timeAgo } from '../../lib/dates.ts';
import { authorizeSnippet } from '../../lib/snippets.ts';
import { StatusDot } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { ConfirmDialog, Dialog } from '../../ui/dialog.tsx';
import { PageHeading } from '../../ui/page-heading.tsx';
import { Rows, RowsLoading } from '../../ui/panels.tsx';
import { Empty, Failed } from '../../ui/states.tsx';
import { toast } from '../../ui/toast.tsx';
import { ApiKeys } from './api-keys.tsx';
import { ApplicationDialog } from './application-dialog.tsx';
import { type Application, useApplicationLogs, useApplications, useDeleteApplication } from './queries.ts';
import { Section, Snippet } from './section.tsx';

/** /dashboard/auth: the applications and API keys of the account. */
export function ApplicationsPage() {
  return (
    <>
      <PageHeading title="Authentication" />
      <p className="mt-1.5 text-muted">
        Applications sign people in by OAuth 2.0 with PKCE. API keys let your own programs call the service.
      </p>
      <Applications />
      <ApiKeys />
    </>
  );
}

type Open = { dialog: 'save'; application: Application | null } | { dialog: 'logs' | 'delete'; application: Application };

/** The OAuth clients of the account. */
function Applications() {
  const query = useApplications();
  const [open, setOpen] = useState<Open | null>(null);
  const close = () => setOpen(null);
  const applications = query.data;

  return (
    <Section title="Applications" add="New Application" onAdd={() => setOpen({ dialog: 'save', application: null })}>
      {query.error && <Failed {...query} fallback="Your applications could not be loaded." />}
      {!applications && !query.error && <RowsLoading what="your applications" />}
      {applications && applications.length > 0 && (
        <Rows>
          {applications.map((application) => (
            <ApplicationRow
              key={application.id}
              application={application}
              onConfigure={() => setOpen({ dialog: 'save', application })}
              onLogs={() => setOpen({ dialog: 'logs', application })}
              onDelete={() => setOpen({ dialog: 'delete', application })}
            />
          ))}
        </Rows>
      )}
      {applications?.length === 0 && (
        <Empty
          title="No applications created yet"
          text="An application has a client ID. With it, your server starts a sign-in by one request. The emailed link leads to your redirect URI with a code."
        >
          <Snippet label="authorize" code={authorizeSnippet(location.origin, 'YOUR_CLIENT_ID', 'https://app.example.com/callback')} />
        </Empty>
      )}
      {open?.dialog === 'save' && <ApplicationDialog application={open.application} onClose={close} />}
      {open?.dialog === 'logs' && <ApplicationLogs application={open.application} onClose={close} />}
      {open?.dialog === 'delete' && <DeleteApplication application={open.application} onClose={close} />}
    </Section>
  );
}

function ApplicationRow({
  application,
  onConfigure,
  onLogs,
  onDelete,
}: {
  application: Application;
  onConfigure: () => void;
  onLogs: () => void;
  onDelete: () => void;
}) {
  const { name, clientId, redirectUris, isActive, createdAt } = application;
  return (
    <li className="flex flex-wrap items-start gap-x-6 gap-y-2 p-4 sm:px-5">
      <div className="min-w-0 grow basis-72">
        <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <h3 className="font-medium wrap-anywhere">{name}</h3>
          <StatusDot tone={isActive ? 'live' : 'off'}>{isActive ? 'Active' : 'Inactive'}</StatusDot>
        </div>
        <div className="flex items-center gap-1 text-sm">
          <span className="shrink-0 text-muted">Client ID</span>
          <code className="min-w-0 pl-1 font-mono text-[0.8125rem] wrap-anywhere">{clientId}</code>
          <CopyButton text={clientId} what={`client ID of ${name}`} notice="Client ID copied" />
        </div>
        <ul aria-label={`Redirect URIs of ${name}`} className="grid gap-0.5">
          {redirectUris.map((uri) => (
            <li key={uri} className="font-mono text-[0.8125rem] leading-5 text-muted wrap-anywhere">
              {uri}
            </li>
          ))}
        </ul>
        <p className="mt-2 text-sm text-muted">Created {dayOf(createdAt)}</p>
      </div>
      <div className="-mx-2 flex flex-wrap sm:-mt-2.5">
        <Button variant="quiet" small onClick={onConfigure} aria-label={`Configure ${name}`}>
          Configure
        </Button>
        <Button variant="quiet" small onClick={onLogs} aria-label={`View Logs of ${name}`}>
          View Logs
        </Button>
        <Button variant="quiet" small className="hover:text-danger" onClick={onDelete} aria-label={`Delete ${name}`}>
          Delete
        </Button>
      </div>
    </li>
  );
}

const actions: Record<string, string> = {
  sign_in_requested: 'Sign-in email requested',
  application_signed_in: 'Signed in',
  application_signed_out: 'Signed out',
};

/** The log of an application, newest first. */
function ApplicationLogs({ application, onClose }: { application: Application; onClose: () => void }) {
  const query = useApplicationLogs(application.id);
  const entries = query.data;
  return (
    <Dialog title={`Logs of ${application.name}`} onClose={onClose}>
      {query.error && <Failed {...query} fallback="The logs could not be loaded." />}
      {!entries && !query.error && <RowsLoading what="the logs" />}
      {entries?.length === 0 && (
        <div className="grid gap-4">
          <p className="text-[0.9375rem] text-muted">
            Nobody has signed in through this application yet. This request sends the first email:
          </p>
          <Snippet label="authorize" code={authorizeSnippet(location.origin, application.clientId, application.redirectUris[0])} />
        </div>
      )}
      {entries && entries.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be focusable (WCAG 2.1.1)
        <ul aria-label="Newest first" tabIndex={0} className="-mx-1 max-h-[60vh] divide-y divide-line overflow-y-auto px-1">
          {entries.map(({ id, action, email, createdAt }) => (
            <li key={id} className="flex flex-wrap items-baseline justify-between gap-x-4 gap-y-0.5 py-2.5">
              <span className="text-sm font-medium">{actions[action] ?? action.replaceAll('_', ' ')}</span>
              <time dateTime={createdAt} title={new Date(createdAt).toLocaleString('en-GB')} className="text-[0.8125rem] text-muted">
                {timeAgo(Date.parse(createdAt), 'en')}
              </time>
              {email && <span className="basis-full text-[0.8125rem] text-muted wrap-anywhere">{email}</span>}
            </li>
          ))}
        </ul>
      )}
    </Dialog>
  );
}

function DeleteApplication({ application, onClose }: { application: Application; onClose: () => void }) {
  const remove = useDeleteApplication();
  const confirm = () =>
    remove.mutate(application.id, {
      onSuccess: () => {
        onClose();
        toast('Application deleted', application.name);
      },
    });
  return (
    <ConfirmDialog
      title={`Delete ${application.name}`}
      action="Delete"
      failure="The application could not be deleted."
      busy={remove.isPending}
      error={remove.error}
      onConfirm={confirm}
      onClose={onClose}
    >
      Its client ID stops working: nobody can sign in through it any more, its access tokens and open sign-ins end at once, and its logs are
      deleted. This cannot be undone.
    </ConfirmDialog>
  );
}
