import { useEffect, useRef, useState } from 'react';
import type { Input } from '../../../contract/calls.ts';
import { PASSKEY_CHALLENGE_SECONDS, PASSKEY_LATER_SECONDS } from '../../../contract/limits.ts';
import type { PasskeyCreationOptions, RequiredPasskey, SignInBoot } from '../../../contract/pages.ts';
import { passkeyCookies } from '../../../contract/remembered.ts';
import type { DestinationParameters } from '../../../contract/signin.ts';
import { api } from '../../lib/api.ts';
import { createPasskey, passkeyApi, signalUnknown } from '../../lib/passkeys.ts';
import { safePath, writeCookie } from '../../lib/storage.ts';
import { hydrated } from '../../lib/store.ts';
import { isApiError, type OwnTexts, translateError, useTranslator } from '../../lib/texts.ts';
import { paths } from '../../pages.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { PageHeading } from '../../ui/page-heading.tsx';
import { toastFailure } from '../../ui/toast.tsx';
import { Card, Note, TargetLine } from './card.tsx';
import { usePage } from './page.ts';

/** A challenge is replaced a minute before it expires. */
const RENEWAL_MS = (PASSKEY_CHALLENGE_SECONDS - 60) * 1000;
const REGISTRATION_MS = 8000;

const failureTexts: OwnTexts = {
  unknown_passkey: 'auth.passkey_unknown',
  bad_passkey: 'auth.passkey_refused',
  passkey_expired: 'auth.passkey_expired',
};

/** Tells the service, which renders the offer of a passkey, whether the device can verify a person. */
async function noteAuthenticator(webAuthn: typeof PublicKeyCredential) {
  const canVerify = await webAuthn.isUserVerifyingPlatformAuthenticatorAvailable();
  if (canVerify) writeCookie(passkeyCookies.ready, '1', PASSKEY_LATER_SECONDS);
}

/** What a sign-in with a passkey is for: as a sign-in with a remembered account, or the login of a program. */
type PasskeyDestination = DestinationParameters | { attempt: string } | null;

/**
 * Signs in with a passkey that the person chooses in the list of the browser for the address field, which needs no request.
 * @param button `known`: in browsers without that list and those where a passkey was used before; `only`: the list is not used
 * @returns `choose`: for a button, null where there is none; `offer`: shows the button, null where no passkey can be used; `unsupported`: the browser or the service has no passkeys
 */
