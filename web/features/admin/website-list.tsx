import { dayOf } from '../../lib/dates.ts';
import { Badge } from '../../ui/badge.tsx';
import { StatusDot } from '../../ui/status-dot.tsx';
import { Entries, Id } from './entries.tsx';
import { useAdminWebsites } from './queries.ts';

export function WebsiteList() {
  return (
    <Entries
      title="Websites"
      what="websites"
      pages={useAdminWebsites()}
      empty={{ title: 'No websites', text: 'Every registered domain stands here, whoever registered it.' }}
      row={({ id, domain, email, claimed, verified, createdAt }) => (
        <>
          <div className="min-w-0 grow basis-64">
            <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
              <h3 className="font-medium [overflow-wrap:anywhere]">{domain}</h3>
              {claimed || email === null ? <StatusDot tone="live">Active</StatusDot> : <StatusDot tone="off">On probation</StatusDot>}
              {verified && <Badge>Verified</Badge>}
            </div>
            <p className="mt-0.5 text-sm text-muted [overflow-wrap:anywhere]">
              {email ?? 'No owner: it stands for this machine'} · Added {dayOf(createdAt)}
            </p>
          </div>
          <Id id={id} of={domain} />
        </>
      )}
    />
  );
}
