import { useState } from 'react';
import type { AuthorizationStep, SignInBoot } from '../../../contract/pages.ts';
import { Button } from '../../ui/button.tsx';
import { PageHeading } from '../../ui/page-heading.tsx';
import { toastFailure } from '../../ui/toast.tsx';
import { ClientLine } from './authorization-parts.tsx';
import { Card } from './card.tsx';
import { failureText, useTranslator } from './texts.ts';

/** Asks whether the browser is signed out of this service too (OpenID Connect RP-Initiated Logout §2). */
export function SignOutStep({ target, form }: { target: SignInBoot['target'] } & Extract<AuthorizationStep, { step: 'sign_out' }>) {
  const translator = useTranslator();
  const { t } = translator;
  const [sending, setSending] = useState<'out' | 'stay' | null>(null);

  const decide = async (choice: 'out' | 'stay') => {
    if (sending) return;
    setSending(choice);
    try {
      // Not a form of the browser: form-action of the Content-Security-Policy also applies to the redirect to the application.
      const response = await fetch(form.action, {
        method: 'POST',
        headers: { Accept: 'application/json' },
        body: new URLSearchParams({ ...form.fields, ...(choice === 'out' && { logout: 'yes' }) }),
      });
      if (!response.ok) throw new Error(`The service answered ${response.status}.`);
      const { redirectUrl } = await response.json();
      location.assign(redirectUrl);
    } catch (error) {
      setSending(null);
      toastFailure(t('auth.error_title'), failureText(translator, error, 'auth.error_unavailable'));
    }
  };

  return (
    <Card>
      <ClientLine target={target} />
      <PageHeading title={t('auth.oidc_logout_title')} />
      <p className="mt-2 text-muted">{t('auth.oidc_logout_text')}</p>
      <div className="mt-6 grid gap-2">
        <Button busy={sending === 'out'} onClick={() => decide('out')}>
          {t('auth.oidc_logout_button')}
        </Button>
        <Button variant="secondary" busy={sending === 'stay'} onClick={() => decide('stay')}>
          {t('auth.oidc_logout_stay')}
        </Button>
      </div>
    </Card>
  );
}
