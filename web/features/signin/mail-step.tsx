import { type ComponentProps, type FormEvent, useEffect, useRef, useState } from 'react';
import type { ApiError } from '../../../contract/client.ts';
import { suggestEmail } from '../../../contract/email-suggestions.ts';
import { ATTEMPT_SECONDS } from '../../../contract/limits.ts';
import type { OwnAttempt, SignInBoot } from '../../../contract/pages.ts';
import type { AttemptStatus } from '../../../contract/signin.ts';
import { returnPageOf } from '../../../contract/urls.ts';
import { mailboxSite } from '../../../contract/web-mail.ts';
import { api } from '../../lib/api.ts';
import { isApiError, type OwnTexts, type TextKey, translateError, useTranslator } from '../../lib/texts.ts';
import { newestEmailPath, paths } from '../../pages.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { cx } from '../../ui/cx.ts';
import { OpenIcon } from '../../ui/icons.tsx';
import { PageHeading } from '../../ui/page-heading.tsx';
import { toast, toastFailure } from '../../ui/toast.tsx';
import { Card, Note, TargetLine } from './card.tsx';
import { CodeForm } from './code-form.tsx';
import { useBoot, usePage } from './page.ts';
import { formAction, stepUrl, useFormErrors, useSteps } from './steps.ts';
import { Suggestion } from './suggestion.tsx';

/** The heading of step 2, which says what has become of the email, and the text below it. */
const headings: Record<AttemptStatus, readonly [title: TextKey, text?: TextKey]> = {
  waiting: ['auth.check_email', 'auth.email_instructions'],
  code_spent: ['auth.check_email', 'auth.email_instructions'],
  opened: ['auth.signed_in_title'],
  opened_elsewhere: ['auth.opened_elsewhere_title', 'auth.opened_elsewhere_text'],
  mail_failed: ['auth.mail_failed_title', 'auth.mail_failed'],
  expired: ['auth.link_expired', 'auth.mail_expired'],
};

/** Step 2: waits for the link or the code of the email. */
export function MailStep({
  attempt,
  onCode,
  onResend,
  onOtherEmail,
}: {
  attempt: OwnAttempt;
  onCode: ComponentProps<typeof CodeForm>['onCode'];
  /** Requests another email. Returns why the request was refused. */
  onResend: () => Promise<ApiError | null>;
  /** Goes to step 1, where the field contains an address if it is given. */
  onOtherEmail: (email?: string) => void;
}) {
  const { t } = useTranslator();
  const steps = useSteps();
  const { target, inbox } = useBoot();
  const { email, status } = attempt;
  const expired = status === 'expired';
  const opened = status === 'opened';
  const open = status === 'waiting' || status === 'code_spent';
  usePolledStatus(attempt);
  const refused = useFormErrors('resend', 'auth.error_send_portal', crowded);
  const provider = mailboxSite(email);
  const mailbox = inbox ? newestEmailPath(email) : provider?.url;
  const [before, after] = open ? t('auth.magic_link_sent').split('{email}') : ['', ''];
  const [title, text] = headings[status];
  // An address whose email was opened is right.
  const suggestion = opened || status === 'opened_elsewhere' ? null : suggestEmail(email);
  const codeField = useRef<HTMLInputElement>(null);

  return (
    <Card>
      <TargetLine target={target} portalName={t('auth.portal_name')} />
      <PageHeading key={title} title={t(title, { email })} className={opened ? 'text-xl leading-7 wrap-anywhere' : undefined} />
      {!opened && (
        <p className="mt-1.5 text-muted">
          {before}
          <strong className="font-medium text-ink wrap-anywhere">{email}</strong>
          {after}
        </p>
      )}
      {suggestion && (
        <Suggestion
          email={suggestion}
          href={`${stepUrl(steps, 'address')}&${new URLSearchParams({ login_hint: suggestion })}`}
          onAccept={() => onOtherEmail(suggestion)}
        />
      )}
      {opened && <WayOn target={target} />}
      {text && <p className="mt-2 text-muted">{t(text)}</p>}
      {(refused.ofForm ?? refused.atField) && <Note tone="failure">{refused.ofForm ?? refused.atField}</Note>}
      {status === 'opened_elsewhere' && (
        <Resend attempt={attempt} layout="here" onResend={onResend} onSent={() => codeField.current?.focus()} />
      )}
      {mailbox && open && (
        <ButtonLink variant="secondary" href={mailbox} target="_blank" rel="noopener noreferrer" className="mt-5 w-full">
          {inbox ? t('auth.open_inbox') : t('auth.open_mail', { name: provider?.name ?? '' })}
          <OpenIcon />
        </ButtonLink>
      )}
      {!opened && !expired && <CodeForm field={codeField} attempt={attempt} onCode={onCode} />}
      <div className={expired ? '-mb-3 mt-4 flex flex-col-reverse gap-1' : '-mx-3 -mb-3 mt-4 flex flex-wrap justify-between gap-x-2'}>
        <ButtonLink
          variant="quiet"
          small
          href={stepUrl(steps, 'address')}
          onClick={(event) => {
            event.preventDefault();
            onOtherEmail();
          }}
        >
          {t('auth.use_different_email')}
        </ButtonLink>
        {!opened && status !== 'opened_elsewhere' && <Resend attempt={attempt} layout={expired ? 'expired' : 'line'} onResend={onResend} />}
      </div>
    </Card>
  );
}

