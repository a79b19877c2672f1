import { useState } from 'react';
import { useFragment } from '../../lib/fragment.ts';
import { authorizeSnippet } from '../../lib/snippets.ts';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { PageHeading } from '../../ui/page-heading.tsx';
import { Rows, RowsLoading } from '../../ui/panels.tsx';
import { Empty, Failed } from '../../ui/states.tsx';
import { toast } from '../../ui/toast.tsx';
import { ApiKeys } from './api-keys.tsx';
import { ApplicationDialog } from './application-dialog.tsx';
import { ApplicationLogs } from './application-logs.tsx';
import { ApplicationRow } from './application-row.tsx';
import { type Application, useApplications, useDeleteApplication } from './queries.ts';
import { RotateSecret } from './secret-dialogs.tsx';
import { Section, Snippet } from './section.tsx';
import { SetupDialog } from './setup-dialog.tsx';

/** /dashboard/auth: the applications and API keys of the account. */
export function ApplicationsPage() {
  return (
    <>
      <PageHeading title="Authentication" />
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
  const query = useApplications();
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
          <Snippet label="authorize" code={authorizeSnippet(location.origin, 'YOUR_CLIENT_ID', 'https://app.example.com/callback')} />
        </Empty>
      )}
      {open?.dialog === 'save' && open.application === null && <ApplicationDialog application={null} onClose={close} />}
      {ApplicationAction && shown && <ApplicationAction application={shown} onClose={close} />}
    </Section>
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
      typed={[application.name]}
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
