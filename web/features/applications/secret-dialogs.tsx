import { type ReactNode, type RefObject, useRef, useState } from 'react';
import type { Input, Output } from '../../../contract/calls.ts';
import { MAX_NAME_LENGTH, NAME_REQUIRED, SCOPE_REQUIRED } from '../../../contract/rules.ts';
import { RESOURCE_SCOPES, type ResourceScope } from '../../../contract/scopes.ts';
import { errorText } from '../../lib/api.ts';
import { useAct } from '../../lib/calls.ts';
import { dayOf } from '../../lib/dates.ts';
import { keySnippet } from '../../lib/snippets.ts';
import { takeDraft } from '../../lib/storage.ts';
import { Button } from '../../ui/button.tsx';
import { Choices } from '../../ui/choices.tsx';
import { CodeBlock, CopyButton, OnCopied, Value, Values } from '../../ui/copyable.tsx';
import { Dialog, FormDialog } from '../../ui/dialog.tsx';
import { Field, Select } from '../../ui/field.tsx';
import { isProofNeeded, ProofNeeded } from '../../ui/proof-needed.tsx';
import { toast } from '../../ui/toast.tsx';
import { scopeOptions } from './form-fields.tsx';

type Application = Output<'listClients'>[number];
type ApiKey = Output<'listApiKeys'>[number];
type SecretGraceHours = NonNullable<Input<'rotateClientSecret'>['graceHours']>;
type GraceHours = NonNullable<Input<'rotateApiKey'>['graceHours']>;

/**
 * A dialog with a secret that is shown only once. It asks before it closes, unless the secret was copied.
 * @param what the secret is, as in `API key`
 */
function SecretDialog({
  title,
  what,
  secret,
  first,
  onClose,
  children,
}: {
  title: string;
  what: string;
  secret: string;
  first: RefObject<HTMLElement | null>;
  onClose: () => void;
  children: ReactNode;
}) {
  const [isCopied, setCopied] = useState(false);
  const [isAsking, setAsking] = useState(false);
  const copied = (text: string) => {
    if (text.includes(secret)) setCopied(true);
  };
  const close = () => (isCopied ? onClose() : setAsking(true));
  return (
    <Dialog title={title} first={first} stays onClose={close}>
      {/* A text that is selected by hand is copied too. */}
      <div onCopy={() => copied(String(getSelection()))} className="grid gap-5">
        <OnCopied value={copied}>{children}</OnCopied>
        {isAsking && !isCopied ? (
          <div role="alert" className="rounded-control border border-danger/40 bg-danger-tint px-4 py-3 text-sm">
            <p>You have not copied the {what}, and it cannot be shown again.</p>
            <div className="mt-3 flex flex-wrap justify-end gap-2">
              <Button variant="secondary" small onClick={() => setAsking(false)}>
                Keep it open
              </Button>
              <Button variant="danger" small onClick={onClose}>
                Close without copying
              </Button>
            </div>
          </div>
        ) : (
          <Button className="justify-self-end" onClick={close}>
            Done
          </Button>
        )}
      </div>
    </Dialog>
  );
}

/** A new client secret, which cannot be shown again. */
export function NewSecret({ application, secret, onClose }: { application: Application; secret: string; onClose: () => void }) {
  const text = useRef<HTMLDivElement>(null);
  return (
    <SecretDialog title={`Client secret of ${application.name}`} what="client secret" secret={secret} first={text} onClose={onClose}>
      <div ref={text} tabIndex={-1} className="grid gap-5 outline-none">
        <p className="text-[0.9375rem] text-muted">
          <strong className="font-medium text-ink">Copy it now: it is shown only this once.</strong> The service stores only its hash. Keep
          it on your server, out of code and browsers.
        </p>
        <Values>
          <Value wide name="Client ID" value={application.clientId} />
          <Value wide name="Client secret" value={secret} />
        </Values>
      </div>
    </SecretDialog>
  );
}

const SECRET_GRACE: { value: `${SecretGraceHours}`; label: string }[] = [
  { value: '24', label: '24 hours' },
  { value: '1', label: '1 hour' },
  { value: '0', label: 'It ends at once' },
];

