import { useEffect, useState } from 'react';
import { type LanguageCode, languageOf, languages } from '../../../contract/languages.ts';
import type { Settings } from '../../lib/settings.ts';
import { Select } from '../../ui/select.tsx';

const DEBOUNCE_MS = 400;

const options = languages.map(({ code, name }) => ({ value: code, label: name }));

/** The mail as visitors would get it. @param branding null: what is typed cannot be shown, and the last mail stays */
export function BrandingPreview({ branding }: { branding: Settings['branding'] | null }) {
  const [language, setLanguage] = useState<LanguageCode>('en');
  const wanted = useSettled(branding && `/dashboard/settings/preview?${new URLSearchParams({ ...branding, language })}`);
  const [shown, setShown] = useState<string | null>(null);
  // The next mail loads behind the one that is shown. Each has a frame of its own: a new address in an old frame would be one
  // more step for the Back button.
  const frames = [...new Set([shown, wanted])].filter((address) => address !== null);
  const { name } = languages[languages.findIndex(({ code }) => code === language)];

  return (
    <div>
      <div className="max-w-48">
        <Select label="Preview in" options={options} value={language} onChange={(event) => setLanguage(languageOf(event.target.value))} />
      </div>
      <div className="relative mt-3 h-[44rem] overflow-hidden rounded-panel border border-line bg-sunk">
        {frames.map((address) => (
          <iframe
            key={address}
            src={address}
            title={`Preview of the email, ${name}`}
            sandbox=""
            aria-hidden={address === wanted ? undefined : true}
            onLoad={() => setShown(address)}
            className={`absolute inset-0 size-full ${address === shown ? '' : 'opacity-0'}`}
          />
        ))}
      </div>
    </div>
  );
}

/** The newest value that is not null, once it has not changed for a moment; the first one at once. */
function useSettled(value: string | null): string | null {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    if (value === null) return;
    const timer = setTimeout(() => setSettled(value), DEBOUNCE_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}