/** The way on of a person who is signed in, on this page after the back button or in another tab. */
function WayOn({ target }: { target: SignInBoot['target'] }) {
  const { t } = useTranslator();
  const { destination } = useSteps();
  const forwardUrl = target.kind === 'site' && destination?.forward_url;
  const next = forwardUrl ? returnPageOf(forwardUrl) : target.kind === 'portal' && paths.developer;
  return (
    <>
      <p className="mt-2 text-muted">{t(next ? 'auth.link_done_text' : 'auth.oidc_close_tab')}</p>
      {next && (
        <ButtonLink href={next} className="mt-6 w-full wrap-anywhere">
          {target.kind === 'site' ? t('auth.leaving_link_host', { host: target.displayHost }) : t('auth.continue_to_portal')}
        </ButtonLink>
      )}
    </>
  );
}

const RESEND_SECONDS = 30;

/** The text for a network with many sign-ins. This step has neither passkeys nor remembered accounts. */
const crowded: OwnTexts = { rate_limited: 'auth.error_network' };

/**
 * Requests the email again. It counts down between two emails and while a limit applies.
 * @param layout `expired`: the main action; `here`: the main action, after the link was used in another browser; it does not wait
 */
function Resend({
  attempt,
  onResend,
  onSent,
  layout,
}: {
  attempt: OwnAttempt;
  onResend: () => Promise<ApiError | null>;
  onSent?: () => void;
  layout: 'line' | 'here' | 'expired';
}) {
  const translator = useTranslator();
  const { t } = translator;
  const steps = useSteps();
  const { id, email, secondsLeft } = attempt;
  const [until, setUntil] = useState<number | null>(null);
  // The first render, without a script, does not wait.
  const [left, setLeft] = useState(0);
  const [sending, setSending] = useState(false);

  // biome-ignore lint/correctness/useExhaustiveDependencies: each email has its own wait
  useEffect(() => {
    const secondsToWait = layout === 'here' ? 0 : RESEND_SECONDS - (ATTEMPT_SECONDS - secondsLeft);
    setUntil(Date.now() + secondsToWait * 1000);
  }, [layout, id]);

  useEffect(() => {
    if (until === null) return;
    const count = () => setLeft(Math.max(0, Math.ceil((until - Date.now()) / 1000)));
    count();
    const timer = setInterval(count, 1000);
    return () => clearInterval(timer);
  }, [until]);

  const send = async (event: FormEvent) => {
    event.preventDefault();
    if (sending || left > 0) return;
    setSending(true);
    const refusal: unknown = await onResend().catch((error) => error);
    setSending(false);
    if (!refusal) {
      toast(t('auth.resent'));
      onSent?.();
      return;
    }
    if (isApiError(refusal) && refusal.retryAfter) setUntil(Date.now() + refusal.retryAfter * 1000);
    toastFailure(t('auth.error_title'), translateError(translator, refusal, 'auth.error_send_portal', crowded));
  };

  const time = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, '0')}`;
  const here = layout === 'here';
  const main = layout !== 'line';
  return (
    <form method="post" action={formAction(steps, 'resend')} onSubmit={send} className={here ? 'mt-4' : undefined}>
      <input type="hidden" name="email" value={email} />
      <Button
        type="submit"
        variant={main ? 'primary' : 'quiet'}
        small={!main}
        className={cx('tabular-nums', main && 'w-full')}
        busy={sending}
        disabled={left > 0}
      >
        {left > 0 ? t('auth.resend_in', { time }) : t(here ? 'auth.send_code_here' : 'auth.resend')}
      </Button>
    </form>
  );
}

const POLL_INTERVAL_MS = 2000;

/** Polls the status of the newest email to an address, while the page is visible and the status can still change. */
function usePolledStatus({ id, email, status }: OwnAttempt) {
  const { change, isLeaving } = usePage();
  const { destination } = useSteps();
  const open = (status === 'waiting' || status === 'code_spent') && !isLeaving;

  // biome-ignore lint/correctness/useExhaustiveDependencies: a response about the email before is not about the next one
  useEffect(() => {
    if (!open) return;
    const stop = new AbortController();
    const wanted = destination ?? { forward_url: location.origin + paths.developer };
    const poll = async () => {
      if (document.visibilityState !== 'visible') return;
      try {
        const newest = await api.attempt({ email, ...wanted }, { signal: stop.signal });
        if (!stop.signal.aborted) change((page) => withStatus(page, newest.status));
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
  }, [id, email, open]);
}

/** Returns a page with another status of its attempt. */
const withStatus = (page: SignInBoot, status: AttemptStatus): SignInBoot =>
  page.steps?.attempt ? { ...page, steps: { ...page.steps, attempt: { ...page.steps.attempt, status } } } : page;
