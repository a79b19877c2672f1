import { useEffect, useState } from 'react';
import type { Output } from '../../../contract/routes.ts';
import { call } from '../../lib/call.ts';

export type AttemptStatus = Output<'attempt'>['status'];

const EVERY_MS = 2000;

/**
 * What became of the newest mail to an address; asked every two seconds while the page is visible and there is something to wait for.
 * @param mails how many mails were asked for: a new one is waited for anew
 * @param done the sign-in goes on by itself
 */
export function useAttemptStatus(email: string, mails: number, done: boolean): AttemptStatus {
  const [known, setKnown] = useState<{ mails: number; status: AttemptStatus }>({ mails, status: 'waiting' });
  const status = known.mails === mails ? known.status : 'waiting';
  const waiting = status === 'waiting' && !done;

  useEffect(() => {
    if (!waiting) return;
    const stop = new AbortController();
    const ask = async () => {
      if (document.visibilityState !== 'visible') return;
      try {
        const answer = await call<'attempt'>('GET', '/api/auth/attempt', { email }, stop.signal);
        if (!stop.signal.aborted) setKnown({ mails, status: answer.status });
      } catch {
        // The next round asks again; what the visitor does meanwhile reports its own faults.
      }
    };
    const timer = setInterval(ask, EVERY_MS);
    document.addEventListener('visibilitychange', ask);
    return () => {
      stop.abort();
      clearInterval(timer);
      document.removeEventListener('visibilitychange', ask);
    };
  }, [email, mails, waiting]);

  return status;
}
