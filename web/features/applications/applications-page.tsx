import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Output } from '../../../contract/calls.ts';
import { METHODS, OTHER_METHODS } from '../../../contract/methods.ts';
import { CLI_CLIENT_ID, createPkce } from '../../../contract/pkce.ts';
import { useAct, useCall } from '../../lib/calls.ts';
import { dayOf, timeAgo } from '../../lib/dates.ts';
import { useUser } from '../../lib/session.ts';
import { authorizationUrl, authorizeSnippet, exchangeSnippet } from '../../lib/snippets.ts';
import { Button } from '../../ui/button.tsx';
import { CopyButton, OpenIdValues, Snippet } from '../../ui/copyable.tsx';
import { ConfirmDialog, Dialog } from '../../ui/dialog.tsx';
import { PageHeading } from '../../ui/page-heading.tsx';
import { Rows, RowsLoading, Section, useFragment } from '../../ui/panels.tsx';
import { Badge, Empty, Failed, StatusDot } from '../../ui/states.tsx';
import { ApiKeys } from './api-keys.tsx';
import { ApplicationDialog } from './application-dialog.tsx';
import { RotateSecret } from './secret-dialogs.tsx';

type Application = Output<'listClients'>[number];
type LogEntry = Output<'clientLogs'>[number] | Output<'clientRefusals'>[number];

/** /dashboard/auth: the applications and API keys of the account. */
export function ApplicationsPage() {
  return (
    <>
      <PageHeading title="Applications" />
      <p className="mt-1.5 text-muted">
        Applications sign people in by OpenID Connect and OAuth 2.0. API keys let your own programs call the service.
      </p>
      <Applications />
      <ApiKeys />
    </>
  );
}

const dialogs = { setup: SetupDialog, save: ApplicationDialog, logs: ApplicationLogs, secret: RotateSecret, delete: DeleteApplication };

type Open = { dialog: 'save'; application: null } | { dialog: keyof typeof dialogs; application: Application };

/** The OAuth clients of the account. */
function Applications() {
  const query = useCall('listClients');
  const [open, setOpen] = useState<Open | null>(null);
  const close = () => setOpen(null);
  const applications = query.data;
  useFragment(applications !== undefined);
  // The list is loaded again after a change, and a dialog shows its newest state.
  const shown = open?.application && (applications?.find(({ id }) => id === open.application?.id) ?? open.application);
  const ApplicationAction = open?.application && dialogs[open.dialog];

  return (
    <Section title="Applications" add="New Application" onAdd={() => setOpen({ dialog: 'save', application: null })}>
      {query.error && <Failed {...query} fallback="Your applications could not be loaded." />}
      {!applications && !query.error && <RowsLoading what="your applications" />}
      {applications && applications.length > 0 && (
        <Rows>
          {applications.map((application) => (
            <ApplicationRow key={application.id} application={application} onOpen={(dialog) => setOpen({ dialog, application })} />
          ))}
        </Rows>
      )}
      {applications?.length === 0 && (
        <Empty
          title="No applications created yet"
          text="An application has a client ID. Any OpenID Connect client signs people in with it. Or your server starts a sign-in by one request, and the emailed link leads to your redirect URI with a code."
        >
          <p className="max-w-xl text-sm leading-6 text-muted">
            Try it with the client of the command line: this request emails you a link, whose page leads to an address with a code.
          </p>
          <FirstRequests client={COMMAND_LINE} />
        </Empty>
      )}
      {open?.dialog === 'save' && open.application === null && <ApplicationDialog application={null} onClose={close} />}
      {ApplicationAction && shown && <ApplicationAction application={shown} onClose={close} />}
    </Section>
  );
}

type Client = Pick<Application, 'clientId' | 'authentication' | 'redirectUris'>;

/** A public client that every account can use. No program listens at the address. */
const COMMAND_LINE: Client = { clientId: CLI_CLIENT_ID, authentication: 'none', redirectUris: ['http://127.0.0.1:8000/callback'] };

type Action = 'setup' | 'save' | 'logs' | 'secret' | 'delete';

const TYPES: Record<Application['authentication'], string> = {
  none: 'Public',
  secret: 'Confidential, with a secret',
  private_key_jwt: 'Confidential, with a key pair',
};

/** An application with the buttons of its dialogs. */
function ApplicationRow({ application, onOpen }: { application: Application; onOpen: (dialog: Action) => void }) {
  const { name, clientId, redirectUris, isActive, createdAt, authentication, scopes, formerSecretUntil } = application;
  const action = (dialog: Action, label: string, spoken: string, className?: string) => (
    <Button variant="quiet" small className={className} onClick={() => onOpen(dialog)} aria-label={`${spoken} ${name}`}>
      {label}
    </Button>
  );
  return (
    <li id={application.id} tabIndex={-1} className="flex scroll-mt-4 flex-wrap items-start gap-x-6 gap-y-2 p-4 sm:px-5">
      <div className="min-w-0 grow basis-72">
        <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <h3 className="font-medium wrap-anywhere">{name}</h3>
          <StatusDot tone={isActive ? 'live' : 'off'}>{isActive ? 'Active' : 'Inactive'}</StatusDot>
          <Badge>{TYPES[authentication]}</Badge>
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
        <p className="mt-2 text-sm text-muted wrap-anywhere">
          Created {dayOf(createdAt)} · {scopes.join(', ')}
          {formerSecretUntil && ` · Former secret ends ${dayOf(formerSecretUntil)}`}
        </p>
      </div>
      <div className="-mx-2 flex flex-wrap sm:-mt-2.5">
        {action('setup', 'Set up', 'Set up')}
        {action('save', 'Configure', 'Configure')}
        {action('logs', 'View Logs', 'View Logs of')}
        {authentication === 'secret' && action('secret', 'Rotate Secret', 'Rotate Secret of')}
        {action('delete', 'Delete', 'Delete', 'hover:text-danger')}
      </div>
    </li>
  );
}

