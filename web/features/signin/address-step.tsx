import { type FormEvent, useEffect, useRef, useState } from 'react';
import type { SignInBoot } from '../../../contract/pages.ts';
import { rememberedAccounts } from '../../lib/remembered.ts';
import { paths } from '../../paths.ts';
import { Button } from '../../ui/button.tsx';
import { Field } from '../../ui/field.tsx';
import { BackIcon } from '../../ui/icons.tsx';
import { PageHeading } from '../../ui/page-heading.tsx';
import { toastFailure } from '../../ui/toast.tsx';
import { Card, TargetLine } from './card.tsx';
import { looksLikeEmail } from './email.ts';
import { RememberedList } from './remembered-list.tsx';
import { isAddressError } from './requests.ts';
import { failureText, useTranslator } from './texts.ts';

/** Step 1: a remembered account, or an email address. */
export function AddressStep({
  target,
  forwardUrl,
  firstEmail,
  onTyping,
  onSend,
}: {
  target: SignInBoot['target'];
  forwardUrl: string | null;
  firstEmail: string;
  onTyping: () => void;
  /** Requests the email and shows step 2. Rejects when the request failed. */
  onSend: (email: string) => Promise<void>;
}) {
  const translator = useTranslator();
  const { t } = translator;
  const portal = target.kind === 'portal';
  const field = useRef<HTMLInputElement>(null);
  const [email, setEmail] = useState(firstEmail);
  const [errorMessage, setError] = useState<string | null>(null);
  const [sending, setSending] = useState(false);
  const [accounts, setAccounts] = useState(rememberedAccounts);
  // Only with a physical keyboard: that of a phone would cover half the page.
  const [focusFirst] = useState(() => accounts.length === 0 && firstEmail === '' && matchMedia('(pointer: fine)').matches);

  useEffect(() => {
    if (focusFirst) field.current?.focus();
  }, [focusFirst]);

  const send = async (event: FormEvent) => {
    event.preventDefault();
    if (sending) return;
    const address = email.trim();
    if (!looksLikeEmail(address)) {
      setError(t('auth.error_email'));
      field.current?.focus();
      return;
    }
    setError(null);
    setSending(true);
    try {
      await onSend(address);
    } catch (error) {
      setSending(false);
      const text = failureText(translator, error, portal ? 'auth.error_send_portal' : 'auth.error_send');
      if (isAddressError(error)) setError(text);
      else toastFailure(t('auth.error_title'), text);
    }
  };

  return (
    <Card>
      <TargetLine target={target} portalName={t('auth.portal_name')} />
      <PageHeading title={portal ? t('auth.portal_welcome') : t('auth.welcome')} />
      <p className="mt-1.5 text-muted">{t('auth.subtitle')}</p>
      <RememberedList
        forwardUrl={forwardUrl}
        portal={portal}
        accounts={accounts}
        onChange={() => setAccounts(rememberedAccounts())}
        onNeedsMail={(address) => {
          setEmail(address);
          field.current?.focus();
        }}
      />
      <form noValidate onSubmit={send} className="mt-6 grid gap-4">
        <Field
          ref={field}
          label={t('auth.email_label')}
          type="email"
          name="email"
          required
          autoComplete="email"
          autoCapitalize="none"
          spellCheck={false}
          placeholder={t('auth.email_placeholder')}
          value={email}
          error={errorMessage}
          onChange={(event) => {
            setEmail(event.target.value);
            setError(null);
            onTyping();
          }}
        />
        <Button type="submit" busy={sending} className="w-full">
          {sending ? t('auth.sending') : portal ? t('auth.send_magic_link_portal') : t('auth.send_magic_link')}
        </Button>
      </form>
      {portal && (
        <a
          href={paths.landing}
          className="-mb-3 mt-3 flex min-h-11 items-center justify-center gap-1.5 rounded-control text-sm text-muted hover:text-ink"
        >
          <BackIcon />
          {t('auth.back_to_home')}
        </a>
      )}
    </Card>
  );
}
