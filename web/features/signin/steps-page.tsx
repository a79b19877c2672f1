import { useEffect, useRef, useState } from 'react';
import type { Output } from '../../../contract/calls.ts';
import type { ApiError } from '../../../contract/client.ts';
import type { AuthorizationStep, OwnAttempt } from '../../../contract/pages.ts';
import { type PkceBundle, storePkce } from '../../lib/storage.ts';
import { useTranslator } from '../../lib/texts.ts';
import { paths } from '../../pages.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { BackIcon } from '../../ui/icons.tsx';
import { PageHeading } from '../../ui/page-heading.tsx';
import { dismissToast } from '../../ui/toast.tsx';
import { AddressForm } from './address-form.tsx';
import { Card, Note, siteNameOf, TargetLine } from './card.tsx';
import type { Proof } from './email-verification.tsx';
import { MailStep } from './mail-step.tsx';
import { usePage } from './page.ts';
import { PasskeyNeeds, usePasskey } from './passkey.tsx';
import { authorizationOf, bundleOf, createBundle, exchange } from './portal.ts';
import { RememberedList } from './remembered-list.tsx';
import { formAction, stepUrl, typedBefore, useFormErrors, useRememberedAccounts, useStepOne, useSteps } from './steps.ts';

/** /auth, /domain-auth and an authorization request: step 1 takes the email address, step 2 waits for the email. */
export function SignInPage({ wanted }: { wanted?: Wanted }) {
  const { boot, act, show, leave } = usePage();
  const { target } = boot;
  const { language } = useTranslator();
  const { destination, attempt, step, signedInAs } = useSteps();
  const goToAddress = useStepOne();
  const bundle = useRef<PkceBundle | null>(null);
  const currentBundle = () => bundle.current ?? bundleOf(attempt?.state ?? null);

  const send = async (email: string, verifiable?: true) => {
    let refusal: ApiError | null;
    if (destination) refusal = await act('domainAuth', { email, ...destination, language, verifiable });
    else {
      // A second email for the same address keeps the verifier, so that the first one still works.
      const before = currentBundle();
      const begun = before?.email === email ? before : await createBundle(email);
      const keep = () => {
        bundle.current = begun;
        storePkce(begun);
      };
      refusal = await act('authorize', { ...(await authorizationOf(begun, language)), verifiable }, { onResponse: keep });
    }
    if (!refusal) dismissToast();
    return refusal;
  };

  /** @throws ApiError when the code that an attempt with PKCE got cannot be exchanged */
  const enterCode = async (email: string, code: string) => {
    const begun = destination ? null : currentBundle();
    let authorization: string | undefined;
    const refusal = await act(
      'emailCode',
      { email, code, state: begun?.state },
      { onResponse: (response) => (authorization = codeOf(response)) },
    );
    if (refusal || !authorization || !begun) return refusal;
    const { url, passkey } = await exchange(authorization, begun);
    if (passkey) show({ language, target, offer: { email, options: passkey, url } });
    else leave(url);
    return null;
  };

  if (step === 'signed_in' && signedInAs) return <SignedInStep email={signedInAs} />;
  if (step === 'code' && attempt)
    return <MailStep attempt={attempt} onCode={enterCode} onResend={() => send(attempt.email)} onOtherEmail={goToAddress} />;
  return <AddressStep attempt={attempt} wanted={wanted} onSend={send} />;
}

/** Returns the authorization code in the response to a code of an attempt with PKCE. */
const codeOf = (response: Output<'emailCode'>) => ('code' in response ? response.code : undefined);

/** The portal's page in a browser with a session: continues with it, or signs in as somebody else. */
function SignedInStep({ email }: { email: string }) {
  const { t } = useTranslator();
  const steps = useSteps();
  return (
    <Card>
      <TargetLine target={{ kind: 'portal' }} portalName={t('auth.portal_name')} />
      <PageHeading title={t('auth.signed_in_title', { email })} className="text-xl leading-7 wrap-anywhere" />
      <div className="mt-6 grid gap-2">
        <ButtonLink href={paths.developer}>{t('auth.continue_to_portal')}</ButtonLink>
        <ButtonLink variant="quiet" href={stepUrl(steps, 'address')}>
          {t('auth.use_another_address')}
        </ButtonLink>
      </div>
    </Card>
  );
}

/** The texts for a network with many sign-ins, without and with a passkey, each without and with remembered accounts. */
const crowdedTexts = [
  ['auth.error_network', 'auth.error_network_account'],
  ['auth.error_network_passkey', 'auth.error_network_both'],
] as const;

/** What the application asks of the sign-in. */
type Wanted = Extract<AuthorizationStep, { step: 'sign_in' }>;

