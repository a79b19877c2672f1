import net from 'node:net';
import { addAbortSignal } from 'node:stream';
import tls from 'node:tls';
import { Webhook } from 'standardwebhooks';
import type { Config } from '../config.ts';
import type { AuditRow, Destination } from './audit-export.ts';

/** Returns the receivers of the audit log that the settings name. */
export function destinationsOf({
  auditSyslogUrl,
  auditWebhook,
  publicUrl,
}: Pick<Config, 'auditSyslogUrl' | 'auditWebhook' | 'publicUrl'>): Destination[] {
  const destinations: Destination[] = [];
  const { hostname } = new URL(publicUrl);
  if (auditSyslogUrl)
    destinations.push({
      name: 'syslog',
      setting: 'AUDIT_SYSLOG_URL',
      address: auditSyslogUrl,
      maxRows: 500,
      send: (rows, signal) =>
        sendMessages(
          auditSyslogUrl,
          rows.map((row) => formatMessage(row, hostname)),
          signal,
        ),
    });
  if (auditWebhook)
    destinations.push({
      name: 'webhook',
      setting: 'AUDIT_WEBHOOK_URL',
      address: new URL(auditWebhook.url).origin,
      maxRows: 100,
      send: (rows, signal) => postRows(auditWebhook, rows, signal),
    });
  return destinations;
}

/** Facility 13, log audit, and severity 6, informational (RFC 5424 §6.2.1). */
const PRIORITY = 13 * 8 + 6;
/** The enterprise number for documentation (RFC 5612), since the service has none of its own. */
const STRUCTURED_DATA_ID = 'emailauth@32473';
const BYTE_ORDER_MARK = '\uFEFF';

/** Returns a row of the audit log as a message of RFC 5424: its fields as structured data, and as JSON. */
function formatMessage(row: AuditRow, host: string): string {
  const data = Object.entries(row).map(([name, value]) => ` ${name}="${String(value).replace(/[\\"\]]/g, '\\$&')}"`);
  const header = `<${PRIORITY}>1 ${row.at} ${host} emailauth - ${row.action}`;
  return `${header} [${STRUCTURED_DATA_ID}${data.join('')}] ${BYTE_ORDER_MARK}${JSON.stringify(row)}`;
}

/**
 * Sends messages over TCP or TLS with octet counting (RFC 6587 §3.4.1, RFC 5425 §4.3). Syslog has no confirmations: it resolves when
 * the server, having read all of them, has closed its side of the connection too.
 * @param url `tcp://host:port` or `tls://host:port`
 * @throws Error when it does not, or on `signal`
 */
export function sendMessages(url: string, messages: readonly string[], signal: AbortSignal): Promise<void> {
  const { protocol, hostname, port } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, '');
  const text = messages.map((message) => `${Buffer.byteLength(message)} ${message}`).join('');
  return new Promise((resolve, reject) => {
    const options = { host, port: Number(port) };
    // A server name is not an IP address (RFC 6066 §3).
    const servername = net.isIP(host) ? undefined : host;
    const send = () => void socket.end(text);
    const socket: net.Socket = protocol === 'tls:' ? tls.connect({ ...options, servername }, send) : net.connect(options, send);
    let isComplete = false;
    socket.on('end', () => {
      isComplete = socket.writableFinished;
    });
    socket.on('error', reject);
    socket.on('close', () => (isComplete ? resolve() : reject(new Error('it closed the connection before it had all messages'))));
    socket.resume();
    addAbortSignal(signal, socket);
  });
}

/**
 * Posts rows of the audit log with the headers and the signature of Standard Webhooks. The same rows have the same `webhook-id`.
 * @param to.secret Base64, with or without the prefix `whsec_`
 * @throws Error for any status but 2xx, or on `signal`
 */
async function postRows(to: { url: string; secret: string }, rows: readonly AuditRow[], signal: AbortSignal): Promise<void> {
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
