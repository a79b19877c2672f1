import { useRef, useState } from 'react';
import { Link } from 'wouter';
import { websitePath } from '../../paths.ts';
import { Field } from '../../ui/field.tsx';
import { fieldFault, SaveForm } from '../../ui/save-form.tsx';
import { Failed, Skeleton } from '../../ui/states.tsx';
import { toast } from '../../ui/toast.tsx';
import { type Branding, type BrandingDraft, type BrandingFieldName, faultsOf, useBranding, useSaveBranding } from './branding-data.ts';
import { BrandingPreview } from './branding-preview.tsx';
import { ColorField } from './color-field.tsx';
import type { TabProps, Website } from './queries.ts';

/** How the sign-in page and the emails of a website look. */
export function BrandingTab({ website }: TabProps) {
  const { data: branding, error, isFetching, refetch } = useBranding(website.id);
  return (
    <>
      <h2 className="sr-only">Branding</h2>
      <Scope website={website} />
      {error && !branding && (
        <Failed error={error} fallback="The branding could not be loaded." isFetching={isFetching} refetch={refetch} />
      )}
      {!branding && !error && <FormLoading />}
      {branding && <BrandingForm website={website} branding={branding} />}
    </>
  );
}

/** Where the branding is shown, which depends on the proof of the domain. */
function Scope({ website: { domain, displayDomain, verified } }: TabProps) {
  if (verified)
    return (
      <p className="mb-6 max-w-2xl text-muted">
        What visitors of {displayDomain} see when they sign in. The page and the emails always name the domain too. The icon is part of the{' '}
        <Link href={websitePath(domain, 'settings')} className="text-ink underline underline-offset-4">
          settings
        </Link>
        .
      </p>
    );
  return (
    <p className="mb-6 max-w-2xl rounded-control border border-line bg-sunk px-4 py-3 text-sm leading-6">
      Until the domain is verified, visitors see its color only: anyone could register a domain and give it a name. You can prepare the rest
      here, and{' '}
      <Link href={`${websitePath(domain, 'settings')}#proof`} className="text-ink underline underline-offset-4">
        verify the domain
      </Link>{' '}
      to show it.
    </p>
  );
}

const FIELDS: BrandingFieldName[] = ['name', 'accent', 'fromName', 'logoUrl'];

function BrandingForm({ website, branding: { defaults, ...saved } }: { website: Website; branding: Branding }) {
  const save = useSaveBranding(website.id);
  const form = useRef<HTMLDivElement>(null);
  const [draft, setDraft] = useState<BrandingDraft>(saved);
  const [checked, setChecked] = useState(false);
  const faults = faultsOf(draft);
  const firstFault = FIELDS.find((field) => faults[field]);
  const faultOf = (field: BrandingFieldName) => (checked && faults[field]) || fieldFault(save.error, field);
  const change = (next: BrandingDraft) => {
    setDraft(next);
    setChecked(false);
    save.reset();
  };
  const focus = (field: string) => form.current?.querySelector<HTMLInputElement>(`[name="${field}"]`)?.focus();

  const submit = () => {
    setChecked(true);
    if (firstFault) return focus(firstFault);
    save.mutate(draft, {
      onSuccess: ({ defaults: _, ...next }) => {
        setDraft(next);
        toast('Branding saved', website.verified ? 'It applies at once.' : 'It applies once the domain is verified; the color at once.');
      },
      onError: () => focus('logoUrl'),
    });
  };
  const propsOf = (field: BrandingFieldName) => ({
    name: field,
    autoComplete: 'off',
    value: draft[field],
    error: faultOf(field),
    onChange: (event: { target: { value: string } }) => change({ ...draft, [field]: event.target.value }),
  });

  return (
    <div className="grid gap-x-10 gap-y-8 xl:grid-cols-[20rem_minmax(0,1fr)]">
      <div ref={form} className="min-w-0 max-w-xl">
        <SaveForm
          button="Save Branding"
          changed={FIELDS.some((field) => draft[field] !== saved[field])}
          busy={save.isPending}
          error={save.error}
          onSave={submit}
          onDiscard={() => change(saved)}
        >
          <Field
            {...propsOf('name')}
            label="Name"
            placeholder={website.displayDomain}
            hint="Shown above the domain on the sign-in page, and in its title."
          />
          <ColorField value={draft.accent} error={faultOf('accent')} onChange={(accent) => change({ ...draft, accent })} />
          <Field
            {...propsOf('fromName')}
            label="From Name"
            placeholder={defaults.fromName || draft.name || 'Email Auth'}
            hint="The name of the emails’ sender. Empty: the one of the account’s settings, or else the name above."
          />
          <Field
            {...propsOf('logoUrl')}
            label="Logo URL"
            type="url"
            inputMode="url"
            autoCapitalize="none"
            spellCheck={false}
            placeholder={defaults.logoUrl || 'https://example.com/logo.png'}
            hint="A PNG, JPG or GIF on https, shown 40 pixels high at the top of the emails. Empty: the one of the account’s settings. It is loaded once when you save."
            onBlur={() => setChecked(true)}
          />
        </SaveForm>
      </div>
      <BrandingPreview website={website} branding={firstFault ? null : draft} />
    </div>
  );
}

const FormLoading = () => (
  <div role="status" aria-label="Loading the branding" className="grid gap-x-10 gap-y-8 xl:grid-cols-[20rem_minmax(0,1fr)]">
    <div className="grid max-w-xl content-start gap-5">
      {FIELDS.map((field) => (
        <div key={field}>
          <Skeleton className="mb-1.5 h-5 w-24" />
          <Skeleton className="h-11 w-full" />
          <div className="mt-1.5 h-10" />
        </div>
      ))}
    </div>
    <Skeleton className="mt-18 h-[44rem] w-full" />
  </div>
);