/** Step 1: a remembered account, or an email address. */
function AddressStep({
  attempt,
  wanted,
  onSend,
}: {
  /** The newest attempt of this browser for the target. */
  attempt: OwnAttempt | null;
  wanted?: Wanted;
  /** Requests the email and shows step 2. Returns why the request was refused. */
  onSend: (email: string, verifiable?: true) => Promise<ApiError | null>;
}) {
  const { t } = useTranslator();
  const { act, boot } = usePage();
  const { target } = boot;
  const portal = target.kind === 'portal';
  const steps = useSteps();
  const [firstEmail] = useState(() => typedBefore('email') ?? steps.email);
  const fallback = portal ? 'auth.error_send_portal' : 'auth.error_send';
  const accountErrors = useFormErrors('account', portal ? 'auth.quick_login_failed_text' : 'auth.saved_login_failed_text');
  const [hasTyped, setTyped] = useState(false);
  const refused = hasTyped ? null : (accountErrors.ofForm ?? accountErrors.atField);
  const field = useRef<HTMLInputElement>(null);
  const [email, setEmail] = useState(firstEmail);
  const [accounts, readAccounts] = useRememberedAccounts();
  const { destination, passkeyOnly = false } = steps;
  const passkey = usePasskey(destination, passkeyOnly ? 'always' : 'known');
  const ownTexts = { rate_limited: crowdedTexts[passkey.offer ? 1 : 0][accounts.length > 0 ? 1 : 0] };
  const errors = useFormErrors('address', fallback, ownTexts);

  const [other, setOther] = useState(!wanted?.chooseAccount || refused !== null || errors.atField !== null);
  const choosing = !other && accounts.length > 0;
  const heading = t(choosing ? 'auth.oidc_choose_title' : portal ? 'auth.portal_welcome' : 'auth.welcome');
  const site = siteNameOf(target);

  // biome-ignore lint/correctness/useExhaustiveDependencies: only when the step begins
  useEffect(() => {
    // Only with a physical keyboard: that of a phone would cover half the page. And only if nothing was done before the script ran.
    const isFirst = accounts.length === 0 && firstEmail === '' && [null, document.body].includes(document.activeElement as HTMLElement);
    if (isFirst && matchMedia('(pointer: fine)').matches) field.current?.focus();
  }, []);

  const typeAddress = (address: string) => {
    setOther(true);
    setEmail(address);
    // The field may be rendered only now.
    requestAnimationFrame(() => field.current?.focus());
  };

  const sendAddress = async (address: string, { token, wait }: Proof) => {
    let proof = token;
    if (proof === null && wait) {
      const refusal = await onSend(address, true);
      if (refusal?.code !== 'verifiable_email') return refusal;
      proof = await wait();
    }
    // A token that does not verify the address, for whatever reason: the email is the way then.
    if (proof) await act('verifiedEmailSignIn', { email: address, token: proof, ...destination });
    return onSend(address);
  };
  const send: typeof sendAddress = async (address, proof) => {
    const refusal = await sendAddress(address, proof);
    if (refusal?.code === 'rate_limited') passkey.offer?.();
    return refusal;
  };

  return (
    <Card>
      <TargetLine target={target} portalName={t('auth.portal_name')} />
      <PageHeading title={site === null ? heading : t('auth.sign_in_to', { name: site })}>{heading}</PageHeading>
      {!choosing && <p className="mt-1.5 text-muted">{t(passkeyOnly ? 'auth.passkey_only_text' : 'auth.subtitle')}</p>}
      {passkeyOnly && <PasskeyNeeds unsupported={passkey.unsupported} />}
      {passkeyOnly && passkey.choose && (
        <Button className="mt-6 w-full" busy={passkey.busy} onClick={passkey.choose}>
          {t('auth.passkey_button')}
        </Button>
      )}
      {steps.attemptMissing && attempt === null && <Note tone="plain">{t('auth.attempt_missing')}</Note>}
      {refused && <Note tone="failure">{refused}</Note>}
      <RememberedList accounts={accounts} onChange={readAccounts} onNeedsMail={typeAddress} />
      {choosing ? (
        <Button variant="secondary" className="mt-4 w-full" onClick={() => typeAddress(email)}>
          {t('auth.oidc_other_address')}
        </Button>
      ) : (
        <AddressForm
          action={formAction(steps)}
          errors={errors}
          field={field}
          email={email}
          // The browser lists passkeys beside the addresses.
          autoComplete="email webauthn"
          placeholder={t('auth.email_placeholder')}
          labels={[t(portal ? 'auth.send_magic_link_portal' : 'auth.send_magic_link'), t('auth.sending')]}
          variant={passkeyOnly && passkey.choose ? 'secondary' : 'primary'}
          fallback={fallback}
          ownTexts={ownTexts}
          onChange={(text) => {
            setTyped(true);
            setEmail(text);
          }}
          onSend={send}
        />
      )}
      {!passkeyOnly && passkey.choose && (
        <Button variant="secondary" className="mt-3 w-full" busy={passkey.busy} onClick={passkey.choose}>
          {t('auth.passkey_button')}
        </Button>
      )}
      {attempt?.status === 'waiting' && (
        <a
          href={stepUrl(steps, 'code')}
          className="mt-3 flex min-h-11 items-center justify-center rounded-control px-2 text-center text-sm text-accent underline wrap-anywhere"
        >
          {t('auth.enter_code_sent', { email: attempt.email })}
        </a>
      )}
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
