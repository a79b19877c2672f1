import { type FormEvent, useState } from 'react';
import type { AuthorizationStep, SignInBoot } from '../../../contract/pages.ts';
import { Button } from '../../ui/button.tsx';
import { PageHeading } from '../../ui/page-heading.tsx';
import { toastFailure } from '../../ui/toast.tsx';
import { ClientLine, ServiceForm } from './authorization-parts.tsx';
import { Card } from './card.tsx';
import { failureText, useTranslator } from './texts.ts';

/** Asks whether the browser is signed out of this service too (OpenID Connect RP-Initiated Logout §2). */
export function SignOutStep({ target, form }: { target: SignInBoot['target'] } & Extract<AuthorizationStep, { step: 'sign_out' }>) {
  const translator = useTranslator();
  const { t } = translator;
  const [sending, setSending] = useState<'out' | 'stay' | null>(null);

  const decide = async (event: FormEvent) => {
    const submitter = (event.nativeEvent as SubmitEvent).submitter as HTMLButtonElement | null;
    // A browser that does not name the button posts the form itself.
    if (!submitter) return;
    event.preventDefault();
    if (sending) return;
    const choice = submitter.name === 'logout' ? 'out' : 'stay';
    setSending(choice);
    try {
      // The form of the browser, without a script, is answered with a page: form-action of the policy also applies to redirects.
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
      <ServiceForm form={form} onSubmit={decide} className="mt-6 grid gap-2">
        <Button type="submit" name="logout" value="yes" busy={sending === 'out'}>
          {t('auth.oidc_logout_button')}
        </Button>
        <Button type="submit" variant="secondary" busy={sending === 'stay'}>
          {t('auth.oidc_logout_stay')}
        </Button>
      </ServiceForm>
    </Card>
  );
}
