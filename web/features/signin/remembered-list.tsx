import { type FormEvent, type ReactNode, useRef, useState } from 'react';
import type { Output } from '../../../contract/calls.ts';
import type { RememberedAccount } from '../../../contract/remembered.ts';
import { timeAgo } from '../../lib/dates.ts';
import { deleteKeys, forget, remember } from '../../lib/storage.ts';
import { translateFailure, useTranslator } from '../../lib/texts.ts';
import { cx } from '../../ui/cx.ts';
import { CrossIcon, Initial } from '../../ui/icons.tsx';
import { toastFailure } from '../../ui/toast.tsx';
import { usePage } from './page.ts';
import { formAction, useSteps } from './steps.ts';

/** The accounts that were removed, until the service has responded to all their removals. */
const removed = new Set<string>();
let openRemovals = 0;

/** The remembered accounts of a sign-in. Only a click signs one in, never a page load. */
export function RememberedList({
  accounts,
  onChange,
  onNeedsMail,
}: {
  accounts: RememberedAccount[];
  /** An account was changed or removed. */
  onChange: () => void;
  /** This account needs an email to sign in. */
  onNeedsMail: (email: string) => void;
}) {
  const translator = useTranslator();
  const { t, language } = translator;
  const { act, boot } = usePage();
  const steps = useSteps();
  const { destination, oneClick } = steps;
  const portal = boot.target.kind === 'portal';
  const [entering, setEntering] = useState<string | null>(null);
  const list = useRef<HTMLUListElement>(null);
  if (accounts.length === 0) return null;

  const fillsIn = (email: string) => oneClick !== undefined && !oneClick.includes(email);
  const failureTitle = portal ? t('auth.quick_login_failed') : t('auth.saved_login_failed');

  const enter = async ({ email, key }: RememberedAccount) => {
    if (entering) return;
    if (fillsIn(email)) return onNeedsMail(email);
    if (key === '') {
      toastFailure(failureTitle, t('auth.no_saved_login'));
      return onNeedsMail(email);
    }
    setEntering(email);
    const onResponse = (response: Output<'validateKey'>) => response.key && remember(email, response.key);
    const refusal = await act('validateKey', { email, key, ...destination }, { onResponse });
    setEntering(null);
    if (!refusal) return;
    const { status } = refusal;
    if (status === 401) {
      deleteKeys(email);
      onChange();
    }
    const fallback = portal ? 'auth.quick_login_failed_text' : 'auth.saved_login_failed_text';
    toastFailure(failureTitle, translateFailure(translator, refusal, fallback));
    if (status === 401 || status === 403) onNeedsMail(email);
  };

  const forgetRemoved = () => {
    removed.forEach(forget);
    onChange();
  };

  const remove = async (email: string) => {
    removed.add(email);
    forgetRemoved();
    // The focused row is gone: the focus moves to the next one, or to the email field.
    requestAnimationFrame(() => (list.current ? list.current.querySelector('button')?.focus() : onNeedsMail('')));
    openRemovals += 1;
    // The service voids the key, which the browser no longer has. Without a connection, it ends by its age.
    const body = new URLSearchParams({ email });
    await fetch(formAction(steps, 'forget'), { method: 'POST', body, redirect: 'manual', keepalive: true }).catch(() => {});
    // Its response has the cookies of when it was sent, with the accounts that were removed since then.
    forgetRemoved();
    openRemovals -= 1;
    if (openRemovals === 0) removed.clear();
  };

  return (
    <section className="mt-6">
      <h2 className="mb-1.5 text-sm font-medium">{t('auth.previous_emails')}</h2>
      <ul ref={list} className="divide-y divide-line rounded-control border border-line">
        {accounts.map((account) => (
          <li key={account.email} className={cx('flex items-center transition-opacity', entering === account.email && 'opacity-55')}>
            <AccountForm
              action={formAction(steps, 'account')}
              email={account.email}
              className="flex min-w-0 grow"
              onSubmit={() => enter(account)}
            >
              <button
                type="submit"
                aria-busy={entering === account.email}
                className="flex min-h-14 min-w-0 grow items-center gap-3 rounded-control py-2 pr-1 pl-3 text-left hover:bg-sunk"
              >
                <Initial round text={account.email} />
                <span className="min-w-0 grow">
                  <span className="block text-[0.9375rem] leading-5 wrap-anywhere">
                    {account.email.slice(0, account.email.lastIndexOf('@'))}
                    <wbr />
                    {account.email.slice(account.email.lastIndexOf('@'))}
                  </span>
                  <span className="block text-[0.8125rem] text-muted" aria-live="polite">
                    {entering === account.email
                      ? t('auth.logging_in')
                      : fillsIn(account.email)
                        ? t('auth.needs_new_proof')
                        : account.timestamp > 0 && timeAgo(account.timestamp, language)}
                  </span>
                </span>
              </button>
            </AccountForm>
            <AccountForm action={formAction(steps, 'forget')} email={account.email} onSubmit={() => remove(account.email)}>
              <button
                type="submit"
                aria-label={t('auth.remove_account', { email: account.email })}
                className="mr-1 grid size-11 shrink-0 place-items-center rounded-control text-muted hover:bg-sunk hover:text-ink"
              >
                <CrossIcon />
              </button>
            </AccountForm>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** A form of one account, which is posted without a script. */
function AccountForm({
  action,
  email,
  className,
  onSubmit,
  children,
}: {
  action: string;
  email: string;
  className?: string;
  onSubmit: () => void;
  children: ReactNode;
}) {
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSubmit();
  };
  return (
    <form method="post" action={action} onSubmit={submit} className={className}>
      <input type="hidden" name="email" value={email} />
      {children}
    </form>
  );
}
