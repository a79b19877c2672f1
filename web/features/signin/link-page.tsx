import { type FormEvent, useEffect, useRef, useState } from 'react';
import { ApiError } from '../../../contract/client.ts';
import type { SignInBoot } from '../../../contract/pages.ts';
import { call } from '../../lib/call.ts';
import { looksLikeEmail } from '../../lib/email.ts';
import { useTranslator } from '../../lib/i18n.ts';
import { toastFailure } from '../../lib/toast.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Field } from '../../ui/field.tsx';
import { PageHeading } from '../../ui/page-heading.tsx';
import { Card, TargetLine } from './card.tsx';
import { failureText, isAddressFault } from './failure-text.ts';

type Target = SignInBoot['target'];
type Link = NonNullable<SignInBoot['link']>;
type LinkIn<State extends Link['state']> = Extract<Link, { state: State }>;

/** /auth/link: a mailed link opened in a browser that did not ask for it, or one that is of no use any more. */
export function LinkPage({ target, link }: { target: Target; link: Link }) {
  if (link.state === 'open') return <ConfirmLink target={target} link={link} />;
  if (link.state === 'native') return <BackToProgram target={target} link={link} />;
  return <EndedLink target={target} link={link} />;
}

function ConfirmLink({ target, link }: { target: Target; link: LinkIn<'open'> }) {
  const translator = useTranslator();
  const { t, language } = translator;
  const field = useRef<HTMLInputElement>(null);
  const [email, setEmail] = useState('');
  const [fault, setFault] = useState<string | null>(null);
  const [sending, setSending] = useState(false);
  const host = target.kind === 'site' ? target.displayHost : null;

  const confirm = async (event: FormEvent) => {
    event.preventDefault();
    if (sending) return;
    const address = email.trim();
    if (!looksLikeEmail(address)) {
      setFault(t('auth.error_email'));
      field.current?.focus();
      return;
    }
    setFault(null);
    setSending(true);
    try {
      const secret = new URLSearchParams(location.search).get('t') ?? '';
      const { redirectUrl } = await call<'confirmLink'>('POST', '/api/auth/confirm-link', { t: secret, email: address });
      location.assign(redirectUrl);
    } catch (error) {
      setSending(false);
      const text = failureText(translator, error, 'auth.error_unavailable');
      if (error instanceof ApiError && error.code === 'bad_link') {
        setFault(t('auth.confirm_wrong_email'));
        field.current?.focus();
      } else if (isAddressFault(error)) setFault(text);
      else toastFailure(t('auth.error_title'), text);
    }
  };

  return (
    <Card>
      <TargetLine target={target} portalName={t('auth.portal_name')} />
      <PageHeading title={t('auth.confirm_title')} />
      <p className="mt-2 text-muted [overflow-wrap:anywhere]">{t('auth.confirm_text', { email: link.maskedEmail })}</p>
      <form noValidate onSubmit={confirm} className="mt-6 grid gap-4" lang={language}>
        <Field
          ref={field}
          label={t('auth.email_label')}
          type="email"
          name="email"
          required
          autoComplete="email"
          autoCapitalize="none"
          spellCheck={false}
          placeholder={link.maskedEmail}
          value={email}
          error={fault}
          onChange={(event) => {
            setEmail(event.target.value);
            setFault(null);
          }}
        />
        <Button type="submit" busy={sending} className="w-full [overflow-wrap:anywhere]">
          {sending ? t('auth.signing_in') : host ? t('auth.confirm_button', { host }) : t('auth.continue_to_portal')}
        </Button>
      </form>
      <p className="mt-5 border-t border-line pt-4 text-sm text-muted">{t('auth.confirm_or_code')}</p>
      <p className="mt-2 text-sm text-muted">{t('auth.confirm_not_you')}</p>
    </Card>
  );
}

/** A program on the computer where somebody began asked for the mail: its answer goes there. */
function BackToProgram({ target, link }: { target: Target; link: LinkIn<'native'> }) {
  const { t } = useTranslator();
  // The command line runs on no phone: to go there would only end on the browser's own error page.
  const [goes] = useState(() => !matchMedia('(hover: none) and (pointer: coarse)').matches);
  useEffect(() => {
    if (goes) location.replace(link.redirectUrl);
  }, [goes, link.redirectUrl]);
  return (
    <Card>
      <TargetLine target={target} portalName={t('auth.portal_name')} />
      <PageHeading title={t(goes ? 'auth.native_title' : 'auth.confirm_title')} />
      <p className="mt-2 text-muted">{t('auth.native_text')}</p>
      <p className="mt-2 text-muted">{t('auth.confirm_or_code')}</p>
      <ButtonLink look="secondary" href={link.redirectUrl} className="mt-6 w-full">
        {t('auth.native_button')}
      </ButtonLink>
    </Card>
  );
}

const ended = {
  used: { title: 'auth.link_used', text: 'auth.link_used_text' },
  expired: { title: 'auth.link_expired', text: 'auth.link_expired_text' },
  withdrawn: { title: 'auth.link_withdrawn', text: 'auth.link_withdrawn_text' },
  invalid: { title: 'auth.link_invalid', text: 'auth.link_invalid_text' },
} as const;

function EndedLink({ target, link }: { target: Target; link: LinkIn<keyof typeof ended> }) {
  const { t } = useTranslator();
  const { title, text } = ended[link.state];
  return (
    <Card>
      <TargetLine target={target} portalName={t('auth.portal_name')} />
      <PageHeading title={t(title)} />
      <p className="mt-2 text-muted [overflow-wrap:anywhere]">{t(text, { host: target.kind === 'site' ? target.displayHost : '' })}</p>
      <ButtonLink href={link.again} className="mt-6 w-full">
        {t('auth.start_again')}
      </ButtonLink>
    </Card>
  );
}
