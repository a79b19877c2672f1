import { useEffect, useRef, useState } from 'react';
import type { SignInBoot } from '../../../contract/pages.ts';
import { api } from '../../lib/api.ts';
import { typedBefore } from '../../lib/typed.ts';
import { paths } from '../../paths.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { PageHeading } from '../../ui/page-heading.tsx';
import { AddressForm } from './address-form.tsx';
import { useBoot } from './boot.ts';
import { Card, TargetLine } from './card.tsx';
import { useFormErrors } from './steps.ts';
import { type TextKey, useTranslator } from './texts.ts';

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
  const { path, search, failure } = useBoot();
  const errors = useFormErrors('link', 'auth.error_unavailable');
  const [email, setEmail] = useState(() => typedBefore('email') ?? failure?.typed ?? '');
  const host = target.kind === 'site' ? target.displayHost : null;

  const confirm = async (address: string) => {
    const secret = new URLSearchParams(location.search).get('t') ?? '';
    const { redirectUrl } = await api.confirmLink({ t: secret, email: address });
    location.assign(redirectUrl);
  };

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
export function OtherBrowser({ target, title = 'auth.oidc_link_title' }: { target: Target; title?: TextKey }) {
  const { t, language } = useTranslator();
  const portal = target.kind === 'portal';
  const host = portal ? '' : target.displayHost;
  return (
    <Card>
      <TargetLine target={target} portalName={t('auth.portal_name')} />
      <PageHeading title={t(title)} />
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
  used: { title: 'auth.link_used', text: 'auth.link_used_text' },
  expired: { title: 'auth.link_expired', text: 'auth.link_expired_text' },
  withdrawn: { title: 'auth.link_withdrawn', text: 'auth.link_withdrawn_text' },
  invalid: { title: 'auth.link_invalid', text: 'auth.link_invalid_text' },
} as const;

function EndedLink({ target, link }: { target: Target; link: LinkWith<keyof typeof endedTexts> }) {
  const { t } = useTranslator();
  const { title, text } = endedTexts[link.state];
  return (
    <Card>
      <TargetLine target={target} portalName={t('auth.portal_name')} />
      <PageHeading title={t(title)} />
      <p className="mt-2 text-muted wrap-anywhere">{t(text, { host: target.kind === 'site' ? target.displayHost : '' })}</p>
      <ButtonLink href={link.again} className="mt-6 w-full">
        {t('auth.start_again')}
      </ButtonLink>
    </Card>
  );
}
