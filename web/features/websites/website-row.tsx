import { dayOf } from '../../lib/dates.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { cx } from '../../ui/cx.ts';
import { CheckIcon } from '../../ui/icons.tsx';
import { SiteIcon } from '../../ui/site-icon.tsx';
import type { Website } from './queries.ts';
import type { Figures } from './stats.ts';
import { WebsiteStats } from './website-stats.tsx';

export function WebsiteRow({
  website,
  figures,
  statsFailed,
  onTry,
  onProve,
  onEdit,
  onDelete,
}: {
  website: Website;
  /** Undefined: not loaded yet. */
  figures: Figures | undefined;
  statsFailed: boolean;
  onTry: () => void;
  onProve: () => void;
  onEdit: () => void;
  onDelete: () => void;
}) {
  const { domain, displayDomain, verified, iconUrl, createdAt } = website;
  return (
    <li className="p-4 sm:px-5">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <div className="flex min-w-0 grow basis-80 items-start gap-4 sm:items-center">
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
        <div className="-mx-3 flex flex-wrap max-sm:-mx-2">
          <Action name="Test sign-in" of={displayDomain} onClick={onTry} />
          {!verified && <Action name="Verify" of={displayDomain} onClick={onProve} />}
          <Action name="Edit" of={displayDomain} onClick={onEdit} />
          <Action name="Delete" of={displayDomain} onClick={onDelete} className="hover:text-danger" />
        </div>
      </div>
      <div className="mt-3 sm:pl-13">
        <WebsiteStats figures={figures} failed={statsFailed} />
      </div>
    </li>
  );
}

function Action({ name, of, className, onClick }: { name: string; of: string; className?: string; onClick: () => void }) {
  return (
    <Button look="quiet" small aria-label={`${name} ${of}`} onClick={onClick} className={cx('max-sm:px-2', className)}>
      {name}
    </Button>
  );
}
