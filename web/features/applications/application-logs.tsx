import { timeAgo } from '../../lib/dates.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Failed } from '../../ui/failed.tsx';
import { RowsLoading } from '../../ui/rows.tsx';
import { type Application, useApplicationLogs } from './queries.ts';
import { Snippet } from './snippet.tsx';
import { authorizeSnippet } from './snippets.ts';

const words: Record<string, string> = {
  sign_in_requested: 'Sign-in mail requested',
  application_signed_in: 'Signed in',
  application_signed_out: 'Signed out',
};

/** What happened at an application, newest first. */
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
            Nobody has signed in through this application yet. This call asks for the first mail:
          </p>
          <Snippet label="authorize" code={authorizeSnippet(location.origin, application.clientId, application.redirectUris[0])} />
        </div>
      )}
      {entries && entries.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must take the focus (WCAG 2.1.1)
        <ul aria-label="Newest first" tabIndex={0} className="-mx-1 max-h-[60vh] divide-y divide-line overflow-y-auto px-1">
          {entries.map(({ id, action, email, createdAt }) => (
            <li key={id} className="flex flex-wrap items-baseline justify-between gap-x-4 gap-y-0.5 py-2.5">
              <span className="text-sm font-medium">{words[action] ?? action.replaceAll('_', ' ')}</span>
              <time dateTime={createdAt} title={new Date(createdAt).toLocaleString('en-GB')} className="text-[0.8125rem] text-muted">
                {timeAgo(Date.parse(createdAt), 'en')}
              </time>
              {email && <span className="basis-full text-[0.8125rem] text-muted [overflow-wrap:anywhere]">{email}</span>}
            </li>
          ))}
        </ul>
      )}
    </Dialog>
  );
}