/** Replaces the client secret by a new one and shows that once. */
export function RotateSecret({ application, onClose }: { application: Application; onClose: () => void }) {
  const rotate = useAct('rotateClientSecret', { refreshes: ['listClients'] });
  const [grace, setGrace] = useState<`${SecretGraceHours}`>('24');
  // The service accepts two secrets at a time.
  const { formerSecretUntil } = application;

  const submit = () => {
    const graceHours = formerSecretUntil ? 0 : (Number(grace) as SecretGraceHours);
    rotate.mutate({ id: application.id, graceHours }, { onSuccess: () => toast('Client secret rotated', application.name) });
  };

  if (rotate.data?.clientSecret) {
    return <NewSecret key="shown" application={application} secret={rotate.data.clientSecret} onClose={onClose} />;
  }
  return (
    <FormDialog
      title={`Rotate the secret of ${application.name}`}
      action={formerSecretUntil ? 'End both and rotate' : 'Rotate'}
      danger={formerSecretUntil !== null}
      busy={rotate.isPending}
      failure={rotate.error && errorText(rotate.error, 'The secret could not be rotated.')}
      onSubmit={submit}
      onClose={onClose}
    >
      {formerSecretUntil ? (
        <p className="text-[0.9375rem] text-muted">
          The secret before the present one still works until {timeOf(formerSecretUntil)}. If you rotate before then, both end at once, and
          only the new one works.
        </p>
      ) : (
        <>
          <p className="text-[0.9375rem] text-muted">
            You get a new client secret. The present one still works for a while, so that you can first replace it on your servers.
          </p>
          <Select
            label="How long the present secret still works"
            name="grace"
            options={SECRET_GRACE}
            value={grace}
            onChange={(event) => setGrace(event.target.value as `${SecretGraceHours}`)}
          />
        </>
      )}
    </FormDialog>
  );
}

const timeOf = (date: string) => `${dayOf(date)}, ${new Date(date).toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' })}`;

const ENVIRONMENTS: { value: ApiKey['environment']; label: string }[] = [
  { value: 'live', label: 'Live: has all your permissions' },
  { value: 'test', label: 'Test: read-only' },
];

const SCOPES = scopeOptions(RESOURCE_SCOPES);

type KeyDraft = { name: string; environment: ApiKey['environment']; scopes: ResourceScope[] };

/** Creates an API key and shows it once. */
export function GenerateKey({ onClose }: { onClose: () => void }) {
  const create = useAct('createApiKey', { refreshes: ['listApiKeys'] });
  const field = useRef<HTMLInputElement>(null);
  const [draft] = useState(() => takeDraft<KeyDraft>('key'));
  const [name, setName] = useState(draft?.name ?? '');
  const [fault, setFault] = useState<string | null>(null);
  const [scopes, setScopes] = useState<ResourceScope[]>(draft?.scopes ?? [...RESOURCE_SCOPES]);
  const [environment, setEnvironment] = useState<ApiKey['environment']>(draft?.environment ?? 'live');
  const needsProof = isProofNeeded(create.error) && !create.isPending;

  const submit = () => {
    const wrong = name.trim() === '' ? NAME_REQUIRED : null;
    setFault(wrong);
    if (wrong) return field.current?.focus();
    if (scopes.length === 0) return;
    // Null: every scope, also those that are added later.
    const limited = scopes.length < RESOURCE_SCOPES.length ? scopes : null;
    create.mutate({ name: name.trim(), environment, scopes: limited }, { onSuccess: () => toast('API key generated', name.trim()) });
  };

  if (create.data) return <NewKey key="shown" created={create.data} onClose={onClose} />;
  return (
    <FormDialog
      title="Generate Key"
      first={field}
      action="Generate"
      busy={create.isPending}
      failure={create.error && !needsProof && errorText(create.error, 'The key could not be created.')}
      onSubmit={submit}
      onClose={onClose}
    >
      {needsProof && <ProofNeeded form="key" values={{ name, environment, scopes } satisfies KeyDraft} />}
      <Field
        ref={field}
        label="Name"
        name="name"
        required
        maxLength={MAX_NAME_LENGTH}
        autoComplete="off"
        placeholder="Deploy script"
        hint="What the key is for, so that you know later which one to revoke."
        value={name}
        error={fault}
        onChange={(event) => {
          setName(event.target.value);
          setFault(null);
        }}
      />
      <Select
        label="Environment"
        name="environment"
        options={ENVIRONMENTS}
        value={environment}
        onChange={(event) => setEnvironment(event.target.value as ApiKey['environment'])}
      />
      <Choices
        label="Scopes"
        hint="What the key may be used for."
        error={scopes.length === 0 ? SCOPE_REQUIRED : null}
        options={SCOPES}
        chosen={scopes}
        onChange={setScopes}
      />
    </FormDialog>
  );
}

