import net from 'node:net';
import tls from 'node:tls';
import type { AuditRow } from './store.ts';

const TIMEOUT_MS = 10_000;
/** Facility 13, log audit, and severity 6, informational (RFC 5424 §6.2.1). */
const PRIORITY = 13 * 8 + 6;
/** The enterprise number for documentation (RFC 5612), since the service has none of its own. */
const STRUCTURED_DATA_ID = 'emailauth@32473';
const BYTE_ORDER_MARK = '\uFEFF';

/** Returns a row of the audit log as a message of RFC 5424: its fields as structured data, and as JSON. */
export function formatMessage(row: AuditRow, host: string): string {
  const fields = Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null));
  const data = Object.entries(fields).map(([name, value]) => ` ${name}="${String(value).replace(/[\\"\]]/g, '\\$&')}"`);
  const header = `<${PRIORITY}>1 ${row.at} ${host} emailauth - ${row.action}`;
  return `${header} [${STRUCTURED_DATA_ID}${data.join('')}] ${BYTE_ORDER_MARK}${JSON.stringify(fields)}`;
}

/**
 * Sends messages over TCP or TLS with octet counting (RFC 6587 §3.4.1, RFC 5425 §4.3). Syslog has no confirmations: it resolves when
 * the server, having read all of them, has closed its side of the connection too.
 * @throws Error when it does not
 */
export function sendMessages(url: string, messages: readonly string[]): Promise<void> {
  const { protocol, hostname, port } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, '');
  const text = messages.map((message) => `${Buffer.byteLength(message)} ${message}`).join('');
  return new Promise((resolve, reject) => {
    const options = { host, port: Number(port) };
    const servername = net.isIP(host) ? undefined : host;
    const send = () => void socket.end(text);
    const socket = protocol === 'tls:' ? tls.connect({ ...options, servername }, send) : net.connect(options, send);
    const timer = setTimeout(() => socket.destroy(new Error(`The syslog server did not confirm within ${TIMEOUT_MS} ms`)), TIMEOUT_MS);
    let ended = false;
    socket.on('end', () => {
      ended = socket.writableFinished;
    });
    socket.on('error', reject);
    socket.on('close', () => {
      clearTimeout(timer);
      if (ended) resolve();
      else reject(new Error('The syslog server closed the connection before it had all messages'));
    });
    socket.resume();
  });
}
