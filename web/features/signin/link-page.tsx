import { useEffect, useRef, useState } from 'react';
import { normalEmail } from '../../../contract/emails.ts';
import type { SignInBoot, WaysOn } from '../../../contract/pages.ts';
import { type PkceBundle, readPkce } from '../../lib/storage.ts';
import { type OwnTexts, useTranslator } from '../../lib/texts.ts';
import { paths } from '../../pages.ts';
import { Button, ButtonLink, Spinner } from '../../ui/button.tsx';
import { PageHeading } from '../../ui/page-heading.tsx';
import { toastFailure } from '../../ui/toast.tsx';
import { AddressForm } from './address-form.tsx';
import { Card, TargetLine } from './card.tsx';
import { useBoot, usePage } from './page.ts';
import { exchange } from './portal.ts';
import { typedBefore, useFormErrors } from './steps.ts';

type Target = SignInBoot['target'];
type Link = NonNullable<SignInBoot['link']>;
type LinkWith<State extends Link['state']> = Extract<Link, { state: State }>;

/** /auth/link and /auth/callback: a mailed link in a browser that did not request it, or a link that has ended. */
export function LinkPage({ target, link }: { target: Target; link: Link }) {
  if (link.state === 'open') return <ConfirmLink target={target} link={link} />;
  if (link.state === 'native') return <BackToProgram target={target} link={link} />;
  if (link.state === 'other_browser') return <OtherBrowser target={target} />;
  return <EndedLink target={target} link={link} />;
}

function ConfirmLink({ target, link }: { target: Target; link: LinkWith<'open'> }) {
  const { t } = useTranslator();
  const field = useRef<HTMLInputElement>(null);
  const { act, boot } = usePage();
  const { path, search, failure } = boot;
  const errors = useFormErrors('link', 'auth.error_unavailable');
  const [email, setEmail] = useState(() => typedBefore('email') ?? failure?.typed ?? '');
  const host = target.kind === 'site' ? target.displayHost : null;
  const confirm = (address: string) => act('confirmLink', { t: new URLSearchParams(search).get('t') ?? '', email: address });

  return (
    <Card>
      <TargetLine target={target} portalName={t('auth.portal_name')} />
      <PageHeading title={t('auth.confirm_title')} />
      <p className="mt-2 text-muted wrap-anywhere">{t('auth.confirm_text', { email: link.maskedEmail })}</p>
      <AddressForm
        action={path + search}
        errors={errors}
        field={field}
        email={email}
        placeholder={link.maskedEmail}
        labels={[host ? t('auth.confirm_button', { host }) : t('auth.continue_to_portal'), t('auth.signing_in')]}
        fallback="auth.error_unavailable"
        onChange={setEmail}
        onSend={confirm}
      />
      <div className="mt-5 grid gap-2 border-t border-line pt-4 text-sm text-muted">
        {link.hasCode && <p>{t('auth.confirm_or_code')}</p>}
        <p>{t('auth.confirm_not_you')}</p>
      </div>
    </Card>
  );
}

/** A link to an application or to the portal: only the browser that began continues there, with the link or the code. */
function OtherBrowser({ target }: { target: Target }) {
  const { t, language } = useTranslator();
  const portal = target.kind === 'portal';
  const host = portal ? '' : target.displayHost;
  return (
    <Card>
      <TargetLine target={target} portalName={t('auth.portal_name')} />
      <PageHeading title={t('auth.oidc_link_title')} />
      <p className="mt-2 text-muted wrap-anywhere">{portal ? t('auth.callback_other_browser') : t('auth.oidc_link_text', { host })}</p>
      <p className="mt-2 text-muted">{t('auth.confirm_not_you')}</p>
      {portal && (
        <ButtonLink href={`${paths.signIn}?language=${language}`} className="mt-6 w-full">
          {t('auth.start_again')}
        </ButtonLink>
      )}
    </Card>
  );
}

