import { Webhook } from 'standardwebhooks';
import type { AuditRow } from './store.ts';

/**
 * Posts rows of the audit log with the headers and the signature of Standard Webhooks. The same rows have the same `webhook-id`.
 * @param to.secret Base64, with or without the prefix `whsec_`
 * @throws Error for any status but 2xx, or on `signal`
 */
export async function postRows(to: { url: string; secret: string }, rows: readonly AuditRow[], signal: AbortSignal): Promise<void> {
  const now = new Date();
  const id = `audit_${rows[0]?.id}_${rows.at(-1)?.id}`;
  const body = JSON.stringify({ type: 'audit_log.rows', timestamp: now.toISOString(), data: { rows } });
  const response = await fetch(to.url, {
    method: 'POST',
    // A redirect would send the rows to an address that the operator did not choose.
    redirect: 'manual',
    headers: {
      'content-type': 'application/json',
      'user-agent': 'EmailAuth-Webhook',
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(now.getTime() / 1_000)),
      'webhook-signature': new Webhook(to.secret).sign(id, now, body),
    },
    body,
    signal,
  });
  await response.body?.cancel();
  if (!response.ok) throw new Error(`it responded with status ${response.status}`);
}
