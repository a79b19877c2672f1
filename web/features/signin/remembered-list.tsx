import { useRef, useState } from 'react';
import { ApiError } from '../../../contract/client.ts';
import { call } from '../../lib/call.ts';
import { timeAgo } from '../../lib/dates.ts';
import { useTranslator } from '../../lib/i18n.ts';
import { blankKeys, forget, type Remembered, remember } from '../../lib/remembered.ts';
import { safePath } from '../../lib/safe-path.ts';
import { toastFailure } from '../../lib/toast.ts';
import { paths } from '../../paths.ts';
import { cx } from '../../ui/cx.ts';
import { CrossIcon } from '../../ui/icons.tsx';
import { Initial } from '../../ui/initial.tsx';
import { failureText } from './failure-text.ts';

/** The accounts of this browser. Only a click signs one in, never a page load. */
export function RememberedList({
  forwardUrl,
  portal,
  accounts,
  onChange,
  onNeedsMail,
}: {
  forwardUrl: string | null;
  portal: boolean;
  accounts: Remembered[];
  /** The stores have changed. */
  onChange: () => void;
  /** This account needs a mail again. */
  onNeedsMail: (email: string) => void;
}) {
  const translator = useTranslator();
  const { t, language } = translator;
  const [entering, setEntering] = useState<string | null>(null);
  const list = useRef<HTMLUListElement>(null);
  if (accounts.length === 0) return null;

  const failureTitle = portal ? t('auth.quick_login_failed') : t('auth.saved_login_failed');

  const enter = async ({ email, key }: Remembered) => {
    if (entering) return;
    if (key === '') {
      toastFailure(failureTitle, t('auth.no_saved_login'));
      return onNeedsMail(email);
    }
    setEntering(email);
    try {
      const request = { email, key, forward_url: forwardUrl ?? undefined };
      const answer = await call<'validateKey'>('POST', '/api/auth/validate-key', request);
      if (answer.key) remember(email, answer.key);
      location.assign(forwardUrl === null ? safePath(answer.redirectUrl, paths.developer) : answer.redirectUrl);
    } catch (error) {
      setEntering(null);
      const refused = error instanceof ApiError && error.status === 401;
      if (refused) {
        blankKeys(email);
        onChange();
      }
      toastFailure(failureTitle, failureText(translator, error, portal ? 'auth.quick_login_failed_text' : 'auth.saved_login_failed_text'));
      if (refused) onNeedsMail(email);
    }
  };

  const remove = (email: string) => {
    forget(email);
    onChange();
    // The row that had the focus is gone; its neighbour or the field goes on.
    requestAnimationFrame(() => (list.current ? list.current.querySelector('button')?.focus() : onNeedsMail('')));
  };

  return (
    <section className="mt-6">
      <h2 className="mb-1.5 text-sm font-medium">{t('auth.previous_emails')}</h2>
      <ul ref={list} className="divide-y divide-line rounded-control border border-line">
        {accounts.map((account) => (
          <li key={account.email} className={cx('flex items-center transition-opacity', entering === account.email && 'opacity-55')}>
            <button
              type="button"
              aria-busy={entering === account.email}
              onClick={() => enter(account)}
              className="flex min-h-14 min-w-0 grow items-center gap-3 rounded-control px-3 py-2 text-left hover:bg-sunk"
            >
              <Initial round text={account.email} />
              <span className="min-w-0 grow">
                <span className="block truncate text-[0.9375rem]">{account.email}</span>
                <span className="block text-[0.8125rem] text-muted" aria-live="polite">
                  {entering === account.email ? t('auth.logging_in') : account.timestamp > 0 && timeAgo(account.timestamp, language)}
                </span>
              </span>
            </button>
            <button
              type="button"
              aria-label={t('auth.remove_account', { email: account.email })}
              onClick={() => remove(account.email)}
              className="mr-1 grid size-11 shrink-0 place-items-center rounded-control text-muted hover:bg-sunk hover:text-ink"
            >
              <CrossIcon />
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
