import { type FormEvent, useRef, useState } from 'react';
import { wordsOf } from '../../lib/failure.ts';
import { toast } from '../../lib/toast.ts';
import { Alert } from '../../ui/alert.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field } from '../../ui/field.tsx';
import { Select } from '../../ui/select.tsx';
import { type ApiKey, useMakeApiKey } from './queries.ts';
import { ShownKey } from './shown-key.tsx';

const ENVIRONMENTS: { value: ApiKey['environment']; label: string }[] = [
  { value: 'live', label: 'Live: may do what you may' },
  { value: 'test', label: 'Test: reads, changes nothing' },
];

/** Makes an API key and shows it once. */
export function GenerateKey({ onClose }: { onClose: () => void }) {
  const make = useMakeApiKey();
  const field = useRef<HTMLInputElement>(null);
  const [name, setName] = useState('');
  const [fault, setFault] = useState<string | null>(null);
  const [environment, setEnvironment] = useState<ApiKey['environment']>('live');

  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (make.isPending) return;
    const wrong = name.trim() === '' ? 'Name is required' : null;
    setFault(wrong);
    if (wrong) return field.current?.focus();
    make.mutate({ name: name.trim(), environment }, { onSuccess: () => toast('API key generated', name.trim()) });
  };

  if (make.data) return <ShownKey key="shown" made={make.data} onClose={onClose} />;
  return (
    <Dialog title="Generate Key" first={field} onClose={onClose}>
      <form noValidate onSubmit={submit} className="grid gap-5">
        {make.error && !make.isPending && <Alert>{wordsOf(make.error, 'The key could not be made.')}</Alert>}
        <Field
          ref={field}
          label="Name"
          name="name"
          required
          maxLength={80}
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
        <div className="flex flex-wrap justify-end gap-2">
          <Button look="secondary" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" busy={make.isPending}>
            Generate
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
