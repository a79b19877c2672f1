import { type ReactNode, useId, useRef, useState } from 'react';
import type { Output } from '../../../contract/calls.ts';
import { nameFault } from '../../../contract/rules.ts';
import { useAct, useCall } from '../../lib/calls.ts';
import { Button } from '../../ui/button.tsx';
import { cx } from '../../ui/cx.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Field } from '../../ui/field.tsx';
import { PageHeading } from '../../ui/page-heading.tsx';
import { fieldFault, SaveForm } from '../../ui/save-form.tsx';
import { Failed, Skeleton } from '../../ui/states.tsx';
import { toast } from '../../ui/toast.tsx';
import { BrandedWebsites, BrandingForm } from './branding.tsx';

type AccountSettings = Output<'settings'>;

/** /dashboard/settings. @param devices, passkeys, connections lists of other features */
export function SettingsPage({ devices, passkeys, connections }: { devices: ReactNode; passkeys: ReactNode; connections: ReactNode }) {
  const { data: settings, ...query } = useCall('settings');
  if (query.error && !settings) {
    return (
      <div className="grid max-w-xl gap-6">
        <PageHeading title="Settings" />
        <Failed {...query} fallback="Your settings could not be loaded." />
      </div>
    );
  }
  return (
    <>
      <PageHeading title="Settings" className="mb-8 text-2xl leading-8" />
      <Section title="Profile Settings" text="Who you are in the portal.">
        {settings ? <ProfileForm settings={settings} /> : <FormLoading hints={['', 'h-15 sm:h-10']} />}
      </Section>
      <Section title="Organization" text="Your organization, and what the service costs.">
        {settings ? <OrganisationForm settings={settings} /> : <FormLoading hints={['']} after="mt-6 h-15.5" />}
      </Section>
      <Section
        title="Email Branding"
        text="How the sign-in emails of your websites look, once you have proved their domains. The subject and the text always name the website’s domain."
      >
        <BrandedWebsites />
        {settings ? (
          <BrandingForm branding={settings.branding} />
        ) : (
          <FormLoading hints={['h-10 sm:h-5', 'h-10 sm:h-5']} after="mt-28.5 h-[44rem]" />
        )}
      </Section>
      <Section title="Devices" text="Where you are signed in, or remembered so that one click signs you in.">
        {devices}
      </Section>
      <Section title="Passkeys" text="They sign you in without an email, with the lock of your device.">
        {passkeys}
      </Section>
      <Section
        title="Connected applications"
        text="Applications and websites that you signed in to, and what you allowed them. To end their access, revoke it."
      >
        {connections}
      </Section>
    </>
  );
}

/** A placeholder of the same height as the form. @param hints the height of each field's hint @param after the classes of a block below the form */
function FormLoading({ hints, after }: { hints: string[]; after?: string }) {
  return (
    <div role="status" aria-label="Loading your settings">
      <div className="grid gap-5">
        {hints.map((hint, field) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: never moved
          <div key={field}>
            <Skeleton className="mb-1.5 h-5 w-24" />
            <Skeleton className="h-11 w-full" />
            {hint && <div className={cx('mt-1.5', hint)} />}
          </div>
        ))}
        <Skeleton className="h-11 w-36" />
      </div>
      {after && <Skeleton className={cx('w-full', after)} />}
    </div>
  );
}

/** One part of the settings: its title on the left, its controls on the right. */
function Section({ title, text, children }: { title: string; text: string; children: ReactNode }) {
  const id = useId();
  return (
    <section aria-labelledby={id} className="grid gap-x-10 gap-y-5 border-t border-line py-8 lg:grid-cols-[13rem_minmax(0,1fr)]">
      <div>
        <h2 id={id} className="font-semibold tracking-tight">
          {title}
        </h2>
        <p className="mt-1 max-w-md text-sm leading-6 text-muted">{text}</p>
      </div>
      <div className="min-w-0 max-w-xl">{children}</div>
    </section>
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
