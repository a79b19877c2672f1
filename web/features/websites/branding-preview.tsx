import { useState } from 'react';
import { type LanguageCode, languageOf, languages } from '../../../contract/languages.ts';
import { websitePath } from '../../paths.ts';
import { Select } from '../../ui/field.tsx';
import { PreviewFrame } from '../../ui/preview-frame.tsx';
import type { BrandingDraft } from './branding-data.ts';
import type { Website } from './queries.ts';

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
export function BrandingPreview({ website, branding }: { website: Website; branding: BrandingDraft | null }) {
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
