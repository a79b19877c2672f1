import { useRef, useState } from 'react';
import { nameFault } from '../../../contract/rules.ts';
import type { Settings } from '../../lib/session.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field } from '../../ui/field.tsx';
import { fieldFault, SaveForm } from '../../ui/save-form.tsx';
import { toast } from '../../ui/toast.tsx';
import { useSaveOrganisation, useSaveProfile } from './queries.ts';

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
        hint="Your account is this address: it signs you in, and your websites are linked to it. It cannot be changed."
      />
    </SaveForm>
  );
}

export function OrganisationForm({ settings }: { settings: Settings }) {
  const save = useSaveOrganisation();
  const field = useRef<HTMLInputElement>(null);
  const [organisation, setOrganisation] = useState(settings.organisation);
  const [fault, setFault] = useState<string | null>(null);
  const type = (text: string) => {
    setOrganisation(text);
    setFault(null);
    save.reset();
  };

  const submit = () => {
    const wrong = nameFault(organisation.trim());
    setFault(wrong);
    if (wrong) return field.current?.focus();
    save.mutate(
      { organisation },
      {
        onSuccess: (saved) => {
          setOrganisation(saved.organisation);
          toast('Organization saved');
        },
      },
    );
  };

  return (
    <>
      <SaveForm
        button="Save Organization"
        changed={organisation !== settings.organisation}
        busy={save.isPending}
        error={save.error}
        onSave={submit}
        onDiscard={() => type(settings.organisation)}
      >
        <Field
          ref={field}
          label="Organization Name"
          name="organization"
          autoComplete="organization"
          value={organisation}
          error={fault ?? fieldFault(save.error, 'organisation')}
          onChange={(event) => type(event.target.value)}
        />
      </SaveForm>
      <Plan plan={settings.plan} />
    </>
  );
}

function Plan({ plan }: { plan: string }) {
  const [open, setOpen] = useState(false);
  const close = () => setOpen(false);
  return (
    <div className="mt-6 flex flex-wrap items-center justify-between gap-3 rounded-control border border-line py-2 pr-2 pl-4">
      <p>
        <span className="text-sm text-muted">Plan</span> <span className="ml-2 font-medium">{plan}</span>
      </p>
      <Button variant="secondary" small onClick={() => setOpen(true)}>
        Upgrade
      </Button>
      {open && (
        <Dialog title="The service is free" onClose={close}>
          <p className="text-muted">
            The Free plan includes everything: there is no other plan, nothing to pay and no feature that costs extra.
          </p>
          <div className="mt-5 flex justify-end">
            <Button onClick={close}>Got it</Button>
          </div>
        </Dialog>
      )}
    </div>
  );
}
