import { useEffect, useState } from 'react';
import type { SignInBoot } from '../../../contract/pages.ts';
import type { Output } from '../../../contract/routes.ts';
import { api } from '../../lib/api.ts';
import { paths } from '../../paths.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { OpenIcon } from '../../ui/icons.tsx';
import { PageHeading } from '../../ui/page-heading.tsx';
import { toast, toastFailure } from '../../ui/toast.tsx';
import { Card, TargetLine } from './card.tsx';
import { CodeForm } from './code-form.tsx';
import { mailboxSite } from './email.ts';
import type { Flow } from './flow.ts';
import { isApiError } from './requests.ts';
import { failureText, useTranslator } from './texts.ts';

/** Step 2: waits for the link or the code of the email. */
export function MailStep({
  target,
  flow,
  email,
  onOtherEmail,
}: {
  target: SignInBoot['target'];
  flow: Flow;
  email: string;
  onOtherEmail: () => void;
}) {
  const { t } = useTranslator();
  const [leaving, setLeaving] = useState(false);
  const [emailCount, setEmailCount] = useState(1);
  const status = useAttemptStatus(email, emailCount, leaving);
  const mailbox = mailboxSite(email);
  const [before, after] = t('auth.magic_link_sent').split('{email}');

  return (
    <Card>
      <TargetLine target={target} portalName={t('auth.portal_name')} />
      <PageHeading title={t('auth.check_email')} />
      <p className="mt-1.5 text-muted">
        {before}
        <strong className="font-medium text-ink wrap-anywhere">{email}</strong>
        {after}
      </p>
      <p className="mt-2 text-muted">{t('auth.email_instructions')}</p>
      <StatusNote status={status} portal={target.kind === 'portal'} />
      {status !== 'opened' && (
        <>
          {mailbox && status === 'waiting' && (
            <ButtonLink variant="secondary" href={mailbox.url} target="_blank" rel="noopener noreferrer" className="mt-5 w-full">
              {t('auth.open_mail', { name: mailbox.name })}
              <OpenIcon />
            </ButtonLink>
          )}
          <CodeForm flow={flow} email={email} emailCount={emailCount} onAccepted={() => setLeaving(true)} />
        </>
      )}
      <div className="-mx-3 -mb-3 mt-4 flex flex-wrap justify-between gap-x-2">
        <Button variant="quiet" small onClick={onOtherEmail}>
          {t('auth.use_different_email')}
        </Button>
        {status !== 'opened' && <Resend flow={flow} email={email} onSent={() => setEmailCount(emailCount + 1)} />}
      </div>
    </Card>
  );
}

/** The status of the email, once it has changed. */
function StatusNote({ status, portal }: { status: AttemptStatus; portal: boolean }) {
  const { t } = useTranslator();
  const failed = status === 'mail_failed' || status === 'expired';
  return (
    <>
      <div role="status">
        {status === 'opened' && (
          <div className="mt-5 rounded-control border border-accent/40 bg-tint px-4 py-3">
            <p className="font-medium">{t('auth.opened_title')}</p>
            <p className="mt-0.5 text-sm text-muted">{t('auth.opened_text')}</p>
            {portal && (
              <a href={paths.developer} className="-mb-2 inline-flex min-h-11 items-center text-sm font-medium text-accent underline">
                {t('auth.continue_to_portal')}
              </a>
            )}
          </div>
        )}
      </div>
      <div role="alert">
        {failed && (
          <p className="mt-5 rounded-control border border-danger/40 bg-danger-tint px-4 py-3 text-sm">
            {t(status === 'expired' ? 'auth.mail_expired' : 'auth.mail_failed')}
          </p>
        )}
      </div>
    </>
  );
}

const RESEND_SECONDS = 30;

/** Requests the email again. It counts down between two emails and while a limit applies. */
function Resend({ flow, email, onSent }: { flow: Flow; email: string; onSent: () => void }) {
  const translator = useTranslator();
  const { t, language } = translator;
  const [until, setUntil] = useState(() => Date.now() + RESEND_SECONDS * 1000);
  const [left, setLeft] = useState(RESEND_SECONDS);
  const [sending, setSending] = useState(false);

  useEffect(() => {
    const count = () => setLeft(Math.max(0, Math.ceil((until - Date.now()) / 1000)));
    count();
    const timer = setInterval(count, 1000);
    return () => clearInterval(timer);
  }, [until]);

  const send = async () => {
    setSending(true);
    try {
      await flow.requestMail(email, language);
      setUntil(Date.now() + RESEND_SECONDS * 1000);
      toast(t('auth.resent'));
      onSent();
    } catch (error) {
      if (isApiError(error) && error.retryAfter) setUntil(Date.now() + error.retryAfter * 1000);
      toastFailure(t('auth.error_title'), failureText(translator, error, 'auth.error_send_portal'));
    } finally {
      setSending(false);
    }
  };

  return (
    <Button variant="quiet" small className="tabular-nums" busy={sending} disabled={left > 0} onClick={send}>
      {left > 0 ? t('auth.resend_in', { time: `${Math.floor(left / 60)}:${String(left % 60).padStart(2, '0')}` }) : t('auth.resend')}
    </Button>
  );
}

type AttemptStatus = Output<'attempt'>['status'];

const POLL_INTERVAL_MS = 2000;

/**
 * Polls the status of the newest email to an address, while the page is visible and the status can still change.
 * @param emailCount how many emails were requested: a new one starts again at `waiting`
 * @param done the sign-in is completed on this page
 */
function useAttemptStatus(email: string, emailCount: number, done: boolean): AttemptStatus {
  const [known, setKnown] = useState<{ emailCount: number; status: AttemptStatus }>({ emailCount, status: 'waiting' });
  const status = known.emailCount === emailCount ? known.status : 'waiting';
  const waiting = status === 'waiting' && !done;

  useEffect(() => {
    if (!waiting) return;
    const stop = new AbortController();
    const poll = async () => {
      if (document.visibilityState !== 'visible') return;
      try {
        const response = await api.attempt({ email }, { signal: stop.signal });
        if (!stop.signal.aborted) setKnown({ emailCount, status: response.status });
      } catch {
        // The next poll tries again; the visitor's own actions report their errors.
      }
    };
    const timer = setInterval(poll, POLL_INTERVAL_MS);
    document.addEventListener('visibilitychange', poll);
    return () => {
      stop.abort();
      clearInterval(timer);
      document.removeEventListener('visibilitychange', poll);
    };
  }, [email, emailCount, waiting]);

  return status;
}
