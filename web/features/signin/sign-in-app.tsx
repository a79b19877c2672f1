import { useEffect, useState } from 'react';
import type { LanguageCode } from '../../../contract/languages.ts';
import type { SignInBoot } from '../../../contract/pages.ts';
import { LANGUAGE_COOKIE } from '../../../contract/remembered.ts';
import { Bar, Footer } from '../../chrome/page-frame.tsx';
import { hydrated } from '../../lib/hydration.ts';
import { writeCookie } from '../../lib/storage.ts';
import { forgetTyped } from '../../lib/typed.ts';
import { paths } from '../../paths.ts';
import { ThemeSwitch } from '../../ui/theme-switch.tsx';
import { Toaster, toastFailure } from '../../ui/toast.tsx';
import { AuthorizationPage } from './authorization-page.tsx';
import { BootContext } from './boot.ts';
import { CallbackPage } from './callback-page.tsx';
import { ConfirmBrowser } from './confirm-browser.tsx';
import { ErrorPage } from './error-page.tsx';
import { loadTexts } from './flow.ts';
import { LanguageSelect } from './language-select.tsx';
import { LeavingPage } from './leaving-page.tsx';
import { LinkPage } from './link-page.tsx';
import { SignInPage } from './sign-in-page.tsx';
import { createTranslator, failureText, TranslatorContext } from './texts.ts';

/**
 * The sign-in entry: its pages with bar, footer and language. The service renders it to HTML and the script takes that over, so that
 * the first render depends on `boot` alone.
 */
export function SignInApp({ boot }: { boot: SignInBoot }) {
  const [path, setPath] = useState(boot.path);
  const [translator, setTranslator] = useState(() => createTranslator(boot.language, boot.texts));
  const { t } = translator;
  const { authorization, error, confirmBrowser, target, leaving } = boot;

  useEffect(() => {
    // A reload of the response to a form post would post the form again.
    if (boot.failure) history.replaceState(history.state, '', boot.path + boot.search);
    forgetTyped();
    hydrated.set(true);
  }, [boot]);

  const startAgain = () => {
    history.replaceState(null, '', `${paths.signIn}?language=${translator.language}`);
    setPath(paths.signIn);
  };

  const changeLanguage = async (language: LanguageCode) => {
    try {
      const texts = await loadTexts(language);
      const url = new URL(location.href);
      url.searchParams.set('language', language);
      history.replaceState(history.state, '', url);
      if (authorization) writeCookie(LANGUAGE_COOKIE, language);
      document.documentElement.lang = language;
      setTranslator(createTranslator(language, texts));
    } catch (error) {
      toastFailure(t('auth.error_title'), failureText(translator, error, 'auth.error_unavailable'));
    }
  };

  const link = path === paths.link ? boot.link : undefined;
  const isCallback = path === paths.callback || path === paths.legacyCallback;
  const page = error ? (
    <ErrorPage {...error} />
  ) : leaving ? (
    <LeavingPage target={target} url={leaving.url} />
  ) : confirmBrowser && (link || isCallback) ? (
    <ConfirmBrowser {...confirmBrowser} />
  ) : link ? (
    <LinkPage target={target} link={link} />
  ) : isCallback ? (
    <CallbackPage onStartAgain={startAgain} />
  ) : authorization && authorization.step !== 'sign_in' ? (
    <AuthorizationPage target={target} step={authorization} />
  ) : (
    <SignInPage target={target} wanted={authorization} />
  );

  return (
    <BootContext value={boot}>
      <TranslatorContext value={translator}>
        <Bar>
          <LanguageSelect onChange={changeLanguage} />
          <ThemeSwitch toLight={t('auth.theme_light')} toDark={t('auth.theme_dark')} />
        </Bar>
        <main className="flex grow flex-col px-4 py-8 sm:py-[clamp(2rem,9vh,7rem)]">
          <div className="mx-auto w-full max-w-100">{page}</div>
        </main>
        <Footer notice={target.kind === 'site' ? t('auth.secured_by') : undefined} terms={t('auth.terms')} privacy={t('auth.privacy')} />
        <Toaster dismissLabel={t('auth.dismiss')} />
      </TranslatorContext>
    </BootContext>
  );
}
