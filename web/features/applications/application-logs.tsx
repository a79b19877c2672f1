import { timeAgo } from '../../lib/dates.ts';
import { authorizeSnippet } from '../../lib/snippets.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { RowsLoading } from '../../ui/panels.tsx';
import { Failed } from '../../ui/states.tsx';
import { type Application, type LogEntry, useApplicationLogs } from './queries.ts';
import { Snippet } from './section.tsx';

const actions: Record<string, string> = {
  sign_in_requested: 'Sign-in email requested',
  application_signed_in: 'Signed in',
  signed_in_again: 'Signed in with a remembered account',
  code_exchanged: 'Tokens issued',
  application_signed_out: 'Signed out',
};

/** The sign-ins of an application and its rejected requests, newest first. */
export function ApplicationLogs({ application, onClose }: { application: Application; onClose: () => void }) {
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
          {entries.map((entry) => (
            <Entry key={`${'action' in entry ? 'log' : 'rejected'} ${entry.id}`} entry={entry} />
          ))}
        </ul>
      )}
    </Dialog>
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
