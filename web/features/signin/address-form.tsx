import { type FormEvent, type RefObject, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { EmailField } from '../../ui/field.tsx';
import { toastFailure } from '../../ui/toast.tsx';
import { looksLikeEmail } from './email.ts';
import { isAddressError } from './requests.ts';
import { failureText, useTranslator } from './texts.ts';

/** The form for an email address. It shows errors of the address at the field and all others in a toast. */
export function AddressForm({
  field,
  email,
  placeholder,
  labels: [label, busyLabel],
  fallback,
  onChange,
  onSend,
}: {
  field: RefObject<HTMLInputElement | null>;
  email: string;
  placeholder: string;
  /** The labels of the button, the second while the address is sent. */
  labels: [string, string];
  /** The text for an error without a text. */
  fallback: Parameters<typeof failureText>[2];
  onChange: (email: string) => void;
  /** Sends the trimmed address. The form stays busy unless it rejects. */
  onSend: (email: string) => Promise<void>;
}) {
  const translator = useTranslator();
  const { t } = translator;
  const [errorMessage, setError] = useState<string | null>(null);
  const [sending, setSending] = useState(false);

  const showAtField = (text: string) => {
    setError(text);
    field.current?.focus();
  };

  const send = async (event: FormEvent) => {
    event.preventDefault();
    if (sending) return;
    const address = email.trim();
    if (!looksLikeEmail(address)) return showAtField(t('auth.error_email'));
    setError(null);
    setSending(true);
    try {
      await onSend(address);
    } catch (error) {
      setSending(false);
      const text = failureText(translator, error, fallback);
      if (isAddressError(error)) showAtField(text);
      else toastFailure(t('auth.error_title'), text);
    }
  };

  return (
    <form noValidate onSubmit={send} className="mt-6 grid gap-4">
      <EmailField
        ref={field}
        label={t('auth.email_label')}
        placeholder={placeholder}
        value={email}
        error={errorMessage}
        onChange={(event) => {
          setError(null);
          onChange(event.target.value);
        }}
      />
      <Button type="submit" busy={sending} className="w-full wrap-anywhere">
        {sending ? busyLabel : label}
      </Button>
    </form>
  );
}
