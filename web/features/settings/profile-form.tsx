import { useRef, useState } from 'react';
import { nameFault } from '../../../contract/rules.ts';
import type { Settings } from '../../lib/settings.ts';
import { toast } from '../../lib/toast.ts';
import { Field } from '../../ui/field.tsx';
import { useSaveProfile } from './queries.ts';
import { fieldFault, SaveForm } from './save-form.tsx';

export function ProfileForm({ settings }: { settings: Settings }) {
  const save = useSaveProfile();
  const field = useRef<HTMLInputElement>(null);
  const [name, setName] = useState(settings.name);
  const [fault, setFault] = useState<string | null>(null);
  const type = (text: string) => {
    setName(text);
    setFault(null);
    save.reset();
  };

  const submit = () => {
    const wrong = nameFault(name.trim());
    setFault(wrong);
    if (wrong) return field.current?.focus();
    save.mutate(
      { name },
      {
        onSuccess: (saved) => {
          setName(saved.name);
          toast('Profile saved');
        },
      },
    );
  };

  return (
    <SaveForm
      button="Save Changes"
      changed={name !== settings.name}
      busy={save.isPending}
      error={save.error}
      onSave={submit}
      onDiscard={() => type(settings.name)}
    >
      <Field
        ref={field}
        label="Full Name"
        name="name"
        autoComplete="name"
        value={name}
        error={fault ?? fieldFault(save.error, 'name')}
        onChange={(event) => type(event.target.value)}
      />
      <Field
        label="Email"
        name="email"
        type="email"
        readOnly
        value={settings.email}
        hint="Your account is this address: it signs you in and your websites are linked to it, so it cannot be changed."
      />
    </SaveForm>
  );
}
