import { dayOf } from '../../lib/dates.ts';
import { Badge, StatusDot } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import type { Application } from './queries.ts';

type Action = 'setup' | 'save' | 'logs' | 'secret' | 'delete';

const TYPES: Record<Application['authentication'], string> = {
  none: 'Public',
  secret: 'Confidential, with a secret',
  private_key_jwt: 'Confidential, with a key pair',
};

/** An application with the buttons of its dialogs. */
export function ApplicationRow({ application, onOpen }: { application: Application; onOpen: (dialog: Action) => void }) {
  const { name, clientId, redirectUris, isActive, createdAt, authentication, scopes, formerSecretUntil } = application;
  const action = (dialog: Action, label: string, spoken: string, className?: string) => (
    <Button variant="quiet" small className={className} onClick={() => onOpen(dialog)} aria-label={`${spoken} ${name}`}>
      {label}
    </Button>
  );
  return (
    <li id={application.id} tabIndex={-1} className="flex scroll-mt-4 flex-wrap items-start gap-x-6 gap-y-2 p-4 sm:px-5">
      <div className="min-w-0 grow basis-72">
        <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <h3 className="font-medium wrap-anywhere">{name}</h3>
          <StatusDot tone={isActive ? 'live' : 'off'}>{isActive ? 'Active' : 'Inactive'}</StatusDot>
          <Badge>{TYPES[authentication]}</Badge>
        </div>
        <div className="flex items-center gap-1 text-sm">
          <span className="shrink-0 text-muted">Client ID</span>
          <code className="min-w-0 pl-1 font-mono text-[0.8125rem] wrap-anywhere">{clientId}</code>
          <CopyButton text={clientId} what={`client ID of ${name}`} notice="Client ID copied" />
        </div>
        <ul aria-label={`Redirect URIs of ${name}`} className="grid gap-0.5">
          {redirectUris.map((uri) => (
            <li key={uri} className="font-mono text-[0.8125rem] leading-5 text-muted wrap-anywhere">
              {uri}
            </li>
          ))}
        </ul>
        <p className="mt-2 text-sm text-muted wrap-anywhere">
          Created {dayOf(createdAt)} · {scopes.join(', ')}
          {formerSecretUntil && ` · Former secret ends ${dayOf(formerSecretUntil)}`}
        </p>
      </div>
      <div className="-mx-2 flex flex-wrap sm:-mt-2.5">
        {action('setup', 'Set up', 'Set up')}
        {action('save', 'Configure', 'Configure')}
        {action('logs', 'View Logs', 'View Logs of')}
        {authentication === 'secret' && action('secret', 'Rotate Secret', 'Rotate Secret of')}
        {action('delete', 'Delete', 'Delete', 'hover:text-danger')}
      </div>
    </li>
  );
}
