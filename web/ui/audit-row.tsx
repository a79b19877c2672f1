import { timeAgo } from '../lib/dates.ts';

/** Returns an action of the audit log as words: `API key created`. */
export const wordsOf = (action: string) => action.replaceAll('_', ' ').replace(/\bapi\b/, 'API');

/** An entry of the audit log. */
export function AuditRow({ action, displayDomain, createdAt }: { action: string; displayDomain: string | null; createdAt: string }) {
  return (
    <li className="flex min-h-14 items-center gap-4 px-4 py-3 sm:px-5">
      <span className="min-w-0 grow wrap-anywhere">
        <span className="inline-block font-medium first-letter:uppercase">{wordsOf(action)}</span>
        {displayDomain && <span className="block font-mono text-[0.8125rem] text-muted">{displayDomain}</span>}
      </span>
      <Moment date={createdAt} />
    </li>
  );
}

const exact = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'medium' });

/** A relative time, with the exact time as its title. */
function Moment({ date }: { date: string }) {
  const time = Date.parse(date);
  return (
    <time dateTime={date} title={exact.format(time)} className="shrink-0 text-sm text-muted">
      {timeAgo(time, 'en')}
    </time>
  );
}