const KEY_GRACE: { value: `${GraceHours}`; label: string }[] = [
  { value: '0', label: 'It ends at once' },
  { value: '1', label: '1 hour' },
  { value: '24', label: '24 hours' },
  { value: '168', label: '7 days' },
];

/** Which key was being rotated before a sign-in. */
export type RotationDraft = { id: string; grace: `${GraceHours}` };

/** Replaces a key by a new one and shows that once. @param draft what was chosen before a sign-in */
export function RotateKey({ apiKey, draft, onClose }: { apiKey: ApiKey; draft?: RotationDraft; onClose: () => void }) {
  const rotate = useAct('rotateApiKey', { refreshes: ['listApiKeys'] });
  const [grace, setGrace] = useState<`${GraceHours}`>(draft?.grace ?? '24');
  const needsProof = isProofNeeded(rotate.error) && !rotate.isPending;

  const submit = () =>
    rotate.mutate({ id: apiKey.id, graceHours: Number(grace) as GraceHours }, { onSuccess: () => toast('API key rotated', apiKey.name) });

  if (rotate.data) return <NewKey key="shown" created={rotate.data} onClose={onClose} />;
  return (
    <FormDialog
      title={`Rotate ${apiKey.name}`}
      action="Rotate"
      busy={rotate.isPending}
      failure={rotate.error && !needsProof && errorText(rotate.error, 'The key could not be rotated.')}
      onSubmit={submit}
      onClose={onClose}
    >
      {needsProof && <ProofNeeded form="rotation" values={{ id: apiKey.id, grace } satisfies RotationDraft} />}
      <p className="text-[0.9375rem] text-muted">
        You get a new key with the same name, environment and scopes. The old one,{' '}
        <code className="font-mono text-[0.8125rem]">{apiKey.keyId}</code>, still works for a while, so that you can first replace it
        everywhere.
      </p>
      <Select
        label="How long the old key still works"
        name="grace"
        options={KEY_GRACE}
        value={grace}
        onChange={(event) => setGrace(event.target.value as `${GraceHours}`)}
      />
    </FormDialog>
  );
}

/** A new key, which cannot be shown again. */
function NewKey({ created, onClose }: { created: Output<'createApiKey'>; onClose: () => void }) {
  const text = useRef<HTMLElement>(null);
  return (
    <SecretDialog title="Your new API key" what="API key" secret={created.key} first={text} onClose={onClose}>
      <p className="text-[0.9375rem] text-muted">
        <strong className="font-medium text-ink">Copy it now: it is shown only this once.</strong> The service stores only its hash. Anyone
        who has the key can act as you, so keep it out of code and browsers.
      </p>
      <div className="flex items-center gap-1 rounded-control border border-line bg-sunk pl-4">
        <code ref={text} tabIndex={-1} className="min-w-0 grow py-3 font-mono text-[0.8125rem] leading-5 wrap-anywhere">
          {created.key}
        </code>
        <CopyButton text={created.key} what="API key" notice="API key copied" />
      </div>
      <CodeBlock label="try it" code={keySnippet(location.origin, created.key)} />
    </SecretDialog>
  );
}
