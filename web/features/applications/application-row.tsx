import { dayOf } from '../../lib/dates.ts';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { StatusDot } from '../../ui/status-dot.tsx';
import type { Application } from './queries.ts';

export function ApplicationRow({
  application,
  onConfigure,
  onLogs,
  onDelete,
}: {
  application: Application;
  onConfigure: () => void;
  onLogs: () => void;
  onDelete: () => void;
}) {
  const { name, clientId, redirectUris, isActive, createdAt } = application;
  return (
    <li className="flex flex-wrap items-start gap-x-6 gap-y-2 p-4 sm:px-5">
      <div className="min-w-0 grow basis-72">
        <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <h3 className="font-medium [overflow-wrap:anywhere]">{name}</h3>
          <StatusDot tone={isActive ? 'live' : 'off'}>{isActive ? 'Active' : 'Inactive'}</StatusDot>
        </div>
        <div className="flex items-center gap-1 text-sm">
          <span className="shrink-0 text-muted">Client ID</span>
          <code className="min-w-0 pl-1 font-mono text-[0.8125rem] [overflow-wrap:anywhere]">{clientId}</code>
          <CopyButton text={clientId} what={`client ID of ${name}`} notice="Client ID copied" />
        </div>
        <ul aria-label={`Redirect URIs of ${name}`} className="grid gap-0.5">
          {redirectUris.map((uri) => (
            <li key={uri} className="font-mono text-[0.8125rem] leading-5 text-muted [overflow-wrap:anywhere]">
              {uri}
            </li>
          ))}
        </ul>
        <p className="mt-2 text-sm text-muted">Created {dayOf(createdAt)}</p>
      </div>
      <div className="-mx-2 flex flex-wrap sm:-mt-2.5">
        <Button look="quiet" small onClick={onConfigure} aria-label={`Configure ${name}`}>
          Configure
        </Button>
        <Button look="quiet" small onClick={onLogs} aria-label={`View Logs of ${name}`}>
          View Logs
        </Button>
        <Button look="quiet" small className="hover:text-danger" onClick={onDelete} aria-label={`Delete ${name}`}>
          Delete
        </Button>
      </div>
    </li>
  );
}
