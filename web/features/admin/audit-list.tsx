import { momentOf } from '../../lib/dates.ts';
import { Entries } from './entries.tsx';
import { useAdminAuditLog } from './queries.ts';

export function AuditList() {
  return (
    <Entries
      title="Audit trail"
      what="audit trail"
      pages={useAdminAuditLog()}
      empty={{ title: 'Nothing happened yet', text: 'Every sign-in and every change stands here, and nothing can be taken away.' }}
      row={({ action, email, domain, createdAt }) => (
        <>
          <div className="min-w-0 grow basis-64">
            <h3 className="font-medium first-letter:uppercase">{action.replaceAll('_', ' ')}</h3>
            {(email || domain) && (
              <p className="mt-0.5 text-sm text-muted [overflow-wrap:anywhere]">{[email, domain].filter(Boolean).join(' · ')}</p>
            )}
          </div>
          <time dateTime={createdAt} className="text-sm text-muted tabular-nums">
            {momentOf(createdAt)}
          </time>
        </>
      )}
    />
  );
}
