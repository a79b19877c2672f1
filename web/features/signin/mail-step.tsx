import { useState } from 'react';
import type { SignInBoot } from '../../../contract/pages.ts';
import { useTranslator } from '../../lib/i18n.ts';
import { paths } from '../../paths.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { OpenIcon } from '../../ui/icons.tsx';
import { PageHeading } from '../../ui/page-heading.tsx';
import { Card, TargetLine } from './card.tsx';
import { CodeForm } from './code-form.tsx';
import type { Flow } from './flow.ts';
import { mailboxSite } from './mailbox-site.ts';
import { Resend } from './resend.tsx';
import { type AttemptStatus, useAttemptStatus } from './use-attempt-status.ts';

/** Step 2: the mail is on its way; its link or its code goes on. */
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
  const [mails, setMails] = useState(1);
  const status = useAttemptStatus(email, mails, leaving);
  const mailbox = mailboxSite(email);
  const [before, after] = t('auth.magic_link_sent').split('{email}');

  return (
    <Card>
      <TargetLine target={target} portalName={t('auth.portal_name')} />
      <PageHeading title={t('auth.check_email')} />
      <p className="mt-1.5 text-muted">
        {before}
        <strong className="font-medium text-ink [overflow-wrap:anywhere]">{email}</strong>
        {after}
      </p>
      <p className="mt-2 text-muted">{t('auth.email_instructions')}</p>
      <StatusNote status={status} portal={target.kind === 'portal'} />
      {status !== 'opened' && (
        <>
          {mailbox && status === 'waiting' && (
            <ButtonLink look="secondary" href={mailbox.url} target="_blank" rel="noopener noreferrer" className="mt-5 w-full">
              {t('auth.open_mail', { name: mailbox.name })}
              <OpenIcon />
            </ButtonLink>
          )}
          <CodeForm flow={flow} email={email} mails={mails} onAccepted={() => setLeaving(true)} />
        </>
      )}
      <div className="-mx-3 -mb-3 mt-4 flex flex-wrap justify-between gap-x-2">
        <Button look="quiet" small onClick={onOtherEmail}>
          {t('auth.use_different_email')}
        </Button>
        {status !== 'opened' && <Resend flow={flow} email={email} onSent={() => setMails(mails + 1)} />}
      </div>
    </Card>
  );
}

/** What became of the mail, once there is something to say. */
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
