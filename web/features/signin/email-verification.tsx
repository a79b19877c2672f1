import { type FormEvent, type RefObject, useEffect, useRef } from 'react';
import { VERIFICATION_FIELD } from '../../../contract/pages.ts';
import { useBoot } from './page.ts';

/** How long a sign-in waits for the browser, from when it began. */
const WAIT_MS = 1000;
const POLL_MS = 50;
/** The first Chromium with the origin trial. No property of a page tells whether the protocol is on. */
const FIRST_CHROMIUM = 150;

/** What the browser knows of the address that is being sent. */
export type Proof = {
  token: string | null;
  /** Waits for the token; null where the browser has no such protocol. */
  wait: (() => Promise<string | null>) | null;
};

/** The part of a form that belongs to the Email Verification Protocol. */
type Verification = {
  field: RefObject<HTMLInputElement | null>;
  /** Returns true for a submission that only asks the browser for its token. */
  isOwn: (event: FormEvent<HTMLFormElement>) => boolean;
  /** Returns what the browser knows when the person submits the form. */
  begin: (event: FormEvent<HTMLFormElement>) => Proof;
};

/**
 * Gets the token of a browser with the Email Verification Protocol. The browser asks the mail provider when the address field loses the
 * focus, and writes the token into a hidden field while the form is submitted. It reports a form as submitted once, and gives up asking
 * then: so the form is submitted once before, and afterwards as often as is needed to read the field.
 */
export function useVerification(): Verification {
  const nonce = useBoot().verification?.nonce;
  const field = useRef<HTMLInputElement>(null);
  const isAsking = useRef(false);

  const read = (form: HTMLFormElement | null) => {
    if (!form?.isConnected) return null;
    isAsking.current = true;
    form.requestSubmit();
    isAsking.current = false;
    return tokenIn(form);
  };

  // biome-ignore lint/correctness/useExhaustiveDependencies: once for the page
  useEffect(() => {
    if (!nonce || !isSupported()) return;
    // A browser hides the nonce of an element in a page with a policy, and does not find it itself then. One that is set later stays.
    field.current?.setAttribute('nonce', nonce);
    read(field.current?.form ?? null);
  }, [nonce]);

  const begin = ({ currentTarget: form, nativeEvent }: FormEvent<HTMLFormElement>): Proof => {
    const token = tokenIn(form);
    if (!nonce || !isSupported()) return { token, wait: null };
    const until = Date.now() + WAIT_MS;
    (nativeEvent as SubmitEvent).submitter?.focus();
    const wait = async () => {
      let found = read(form);
      while (found === null && Date.now() < until) {
        await new Promise((resolve) => setTimeout(resolve, POLL_MS));
        found = read(form);
      }
      return found;
    };
    return { token, wait };
  };

  const isOwn = (event: FormEvent) => {
    if (isAsking.current) event.preventDefault();
    return isAsking.current;
  };

  return { field, isOwn, begin };
}

const tokenIn = (form: HTMLFormElement) => String(new FormData(form).get(VERIFICATION_FIELD) ?? '') || null;

type Brands = { userAgentData?: { brands: { brand: string; version: string }[] } };

function isSupported(): boolean {
  const brands = (navigator as Brands).userAgentData?.brands ?? [];
  return brands.some(({ brand, version }) => brand === 'Chromium' && Number(version) >= FIRST_CHROMIUM);
}

/** Of the draft; the type of the attribute does not have it. */
const AUTOCOMPLETE = 'email-verification-token';

/** The field into which the browser writes the token. A form without the nonce of a page has none. */
export function VerificationField({ field }: { field: Verification['field'] }) {
  const nonce = useBoot().verification?.nonce;
  if (!nonce) return null;
  return <input ref={field} type="hidden" name={VERIFICATION_FIELD} autoComplete={AUTOCOMPLETE} nonce={nonce} />;
}
