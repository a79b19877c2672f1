import { dayOf } from '../../lib/dates.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { CheckIcon } from '../../ui/icons.tsx';
import { SiteIcon } from '../../ui/site-icon.tsx';
import type { Website } from './queries.ts';

export function WebsiteRow({
  website,
  onTry,
  onProve,
  onEdit,
  onDelete,
}: {
  website: Website;
  onTry: () => void;
  onProve: () => void;
  onEdit: () => void;
  onDelete: () => void;
}) {
  const { domain, displayDomain, verified, iconUrl, createdAt } = website;
  return (
    <li className="grid gap-y-3 p-4 sm:px-5">
      <div className="flex min-w-0 items-start gap-4 sm:items-center">
        <SiteIcon name={displayDomain} iconUrl={iconUrl} />
        <div className="min-w-0 grow">
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
      </div>
      {/* The site's figures stand here. */}
      <div className="-mx-3 -mb-2 flex flex-wrap sm:-mb-1 sm:ml-10">
        <Button look="quiet" small onClick={onTry} aria-label={`Test sign-in of ${displayDomain}`}>
          Test sign-in
        </Button>
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
