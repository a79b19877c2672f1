import { lazy, Suspense, useState } from 'react';
import type { LanguageCode } from '../contract/languages.ts';
import type { SignInBoot } from '../contract/pages.ts';
import { Bar } from './chrome/bar.tsx';
import { Footer } from './chrome/footer.tsx';
import { failureText } from './features/signin/failure-text.ts';
import { LanguageSelect } from './features/signin/language-select.tsx';
import { SignInPage } from './features/signin/sign-in-page.tsx';
import { answerOf } from './lib/call.ts';
import { createTranslator, TranslatorContext } from './lib/i18n.ts';
import { recallRefusal } from './lib/refusal.ts';
import { toastFailure } from './lib/toast.ts';
import { paths } from './paths.ts';
import { ThemeSwitch } from './ui/theme-switch.tsx';
import { Toaster } from './ui/toaster.tsx';

// A visitor's way through steps 1 and 2 does without these.
const LinkPage = lazy(() => import('./features/signin/link-page.tsx').then(({ LinkPage }) => ({ default: LinkPage })));
const CallbackPage = lazy(() => import('./features/signin/callback-page.tsx').then(({ CallbackPage }) => ({ default: CallbackPage })));

const ConfirmBrowser = lazy(() =>
  import('./features/signin/confirm-browser.tsx').then(({ ConfirmBrowser }) => ({ default: ConfirmBrowser })),
);

/** The sign-in entry: its five pages, their bar, footer and language. */
export function SignInApp({ boot }: { boot: SignInBoot }) {
  const [path, setPath] = useState(location.pathname);
  const [translator, setTranslator] = useState(() => createTranslator(boot.language, boot.texts));
  const { t } = translator;
  const [refusal] = useState(recallRefusal);

  const startAgain = () => {
    history.replaceState(null, '', `${paths.signIn}?language=${translator.language}`);
    setPath(paths.signIn);
  };

  const changeLanguage = async (language: LanguageCode) => {
    try {
      const texts = await answerOf<Record<string, string>>(`/api/translations/${language}/auth`);
      const url = new URL(location.href);
      url.searchParams.set('language', language);
      history.replaceState(null, '', url);
      document.documentElement.lang = language;
      setTranslator(createTranslator(language, texts));
    } catch (error) {
      toastFailure(t('auth.error_title'), failureText(translator, error, 'auth.error_unavailable'));
    }
  };

  const link = path === paths.link ? boot.link : undefined;
  const isCallback = path === paths.callback || path === paths.legacyCallback;
  const page = link ? (
    <LinkPage target={boot.target} link={link} />
  ) : isCallback ? (
    <CallbackPage onStartAgain={startAgain} />
  ) : (
    <SignInPage target={boot.target} />
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
