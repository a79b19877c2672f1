import { spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, waitUntil } from '../waiting.ts';

const RSYSLOG = '/usr/sbin/rsyslogd';
/** The TLS driver of rsyslog that Debian has in the package rsyslog-openssl. */
const TLS_DRIVERS = ['/usr/lib/x86_64-linux-gnu/rsyslog/lmnsd_ossl.so', '/usr/lib/aarch64-linux-gnu/rsyslog/lmnsd_ossl.so'];

/** Whether rsyslog is installed, with TLS. On Debian: apt-get install rsyslog rsyslog-openssl. */
export const hasRsyslog = existsSync(RSYSLOG) && TLS_DRIVERS.some((path) => existsSync(path));

/** The parts of a syslog message, as rsyslog parsed them. `data` has the fields of the structured data. */
export type SyslogMessage = {
  priority: string;
  host: string;
  app: string;
  id: string;
  data: Record<string, string>;
  fields: Record<string, unknown>;
};

/**
 * Returns a syslog server on a free port, which `start` and `stop` start and stop.
 * @param tls its certificate, and that of the authority; without it, it listens on TCP
 */
export async function prepareRsyslog(tls?: { cert: string; key: string; authorityFile: string }) {
  const folder = await mkdtemp(join(tmpdir(), 'emailauth-syslog-'));
  const port = await freePort();
  const at = (name: string) => join(folder, name);
  if (tls) await Promise.all([writeFile(at('cert.pem'), tls.cert), writeFile(at('key.pem'), tls.key)]);
  const listener = tls ? await documentedListener() : 'module(load="imtcp")\ninput(type="imtcp" port="6514")';
  const configuration = listener
    .replace('/etc/ssl/certs/ca-certificates.crt', tls?.authorityFile ?? '')
    .replaceAll('/etc/rsyslog/', `${folder}/`)
    .replace('port="6514"', `port="${port}" address="127.0.0.1"`);
  await writeFile(
    at('rsyslog.conf'),
    `global(workDirectory="${folder}" parser.escapeControlCharactersOnReceive="off")
${configuration}
template(name="fields" type="string" string="%pri%|%hostname%|%app-name%|%msgid%|%structured-data%|%msg%\\n")
*.* action(type="omfile" file="${at('messages')}" template="fields")
`,
  );
  let child: ReturnType<typeof spawn> | undefined;
  const isListening = () =>
    new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false));
      socket.on('connect', () => socket.destroy());
    });
  return {
    port,
    async start() {
      child = spawn(RSYSLOG, ['-n', '-f', at('rsyslog.conf'), '-i', at('pid')], { stdio: 'ignore' });
      await waitUntil('rsyslog listens', 60_000, isListening);
    },
    async stop() {
      if (!child || child.exitCode !== null) return;
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      await exited;
    },
    async messages(): Promise<SyslogMessage[]> {
      const text = existsSync(at('messages')) ? await readFile(at('messages'), 'utf8') : '';
      // The last line may be written only in part.
      return text
        .slice(0, text.lastIndexOf('\n') + 1)
        .split('\n')
        .filter((line) => line.includes('emailauth@32473'))
        .map(parseMessage);
    },
    async close() {
      await this.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Returns the configuration of rsyslog in docs/operations.md. */
async function documentedListener(): Promise<string> {
  const documentation = await readFile(join(import.meta.dirname, '../../docs/operations.md'), 'utf8');
  const documented = /```rsyslog\n([\s\S]*?)```/.exec(documentation)?.[1];
  if (!documented) throw new Error('docs/operations.md has no configuration of rsyslog');
  return documented;
}

function parseMessage(line: string): SyslogMessage {
  const [, priority, host, app, id, structured, text] =
    /^(.*?)\|(.*?)\|(.*?)\|(.*?)\|\[emailauth@32473 (.*)\]\|[^{]*(\{.*\})$/.exec(line) ?? [];
  const data = Object.fromEntries([...structured.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, name, value]) => [name, value]));
  return { priority, host, app, id, data, fields: JSON.parse(text) };
}

/** A request that a webhook received. */
export type Delivery = { id: string; ids: number[]; rows: Record<string, unknown>[]; type: string };

/** Starts a receiver of webhooks on the loopback, which responds with the next of `statuses`, else 204, and rejects wrong signatures. */
export async function startWebhook(secret: string) {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const accepted: Delivery[] = [];
  const rejected: Delivery[] = [];
  const statuses: number[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    const [id, timestamp, signature] = ['id', 'timestamp', 'signature'].map((name) => String(request.headers[`webhook-${name}`]));
    const expected = `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
    const isFresh = Math.abs(Date.now() / 1_000 - Number(timestamp)) < 300;
    const isValid =
      request.method === 'POST' && signature === expected && isFresh && request.headers['content-type'] === 'application/json';
    const status = isValid ? (statuses.shift() ?? 204) : 401;
    const { type, data } = JSON.parse(body);
    const delivery = { id, type, rows: data.rows, ids: data.rows.map((row: { id: string }) => Number(row.id)) };
    (status < 300 ? accepted : rejected).push(delivery);
    response.writeHead(status, status === 302 ? { location: '/elsewhere' } : {}).end('a response');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/audit?key=secret-in-the-address`,
    accepted,
    rejected,
    statuses,
    close: () =>
      new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      }),
  };
}
