import '@fontsource-variable/geist/wght.css';
import './signin.css';
import { lazy, Suspense, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { type LanguageCode, languageOf, languages } from '../contract/languages.ts';
import { BOOT_ELEMENT, type SignInBoot } from '../contract/pages.ts';
import { Bar, Footer } from './chrome/page-frame.tsx';
import { readRefusal } from './features/signin/refusal.ts';
import { SignInPage } from './features/signin/sign-in-page.tsx';
import { createTranslator, failureText, TranslatorContext, useTranslator } from './features/signin/texts.ts';
import { paths } from './paths.ts';
import { DownIcon, GlobeIcon } from './ui/icons.tsx';
import { ThemeSwitch } from './ui/theme-switch.tsx';
import { Toaster, toastFailure } from './ui/toast.tsx';

// Steps 1 and 2 of a visitor's sign-in need none of these.
const LinkPage = lazy(() => import('./features/signin/link-page.tsx').then(({ LinkPage }) => ({ default: LinkPage })));
const CallbackPage = lazy(() => import('./features/signin/callback-page.tsx').then(({ CallbackPage }) => ({ default: CallbackPage })));

const AuthorizationPage = lazy(() =>
  import('./features/signin/authorization-page.tsx').then(({ AuthorizationPage }) => ({ default: AuthorizationPage })),
);
const ConfirmBrowser = lazy(() =>
  import('./features/signin/confirm-browser.tsx').then(({ ConfirmBrowser }) => ({ default: ConfirmBrowser })),
);

/** The sign-in entry: its pages with bar, footer and language. */
function SignInApp({ boot }: { boot: SignInBoot }) {
  const [path, setPath] = useState(location.pathname);
  const [translator, setTranslator] = useState(() => createTranslator(boot.language, boot.texts));
  const { t } = translator;
  const [refusal] = useState(readRefusal);

  const startAgain = () => {
    history.replaceState(null, '', `${paths.signIn}?language=${translator.language}`);
    setPath(paths.signIn);
  };

  const changeLanguage = async (language: LanguageCode) => {
    try {
      const { loadTexts } = await import('./features/signin/flow.ts');
      const texts = await loadTexts(language);
      const url = new URL(location.href);
      url.searchParams.set('language', language);
      history.replaceState(null, '', url);
      document.documentElement.lang = language;
      setTranslator(createTranslator(language, texts));
    } catch (error) {
      toastFailure(t('auth.error_title'), failureText(translator, error, 'auth.error_unavailable'));
    }
  };

  const { authorization } = boot;
  const link = path === paths.link ? boot.link : undefined;
  const isCallback = path === paths.callback || path === paths.legacyCallback;
  const page = link ? (
    <LinkPage target={boot.target} link={link} />
  ) : isCallback ? (
    <CallbackPage onStartAgain={startAgain} />
  ) : authorization && authorization.step !== 'sign_in' ? (
    <AuthorizationPage target={boot.target} step={authorization} />
  ) : (
    <SignInPage target={boot.target} wanted={authorization} />
  );

  return (
    <TranslatorContext value={translator}>
      <Bar>
        <LanguageSelect onChange={changeLanguage} />
        <ThemeSwitch toLight={t('auth.theme_light')} toDark={t('auth.theme_dark')} />
      </Bar>
      <main className="flex grow flex-col px-4 py-8 sm:py-[clamp(2rem,9vh,7rem)]">
        <div className="mx-auto w-full max-w-100">
          <Suspense>{refusal && (link || isCallback) ? <ConfirmBrowser refusal={refusal}>{page}</ConfirmBrowser> : page}</Suspense>
        </div>
      </main>
      <Footer terms={t('auth.terms')} privacy={t('auth.privacy')} />
      <Toaster dismissLabel={t('auth.dismiss')} />
    </TranslatorContext>
  );
}

function LanguageSelect({ onChange }: { onChange: (language: LanguageCode) => void }) {
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

/** Returns the data that the service wrote into the page. */
function readBoot(): SignInBoot {
  return JSON.parse(document.getElementById(BOOT_ELEMENT)?.textContent ?? '');
}

const root = document.getElementById('root');
if (root) createRoot(root).render(<SignInApp boot={readBoot()} />);
