import { type ReactNode, useRef, useState } from 'react';
import { Link } from 'wouter';
import type { Output } from '../../../contract/calls.ts';
import { type LanguageCode, languageOf, languages } from '../../../contract/languages.ts';
import { fromNameFault } from '../../../contract/rules.ts';
import { LOCALHOST, logoUrlFault } from '../../../contract/urls.ts';
import { useAct, useCall } from '../../lib/calls.ts';
import { paths } from '../../pages.ts';
import { Field, Select } from '../../ui/field.tsx';
import { PreviewFrame } from '../../ui/panels.tsx';
import { fieldFault, SaveForm } from '../../ui/save-form.tsx';
import { Failed } from '../../ui/states.tsx';
import { toast } from '../../ui/toast.tsx';
import { FormLoading, SettingsHeading, SettingsSection } from './frame.tsx';

type Branding = Output<'settings'>['branding'];

/** /dashboard/settings/branding */
export function BrandingPage() {
  const { data: settings, ...query } = useCall('settings');
  return (
    <>
      <SettingsHeading current={paths.settingsBranding} />
      {query.error && !settings ? (
        <Failed {...query} fallback="The branding could not be loaded." />
      ) : (
        <SettingsSection
          title="Email Branding"
          text="How the sign-in emails of your websites look, once their domains are verified. The subject and the text always name the website’s domain."
        >
          <BrandedWebsites />
          {settings ? (
            <BrandingForm branding={settings.branding} />
          ) : (
            <FormLoading hints={['h-10 sm:h-5', 'h-10 sm:h-5']} after="mt-28.5 h-[44rem]" />
          )}
        </SettingsSection>
      )}
    </>
  );
}

/** The form for the branding of emails, with a preview. */
function BrandingForm({ branding }: { branding: Branding }) {
  const save = useAct('saveBranding', { refreshes: ['settings'] });
  const fields = { fromName: useRef<HTMLInputElement>(null), logoUrl: useRef<HTMLInputElement>(null) };
  const [draft, setDraft] = useState(branding);
  const [checked, setChecked] = useState(false);
  const faults = { fromName: fromNameFault(draft.fromName.trim()), logoUrl: logoUrlFault(draft.logoUrl.trim()) };
  const faultOf = (field: 'fromName' | 'logoUrl') => (checked && faults[field]) || fieldFault(save.error, field);
  const type = (next: typeof branding) => {
    setDraft(next);
    setChecked(false);
    save.reset();
  };

  const submit = () => {
    setChecked(true);
    if (faults.fromName) return fields.fromName.current?.focus();
    if (faults.logoUrl) return fields.logoUrl.current?.focus();
    save.mutate(draft, {
      onSuccess: (saved) => {
        setDraft(saved.branding);
        toast('Branding saved', 'It applies to the next emails of your websites with a verified domain.');
      },
    });
  };

  return (
    <div className="grid gap-8">
      <SaveForm
        button="Save Branding"
        changed={draft.fromName !== branding.fromName || draft.logoUrl !== branding.logoUrl}
        busy={save.isPending}
        error={save.error}
        onSave={submit}
        onDiscard={() => type(branding)}
      >
        <Field
          ref={fields.fromName}
          label="From Name"
          name="fromName"
          autoComplete="off"
          placeholder="Your shop"
          hint="The name of the sender. The address stays that of the service, so that your emails are delivered."
          value={draft.fromName}
          error={faultOf('fromName')}
          onChange={(event) => type({ ...draft, fromName: event.target.value })}
        />
        <Field
          ref={fields.logoUrl}
          label="Logo URL"
          name="logoUrl"
          type="url"
          inputMode="url"
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          placeholder="https://example.com/logo.png"
          hint="A PNG or JPG on https, shown 40 pixels high at the top of the email."
          value={draft.logoUrl}
          error={faultOf('logoUrl')}
          onChange={(event) => type({ ...draft, logoUrl: event.target.value })}
          onBlur={() => setChecked(true)}
        />
      </SaveForm>
      <BrandingPreview branding={faults.fromName || faults.logoUrl ? null : draft} />
    </div>
  );
}

const options = languages.map(({ code, name }) => ({ value: code, label: name }));

/** A preview of the email. @param branding null: the input is not valid, and the last preview stays */
function BrandingPreview({ branding }: { branding: Branding | null }) {
  const [language, setLanguage] = useState<LanguageCode>('en');
  const address = branding && `/dashboard/settings/preview?${new URLSearchParams({ ...branding, language })}`;
  const { name } = languages[languages.findIndex(({ code }) => code === language)];

  return (
    <div>
      <div className="max-w-48">
        <Select label="Preview in" options={options} value={language} onChange={(event) => setLanguage(languageOf(event.target.value))} />
      </div>
      <PreviewFrame address={address} title={`Preview of the email, ${name}`} />
    </div>
  );
}

const MAX_NAMES = 5;

/** Names the websites that the branding applies to: those whose domain is verified. */
function BrandedWebsites() {
  const { data: websites } = useCall('listWebsites');
  // It keeps its height while it loads.
  return <p className="mb-5 min-h-12 text-sm leading-6 text-muted">{websites && sentenceOf(websites)}</p>;
}

type Websites = Output<'listWebsites'>;

function sentenceOf(all: Websites): ReactNode {
  // Every account manages localhost in local mode, and none has its branding there.
  const websites = all.filter(({ domain }) => domain !== LOCALHOST);
  const verified = websites.filter((website) => website.verified);
  const unverified = websites.filter((website) => !website.verified);
  const link = (
    <Link href={paths.websites} className="text-ink underline underline-offset-4">
      My Websites
    </Link>
  );
  if (websites.length === 0) return <>You have no websites yet. Add one under {link}.</>;
  if (verified.length === 0) return <>Applies to none of your websites yet: their domains are not verified. Verify them under {link}.</>;
  if (unverified.length === 0) return `Applies to ${namesOf(verified)}.`;
  return (
    <>
      Applies to {namesOf(verified)}. Not yet to {namesOf(unverified)}: verify {unverified.length === 1 ? 'its domain' : 'their domains'}{' '}
      under {link}.
    </>
  );
}

function namesOf(websites: Websites): string {
  const names = websites.slice(0, MAX_NAMES).map(({ displayDomain }) => displayDomain);
  const more = websites.length - names.length;
  return names.join(', ') + (more > 0 ? ` and ${more} more` : '');
}
