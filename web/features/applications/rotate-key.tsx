import { type FormEvent, useState } from 'react';
import { wordsOf } from '../../lib/failure.ts';
import { toast } from '../../lib/toast.ts';
import { Alert } from '../../ui/alert.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Select } from '../../ui/select.tsx';
import { type ApiKey, type GraceHours, useRotateApiKey } from './queries.ts';
import { ShownKey } from './shown-key.tsx';

const GRACE: { value: `${GraceHours}`; label: string }[] = [
  { value: '0', label: 'Not at all: it ends at once' },
  { value: '1', label: '1 hour' },
  { value: '24', label: '24 hours' },
  { value: '168', label: '7 days' },
];

/** Replaces a key by a new one, which is shown once. */
export function RotateKey({ apiKey, onClose }: { apiKey: ApiKey; onClose: () => void }) {
  const rotate = useRotateApiKey(apiKey.id);
  const [grace, setGrace] = useState<`${GraceHours}`>('24');

  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (rotate.isPending) return;
    rotate.mutate(Number(grace) as GraceHours, { onSuccess: () => toast('API key rotated', apiKey.name) });
  };

  if (rotate.data) return <ShownKey key="shown" made={rotate.data} onClose={onClose} />;
  return (
    <Dialog title={`Rotate ${apiKey.name}`} onClose={onClose}>
      <form onSubmit={submit} className="grid gap-5">
        {rotate.error && !rotate.isPending && <Alert>{wordsOf(rotate.error, 'The key could not be rotated.')}</Alert>}
        <p className="text-[0.9375rem] text-muted">
          You get a new key with the same name and environment. The old one,{' '}
          <code className="font-mono text-[0.8125rem]">{apiKey.keyId}</code>, goes on working for a while, so that you can replace it
          everywhere first.
        </p>
        <Select
          label="How long the old key works on"
          name="grace"
          options={GRACE}
          value={grace}
          onChange={(event) => setGrace(event.target.value as `${GraceHours}`)}
        />
        <div className="flex flex-wrap justify-end gap-2">
          <Button look="secondary" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" busy={rotate.isPending}>
            Rotate
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
