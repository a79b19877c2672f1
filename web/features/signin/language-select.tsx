import { type LanguageCode, languageOf, languages } from '../../../contract/languages.ts';
import { CheckIcon, DownIcon, GlobeIcon } from '../../ui/icons.tsx';
import { useBoot } from './boot.ts';
import { useTranslator } from './texts.ts';

/** The choice of the language. Without a script, it is a form that loads the page again. */
export function LanguageSelect({ onChange }: { onChange: (language: LanguageCode) => void }) {
  const { path, search } = useBoot();
  const { language, t } = useTranslator();
  const others = [...new URLSearchParams(search)].filter(([name]) => name !== 'language');
  return (
    <form method="get" action={path} className="flex min-w-0 items-center">
      {others.map(([name, value], index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a query may contain a name twice, and does not change
        <input key={index} type="hidden" name={name} value={value} />
      ))}
      <div className="relative flex min-w-0 items-center text-muted focus-within:text-ink hover:text-ink">
        <GlobeIcon className="pointer-events-none absolute left-3 size-4 max-[22rem]:hidden" />
        <select
          name="language"
          aria-label={t('auth.language_label')}
          value={language}
          onChange={(event) => onChange(languageOf(event.target.value))}
          className="language-names h-11 w-full max-w-40 text-ellipsis appearance-none rounded-control bg-page pr-8 pl-9 max-[22rem]:pl-3 text-sm hover:bg-sunk"
        >
          {languages.map(({ code, name }) => (
            <option key={code} value={code} lang={code}>
              {name}
            </option>
          ))}
        </select>
        <DownIcon className="pointer-events-none absolute right-2.5 size-3.5" />
      </div>
      <button
        type="submit"
        aria-label={t('auth.language_apply')}
        className="without-script grid size-11 shrink-0 place-items-center rounded-control text-muted hover:bg-sunk hover:text-ink"
      >
        <CheckIcon />
      </button>
    </form>
  );
}
