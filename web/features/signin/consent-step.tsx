import { type FormEvent, useState } from 'react';
import type { AuthorizationStep, SignInBoot } from '../../../contract/pages.ts';
import type { Input } from '../../../contract/routes.ts';
import { api } from '../../lib/api.ts';
import { Button } from '../../ui/button.tsx';
import { CheckIcon } from '../../ui/icons.tsx';
import { PageHeading } from '../../ui/page-heading.tsx';
import { toastFailure } from '../../ui/toast.tsx';
import { type Application, ClientLine, hostOf } from './authorization-parts.tsx';
import { useBoot } from './boot.ts';
import { Card } from './card.tsx';
import { Note } from './note.tsx';
import { isApiError } from './requests.ts';
import { useFormErrors } from './steps.ts';
import { failureText, useTranslator } from './texts.ts';

const scopeTexts = {
  openid: 'auth.oidc_scope_openid',
  email: 'auth.oidc_scope_email',
  profile: 'auth.oidc_scope_profile',
  offline_access: 'auth.oidc_scope_offline_access',
  'websites:read': 'auth.oidc_scope_websites_read',
  'websites:write': 'auth.oidc_scope_websites_write',
  'stats:read': 'auth.oidc_scope_stats_read',
} as const;

type Decision = Input<'decideInteraction'>['decision'];

/** Asks whether the application may receive what it requests. */
export function ConsentStep({
  target,
  maskedEmail,
  scopes,
  onEnded,
}: {
  target: SignInBoot['target'];
  /** The authorization request has ended, or was decided in another tab. */
  onEnded: () => void;
} & Extract<AuthorizationStep, { step: 'consent' }>) {
  const translator = useTranslator();
  const { t } = translator;
  const [deciding, setDeciding] = useState<Decision | null>(null);
  const { interaction: uid } = target as Application;
  const host = hostOf(target);
  const { path, search } = useBoot();
  const refused = useFormErrors('consent', 'auth.error_unavailable').ofForm;

  const decide = async (event: FormEvent) => {
    const decision = ((event.nativeEvent as SubmitEvent).submitter as HTMLButtonElement | null)?.value as Decision | undefined;
    // A browser that does not name the button posts the form itself.
    if (!decision) return;
    event.preventDefault();
    if (deciding) return;
    setDeciding(decision);
    try {
      const { redirectUrl } = await api.decideInteraction({ uid, decision });
      location.assign(redirectUrl);
    } catch (error) {
      setDeciding(null);
      if (isApiError(error) && error.code === 'interaction_ended') return onEnded();
      toastFailure(t('auth.error_title'), failureText(translator, error, 'auth.error_unavailable'));
    }
  };
  const button = (decision: Decision) => ({ type: 'submit', name: 'decision', value: decision, busy: deciding === decision }) as const;

  return (
    <Card>
      <ClientLine target={target} />
      <PageHeading title={t('auth.oidc_consent_title', { email: maskedEmail, host })} className="text-xl leading-7 wrap-anywhere" />
      <p className="mt-4 text-muted wrap-anywhere">{t('auth.oidc_consent_text', { host })}</p>
      <ul className="mt-2 grid gap-2">
        {scopes.map((scope) => (
          <li key={scope} className="flex gap-2.5">
            <CheckIcon className="mt-1 size-4 text-accent" />
            {t(scopeTexts[scope])}
          </li>
        ))}
      </ul>
      {refused && <Note tone="failure">{refused}</Note>}
      <form method="post" action={`${path}/consent${search}`} onSubmit={decide} className="mt-6 grid gap-2">
        <Button {...button('allow')}>{t('auth.oidc_continue')}</Button>
        <Button variant="secondary" {...button('deny')}>
          {t('auth.cancel')}
        </Button>
        <Button variant="quiet" {...button('other_account')}>
          {t('auth.oidc_other_address')}
        </Button>
      </form>
      <p className="mt-4 border-t border-line pt-4 text-sm text-muted">{t('auth.oidc_consent_note')}</p>
    </Card>
  );
}