/** A link that a program on this computer requested: it redirects to the program. */
function BackToProgram({ target, link }: { target: Target; link: LinkWith<'native'> }) {
  const { t } = useTranslator();
  // The command line does not run on a phone, where the redirect would only show an error page of the browser.
  const [redirects, setRedirects] = useState(true);
  useEffect(() => {
    if (matchMedia('(hover: none) and (pointer: coarse)').matches) setRedirects(false);
    else location.replace(link.redirectUrl);
  }, [link.redirectUrl]);
  return (
    <Card>
      <TargetLine target={target} portalName={t('auth.portal_name')} />
      <PageHeading title={t(redirects ? 'auth.native_title' : 'auth.confirm_title')} />
      <p className="mt-2 text-muted">{t('auth.native_text')}</p>
      <p className="mt-2 text-muted">{t('auth.confirm_or_code')}</p>
      <ButtonLink variant="secondary" href={link.redirectUrl} className="mt-6 w-full">
        {t('auth.native_button')}
      </ButtonLink>
    </Card>
  );
}

const endedTexts = {
  signed_in: { title: 'auth.signed_in_title', text: 'auth.link_done_text' },
  used: { title: 'auth.link_used', text: 'auth.link_used_text' },
  expired: { title: 'auth.link_expired', text: 'auth.link_expired_text' },
  gone: { title: 'auth.link_gone', text: 'auth.link_gone_text' },
  invalid: { title: 'auth.link_invalid', text: 'auth.link_invalid_text' },
} as const;

function EndedLink({ target, link }: { target: Target; link: LinkWith<keyof typeof endedTexts> }) {
  const { t } = useTranslator();
  const { title, text } = endedTexts[link.state];
  const email = link.state === 'signed_in' ? link.email : '';
  const resend = link.state === 'signed_in' ? undefined : link.resend;
  const host = target.kind === 'site' ? target.displayHost : '';
  const next = link.state !== 'signed_in' ? 'auth.start_again' : host ? 'auth.leaving_link_host' : 'auth.continue_to_portal';
  return (
    <Card>
      <TargetLine target={target} portalName={t('auth.portal_name')} />
      <PageHeading title={t(title, { email })} className={email ? 'text-xl leading-7 wrap-anywhere' : undefined} />
      <p className="mt-2 text-muted wrap-anywhere">{t(text, { host })}</p>
      {resend && <ResendForm resend={resend} />}
      {link.again && (
        <ButtonLink variant={resend ? 'quiet' : 'primary'} href={link.again} className={`${resend ? 'mt-2' : 'mt-6'} w-full wrap-anywhere`}>
          {t(next, { host })}
        </ButtonLink>
      )}
    </Card>
  );
}

/** Requests another email. It is posted with a script too: step 2 is another page. */
function ResendForm({ resend: { maskedEmail, form } }: { resend: NonNullable<WaysOn['resend']> }) {
  const { t } = useTranslator();
  const [sending, setSending] = useState(false);
  useEffect(() => {
    // The back button may restore the page from memory.
    const reset = () => setSending(false);
    addEventListener('pageshow', reset);
    return () => removeEventListener('pageshow', reset);
  }, []);
  return (
    <form method="post" action={form.action} className="mt-6" onSubmit={() => setSending(true)}>
      {Object.entries(form.fields).map(([name, value]) => (
        <input key={name} type="hidden" name={name} value={value} />
      ))}
      <Button type="submit" busy={sending} className="w-full wrap-anywhere">
        {t('auth.send_new_link', { email: maskedEmail })}
      </Button>
    </form>
  );
}

type Callback = { code: string; bundle: PkceBundle } | 'missing' | 'wrong_state';

function readCallback(search: string): Callback {
  const query = new URLSearchParams(search);
  const code = query.get('code');
  const state = query.get('state');
  if (!code || !state) return 'missing';
  const bundle = readPkce(state);
  return typeof bundle === 'string' ? bundle : { code, bundle };
}

/** /auth/callback, the target of the portal's mailed link: step 3 completes the sign-in that this browser began. */
export function CallbackPage({ onStartAgain }: { onStartAgain: () => void }) {
  const { t, language } = useTranslator();
  const { search, target, link } = useBoot();
  // Only this browser knows whether it began the sign-in.
  const [callback, setCallback] = useState<Callback | null>(null);
  useEffect(() => setCallback(readCallback(search)), [search]);
  const began = typeof callback === 'object' ? callback : null;
  // The verifier completes a sign-in also where the service does not know the browser by its cookies.
  const hasEnded = link && link.state !== 'invalid' && link.state !== 'other_browser';
  if (began && !hasEnded) return <Completing callback={began} onStartAgain={onStartAgain} />;
  if (link && link.state !== 'invalid') return <LinkPage target={target} link={link} />;
  // The service knows the browser, whose script has yet to read its storage.
  if (callback === null && !link) return <Completing callback={null} onStartAgain={onStartAgain} />;
  const missing = callback !== 'wrong_state';
  return (
    <Card>
      <TargetLine target={{ kind: 'portal' }} portalName={t('auth.portal_name')} />
      <PageHeading title={t(missing ? 'auth.callback_missing' : 'auth.callback_wrong_state')} />
      <p role="alert" className="mt-2 text-muted">
        {t(missing ? 'auth.callback_missing_text' : 'auth.callback_wrong_state_text')}
      </p>
      <ButtonLink href={`${paths.signIn}?language=${language}`} className="mt-6 w-full">
        {t('auth.start_again')}
      </ButtonLink>
    </Card>
  );
}

