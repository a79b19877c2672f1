import { useState } from 'react';
import type { Output } from '../../../contract/calls.ts';
import { useAct, useCall } from '../../lib/calls.ts';
import { timeAgo } from '../../lib/dates.ts';
import { keySnippet } from '../../lib/snippets.ts';
import { takeDraft } from '../../lib/storage.ts';
import { Button } from '../../ui/button.tsx';
import { CopyButton, Snippet } from '../../ui/copyable.tsx';
import { DayBars } from '../../ui/day-bars.tsx';
import { ConfirmDialog, Dialog, useAddParameter } from '../../ui/dialog.tsx';
import { Rows, RowsLoading, Section, Stat, Stats, useFragment } from '../../ui/panels.tsx';
import { Badge, Empty, Failed } from '../../ui/states.tsx';
import { GenerateKey, RotateKey, type RotationDraft } from './secret-dialogs.tsx';

type ApiKey = Output<'listApiKeys'>[number];
type Open = { dialog: 'generate' } | { dialog: 'rotate' | 'usage' | 'revoke'; apiKey: ApiKey };

/** The API keys of the account: active ones and those that ended within a month. */
export function ApiKeys() {
  const query = useCall('listApiKeys', {}, { staleTime: 0 });
  const [open, setOpen] = useState<Open | null>(null);
  const close = () => setOpen(null);
  const generate = () => setOpen({ dialog: 'generate' });
  useAddParameter('key', generate);
  const [rotation, setRotation] = useState<RotationDraft | null>(null);
  useAddParameter('rotation', () => setRotation(takeDraft<RotationDraft>('rotation') as RotationDraft | null));
  const keys = query.data;
  const rotated = keys?.find(({ id, isActive, expiresAt }) => id === rotation?.id && isActive && !expiresAt);
  useFragment(keys !== undefined);

  return (
    <Section title="API Keys" add="Generate Key" onAdd={generate}>
      {query.error && <Failed {...query} fallback="Your API keys could not be loaded." />}
      {!keys && !query.error && <RowsLoading what="your API keys" />}
      {keys && keys.length > 0 && (
        <Rows>
          {keys.map((apiKey) => (
            <ApiKeyRow
              key={apiKey.id}
              apiKey={apiKey}
              onRotate={() => setOpen({ dialog: 'rotate', apiKey })}
              onUsage={() => setOpen({ dialog: 'usage', apiKey })}
              onRevoke={() => setOpen({ dialog: 'revoke', apiKey })}
            />
          ))}
        </Rows>
      )}
      {keys?.length === 0 && (
        <Empty
          title="No API keys created yet"
          text="With a key, a program of yours can do what you do here: list and add websites, read statistics, verify tokens."
        >
          <Snippet label="with a key" code={keySnippet(location.origin, 'YOUR_API_KEY')} />
        </Empty>
      )}
      {open?.dialog === 'generate' && <GenerateKey onClose={close} />}
      {open?.dialog === 'rotate' && <RotateKey apiKey={open.apiKey} onClose={close} />}
      {rotation && rotated && <RotateKey apiKey={rotated} draft={rotation} onClose={() => setRotation(null)} />}
      {open?.dialog === 'usage' && <KeyUsage apiKey={open.apiKey} onClose={close} />}
      {open?.dialog === 'revoke' && <RevokeKey apiKey={open.apiKey} onClose={close} />}
    </Section>
  );
}

const moment = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' });

function ApiKeyRow({
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
  const { name, environment, isActive, keyId, scopes, lastUsed, expiresAt } = apiKey;
  return (
    <li id={apiKey.id} tabIndex={-1} className="flex scroll-mt-4 flex-wrap items-start gap-x-6 gap-y-2 p-4 sm:px-5">
      <div className="min-w-0 grow basis-72">
        <div className="flex flex-wrap items-center gap-x-2 gap-y-1">
          <h3 className="mr-1 font-medium wrap-anywhere">{name}</h3>
          <Badge>{environment}</Badge>
          <Badge tone={isActive ? 'live' : 'plain'}>{isActive ? 'Active' : 'Inactive'}</Badge>
        </div>
        <div className="flex items-center gap-1 text-sm">
          <span className="shrink-0 text-muted">Key ID</span>
          <code className="min-w-0 pl-1 font-mono text-[0.8125rem] wrap-anywhere">{keyId}</code>
          <CopyButton text={keyId.replace(/…$/, '')} what={`key ID of ${name}`} notice="Key ID copied" />
        </div>
        <p className="text-sm text-muted">
          Last used {lastUsed ? <time dateTime={lastUsed}>{timeAgo(Date.parse(lastUsed), 'en')}</time> : 'Never'}
          {scopes && ` · ${scopes.join(', ')}`}
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
          <Button variant="quiet" small onClick={onRotate} aria-label={`Rotate ${name} ${keyId}`}>
            Rotate
          </Button>
        )}
        <Button variant="quiet" small onClick={onUsage} aria-label={`Usage Stats of ${name} ${keyId}`}>
          Usage Stats
        </Button>
        {isActive && (
          <Button variant="quiet" small className="hover:text-danger" onClick={onRevoke} aria-label={`Revoke ${name} ${keyId}`}>
            Revoke
          </Button>
        )}
      </div>
    </li>
  );
}

const CALLS = [{ key: 'calls', label: 'Calls', color: '--color-accent' }] as const;

/** The calls with a key in the last 30 UTC days. */
function KeyUsage({ apiKey, onClose }: { apiKey: ApiKey; onClose: () => void }) {
  const query = useCall('apiKeyUsage', { id: apiKey.id }, { staleTime: 0 });
  const usage = query.data;
  const refused = usage?.days.reduce((sum, day) => sum + day.refused, 0);
  const shown = (count: number | undefined) => count?.toLocaleString('en');
  return (
    <Dialog title={`Usage of ${apiKey.name}`} onClose={onClose}>
      {query.error ? (
        <Failed {...query} fallback="The usage could not be loaded." />
      ) : (
        <div className="grid gap-6">
          <Stats>
            <Stat label="Calls, 30 days" value={shown(usage?.total)} />
            <Stat label="Refused, 30 days" value={shown(refused)} />
          </Stats>
          <DayBars title="Calls per UTC day" series={CALLS} days={usage?.days ?? []} />
        </div>
      )}
    </Dialog>
  );
}

function RevokeKey({ apiKey, onClose }: { apiKey: ApiKey; onClose: () => void }) {
  const revoke = useAct('revokeApiKey', { refreshes: ['listApiKeys'] });
  return (
    <ConfirmDialog
      title={`Revoke ${apiKey.name}`}
      action="Revoke"
      failure="The key could not be revoked."
      mutation={revoke}
      input={{ id: apiKey.id }}
      done={['API key revoked', apiKey.name]}
      onClose={onClose}
    >
      The key <code className="font-mono text-[0.8125rem]">{apiKey.keyId}</code> stops working within a second, wherever it is used. This
      cannot be undone.
    </ConfirmDialog>
  );
}
