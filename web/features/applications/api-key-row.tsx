import { timeAgo } from '../../lib/dates.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import type { ApiKey } from './queries.ts';

const moment = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' });

export function ApiKeyRow({
  apiKey,
  onRotate,
  onUsage,
  onRevoke,
}: {
  apiKey: ApiKey;
  onRotate: () => void;
  onUsage: () => void;
  onRevoke: () => void;
}) {
  const { name, environment, isActive, keyId, lastUsed, expiresAt } = apiKey;
  return (
    <li className="flex flex-wrap items-start gap-x-6 gap-y-2 p-4 sm:px-5">
      <div className="min-w-0 grow basis-72">
        <div className="flex flex-wrap items-center gap-x-2 gap-y-1">
          <h3 className="mr-1 font-medium [overflow-wrap:anywhere]">{name}</h3>
          <Badge>{environment}</Badge>
          <Badge tone={isActive ? 'live' : 'plain'}>{isActive ? 'Active' : 'Inactive'}</Badge>
        </div>
        <div className="flex items-center gap-1 text-sm">
          <span className="shrink-0 text-muted">Key ID</span>
          <code className="min-w-0 pl-1 font-mono text-[0.8125rem] [overflow-wrap:anywhere]">{keyId}</code>
          <CopyButton text={keyId} what={`key ID of ${name}`} notice="Key ID copied" />
        </div>
        <p className="text-sm text-muted">
          Last used {lastUsed ? <time dateTime={lastUsed}>{timeAgo(Date.parse(lastUsed), 'en')}</time> : 'Never'}
          {isActive && expiresAt && (
            <>
              {' · '}
              <time dateTime={expiresAt}>Ends {moment.format(Date.parse(expiresAt))}</time>
            </>
          )}
        </p>
      </div>
      <div className="-mx-2 flex flex-wrap sm:-mt-2.5">
        {isActive && !expiresAt && (
          <Button look="quiet" small onClick={onRotate} aria-label={`Rotate ${name} ${keyId}`}>
            Rotate
          </Button>
        )}
        <Button look="quiet" small onClick={onUsage} aria-label={`Usage Stats of ${name} ${keyId}`}>
          Usage Stats
        </Button>
        {isActive && (
          <Button look="quiet" small className="hover:text-danger" onClick={onRevoke} aria-label={`Revoke ${name} ${keyId}`}>
            Revoke
          </Button>
        )}
      </div>
    </li>
  );
}
