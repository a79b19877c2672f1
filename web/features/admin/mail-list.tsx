import { timeAgo, timeUntil } from '../../lib/dates.ts';
import { wordsOf } from '../../lib/failure.ts';
import { toast, toastFailure } from '../../lib/toast.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Entries } from './entries.tsx';
import { useAdminMails, useRetryMail } from './queries.ts';

/** Long enough for a mail server to take a mail. */
const SENT_AFTER_MS = 2_000;

export function MailList() {
  const mails = useAdminMails();
  const retry = useRetryMail();
  const send = (id: string, recipient: string) =>
    retry.mutate(id, {
      onSuccess: () => {
        toast('Retry requested', `The mail to ${recipient} is sent at once, or within half a minute where a try is under way.`);
        setTimeout(() => void mails.refetch(), SENT_AFTER_MS);
      },
      onError: (error) => {
        toastFailure('Retry failed', wordsOf(error, 'The mail could not be retried.'));
        void mails.refetch();
      },
    });

  return (
    <Entries
      title="Mail queue"
      what="mails that are owed"
      pages={mails}
      empty={{ title: 'No mail is owed', text: 'A mail stands here from the moment it is asked for until the mail server has taken it.' }}
      row={({ id, kind, recipient, tries, createdAt, dueAt, expiresAt }) => (
        <>
          <div className="min-w-0 grow basis-64">
            <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
              <h3 className="font-medium [overflow-wrap:anywhere]">{recipient}</h3>
              <Badge>{kind.replaceAll('_', ' ')}</Badge>
            </div>
            <p className="mt-0.5 text-sm text-muted">
              Asked for {timeAgo(Date.parse(createdAt), 'en')} · {tries === 1 ? '1 failed try' : `${tries} failed tries`} · Next try{' '}
              {timeUntil(Date.parse(dueAt), 'en')} · Expires {timeUntil(Date.parse(expiresAt), 'en')}
            </p>
          </div>
          <Button
            look="secondary"
            small
            aria-label={`Retry the mail to ${recipient}`}
            busy={retry.isPending && retry.variables === id}
            onClick={() => send(id, recipient)}
          >
            Retry
          </Button>
        </>
      )}
    />
  );
}