const actions: Record<string, string> = {
  sign_in_requested: 'Sign-in email requested',
  application_signed_in: 'Signed in',
  ...Object.fromEntries(OTHER_METHODS.map((method) => [METHODS[method].action, METHODS[method].logged])),
  code_exchanged: 'Tokens issued',
  application_signed_out: 'Signed out',
};

/** The sign-ins of an application and its rejected requests, newest first. */
function ApplicationLogs({ application, onClose }: { application: Application; onClose: () => void }) {
  const { id } = application;
  const log = useCall('clientLogs', { id }, { staleTime: 0 });
  const refusals = useCall('clientRefusals', { id }, { staleTime: 0 });
  const failed = [log, refusals].find(({ error }) => error);
  const entries: LogEntry[] | undefined =
    log.data && refusals.data && [...log.data, ...refusals.data].sort((a, b) => Date.parse(b.createdAt) - Date.parse(a.createdAt));
  return (
    <Dialog title={`Logs of ${application.name}`} onClose={onClose}>
      {failed && <Failed {...failed} fallback="The logs could not be loaded." />}
      {!entries && !failed && <RowsLoading what="the logs" />}
      {entries?.length === 0 && <FirstSignIn application={application} />}
      {entries && entries.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be focusable (WCAG 2.1.1)
        <ul aria-label="Newest first" tabIndex={0} className="-mx-1 max-h-[60vh] divide-y divide-line overflow-y-auto px-1">
          {entries.map((entry) => (
            <Entry key={`${'action' in entry ? 'log' : 'rejected'} ${entry.id}`} entry={entry} />
          ))}
        </ul>
      )}
    </Dialog>
  );
}

/** What to do with an application that no one has used yet. */
function FirstSignIn({ application }: { application: Application }) {
  return (
    <div className="grid gap-4">
      <p className="text-[0.9375rem] text-muted">
        No one has signed in through this application yet.{' '}
        {application.authentication === 'none' ? 'This request emails you a link' : 'This address begins a sign-in'}, which leads to your
        redirect URI with a code:
      </p>
      <FirstRequests client={application} />
    </div>
  );
}

/** A sign-in of the developer through a client, ready to run: its verifier was made in this browser. */
function FirstRequests({ client: { clientId, redirectUris, authentication } }: { client: Client }) {
  const { data: user } = useUser();
  const { data: pkce } = useQuery({ queryKey: ['pkce', clientId], queryFn: createPkce });
  if (!user || !pkce) return <RowsLoading what="the first request" rows={1} />;
  const authorization = { ...pkce, clientId, redirectUri: redirectUris[0], email: user.email };
  if (authentication !== 'none')
    return (
      <>
        <Snippet label="authorize" code={authorizationUrl(location.origin, authorization)} />
        <p className="text-[0.9375rem] text-muted">Your server exchanges the code with this verifier:</p>
        <Snippet label="code_verifier" code={pkce.codeVerifier} />
      </>
    );
  return (
    <>
      <Snippet label="authorize" code={authorizeSnippet(location.origin, authorization)} />
      <p className="text-[0.9375rem] text-muted">With the code in place of CODE, this request returns the address and a token:</p>
      <Snippet label="token" code={exchangeSnippet(location.origin, authorization)} />
    </>
  );
}

function Entry({ entry }: { entry: LogEntry }) {
  const { createdAt } = entry;
  const isLog = 'action' in entry;
  return (
    <li className="flex flex-wrap items-baseline justify-between gap-x-4 gap-y-0.5 py-2.5">
      <span className="min-w-0 text-sm font-medium wrap-anywhere">
        {isLog ? (
          (actions[entry.action] ?? entry.action.replaceAll('_', ' '))
        ) : (
          <span className="text-danger">Rejected: {entry.error}</span>
        )}
      </span>
      <time dateTime={createdAt} title={new Date(createdAt).toLocaleString('en-GB')} className="text-[0.8125rem] text-muted">
        {timeAgo(Date.parse(createdAt), 'en')}
      </time>
      <span className="basis-full text-[0.8125rem] leading-5 text-muted wrap-anywhere">
        {isLog ? entry.email : `${entry.description} ${entry.remedy}`}
      </span>
    </li>
  );
}

function DeleteApplication({ application, onClose }: { application: Application; onClose: () => void }) {
  const remove = useAct('deleteClient', { refreshes: ['listClients'] });
  return (
    <ConfirmDialog
      title={`Delete ${application.name}`}
      action="Delete"
      failure="The application could not be deleted."
      typed={[application.name]}
      mutation={remove}
      input={{ id: application.id }}
      done={['Application deleted', application.name]}
      onClose={onClose}
    >
      Its client ID stops working: no one can sign in through it any more, its access tokens and open sign-ins end at once, and its logs are
      deleted. This cannot be undone.
    </ConfirmDialog>
  );
}

/** The values that an OpenID Connect client needs. */
function SetupDialog({ application, onClose }: { application: Application; onClose: () => void }) {
  const { name, clientId, authentication } = application;
  return (
    <Dialog title={`Set up ${name}`} onClose={onClose}>
      <div className="grid gap-6">
        <p className="text-[0.9375rem] text-muted">
          Paste these into any OpenID Connect client. It finds the endpoints by the issuer and must use PKCE (S256).
          {authentication === 'secret' && ' The client secret was shown when it was created; rotate it to get a new one.'}
        </p>
        <OpenIdValues clientId={clientId} />
      </div>
    </Dialog>
  );
}
