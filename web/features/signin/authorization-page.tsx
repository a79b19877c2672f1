import type { AuthorizationStep, SignInBoot } from '../../../contract/pages.ts';
import { type TextKey, useTranslator } from '../../lib/texts.ts';
import { PageHeading } from '../../ui/page-heading.tsx';
import { ClientLine, ConsentStep, DeviceCode, DeviceConfirm, SignOutStep } from './authorization-steps.tsx';
import { Card } from './card.tsx';

type Target = SignInBoot['target'];
type Step = Exclude<AuthorizationStep, { step: 'sign_in' }>;

/** The pages below /oauth/ besides the sign-in itself: consent, errors, device flow and sign-out. */
export function AuthorizationPage({ target, step }: { target: Target; step: Step }) {
  switch (step.step) {
    case 'consent':
      return <ConsentStep target={target} {...step} />;
    case 'device_code':
      return step.failure === 'aborted' ? <Note target={target} {...notes.device_cancelled} /> : <DeviceCode {...step} />;
    case 'device_confirm':
      return <DeviceConfirm target={target} {...step} />;
    case 'sign_out':
      return <SignOutStep target={target} {...step} />;
    case 'error':
      return <FailureStep target={target} {...step} />;
    default:
      return <Note target={target} {...notes[step.step]} />;
  }
}

const notes = {
  expired: { title: 'auth.oidc_expired_title', text: 'auth.oidc_expired_text' },
  device_done: { title: 'auth.oidc_device_done_title', text: 'auth.oidc_device_done_text' },
  device_cancelled: { title: 'auth.oidc_device_cancelled_title', text: 'auth.oidc_device_cancelled_text' },
  signed_out: { title: 'auth.oidc_logged_out_title', text: 'auth.oidc_close_tab' },
} as const;

/** A step without controls. */
function Note({ target, title, text }: { target: Target; title: TextKey; text: TextKey }) {
  const { t } = useTranslator();
  return (
    <Card>
      <ClientLine target={target} />
      <PageHeading title={t(title)} />
      <p className="mt-2 text-muted">{t(text)}</p>
    </Card>
  );
}

const failures = {
  client: { text: 'auth.oidc_error_client', fix: 'auth.oidc_fix_client' },
  redirect_uri: { text: 'auth.oidc_error_redirect', fix: 'auth.oidc_fix_redirect' },
  other: { text: 'auth.oidc_error_request', fix: 'auth.oidc_fix_request' },
} as const;

/** An authorization request that cannot be returned to its client: what happened, and what its developer has to change. */
function FailureStep({ target, error, description, reason }: { target: Target } & Extract<Step, { step: 'error' }>) {
  const { t } = useTranslator();
  const { text, fix } = failures[reason];
  return (
    <Card>
      <ClientLine target={target} />
      <PageHeading title={t('auth.oidc_error_title')} />
      <p className="mt-2 text-muted">{t(text)}</p>
      <section className="mt-6 border-t border-line pt-4 text-sm">
        <h2 className="font-medium">{t('auth.oidc_error_developer')}</h2>
        <p className="mt-1.5 text-muted">{t(fix)}</p>
        <p
          lang="en"
          className="mt-3 rounded-control border border-line bg-sunk px-3 py-2 font-mono text-[0.8125rem] leading-5 wrap-anywhere"
        >
          {description ? `${error}: ${description}` : error}
        </p>
      </section>
    </Card>
  );
}
