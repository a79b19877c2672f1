import type pg from 'pg';
import { RATE_LIMITS, RESERVED_MAILS } from '../../contract/limits.ts';
import { mailboxOf } from '../../contract/rules.ts';
import type { Mail, MailKind } from './mail.ts';

/** Mails that the request statement has counted; every other kind is a notice. */
const COUNTED_AT_REQUEST: readonly MailKind[] = ['sign_in', 'app_sign_in', 'portal_sign_in', 'registered'];

// The key is the one of the request statement (signin/statements.ts), and the reserve is left to sign-ins. The mark in `data` keeps
// a retry from being counted again. $1 id, $2 key, $3 limit.
const ADMIT = `
with mail as (
  select id from outbox where id = $1 and not data ? 'counted' for update
),
hit as (
  insert into sign_in_limits as l (key, hits, resets_at)
  select $2, 1, now() + interval '${RATE_LIMITS.mails_to_mailbox.duration} seconds' from mail
  on conflict (key) do update set
    hits = case when l.resets_at <= now() then 1 else l.hits + 1 end,
    resets_at = case when l.resets_at <= now() then excluded.resets_at else l.resets_at end
  returning hits <= $3 as admitted, resets_at
)
update outbox o set
  data = o.data || case when hit.admitted then '{"counted": "yes"}'::jsonb else '{"postponed": "yes"}' end,
  due_at = case when hit.admitted then o.due_at else hit.resets_at end
from hit where o.id = $1
returning hit.admitted`;

export type NoticeLimit = {
  /**
   * Counts a notice among the mails of its mailbox, once however often it is tried; other mails were counted when they were
   * requested. A notice over the limit becomes due when the mailbox's hour ends.
   * @returns whether the mail may be sent
   */
  admit(mail: Pick<Mail, 'id' | 'kind' | 'recipient'>): Promise<boolean>;
};

/** @param limitFactor multiplies the limit (100 in local mode) */
export function createNoticeLimit(core: pg.Pool, limitFactor: number): NoticeLimit {
  const limit = (RATE_LIMITS.mails_to_mailbox.points - RESERVED_MAILS) * limitFactor;
  return {
    async admit({ id, kind, recipient }) {
      if (COUNTED_AT_REQUEST.includes(kind)) return true;
      const values = [id, `mailbox ${mailboxOf(recipient)}`, limit];
      const { rows } = await core.query<{ admitted: boolean }>({ name: 'outbox-admit', text: ADMIT, values });
      return rows[0]?.admitted ?? true;
    },
  };
}
