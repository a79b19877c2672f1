import { type ComponentProps, type FormEvent, useEffect, useRef, useState } from 'react';
import type { Input } from '../../../contract/calls.ts';
import type { AuthorizationStep, BootForm, SignInBoot } from '../../../contract/pages.ts';
import { translateError, translateFailure, useTranslator } from '../../lib/texts.ts';
import { Button } from '../../ui/button.tsx';
import { Field } from '../../ui/field.tsx';
import { CheckIcon } from '../../ui/icons.tsx';
import { PageHeading } from '../../ui/page-heading.tsx';
import { toastFailure } from '../../ui/toast.tsx';
import { Card, Note, TargetLine } from './card.tsx';
import { usePage } from './page.ts';
import { typedBefore, useFormErrors } from './steps.ts';

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
  email,
  scopes,
}: {
  target: SignInBoot['target'];
} & Extract<AuthorizationStep, { step: 'consent' }>) {
  const translator = useTranslator();
  const { t } = translator;
  const [deciding, setDeciding] = useState<Decision | null>(null);
  const { interaction: uid } = target as Application;
  const host = hostOf(target);
  const { act, boot } = usePage();
  const { path, search } = boot;
  const refused = useFormErrors('consent', 'auth.error_unavailable').ofForm;

  const decide = async (event: FormEvent) => {
    const decision = ((event.nativeEvent as SubmitEvent).submitter as HTMLButtonElement | null)?.value as Decision | undefined;
    // A browser that does not name the button posts the form itself.
    if (!decision) return;
    event.preventDefault();
    if (deciding) return;
    setDeciding(decision);
    const refusal = await act('decideInteraction', { uid, decision });
    setDeciding(null);
    if (refusal) toastFailure(t('auth.error_title'), translateFailure(translator, refusal, 'auth.error_unavailable'));
  };
  const button = (decision: Decision) => ({ type: 'submit', name: 'decision', value: decision, busy: deciding === decision }) as const;

  return (
    <Card>
      <ClientLine target={target} />
      <PageHeading title={t('auth.oidc_consent_title', { email, host })} className="text-xl leading-7 wrap-anywhere" />
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

type StepOf<Name extends AuthorizationStep['step']> = Extract<AuthorizationStep, { step: Name }>;

/** The device flow (RFC 8628 §3.3): takes the code that the device shows. */
export function DeviceCode({ form, userCode, failure }: StepOf<'device_code'>) {
  const { t } = useTranslator();
  const field = useRef<HTMLInputElement>(null);
  const [code, setCode] = useState(() => typedBefore('user_code') ?? userCode ?? '');
  const [fault, setFault] = useState(failure !== null);
  const [sending, setSending] = useState(false);

  useEffect(() => {
    // The keyboard of a phone would cover half the page.
    if (failure !== null || matchMedia('(pointer: fine)').matches) field.current?.focus();
  }, [failure]);

  return (
    <Card>
      <PageHeading title={t('auth.oidc_device_title')} />
      <p className="mt-2 text-muted">{t('auth.oidc_device_text')}</p>
      <ServiceForm
        form={form}
        noValidate
        className="mt-6 grid gap-4"
        onSubmit={(event) => {
          if (code.trim() !== '') return setSending(true);
          event.preventDefault();
          setFault(true);
          field.current?.focus();
        }}
      >
        <Field
          ref={field}
          label={t('auth.oidc_device_label')}
          name="user_code"
          required
          mono
          autoComplete="off"
          autoCapitalize="characters"
          spellCheck="false"
          maxLength={32}
          value={code}
          error={fault ? t('auth.oidc_device_wrong') : null}
          onChange={(event) => {
            setCode(event.target.value.toUpperCase());
            setFault(false);
          }}
        />
        <Button type="submit" busy={sending} className="w-full">
          {t('auth.oidc_continue')}
        </Button>
      </ServiceForm>
    </Card>
  );
}

/** Asks whether the device shows this code, so that no one is talked into connecting the device of someone else. */
export function DeviceConfirm({ target, form, userCode }: { target: SignInBoot['target'] } & StepOf<'device_confirm'>) {
  const { t } = useTranslator();
  const [sending, setSending] = useState<string | null>(null);
  const host = hostOf(target);
  return (
    <Card>
      <ClientLine target={target} />
      <PageHeading title={t('auth.oidc_device_confirm_title')} />
      <p className="mt-4 rounded-control border border-line bg-sunk py-3 text-center font-mono text-xl tracking-widest wrap-anywhere">
        {userCode}
      </p>
      <p className="mt-4 text-muted wrap-anywhere">{t('auth.oidc_device_confirm_text', { host })}</p>
      <ServiceForm
        form={form}
        className="mt-6 grid gap-2"
        onSubmit={({ nativeEvent }) => setSending(((nativeEvent as SubmitEvent).submitter as HTMLButtonElement | null)?.name || 'confirm')}
      >
        <Button type="submit" busy={sending === 'confirm'}>
          {t('auth.oidc_device_yes')}
        </Button>
        <Button type="submit" variant="secondary" name="abort" value="yes" busy={sending === 'abort'}>
          {t('auth.cancel')}
        </Button>
      </ServiceForm>
    </Card>
  );
}

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
      // The form of the browser, without a script, gets a page as its response: form-action of the policy also applies to redirects.
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
      toastFailure(t('auth.error_title'), translateError(translator, error, 'auth.error_unavailable'));
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

type Application = Extract<SignInBoot['target'], { kind: 'application' }>;

/** Returns the host of an application; the name of one on a device, which has no host. */
const hostOf = (target: SignInBoot['target']) => (target.kind === 'application' ? target.displayHost || target.name : '');

/** The application of a step, where it is known. */
export const ClientLine = ({ target }: { target: SignInBoot['target'] }) =>
  target.kind === 'application' && <TargetLine target={target} portalName="" />;

/** A form that the browser submits with the fields of the service, once. `onSubmit` may prevent it. */
function ServiceForm({ form, onSubmit, children, ...rest }: { form: BootForm } & ComponentProps<'form'>) {
  const sent = useRef(false);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    if (sent.current) return event.preventDefault();
    onSubmit?.(event as Parameters<NonNullable<typeof onSubmit>>[0]);
    sent.current = !event.defaultPrevented;
  };
  return (
    <form {...rest} method="post" action={form.action} onSubmit={submit}>
      {Object.entries(form.fields).map(([name, value]) => (
        <input key={name} type="hidden" name={name} value={value} />
      ))}
      {children}
    </form>
  );
}
