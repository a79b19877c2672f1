import { useEffect, useRef, useState } from 'react';
import type { AuthorizationStep, SignInBoot } from '../../../contract/pages.ts';
import { typedBefore } from '../../lib/typed.ts';
import { Button } from '../../ui/button.tsx';
import { Field } from '../../ui/field.tsx';
import { PageHeading } from '../../ui/page-heading.tsx';
import { ClientLine, hostOf, ServiceForm } from './authorization-parts.tsx';
import { Card } from './card.tsx';
import { useTranslator } from './texts.ts';

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

/** Asks whether the device shows this code, so that nobody is talked into connecting the device of someone else. */
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