function Completing({ callback, onStartAgain }: { callback: Exclude<Callback, string> | null; onStartAgain: () => void }) {
  const { t } = useTranslator();
  const { boot, leave, show } = usePage();
  const email = normalEmail(String(callback?.bundle.email ?? '')) ?? '';
  const cancelled = useRef(new AbortController());
  const failed = useRef(() => {});
  const completed = useRef((_: Awaited<ReturnType<typeof exchange>>) => {});
  completed.current = ({ url, passkey }) => {
    if (passkey) show({ language: boot.language, target: boot.target, offer: { email, options: passkey, url } });
    else leave(url, true);
  };
  failed.current = () => {
    onStartAgain();
    toastFailure(t('auth.callback_failed'), t('auth.callback_failed_text'));
  };

  useEffect(() => {
    if (!callback) return;
    const { signal } = cancelled.current;
    exchange(callback.code, callback.bundle, signal).then(
      (outcome) => signal.aborted || completed.current(outcome),
      () => signal.aborted || failed.current(),
    );
  }, [callback]);

  return (
    <Card>
      <TargetLine target={{ kind: 'portal' }} portalName={t('auth.portal_name')} />
      <PageHeading title={t('auth.confirm_title')} />
      <p className="mt-2 text-muted wrap-anywhere">{email ? t('auth.confirm_portal_as', { email }) : t('auth.confirm_portal')}</p>
      <p role="status" className="mt-4 flex items-center gap-2 text-sm text-muted">
        <Spinner />
        {t('auth.signing_in')}
      </p>
      <ButtonLink href={paths.developer} className="mt-6 w-full">
        {t('auth.continue_to_portal')}
      </ButtonLink>
      <Button
        variant="quiet"
        className="mt-2 w-full"
        onClick={() => {
          cancelled.current.abort();
          onStartAgain();
        }}
      >
        {t('auth.cancel')}
      </Button>
    </Card>
  );
}

const browserTexts: OwnTexts = { bad_link: 'auth.browser_wrong' };

/**
 * An emailed link in a browser whose request for an email was refused: the link, even if someone else requested it, proves that
 * the mailbox is the person's. A person who skips this sees the page of the link.
 */
export function ConfirmBrowser({ email: refused }: { email: string }) {
  const { t } = useTranslator();
  const { act, boot } = usePage();
  const { search, failure } = boot;
  const field = useRef<HTMLInputElement>(null);
  const [email, setEmail] = useState(() => typedBefore('email') ?? failure?.typed ?? refused);
  const errors = useFormErrors('browser', 'auth.error_unavailable', browserTexts);
  const action = `${paths.signIn}/browser${search}`;

  const confirm = (address: string) => {
    const query = new URLSearchParams(search);
    return act('confirmBrowser', { t: query.get('t') ?? query.get('code') ?? '', email: address }, { replaces: true });
  };

  return (
    <Card>
      <PageHeading title={t('auth.browser_title')} />
      <p className="mt-2 text-muted">{t('auth.browser_text')}</p>
      <AddressForm
        action={action}
        errors={errors}
        field={field}
        email={email}
        placeholder={t('auth.email_placeholder')}
        labels={[t('auth.browser_button'), t('auth.browser_button')]}
        fallback="auth.error_unavailable"
        ownTexts={browserTexts}
        onChange={setEmail}
        onSend={confirm}
      />
      <form method="post" action={action} className="mt-2">
        <Button type="submit" variant="quiet" name="skip" value="1" className="w-full">
          {t('auth.browser_skip')}
        </Button>
      </form>
    </Card>
  );
}
