import { useRef, useState } from 'react';
import { Link } from 'wouter';
import type { Output } from '../../../contract/calls.ts';
import { accentFault } from '../../../contract/colors.ts';
import { type LanguageCode, languageOf, languages } from '../../../contract/languages.ts';
import { fromNameFault, websiteNameFault } from '../../../contract/rules.ts';
import { logoUrlFault } from '../../../contract/urls.ts';
import { useAct, useCall } from '../../lib/calls.ts';
import { websitePath } from '../../pages.ts';
import { Button } from '../../ui/button.tsx';
import { Field, Select } from '../../ui/field.tsx';
import { PreviewFrame } from '../../ui/panels.tsx';
import { fieldFault, SaveForm } from '../../ui/save-form.tsx';
import { Failed, Skeleton } from '../../ui/states.tsx';
import { toast } from '../../ui/toast.tsx';
import type { TabProps, Website } from './website.ts';

/** How the sign-in page and the emails of a website look. */
export function BrandingTab({ website }: TabProps) {
  const { data: branding, error, isFetching, refetch } = useCall('websiteBranding', { id: website.id });
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
  const save = useAct('saveWebsiteBranding', { refreshes: ['websiteBranding'] });
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
    save.mutate(
      { id: website.id, ...draft },
      {
        onSuccess: ({ defaults: _, ...next }) => {
          setDraft(next);
          toast('Branding saved', website.verified ? 'It applies at once.' : 'It applies once the domain is verified; the color at once.');
        },
        onError: () => focus('logoUrl'),
      },
    );
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
            hint="A PNG, JPG or GIF on https, shown 40 pixels high at the top of the emails. Empty: the one of the account’s settings, or else the uploaded icon. It is loaded once when you save."
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

/** What the color dialog begins with when there is no color yet. */
const FIRST_COLOR = '#0b6e58';

const isColor = (text: string) => /^#[0-9a-f]{6}$/i.test(text);

/** A color as text, and the color dialog of the browser. */
function ColorField({ value, error, onChange }: { value: string; error: string | null; onChange: (color: string) => void }) {
  const color = value.trim();
  return (
    <div>
      <Field
        label="Color"
        name="accent"
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        mono
        placeholder="#0b6e58"
        value={value}
        error={error}
        hint="Of the button. Its text is black or white, whichever is easier to read. Empty: black, or white in the dark theme."
        onChange={(event) => onChange(event.target.value)}
      />
      <div className="mt-2 flex items-center gap-2">
        <input
          type="color"
          aria-label="Choose the color"
          value={isColor(color) ? color : FIRST_COLOR}
          onChange={(event) => onChange(event.target.value)}
          className="h-11 w-16 cursor-pointer rounded-control border border-edge/60 bg-panel p-1 hover:border-edge"
        />
        {value === '' ? (
          <span className="px-1 text-sm text-muted">No color</span>
        ) : (
          <Button variant="quiet" small onClick={() => onChange('')}>
            Remove color
          </Button>
        )}
      </div>
    </div>
  );
}

const kinds = [
  { value: 'page', label: 'Sign-in page' },
  { value: 'mail', label: 'Email' },
] as const;
const themes = [
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
] as const;
const options = languages.map(({ code, name }) => ({ value: code, label: name }));

/** The sign-in page or the email with a branding that is not saved. @param branding null: it is not valid, and the last preview stays */
function BrandingPreview({ website, branding }: { website: Website; branding: BrandingDraft | null }) {
  const [kind, setKind] = useState<'page' | 'mail'>('page');
  const [theme, setTheme] = useState<'light' | 'dark'>('light');
  const [language, setLanguage] = useState<LanguageCode>('en');
  const address =
    branding && `${websitePath(website.domain)}/preview/${kind}?${new URLSearchParams({ ...trimmed(branding), language, theme })}`;
  const { name } = languages[languages.findIndex(({ code }) => code === language)];
  const what = kind === 'page' ? 'sign-in page' : 'email';

  return (
    <section aria-label="Preview" className="min-w-0">
      <div className="grid gap-3 sm:grid-cols-3">
        <Select label="Preview of" options={kinds} value={kind} onChange={(event) => setKind(event.target.value as typeof kind)} />
        <Select label="Theme" options={themes} value={theme} onChange={(event) => setTheme(event.target.value as typeof theme)} />
        <Select label="Language" options={options} value={language} onChange={(event) => setLanguage(languageOf(event.target.value))} />
      </div>
      <PreviewFrame key={kind} address={address} title={`Preview of the ${what}, ${name}, ${theme}`} ownStyles={kind === 'page'} />
      {!website.verified && <p className="mt-2 text-sm text-muted">This is what visitors see once the domain is verified.</p>}
    </section>
  );
}

function trimmed({ name, accent, fromName, logoUrl }: BrandingDraft): BrandingDraft {
  return { name: name.trim(), accent: accent.trim(), fromName: fromName.trim(), logoUrl: logoUrl.trim() };
}

type Branding = Output<'websiteBranding'>;
type BrandingDraft = Omit<Branding, 'defaults'>;
type BrandingFieldName = keyof BrandingDraft;

/** Returns why each field of a draft cannot be saved, or null. */
function faultsOf({ name, accent, fromName, logoUrl }: BrandingDraft): Record<BrandingFieldName, string | null> {
  return {
    name: websiteNameFault(name.trim()),
    accent: accentFault(accent.trim()),
    fromName: fromNameFault(fromName.trim()),
    logoUrl: logoUrlFault(logoUrl.trim()),
  };
}
