import { dayOf } from '../../lib/dates.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { CheckIcon } from '../../ui/icons.tsx';
import { Initial } from '../../ui/initial.tsx';
import type { Website } from './queries.ts';

export function WebsiteRow({
  website,
  onEdit,
  onDelete,
  onProve,
}: {
  website: Website;
  onEdit: () => void;
  onDelete: () => void;
  onProve: () => void;
}) {
  const { domain, displayDomain, verified, createdAt } = website;
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-2 p-4 sm:px-5">
      <Initial text={displayDomain} />
      <div className="min-w-0 grow basis-52">
        <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <h3 className="font-medium [overflow-wrap:anywhere]">{displayDomain}</h3>
          {displayDomain !== domain && <span className="font-mono text-[0.8125rem] text-muted [overflow-wrap:anywhere]">{domain}</span>}
          <Badge tone="live">Active</Badge>
          {verified && (
            <Badge>
              <CheckIcon className="size-3" />
              Verified
            </Badge>
          )}
        </div>
        <p className="mt-0.5 text-sm text-muted">Email authentication enabled · Added {dayOf(createdAt)}</p>
      </div>
      <div className="-mx-2 flex flex-wrap">
        {!verified && (
          <Button look="quiet" small onClick={onProve} aria-label={`Verify ${displayDomain}`}>
            Verify
          </Button>
        )}
        <Button look="quiet" small onClick={onEdit} aria-label={`Edit ${displayDomain}`}>
          Edit
        </Button>
        <Button look="quiet" small className="hover:text-danger" onClick={onDelete} aria-label={`Delete ${displayDomain}`}>
          Delete
        </Button>
      </div>
    </li>
  );
}
