import { useEffect, useMemo, useRef } from 'react';
import type { LanguageCode } from '../../../contract/languages.ts';
import type { SignInBoot } from '../../../contract/pages.ts';
import { LANGUAGE_COOKIE } from '../../../contract/remembered.ts';
import { Bar, Footer, LanguageSelect, ThemeSwitch } from '../../chrome/page-frame.tsx';
import { api } from '../../lib/api.ts';
import { writeCookie } from '../../lib/storage.ts';
import { hydrated } from '../../lib/store.ts';
import { createTranslator, TranslatorContext, translateError, useTranslator } from '../../lib/texts.ts';
import { paths } from '../../pages.ts';
import { CheckIcon } from '../../ui/icons.tsx';
import { Toaster, toastFailure } from '../../ui/toast.tsx';
import { AuthorizationPage } from './authorization-page.tsx';
import { ErrorPage, LeavingPage, Unsupported } from './final-pages.tsx';
import { CallbackPage, ConfirmBrowser, LinkPage } from './link-page.tsx';
import { PageContext, useBoot, usePage, useSignInPage } from './page.ts';
import { AddPasskey, PasskeyOffer, ProgramSignIn } from './passkey.tsx';
import { forgetTyped, portalSteps } from './steps.ts';
import { SignInPage } from './steps-page.tsx';

/**
 * The sign-in entry: its pages with bar, footer and language. The service renders it to HTML and the script takes that over, so that
 * the first render depends on `boot` alone.
 */
export function SignInApp({ boot: first }: { boot: SignInBoot }) {
  const page = useSignInPage(first);
  const { boot, change } = page;
  const { language, texts } = boot;
  const translator = useMemo(() => createTranslator(language, texts), [language, texts]);
  const chosenLanguage = useRef(language);
  const { t } = translator;

  useEffect(() => {
    // A reload of the response to a form post would post the form again.
    if (first.failure) history.replaceState(history.state, '', first.path + first.search);
    forgetTyped();
    hydrated.set(true);
  }, [first]);

  const changeLanguage = async (chosen: LanguageCode) => {
    chosenLanguage.current = chosen;
    try {
      const loaded = await api.translations({ language: chosen });
      // Another one may have been chosen meanwhile.
      if (chosenLanguage.current !== chosen) return;
      const url = new URL(location.href);
      url.searchParams.set('language', chosen);
      history.replaceState(history.state, '', url);
      if (boot.authorization) writeCookie(LANGUAGE_COOKIE, chosen);
      document.documentElement.lang = chosen;
      change(inLanguage(chosen, loaded));
    } catch (error) {
      if (chosenLanguage.current === chosen)
        toastFailure(t('auth.error_title'), translateError(translator, error, 'auth.error_unavailable'));
    }
  };

  return (
    <PageContext value={page}>
      <TranslatorContext value={translator}>
        <Bar>
          <LanguageForm onChange={changeLanguage} />
          <ThemeSwitch toLight={t('auth.theme_light')} toDark={t('auth.theme_dark')} />
        </Bar>
        <main className="flex grow flex-col px-4 py-8 sm:py-[clamp(2rem,9vh,7rem)]">
          <div className="mx-auto w-full max-w-100">
            <CurrentPage boot={boot} />
          </div>
        </main>
        <Footer
          notice={boot.target.kind === 'site' ? t('auth.secured_by') : undefined}
          terms={t('auth.terms')}
          privacy={t('auth.privacy')}
        />
        <Toaster dismissLabel={t('auth.dismiss')} />
      </TranslatorContext>
    </PageContext>
  );
}

/** Returns a page in another language. */
const inLanguage = (language: LanguageCode, texts: SignInBoot['texts']) => (boot: SignInBoot) => {
  const { steps } = boot;
  const query = new URLSearchParams(steps?.query);
  query.set('language', language);
  return { ...boot, language, texts, ...(steps && { steps: { ...steps, query: `?${query}` } }) };
};

/** The page that the data describes. */
function CurrentPage({ boot }: { boot: SignInBoot }) {
  const { change } = usePage();
  const { path, search, target, error, leaving, offer, addPasskey, confirmBrowser, authorization } = boot;
  const attempt = target.kind === 'portal' && new URLSearchParams(search).get('attempt');
  const link = path === paths.link ? boot.link : undefined;
  const isCallback = path === paths.callback || path === paths.legacyCallback;

  const startAgain = () => {
    const steps = portalSteps(boot.language);
    history.replaceState(null, '', steps.base + steps.query);
    change((page) => ({ ...page, path: steps.base, search: steps.query, link: undefined, steps }));
  };

  if (error) return <ErrorPage {...error} />;
  if (leaving) return <LeavingPage target={target} url={leaving.url} />;
  if (offer) return <PasskeyOffer target={target} offer={offer} />;
  if (addPasskey) return <AddPasskey target={target} required={addPasskey} />;
  if (confirmBrowser && (link || isCallback)) return <ConfirmBrowser email={confirmBrowser.email} />;
  if (link) return <LinkPage target={target} link={link} />;
  if (isCallback) return <CallbackPage onStartAgain={startAgain} />;
  if (authorization && authorization.step !== 'sign_in') return <AuthorizationPage target={target} step={authorization} />;
  if (target.kind === 'unsupported') return <Unsupported target={target} />;
  return attempt ? <ProgramSignIn attempt={attempt} /> : <SignInPage wanted={authorization} />;
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
