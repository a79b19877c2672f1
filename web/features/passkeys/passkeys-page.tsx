import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo, useRef, useState } from 'react';
import { type LanguageCode, languageCodes, languageOf } from '../../../contract/languages.ts';
import { LANGUAGE_COOKIE } from '../../../contract/remembered.ts';
import { Bar, Footer, LanguageSelect, ThemeSwitch } from '../../chrome/page-frame.tsx';
import { callQuery, useCall } from '../../lib/calls.ts';
import { useLogout, useUser } from '../../lib/session.ts';
import { readCookie, storeReturnPath, writeCookie } from '../../lib/storage.ts';
import { createTranslator, TranslatorContext, translateError, useTranslator } from '../../lib/texts.ts';
import { paths } from '../../pages.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { PageHeading } from '../../ui/page-heading.tsx';
import { RowsLoading } from '../../ui/panels.tsx';
import { Failed } from '../../ui/states.tsx';
import { Toaster, toastFailure } from '../../ui/toast.tsx';
import { failedTexts } from './add-passkey.tsx';
import { OwnPasskeys } from './passkeys.tsx';

/** Returns the language that the address names, that was chosen before, or the first known one of the browser, as the service does. */
function visitorLanguage(): LanguageCode {
  const chosen = new URLSearchParams(location.search).get('language') ?? readCookie(LANGUAGE_COOKIE);
  const known = navigator.languages.map((tag) => tag.split('-')[0]).find((code) => (languageCodes as readonly string[]).includes(code));
  return languageOf(chosen ?? known);
}

/** /passkeys: the passkeys of a visitor, in the languages of the sign-in pages. */
export function PasskeysPage() {
  const queries = useQueryClient();
  const [language, setLanguage] = useState(visitorLanguage);
  const chosen = useRef(language);
  const { data: texts, ...query } = useCall('translations', { language });
  const translator = useMemo(() => texts && createTranslator(language, texts), [language, texts]);
  useEffect(() => {
    document.documentElement.lang = language;
    return () => {
      document.documentElement.lang = 'en';
    };
  }, [language]);

  if (!translator) {
    return (
      <main data-loading={query.error ? undefined : ''} className="mx-auto w-full max-w-md grow px-4 py-16">
        {query.error && <Failed {...query} fallback="This page could not be loaded." />}
      </main>
    );
  }
  const { t } = translator;

  const changeLanguage = async (next: LanguageCode) => {
    chosen.current = next;
    try {
      await queries.fetchQuery({ ...callQuery('translations', { language: next }), staleTime: Number.POSITIVE_INFINITY });
    } catch (error) {
      if (chosen.current === next) toastFailure(t('auth.error_title'), translateError(translator, error, 'auth.error_unavailable'));
      return;
    }
    // Another one may have been chosen meanwhile.
    if (chosen.current !== next) return;
    const url = new URL(location.href);
    url.searchParams.set('language', next);
    history.replaceState(history.state, '', url);
    writeCookie(LANGUAGE_COOKIE, next);
    setLanguage(next);
  };

  return (
    <TranslatorContext value={translator}>
      <Bar>
        <LanguageSelect label={t('auth.language_label')} language={language} onChange={changeLanguage} />
        <ThemeSwitch toLight={t('auth.theme_light')} toDark={t('auth.theme_dark')} />
      </Bar>
      <main className="flex grow flex-col px-4 py-8 sm:py-14">
        <div className="mx-auto w-full max-w-2xl">
          <PageHeading title={t('auth.passkeys_title')} />
          <p className="mt-1.5 text-muted">{t('auth.passkeys_text')}</p>
          <OfVisitor />
        </div>
      </main>
      <Footer terms={t('auth.terms')} privacy={t('auth.privacy')} />
      <Toaster dismissLabel={t('auth.dismiss')} />
    </TranslatorContext>
  );
}

/** The passkeys of the address that is signed in, or the way to the sign-in. */
function OfVisitor() {
  const translator = useTranslator();
  const { t, language } = translator;
  const query = useUser();
  const { data: user, error, isPending } = query;
  const logout = useLogout(() => {});
  if (isPending) {
    return (
      <div className="mt-8">
        <RowsLoading label={t('auth.passkeys_loading')} />
      </div>
    );
  }
  if (error) {
    return (
      <div className="mt-8">
        <Failed {...query} texts={failedTexts(translator, error, 'auth.passkeys_not_loaded')} />
      </div>
    );
  }
  if (!user) {
    return (
      <>
        <p className="mt-6">{t('auth.passkeys_sign_in_text')}</p>
        <ButtonLink
          className="mt-5"
          href={`${paths.signIn}?language=${language}`}
          onClick={() => storeReturnPath(`${paths.passkeys}?language=${language}`)}
        >
          {t('auth.passkeys_sign_in_button')}
        </ButtonLink>
      </>
    );
  }
  return (
    <>
      <div className="mt-6 mb-4 flex flex-wrap items-center justify-between gap-x-4 gap-y-1">
        <p className="min-w-0 text-sm text-muted wrap-anywhere">{t('auth.signed_in_title', { email: user.email })}</p>
        <Button variant="quiet" small className="-mx-3" busy={logout.isPending} onClick={() => logout.mutate()}>
          {t('auth.oidc_logout_button')}
        </Button>
      </div>
      <section aria-labelledby="own-passkeys">
        <h2 id="own-passkeys" className="sr-only">
          {t('auth.passkeys_list_label')}
        </h2>
        <OwnPasskeys email={user.email} />
      </section>
    </>
  );
}

/** The passkeys of a developer in the settings, which are in English as the whole portal. */
export function Passkeys() {
  const { data: texts, ...query } = useCall('translations', { language: 'en' });
  const { data: user } = useUser();
  const translator = useMemo(() => texts && createTranslator('en', texts), [texts]);
  if (query.error && !texts) return <Failed {...query} fallback="Your passkeys could not be loaded." />;
  if (!translator || !user) return <RowsLoading what="your passkeys" />;
  return (
    <TranslatorContext value={translator}>
      <OwnPasskeys email={user.email} />
    </TranslatorContext>
  );
}
