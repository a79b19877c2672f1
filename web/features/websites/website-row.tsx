import { Link } from 'wouter';
import { dayOf } from '../../lib/dates.ts';
import { livePath, websitePath } from '../../paths.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { cx } from '../../ui/cx.ts';
import { CheckIcon } from '../../ui/icons.tsx';
import { SiteIcon } from '../../ui/site-icon.tsx';
import { Skeleton } from '../../ui/states.tsx';
import type { Website, WebsiteStats } from './queries.ts';

export function WebsiteRow({
  website,
  stats,
  statsFailed,
  onTry,
  onOpenId,
  onProve,
  onEdit,
  onDelete,
}: {
  website: Website;
  /** Undefined: not loaded yet. */
  stats: WebsiteStats | undefined;
  statsFailed: boolean;
  onTry: () => void;
  onOpenId: () => void;
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
              <h3 className="font-medium wrap-anywhere">
                <Link href={websitePath(domain)} className="hover:underline hover:underline-offset-4">
                  {displayDomain}
                </Link>
              </h3>
              {displayDomain !== domain && <span className="font-mono text-[0.8125rem] text-muted wrap-anywhere">{domain}</span>}
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
          <ButtonLink
            as={Link}
            href={livePath(domain)}
            variant="quiet"
            small
            aria-label={`Live sign-ins of ${displayDomain}`}
            className="max-sm:px-2"
          >
            Live
          </ButtonLink>
          <Action name="OpenID Connect" of={displayDomain} onClick={onOpenId} />
          {!verified && <Action name="Verify" of={displayDomain} onClick={onProve} />}
          <Action name="Edit" of={displayDomain} onClick={onEdit} />
          <Action name="Delete" of={displayDomain} onClick={onDelete} className="hover:text-danger" />
        </div>
      </div>
      <div className="mt-3 sm:pl-13">
        <SignInStats stats={stats} failed={statsFailed} />
      </div>
    </li>
  );
}

function Action({ name, of, className, onClick }: { name: string; of: string; className?: string; onClick: () => void }) {
  return (
    <Button variant="quiet" small aria-label={`${name} ${of}`} onClick={onClick} className={cx('max-sm:px-2', className)}>
      {name}
    </Button>
  );
}

/** The sign-ins of the last 30 days in one line. @param stats undefined: not loaded yet @param failed they could not be loaded */
function SignInStats({ stats, failed }: { stats: WebsiteStats | undefined; failed: boolean }) {
  if (!stats) {
    if (failed) return <p className="text-[0.8125rem] leading-5 text-muted">The sign-in statistics could not be loaded.</p>;
    return (
      <p role="status" aria-label="Loading statistics" className="flex h-5 items-center">
        <Skeleton className="h-3 w-64 max-w-full" />
      </p>
    );
  }
  const { sent, opened, completed, again, medianSeconds } = stats;
  if (sent + opened + completed + again === 0)
    return <p className="text-[0.8125rem] leading-5 text-muted">No sign-ins yet. They are counted here from the first email on.</p>;
  return (
    <dl aria-label="Sign-ins of the last 30 days" className="flex flex-wrap gap-x-4 gap-y-0.5 text-[0.8125rem] leading-5">
      <Count label="Sent" value={sent.toLocaleString('en')} />
      <Count label="Opened" value={opened.toLocaleString('en')} />
      <Count label="Completed" value={completed.toLocaleString('en')} />
      <Count label="Remembered" value={again.toLocaleString('en')} />
      {medianSeconds !== null && <Count label="Median time" value={durationOf(medianSeconds)} />}
      <div className="text-muted">
        <dt className="sr-only">Period</dt>
        <dd>last 30 days</dd>
      </div>
    </dl>
  );
}

const Count = ({ label, value }: { label: string; value: string }) => (
  <div className="flex gap-1.5 whitespace-nowrap">
    <dt className="text-muted">{label}</dt>
    <dd className="font-medium tabular-nums">{value}</dd>
  </div>
);

/** Returns a duration: `14 s`, `2 min 5 s`. */
function durationOf(seconds: number): string {
  const [minutes, rest] = [Math.floor(seconds / 60), seconds % 60];
  if (minutes === 0) return `${rest} s`;
  return rest === 0 ? `${minutes} min` : `${minutes} min ${rest} s`;
}
