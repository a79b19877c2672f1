import { useState } from 'react';
import type { Output } from '../../../contract/calls.ts';
import { scopeText } from '../../../contract/scopes.ts';
import { useAct, useCall } from '../../lib/calls.ts';
import { dayOf, timeAgo } from '../../lib/dates.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { Rows, RowsLoading } from '../../ui/panels.tsx';
import { Empty, Failed } from '../../ui/states.tsx';

type Connection = Output<'listConnections'>[number];

/** The applications and websites that the account signed in to by OpenID Connect. Each can be revoked. */
export function Connections() {
  // Sign-ins elsewhere add connections.
  const connections = useCall('listConnections', {}, { staleTime: 0 });
  const [revoking, setRevoking] = useState<Connection | null>(null);

  if (connections.error && !connections.data)
    return <Failed {...connections} fallback="Your connected applications could not be loaded." />;
  if (!connections.data) return <RowsLoading what="your connected applications" />;
  return (
    <section aria-label="Your connected applications">
      {connections.data.length === 0 ? (
        <Empty
          title="No connected applications"
          text="An application or website that you sign in to with this address, and allow to know it, is listed here."
        />
      ) : (
        <Rows>
          {connections.data.map((connection) => (
            <ConnectionRow key={connection.id} connection={connection} onRevoke={() => setRevoking(connection)} />
          ))}
        </Rows>
      )}
      {revoking && <RevokeDialog connection={revoking} onClose={() => setRevoking(null)} />}
    </section>
  );
}

function ConnectionRow({ connection, onRevoke }: { connection: Connection; onRevoke: () => void }) {
  const { name, hosts, scopes, createdAt, lastUsed } = connection;
  const places = hosts.length > 0 ? hosts.map(placeText) : ['A program on another device'];
  return (
    <li className="flex flex-wrap items-start gap-x-4 gap-y-1 py-2 pr-2 pl-4 sm:pl-5">
      <div className="min-w-0 grow basis-44 py-1">
        <p className="font-medium wrap-anywhere">{places.join(', ')}</p>
        {places.join() !== name && (
          <p className="text-sm text-muted wrap-anywhere">
            <bdi>{name}</bdi>
          </p>
        )}
        <ul aria-label={`What ${name} may do`} className="mt-1.5 grid gap-0.5 text-sm">
          {scopes.map((scope) => (
            <li key={scope}>{scopeText(scope)}</li>
          ))}
        </ul>
        <p className="mt-1.5 text-sm text-muted">
          Connected {dayOf(createdAt)} · last used {timeAgo(Date.parse(lastUsed), 'en')}
        </p>
      </div>
      <Button variant="quiet" small className="hover:text-danger" onClick={onRevoke} aria-label={`Revoke ${name}`}>
        Revoke
      </Button>
    </li>
  );
}

/** Returns where an application was allowed, as the page shows it. */
const placeText = (host: string): string => (host.endsWith(':') ? `A program on your device: ${host.slice(0, -1)}` : host);

function RevokeDialog({ connection, onClose }: { connection: Connection; onClose: () => void }) {
  const revoke = useAct('revokeConnection', { refreshes: ['listConnections'] });
  return (
    <ConfirmDialog
      title={`Revoke ${connection.name}`}
      action="Revoke"
      failure="The access could not be revoked."
      mutation={revoke}
      input={{ id: connection.id }}
      done={['Access revoked', connection.name]}
      onClose={onClose}
    >
      Its access ends at once, and it has to ask you again at the next sign-in. What it already knows about you stays with it: to have that
      deleted, ask its operator.
    </ConfirmDialog>
  );
}