export function usePasskey(
  destination: PasskeyDestination,
  button: 'known' | 'always' | 'only' = 'known',
): { choose: (() => void) | null; offer: (() => void) | null; busy: boolean; unsupported: boolean } {
  const translator = useTranslator();
  const { t } = translator;
  const { boot, leave } = usePage();
  const { passkey } = boot;
  const challenge = useRef({ value: passkey?.challenge ?? '', rpId: passkey?.rpId ?? '', at: passkey && !hydrated.get() ? Date.now() : 0 });
  const waiting = useRef<AbortController | null>(null);
  const [offersButton, setOffersButton] = useState(button !== 'known');
  const [unsupported, setUnsupported] = useState(false);
  const [busy, setBusy] = useState(false);

  const renew = async () => {
    const { challenge: value, rpId } = await api.passkeyChallenge({});
    challenge.current = { value, rpId, at: Date.now() };
  };

  /** Waits until a passkey is chosen. Returns null when none was, or another request took the place of this one. */
  const request = async (mediation: CredentialMediationRequirement) => {
    const webAuthn = passkeyApi();
    if (!webAuthn) return null;
    waiting.current?.abort();
    const stop = new AbortController();
    waiting.current = stop;
    const { value, rpId } = challenge.current;
    const options = { challenge: value, rpId, userVerification: 'required' };
    const publicKey = webAuthn.parseRequestOptionsFromJSON(options as PublicKeyCredentialRequestOptionsJSON);
    const chosen = await navigator.credentials.get({ publicKey, mediation, signal: stop.signal }).catch(() => null);
    return stop.signal.aborted ? null : (chosen as PublicKeyCredential | null);
  };

  const signIn = async (chosen: PublicKeyCredential) => {
    setBusy(true);
    try {
      const credential = chosen.toJSON() as Input<'passkeySignIn'>['credential'];
      const { redirectUrl } = await api.passkeySignIn({ credential, ...destination });
      leave(destination === null ? safePath(redirectUrl, paths.developer) : redirectUrl);
    } catch (error) {
      setBusy(false);
      setOffersButton(true);
      // The challenge is used up: the next try, with the button, gets another one.
      challenge.current.at = 0;
      if (isApiError(error) && error.code === 'unknown_passkey') {
        signalUnknown(challenge.current.rpId, chosen.id);
      }
      toastFailure(t('auth.error_title'), translateError(translator, error, 'auth.passkey_refused', failureTexts));
    }
  };

  const choose = async () => {
    try {
      if (Date.now() - challenge.current.at > RENEWAL_MS) await renew();
    } catch (error) {
      return toastFailure(t('auth.error_title'), translateError(translator, error, 'auth.error_unavailable'));
    }
    const chosen = await request('optional');
    if (chosen) await signIn(chosen);
  };

  // biome-ignore lint/correctness/useExhaustiveDependencies: once for the page
  useEffect(() => {
    const webAuthn = passkey && passkeyApi();
    setUnsupported(!passkeyApi());
    if (!webAuthn || button === 'only') return;
    void noteAuthenticator(webAuthn).catch(() => {});
    let ended = false;
    const listen = async () => {
      const isConditional = await webAuthn.isConditionalMediationAvailable();
      if (ended) return;
      if (passkey.known || !isConditional) setOffersButton(true);
      // That of a page which was rendered earlier may have expired.
      if (isConditional && challenge.current.at === 0) await renew();
      const chosen = isConditional ? await request('conditional') : null;
      if (chosen && !ended) await signIn(chosen);
    };
    const again = () => void renew().then(listen, () => {});
    const timer = setInterval(() => {
      const isOld = challenge.current.at > 0 && Date.now() - challenge.current.at > RENEWAL_MS;
      if (isOld && document.visibilityState === 'visible') again();
    }, RENEWAL_MS / 8);
    // A pending request keeps a page out of the memory of the back button.
    const pause = () => waiting.current?.abort();
    const resume = (event: PageTransitionEvent) => event.persisted && again();
    addEventListener('pagehide', pause);
    addEventListener('pageshow', resume);
    void listen().catch(() => {});
    return () => {
      ended = true;
      waiting.current?.abort();
      clearInterval(timer);
      removeEventListener('pagehide', pause);
      removeEventListener('pageshow', resume);
    };
  }, []);

  const offer = passkey && !unsupported && hydrated.get() ? () => setOffersButton(true) : null;
  return { choose: offersButton && !unsupported ? choose : null, offer, busy, unsupported };
}

/** A passkey that may be created after a sign-in by email, and where the visitor goes on to. */
type Offer = { email: string; options: PasskeyCreationOptions; url: string };

/**
 * Offers a passkey. Whatever happens, the visitor goes on. After "Not now" or a cancelled dialog, the browser offers none for
 * PASSKEY_LATER_SECONDS; an offer that has expired is repeated.
 */
export function PasskeyOffer({ target, offer: { email, options, url } }: { target: SignInBoot['target']; offer: Offer }) {
  const { t, language } = useTranslator();
  const [creating, setCreating] = useState(false);

  const decline = () => writeCookie(passkeyCookies.later, '1', PASSKEY_LATER_SECONDS);

  const create = async () => {
    setCreating(true);
    const credential = await createPasskey(options).catch(() => null);
    if (credential) await api.registerPasskey({ credential, language }, { signal: AbortSignal.timeout(REGISTRATION_MS) }).catch(() => {});
    else decline();
    location.replace(url);
  };

  return (
    <Card>
      <TargetLine target={target} portalName={t('auth.portal_name')} />
      <PageHeading title={t('auth.passkey_offer_title')} />
      <p className="mt-1.5 font-medium wrap-anywhere">{email}</p>
      <p className="mt-2 text-muted">{t('auth.passkey_offer_text')}</p>
      <p role="status" className={creating ? 'mt-4 text-sm text-muted' : undefined}>
        {creating && t('auth.passkey_waiting')}
      </p>
      <div className="mt-6 grid gap-2">
        <Button busy={creating} onClick={create}>
          {t('auth.passkey_create_button')}
        </Button>
        <ButtonLink
          variant="quiet"
          href={url}
          onClick={(event) => {
            event.preventDefault();
            decline();
            location.replace(url);
          }}
        >
          {t('auth.passkey_later_button')}
        </ButtonLink>
      </div>
    </Card>
  );
}

