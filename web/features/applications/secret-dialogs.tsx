import { type FormEvent, type ReactNode, type RefObject, useRef, useState } from 'react';
import { errorText } from '../../lib/api.ts';
import { dayOf } from '../../lib/dates.ts';
import { Button } from '../../ui/button.tsx';
import { OnCopied, Value, Values } from '../../ui/copyable.tsx';
import { Dialog, DialogButtons } from '../../ui/dialog.tsx';
import { Select } from '../../ui/field.tsx';
import { Alert } from '../../ui/states.tsx';
import { toast } from '../../ui/toast.tsx';
import { type Application, type SecretGraceHours, useRotateSecret } from './queries.ts';

/**
 * A dialog with a secret that is shown only once. It asks before it closes, unless the secret was copied.
 * @param what the secret is, as in `API key`
 */
export function SecretDialog({
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

const GRACE: { value: `${SecretGraceHours}`; label: string }[] = [
  { value: '24', label: '24 hours' },
  { value: '1', label: '1 hour' },
  { value: '0', label: 'It ends at once' },
];

/** Replaces the client secret by a new one and shows that once. */
export function RotateSecret({ application, onClose }: { application: Application; onClose: () => void }) {
  const rotate = useRotateSecret(application.id);
  const [grace, setGrace] = useState<`${SecretGraceHours}`>('24');
  // The service accepts two secrets at a time.
  const { formerSecretUntil } = application;

  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (rotate.isPending) return;
    const graceHours = formerSecretUntil ? 0 : (Number(grace) as SecretGraceHours);
    rotate.mutate(graceHours, { onSuccess: () => toast('Client secret rotated', application.name) });
  };

  if (rotate.data?.clientSecret) {
    return <NewSecret key="shown" application={application} secret={rotate.data.clientSecret} onClose={onClose} />;
  }
  return (
    <Dialog title={`Rotate the secret of ${application.name}`} onClose={onClose}>
      <form onSubmit={submit} className="grid gap-5">
        {rotate.error && !rotate.isPending && <Alert>{errorText(rotate.error, 'The secret could not be rotated.')}</Alert>}
        {formerSecretUntil ? (
          <p className="text-[0.9375rem] text-muted">
            The secret before the present one still works until {timeOf(formerSecretUntil)}. If you rotate before then, both end at once,
            and only the new one works.
          </p>
        ) : (
          <>
            <p className="text-[0.9375rem] text-muted">
              You get a new client secret. The present one still works for a while, so that you can first replace it on your servers.
            </p>
            <Select
              label="How long the present secret still works"
              name="grace"
              options={GRACE}
              value={grace}
              onChange={(event) => setGrace(event.target.value as `${SecretGraceHours}`)}
            />
          </>
        )}
        <DialogButtons onCancel={onClose}>
          <Button type="submit" variant={formerSecretUntil ? 'danger' : 'primary'} busy={rotate.isPending}>
            {formerSecretUntil ? 'End both and rotate' : 'Rotate'}
          </Button>
        </DialogButtons>
      </form>
    </Dialog>
  );
}

const timeOf = (date: string) => `${dayOf(date)}, ${new Date(date).toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' })}`;
