/**
 * Program of the bench: a mail server that accepts every message and keeps its connections open. To clients of its other port
 * it writes one line per email with the recipient and the link. It implements the minimum of RFC 5321.
 */
import { type AddressInfo, createServer, type Socket } from 'node:net';

/** The message to the parent once the program listens. */
export type SinkPorts = { smtp: number; links: number };

const listeners = new Set<Socket>();
let lines = '';

const smtp = createServer({ noDelay: true }, (socket) => {
  let received = '';
  let recipient = '';
  let inMessage = false;
  socket.setEncoding('latin1');
  socket.on('error', () => {});
  socket.on('data', (chunk) => {
    received += chunk;
    for (;;) {
      const end = received.indexOf(inMessage ? '\r\n.\r\n' : '\r\n');
      if (end < 0) return;
      const text = received.slice(0, end);
      received = received.slice(end + (inMessage ? 5 : 2));
      if (inMessage) {
        inMessage = false;
        tell(recipient, linkIn(text));
        socket.write('250 taken\r\n');
      } else socket.write(answer(text));
    }
  });
  socket.write('220 sink ESMTP\r\n');

  function answer(command: string): string {
    const verb = command.slice(0, 4).toUpperCase();
    if (verb === 'EHLO') return '250-sink\r\n250-PIPELINING\r\n250 8BITMIME\r\n';
    if (verb === 'RCPT') recipient = command.slice(command.indexOf('<') + 1, command.indexOf('>'));
    if (verb === 'DATA') {
      inMessage = true;
      return '354 go on\r\n';
    }
    return verb === 'QUIT' ? '221 bye\r\n' : '250 well\r\n';
  }
});

/** Returns the path of the link in a message, whose text part is plain or quoted-printable. */
function linkIn(message: string): string {
  const start = message.indexOf('/auth/link?t=');
  const near = message
    .slice(start, start + 200)
    .replaceAll('=\r\n', '')
    .replace('?t=3D', '?t=');
  return /^\/auth\/link\?t=[\w-]+/.exec(near)?.[0] ?? '-';
}

function tell(recipient: string, link: string) {
  if (lines === '') setImmediate(flush);
  lines += `${recipient} ${link}\n`;
}

function flush() {
  for (const listener of listeners) listener.write(lines);
  lines = '';
}

const links = createServer({ noDelay: true }, (socket) => {
  listeners.add(socket);
  socket.on('error', () => {});
  socket.on('close', () => listeners.delete(socket));
});

await Promise.all([smtp, links].map((server) => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))));
const portOf = (server: typeof smtp) => (server.address() as AddressInfo).port;
process.send?.({ smtp: portOf(smtp), links: portOf(links) } satisfies SinkPorts);
process.on('disconnect', () => process.exit(0));
