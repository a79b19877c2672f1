import { useRef, useState } from 'react';
import { fromNameFault, logoUrlFault } from '../../../contract/rules.ts';
import type { Settings } from '../../lib/settings.ts';
import { toast } from '../../lib/toast.ts';
import { Field } from '../../ui/field.tsx';
import { BrandingPreview } from './branding-preview.tsx';
import { useSaveBranding } from './queries.ts';
import { fieldFault, SaveForm } from './save-form.tsx';

export function BrandingForm({ settings: { branding } }: { settings: Settings }) {
  const save = useSaveBranding();
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
        toast('Branding saved', 'The next emails of your websites with a proven domain have it.');
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
          hint="Stands as the sender. The address stays the service’s own, so that your emails arrive."
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
          hint="A PNG or JPG on https, shown 40 pixels high on top of the email."
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
