import { type MouseEvent, type RefObject, useEffect, useRef, useState } from 'react';
import { VERIFICATION_FIELD } from '../../../contract/pages.ts';
import { looksLikeEmail } from './email.ts';
import { useBoot } from './steps.ts';

/** How long the form waits for the token, from when the address field lost the focus. */
const WAIT_MS = 1000;
const AUTOCOMPLETE = 'email-verification-token';

/** The wait of a form for the token of the Email Verification Protocol. */
type Verification = {
  /** The hidden field for the token. */
  field: RefObject<HTMLInputElement | null>;
  waiting: boolean;
  /** The address field lost the focus. */
  onBlur: () => void;
  /** A click on the submit button, which Enter in the address field is too. */
  onClick: (event: MouseEvent<HTMLButtonElement>) => void;
};

/**
 * Gives a browser with the Email Verification Protocol the time to ask the mail provider for a token. The browser begins when the
 * address field loses the focus, gives up when the form is submitted, and fills in the token only while the form is submitted. So the
 * focus moves to the button first, and the form is submitted a little later.
 * @param email what the address field contains
 */
export function useVerification(email: string): Verification {
  const field = useRef<HTMLInputElement>(null);
  const asked = useRef({ email: '', at: 0 });
  const [waiting, setWaiting] = useState(false);

  const onBlur = () => {
    if (asked.current.email !== email) asked.current = { email, at: Date.now() };
  };

  const onClick = (event: MouseEvent<HTMLButtonElement>) => {
    const { form } = event.currentTarget;
    if (!form || !isSupported(field.current) || !looksLikeEmail(email.trim())) return;
    event.currentTarget.focus();
    const leftMs = asked.current.at + WAIT_MS - Date.now();
    if (leftMs <= 0) return;
    event.preventDefault();
    setWaiting(true);
    setTimeout(() => {
      setWaiting(false);
      if (form.isConnected) form.requestSubmit();
    }, leftMs);
  };

  return { field, waiting, onBlur, onClick };
}

/** Whether the browser has the protocol: it knows the name of the field. */
const isSupported = (field: HTMLInputElement | null) => (field?.autocomplete as string) === AUTOCOMPLETE;

/** The field into which the browser puts the token. A form without the nonce of a page has none. */
export function VerificationField({ field }: Pick<Verification, 'field'>) {
  const nonce = useBoot().verification?.nonce;
  useEffect(() => {
    // A browser hides the nonce of an element in a page with a policy, and does not find it itself then. One that is set later stays.
    if (nonce) field.current?.setAttribute('nonce', nonce);
  }, [nonce, field]);
  return nonce ? <input ref={field} type="hidden" name={VERIFICATION_FIELD} autoComplete={AUTOCOMPLETE} nonce={nonce} /> : null;
}
