import { type ReactNode, useRef, useState } from 'react';
import type { Output } from '../../../contract/calls.ts';
import { nameFault } from '../../../contract/rules.ts';
import { useAct, useCall } from '../../lib/calls.ts';
import { paths } from '../../pages.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field } from '../../ui/field.tsx';
import { fieldFault, SaveForm } from '../../ui/save-form.tsx';
import { Failed } from '../../ui/states.tsx';
import { toast } from '../../ui/toast.tsx';
import { FormLoading, SettingsHeading, SettingsSection } from './frame.tsx';

type AccountSettings = Output<'settings'>;

/** /dashboard/settings: the names of the account. */
export function SettingsPage() {
  const { data: settings, ...query } = useCall('settings');
  return (
    <>
      <SettingsHeading current={paths.settings} />
      {query.error && !settings ? (
        <Failed {...query} fallback="Your settings could not be loaded." />
      ) : (
        <>
          <SettingsSection title="Profile Settings" text="Who you are in the portal.">
            {settings ? <ProfileForm settings={settings} /> : <FormLoading hints={['', 'h-15 sm:h-10']} />}
          </SettingsSection>
          <SettingsSection title="Organization" text="Your organization, and what the service costs.">
            {settings ? <OrganisationForm settings={settings} /> : <FormLoading hints={['']} after="mt-6 h-15.5" />}
          </SettingsSection>
        </>
      )}
    </>
  );
}

function ProfileForm({ settings }: { settings: AccountSettings }) {
  return (
    <NameForm of="name" settings={settings}>
      <Field
        label="Email"
        name="email"
        type="email"
        readOnly
        value={settings.email}
        hint="Your account is this address: it signs you in, and your websites are linked to it. It cannot be changed."
      />
    </NameForm>
  );
}

function OrganisationForm({ settings }: { settings: AccountSettings }) {
  return (
    <>
      <NameForm of="organisation" settings={settings} />
      <Plan plan={settings.plan} />
    </>
  );
}

const NAMES = {
  name: { call: 'saveProfile', label: 'Full Name', autoComplete: 'name', button: 'Save Changes', saved: 'Profile saved' },
  organisation: {
    call: 'saveOrganisation',
    label: 'Organization Name',
    autoComplete: 'organization',
    button: 'Save Organization',
    saved: 'Organization saved',
  },
} as const;

/** The form of a name in the settings; `children` are its other fields. */
function NameForm({ of: key, settings, children }: { of: keyof typeof NAMES; settings: AccountSettings; children?: ReactNode }) {
  const { call, label, autoComplete, button, saved } = NAMES[key];
  const save = useAct(call, { refreshes: ['settings', 'session'] });
  const field = useRef<HTMLInputElement>(null);
  const [name, setName] = useState(settings[key]);
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
    save.mutate(key === 'name' ? { name } : { organisation: name }, {
      onSuccess: (settings) => {
        setName(settings[key]);
        toast(saved);
      },
    });
  };

  return (
    <SaveForm
      button={button}
      changed={name !== settings[key]}
      busy={save.isPending}
      error={save.error}
      onSave={submit}
      onDiscard={() => type(settings[key])}
    >
      <Field
        ref={field}
        label={label}
        name={autoComplete}
        autoComplete={autoComplete}
        value={name}
        error={fault ?? fieldFault(save.error, key)}
        onChange={(event) => type(event.target.value)}
      />
      {children}
    </SaveForm>
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
