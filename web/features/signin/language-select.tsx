import { type LanguageCode, languageOf, languages } from '../../../contract/languages.ts';
import { useTranslator } from '../../lib/i18n.ts';
import { DownIcon, GlobeIcon } from '../../ui/icons.tsx';

export function LanguageSelect({ onChange }: { onChange: (language: LanguageCode) => void }) {
  const { language, t } = useTranslator();
  return (
    <div className="relative flex min-w-0 items-center text-muted focus-within:text-ink hover:text-ink">
      <GlobeIcon className="pointer-events-none absolute left-3 size-4 max-[22rem]:hidden" />
      <select
        aria-label={t('auth.language_label')}
        value={language}
        onChange={(event) => onChange(languageOf(event.target.value))}
        className="h-11 w-full max-w-40 text-ellipsis appearance-none rounded-control bg-page pr-8 pl-9 max-[22rem]:pl-3 text-sm hover:bg-sunk"
      >
        {languages.map(({ code, name }) => (
          <option key={code} value={code} lang={code}>
            {name}
          </option>
        ))}
      </select>
      <DownIcon className="pointer-events-none absolute right-2.5 size-3.5" />
    </div>
  );
}
