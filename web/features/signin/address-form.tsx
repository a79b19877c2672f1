import { type FormEvent, type RefObject, useState } from 'react';
import type { ApiError } from '../../../contract/client.ts';
import { isUnfinished, suggestEmail } from '../../../contract/email-suggestions.ts';
import { emailFaultOf, readEmail } from '../../../contract/emails.ts';
import {
  isAddressError,
  isApiError,
  type OwnTexts,
  type TextKey,
  translateError,
  translateFailure,
  useTranslator,
} from '../../lib/texts.ts';
import { Button } from '../../ui/button.tsx';
import { EmailField } from '../../ui/field.tsx';
import { toastFailure } from '../../ui/toast.tsx';
import { Note } from './card.tsx';
import { type Proof, useVerification, VerificationField } from './email-verification.tsx';
import type { FormErrors } from './steps.ts';
import { Suggestion } from './suggestion.tsx';

/** The form for an email address, which is posted without a script. It shows errors of the address at the field and all others in a toast. */
export function AddressForm({
  action,
  field,
  errors,
  email,
  placeholder,
  autoComplete = 'email',
  labels: [label, busyLabel],
  variant = 'primary',
  fallback,
  ownTexts,
  onChange,
  onSend,
}: {
  action: string;
  field: RefObject<HTMLInputElement | null>;
  /** Why the form post was refused to which the page is the response. */
  errors: FormErrors;
  email: string;
  placeholder: string;
  autoComplete?: string;
  /** The labels of the button, the second while the address is sent. */
  labels: [string, string];
  /** `secondary`: the page has a more important button. */
  variant?: 'primary' | 'secondary';
  /** The text for an error without a text. */
  fallback: TextKey;
  ownTexts?: OwnTexts;
  onChange: (email: string) => void;
  /** Sends the address in normal form, and what the browser knows of it. Returns why it was refused; the form stays busy until then. */
  onSend: (email: string, proof: Proof) => Promise<ApiError | null>;
}) {
  const translator = useTranslator();
  const { t } = translator;
  const [errorMessage, setError] = useState(errors.atField);
  const [ofForm, setOfForm] = useState(errors.ofForm);
  const [sending, setSending] = useState(false);
  const verification = useVerification();
  const suggested = suggestEmail(email);
  // It appears while the address is typed, so that it never moves the button that is being clicked.
  const suggestion = suggested !== null && (errorMessage !== null || !isUnfinished(email, suggested)) ? suggested : null;

  const change = (text: string) => {
    setError(null);
    setOfForm(null);
    onChange(text);
  };

  const showAtField = (text: string) => {
    setError(text);
    field.current?.focus();
  };

  const send = async (event: FormEvent<HTMLFormElement>) => {
    if (verification.isOwn(event)) return;
    event.preventDefault();
    if (sending) return;
    const address = readEmail(email);
    if (!address) return showAtField(translateFailure(translator, { code: emailFaultOf(email) }, fallback));
    setError(null);
    setOfForm(null);
    setSending(true);
    const refusal: unknown = await onSend(address, verification.begin(event)).catch((error) => error);
    setSending(false);
    if (!refusal) return;
    const text = translateError(translator, refusal, fallback, ownTexts);
    if (isApiError(refusal) && isAddressError(refusal)) showAtField(text);
    else toastFailure(t('auth.error_title'), text);
  };

  return (
    <form method="post" action={action} noValidate onSubmit={send} className="mt-6 grid gap-4">
      {ofForm && <Note tone="failure">{ofForm}</Note>}
      <EmailField
        ref={field}
        label={t('auth.email_label')}
        placeholder={placeholder}
        autoComplete={autoComplete}
        value={email}
        error={errorMessage}
        note={
          suggestion && (
            <Suggestion
              email={suggestion}
              onAccept={() => {
                change(suggestion);
                field.current?.focus();
              }}
            />
          )
        }
        onChange={(event) => change(event.target.value)}
      />
      <VerificationField field={verification.field} />
      <Button type="submit" variant={variant} busy={sending} className="w-full wrap-anywhere">
        {sending ? busyLabel : label}
      </Button>
    </form>
  );
}
