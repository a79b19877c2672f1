import { useState } from 'react';
import { Empty } from '../../ui/empty.tsx';
import { Failed } from '../../ui/failed.tsx';
import { Rows, RowsLoading } from '../../ui/rows.tsx';
import { ApplicationDialog } from './application-dialog.tsx';
import { ApplicationLogs } from './application-logs.tsx';
import { ApplicationRow } from './application-row.tsx';
import { DeleteApplication } from './delete-application.tsx';
import { type Application, useApplications } from './queries.ts';
import { Section } from './section.tsx';
import { Snippet } from './snippet.tsx';
import { authorizeSnippet } from './snippets.ts';

type Open = { dialog: 'save'; application: Application | null } | { dialog: 'logs' | 'delete'; application: Application };

/** The account's OAuth clients. */
export function Applications() {
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
          text="An application gets a client ID. With it your server begins a sign-in by one call; the mailed link leads to your redirect URI with a code."
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
