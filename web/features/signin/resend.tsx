import { useEffect, useState } from 'react';
import { ApiError } from '../../../contract/client.ts';
import { useTranslator } from '../../lib/i18n.ts';
import { toast, toastFailure } from '../../lib/toast.ts';
import { Button } from '../../ui/button.tsx';
import { failureText } from './failure-text.ts';
import type { Flow } from './flow.ts';

const WAIT_SECONDS = 30;

/** Asks for the mail once more; between two mails, and as long as the service says so, it counts down. */
export function Resend({ flow, email, onSent }: { flow: Flow; email: string; onSent: () => void }) {
  const translator = useTranslator();
  const { t, language } = translator;
  const [until, setUntil] = useState(() => Date.now() + WAIT_SECONDS * 1000);
  const [left, setLeft] = useState(WAIT_SECONDS);
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
      setUntil(Date.now() + WAIT_SECONDS * 1000);
      toast(t('auth.resent'));
      onSent();
    } catch (error) {
      if (error instanceof ApiError && error.retryAfter) setUntil(Date.now() + error.retryAfter * 1000);
      toastFailure(t('auth.error_title'), failureText(translator, error, 'auth.error_send_portal'));
    } finally {
      setSending(false);
    }
  };

  return (
    <Button look="quiet" small className="tabular-nums" busy={sending} disabled={left > 0} onClick={send}>
      {left > 0 ? t('auth.resend_in', { time: `${Math.floor(left / 60)}:${String(left % 60).padStart(2, '0')}` }) : t('auth.resend')}
    </Button>
  );
}
