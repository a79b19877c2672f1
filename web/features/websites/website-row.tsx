import { Link } from 'wouter';
import type { Output } from '../../../contract/routes.ts';
import { dayOf } from '../../lib/dates.ts';
import { livePath, websitePath } from '../../paths.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { CheckIcon } from '../../ui/icons.tsx';
import { Menu } from '../../ui/menu.tsx';
import { SiteIcon } from '../../ui/site-icon.tsx';
import type { Website } from './queries.ts';

type ListedWebsite = Output<'searchWebsites'>['websites'][number];

/** What can be done with a website of the list. */
export type RowActions = Record<'onTry' | 'onOpenId' | 'onProve' | 'onEdit' | 'onDelete', (website: Website) => void>;

type Props = RowActions & {
  website: ListedWebsite;
  /** Undefined: it cannot be selected. */
  selected: boolean | undefined;
  onSelect: (isSelected: boolean) => void;
};

/** A website of the list. Its own page has everything else. */
export function WebsiteRow({ website, selected, onSelect, ...actions }: Props) {
  const { domain, displayDomain, verified, iconUrl, createdAt, stats } = website;
  return (
    <li className="flex gap-x-1 py-3 pr-2 pl-4 sm:pl-5">
      {selected !== undefined && (
        <label className="-my-3 -ml-4 grid w-11 shrink-0 cursor-pointer place-items-center max-sm:items-start max-sm:pt-5.5 sm:-ml-3">
          <span className="sr-only">Select {displayDomain}</span>
          <input type="checkbox" checked={selected} onChange={({ target }) => onSelect(target.checked)} className="size-4 accent-accent" />
        </label>
      )}
      <div className="flex min-w-0 grow flex-wrap items-center gap-x-4 gap-y-1">
        <div className="flex min-w-0 grow basis-72 items-start gap-4 sm:items-center">
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
            <SignIns stats={stats} />
          </div>
        </div>
        <Actions website={website} {...actions} />
      </div>
    </li>
  );
}

function Actions({ website, onTry, onOpenId, onProve, onEdit, onDelete }: RowActions & { website: Website }) {
  const { domain, displayDomain, verified } = website;
  return (
    <div className="-ml-3 flex shrink-0">
      <Button variant="quiet" small aria-label={`Edit ${displayDomain}`} onClick={() => onEdit(website)}>
        Edit
      </Button>
      {website.role === 'owner' && (
        <Button
          variant="quiet"
          small
          aria-label={`Delete ${displayDomain}`}
          onClick={() => onDelete(website)}
          className="hover:text-danger"
        >
          Delete
        </Button>
      )}
      <Menu
        icon={null}
        label={
          <span>
            More<span className="sr-only"> actions for {displayDomain}</span>
          </span>
        }
        items={[
          { label: 'Test sign-in', onSelect: () => onTry(website) },
          { label: 'Live sign-ins', href: livePath(domain), as: Link },
          { label: 'OpenID Connect', onSelect: () => onOpenId(website) },
          ...(verified ? [] : [{ label: 'Verify', onSelect: () => onProve(website) }]),
        ]}
      />
    </div>
  );
}

/** The sign-ins of the last 30 days in one line. */
function SignIns({ stats }: { stats: ListedWebsite['stats'] }) {
  const { sent, opened, completed, again, medianSeconds } = stats;
  if (sent + opened + completed + again === 0) return <p className="text-[0.8125rem] leading-5 text-muted">No sign-ins yet</p>;
  return (
    <dl aria-label="Sign-ins of the last 30 days" className="flex flex-wrap gap-x-3 text-[0.8125rem] leading-5">
      <Count label="Emails sent" value={sent.toLocaleString('en')} />
      <Count label="Opened" value={opened.toLocaleString('en')} />
      <Count label="Remembered" value={again.toLocaleString('en')} />
      <Count label="Tokens verified" value={completed.toLocaleString('en')} />
      {medianSeconds !== null && <Count label="Median" value={durationOf(medianSeconds)} />}
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
