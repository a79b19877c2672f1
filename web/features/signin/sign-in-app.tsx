import { useEffect, useRef, useState } from 'react';
import type { LanguageCode } from '../../../contract/languages.ts';
import type { SignInBoot } from '../../../contract/pages.ts';
import { LANGUAGE_COOKIE } from '../../../contract/remembered.ts';
import { Bar, Footer, LanguageSelect, ThemeSwitch } from '../../chrome/page-frame.tsx';
import { writeCookie } from '../../lib/storage.ts';
import { hydrated } from '../../lib/store.ts';
import { createTranslator, failureText, TranslatorContext, useTranslator } from '../../lib/texts.ts';
import { paths } from '../../paths.ts';
import { CheckIcon } from '../../ui/icons.tsx';
import { Toaster, toastFailure } from '../../ui/toast.tsx';
import { AuthorizationPage } from './authorization-page.tsx';
import { ErrorPage, LeavingPage } from './final-pages.tsx';
import { loadTexts } from './flow.ts';
import { CallbackPage, ConfirmBrowser, LinkPage } from './link-page.tsx';
import { AddPasskey, PasskeyOffer, ProgramSignIn } from './passkey.tsx';
import { SignInPage } from './sign-in-page.tsx';
import { BootContext, forgetTyped, useBoot } from './steps.ts';

/**
 * The sign-in entry: its pages with bar, footer and language. The service renders it to HTML and the script takes that over, so that
 * the first render depends on `boot` alone.
 */
export function SignInApp({ boot }: { boot: SignInBoot }) {
  const [path, setPath] = useState(boot.path);
  const [translator, setTranslator] = useState(() => createTranslator(boot.language, boot.texts));
  const chosenLanguage = useRef(boot.language);
  const { t } = translator;
  const { authorization, error, confirmBrowser, target, leaving, offer, addPasskey } = boot;
  const attempt = target.kind === 'portal' && new URLSearchParams(boot.search).get('attempt');

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
    chosenLanguage.current = language;
    try {
      const texts = await loadTexts(language);
      // Another one may have been chosen meanwhile.
      if (chosenLanguage.current !== language) return;
      const url = new URL(location.href);
      url.searchParams.set('language', language);
      history.replaceState(history.state, '', url);
      if (authorization) writeCookie(LANGUAGE_COOKIE, language);
      document.documentElement.lang = language;
      setTranslator(createTranslator(language, texts));
    } catch (error) {
      if (chosenLanguage.current === language)
        toastFailure(t('auth.error_title'), failureText(translator, error, 'auth.error_unavailable'));
    }
  };

  const link = path === paths.link ? boot.link : undefined;
  const isCallback = path === paths.callback || path === paths.legacyCallback;
  const page = error ? (
    <ErrorPage {...error} />
  ) : leaving ? (
    <LeavingPage target={target} url={leaving.url} />
  ) : offer ? (
    <PasskeyOffer target={target} offer={offer} />
  ) : addPasskey ? (
    <AddPasskey target={target} required={addPasskey} />
  ) : confirmBrowser && (link || isCallback) ? (
    <ConfirmBrowser {...confirmBrowser} />
  ) : link ? (
    <LinkPage target={target} link={link} />
  ) : isCallback ? (
    <CallbackPage onStartAgain={startAgain} />
  ) : authorization && authorization.step !== 'sign_in' ? (
    <AuthorizationPage target={target} step={authorization} />
  ) : attempt ? (
    <ProgramSignIn attempt={attempt} />
  ) : (
    <SignInPage target={target} wanted={authorization} />
  );

  return (
    <BootContext value={boot}>
      <TranslatorContext value={translator}>
        <Bar>
          <LanguageForm onChange={changeLanguage} />
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

/** The choice of the language. Without a script, it is a form that loads the page again. */
function LanguageForm({ onChange }: { onChange: (language: LanguageCode) => void }) {
  const { path, search } = useBoot();
  const { language, t } = useTranslator();
  const others = [...new URLSearchParams(search)].filter(([name]) => name !== 'language');
  return (
    <form method="get" action={path} className="flex min-w-0 items-center">
      {others.map(([name, value], index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a query may contain a name twice, and does not change
        <input key={index} type="hidden" name={name} value={value} />
      ))}
      <LanguageSelect label={t('auth.language_label')} language={language} onChange={onChange} />
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