/** What a passkey needs and this browser lacks. */
export function PasskeyNeeds({ unsupported }: { unsupported: boolean }) {
  const { t } = useTranslator();
  return (
    <>
      <p className="without-script mt-4 font-medium">{t('auth.passkey_needs_script')}</p>
      {unsupported && <Note tone="failure">{t('auth.passkey_unsupported')}</Note>}
    </>
  );
}

/** The address is proven, and the website accepts only a passkey: the visitor creates one or uses another, and is signed in. */
export function AddPasskey({ target, required }: { target: SignInBoot['target']; required: RequiredPasskey }) {
  const { email, options, forwardUrl, again, interaction } = required;
  const { t, language } = useTranslator();
  const destination = interaction ? { interaction } : { forward_url: forwardUrl };
  const other = usePasskey({ ...destination, require: 'passkey' }, 'only');
  const [creating, setCreating] = useState(false);
  const [failed, setFailed] = useState(false);
  const unsupported = options === null || other.unsupported;

  const create = async () => {
    setCreating(true);
    setFailed(false);
    const created = await createPasskey(options as PasskeyCreationOptions).catch(() => null);
    try {
      const registered = created && (await api.registerPasskey({ credential: created, language, ...destination }));
      if (registered?.redirectUrl) return location.replace(registered.redirectUrl);
    } catch {
      // Its challenge is used up or too old: the sign-in begins again.
    }
    setCreating(false);
    setFailed(true);
  };

  return (
    <Card>
      <TargetLine target={target} portalName={t('auth.portal_name')} />
      <PageHeading title={t('auth.passkey_required_title')} />
      <p className="mt-1.5 font-medium wrap-anywhere">{email}</p>
      <p className="mt-2 text-muted">{t('auth.passkey_required_text')}</p>
      <PasskeyNeeds unsupported={unsupported} />
      {failed && <Note tone="failure">{t('auth.passkey_not_created')}</Note>}
      <p role="status" className={creating ? 'mt-4 text-sm text-muted' : undefined}>
        {creating && t('auth.passkey_waiting')}
      </p>
      <div className="mt-6 grid gap-2">
        {!unsupported && (
          <>
            <Button busy={creating} onClick={create}>
              {t('auth.passkey_create_button')}
            </Button>
            <Button variant="secondary" busy={other.busy} onClick={other.choose ?? undefined}>
              {t('auth.passkey_button')}
            </Button>
          </>
        )}
        <ButtonLink variant="quiet" href={again}>
          {t('auth.start_again')}
        </ButtonLink>
      </div>
    </Card>
  );
}

/** /auth?attempt=…: completes the login of a program that waits on this computer. */
export function ProgramSignIn({ attempt }: { attempt: string }) {
  const { t } = useTranslator();
  const { choose, busy } = usePasskey({ attempt }, 'only');
  return (
    <Card>
      <TargetLine target={{ kind: 'portal' }} portalName={t('auth.portal_name')} />
      <PageHeading title={t('auth.passkey_program_title')} />
      <p className="mt-2 text-muted">{t('auth.passkey_program_text')}</p>
      <Button className="mt-6 w-full" busy={busy} onClick={choose ?? undefined}>
        {t('auth.passkey_button')}
      </Button>
    </Card>
  );
}
