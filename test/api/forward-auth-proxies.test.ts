import { once } from 'node:events';
import { createServer, type IncomingMessage, request } from 'node:http';
import { connect, type IncomingHttpHeaders } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Client } from '../support/client.ts';
import { check, forwardUrlOf, naming, PAGE, signInAtApp } from '../support/forward-auth.ts';
import { useService } from '../support/harness.ts';
import { hasProxy, startProxy } from '../support/proxies.ts';
import { freshAddress, registerWebsite } from '../support/sign-ins.ts';
import { freePort } from '../support/waiting.ts';

const { stage, service } = await useService();

const signInAt = (forwardUrl: string, email?: string) => signInAtApp(stage, { forwardUrl, email, browser: service.client() });

describe.each([
  ['nginx', 'a domain'],
  ['nginx', 'localhost'],
  ['caddy', 'a domain'],
  ['caddy', 'localhost'],
] as const)('an app behind %s at %s', (name, kind) => {
  if (!hasProxy(name)) console.warn(`\n!! The tests with ${name} are skipped: on Debian, apt-get install nginx-core caddy\n`);
  let app: Awaited<ReturnType<typeof startApp>>;
  let hostname: string;
  /** As in the configuration. */
  let host: string;
  let origin: string;
  let port: number;
  let http2Port: number;
  let end: () => Promise<void>;
  beforeAll(async () => {
    if (!hasProxy(name)) return;
    app = await startApp();
    [port, http2Port] = [await freePort(), await freePort()];
    hostname = kind === 'localhost' ? 'localhost' : `notes.${await registerWebsite(service.client())}`;
    host = kind === 'localhost' ? `localhost:${port}` : hostname;
    origin = kind === 'localhost' ? `http://${host}` : `https://${host}`;
    end = await startProxy(
      name,
      'guide/forward-auth.md',
      port,
      {
        'allow=example.com,guest@other.example': 'allow=mail.example&max_age=2000000',
        '127.0.0.1:4400': `127.0.0.1:${service.port}`,
        '127.0.0.1:8080': `127.0.0.1:${app.port}`,
        'notes.example.com {': `http://${hostname}:${port}, http://${hostname}:${http2Port} {\n\tbind 127.0.0.1`,
        'notes.example.com': host,
      },
      http2Port,
    );
  });
  afterAll(async () => {
    await end?.();
    app?.close();
  });
  const skipped = test.skipIf(!hasProxy(name));
  const open = () => new Client(`http://${hostname}:${port}`);

  /** Signs a person in to the app. */
  async function visit(email = freshAddress(), browser = open()): Promise<Client> {
    const page = await browser.get('/report?year=1', PAGE);
    const callback = new URL(await signInAt(forwardUrlOf(page), email));
    const back = await browser.get(callback.pathname + callback.search, PAGE);
    expect([back.status, back.headers.location]).toEqual([302, `${origin}/report?year=1`]);
    expect(back.setCookies.join()).toContain('; Max-Age=2000000; ');
    return browser;
  }

  skipped('gets requests of signed-in visitors only, with their address', async () => {
    const email = freshAddress();
    const browser = await visit(email);
    app.requests.length = 0;
    expect((await browser.get('/report?year=1', PAGE)).json).toEqual({ HTTP_REMOTE_EMAIL: email, HTTP_REMOTE_USER: email });
    const posted = await browser.send('/', { method: 'POST', body: 'a=1', headers: { 'Content-Type': 'text/plain' } });
    expect(posted.json.HTTP_REMOTE_EMAIL).toBe(email);
    const script = await open().get('/data', { Accept: 'application/json' });
    expect([script.status, script.headers.location]).toEqual([401, undefined]);
    expect((await browser.get('/_emailauth/sign-out', PAGE)).status).toBe(302);
    expect((await browser.get('/report', PAGE)).status).toBe(302);

    const stranger = await visit('stranger@elsewhere.example');
    expect((await stranger.get('/', PAGE)).status).toBe(403);
    expect(app.requests).toEqual(['GET /report?year=1', 'POST /']);
  });

  skipped('accepts no session of another host, whatever a browser writes', async () => {
    const evil = await registerWebsite(service.client());
    const attacker = service.client();
    await check(attacker, await signInAt(forwardUrlOf(await check(attacker, `https://${evil}/`)), 'boss@mail.example'));
    expect((await check(attacker, `https://${evil}/`)).headers['remote-email']).toBe('boss@mail.example');
    const own = `Host: ${hostname}:${port}`;
    const named = Object.entries({ ...naming(evil), 'X-Forwarded-Uri': '/evil', 'X-Forwarded-Method': 'POST' }).map(
      ([key, value]) => `${key}: ${value}`,
    );
    const hopByHop = `Connection: close, ${named.map((line) => line.split(':')[0]).join(', ')}`;
    const requests = [
      ...named.map((line) => ['GET /a', own, line]),
      ['GET /a', own, ...named],
      ['GET /a', own, ...named, hopByHop],
      ['GET /a', own, ...named.map((line) => line.replaceAll('-', '_'))],
      ['GET /a', `Host: ${hostname.toUpperCase()}:${port}`, ...named],
      ['GET /a', `Host: ${hostname}.:${port}`, ...named],
      ['GET /a', `Host: ${evil}`],
      ['GET /a', `Host: ${evil}:${port}`],
      ['GET /a', own, `Host: ${evil}`],
      ['GET /a', `Host: ${evil}`, own],
      [`GET http://${evil}/a`, own],
      [`GET https://${evil}/a`, own],
      [`GET http://${hostname}:${port}/a`, `Host: ${evil}`],
      [`GET http://${evil}@${hostname}:${port}/a`, own],
      [`GET http://${hostname}:${port}//${evil}/a`, own],
      [`GET //${evil}/a`, own],
      [`GET /\\${evil}/a`, own],
      [`GET @${evil}/a`, own],
      [`GET /a#@${evil}`, own],
      [`POST /a`, own, ...named],
      [`OPTIONS *`, own, ...named],
      ['GET /_emailauth/check', own, ...named],
      [`GET /_emailauth/${evil}`, own, ...named],
    ];
    app.requests.length = 0;
    const forwardOrigins = new Set<string>();
    const expectRefusal = (what: unknown, { headers }: Response) => {
      expect([what, headers['remote-email'], headers['remote-user']]).toEqual([what, undefined, undefined]);
      if (headers.location) forwardOrigins.add(new URL(forwardUrlOf({ headers })).origin);
    };
    for (const lines of requests)
      expectRefusal(lines, await sendLines(port, [...lines, `Cookie: ${cookiesOf(attacker)}`, 'Accept: text/html']));
    for (const authority of [`${hostname}:${http2Port}`, evil, `${evil}:${http2Port}`]) {
      const cookie = cookiesOf(attacker);
      const headers = { ':authority': authority, ':path': '/a', host: evil, cookie, accept: 'text/html', ...naming(evil) };
      expectRefusal(headers, await sendHttp2(http2Port, headers));
    }
    // Those that the proxy accepts lead to a sign-in at the host of its configuration.
    expect([...forwardOrigins]).toEqual([origin]);
    expect(app.requests).toEqual([]);
  });

  skipped('gets the identity headers of the check only, in every spelling', async () => {
    const email = freshAddress();
    const visitor = await visit(email);
    const request = (...extra: string[]) =>
      sendLines(port, ['GET /a', `Host: ${hostname}:${port}`, `Cookie: ${cookiesOf(visitor)}`, ...extra]);
    const forged = ['Email', 'User', 'Name', 'Groups'].flatMap((what) =>
      [..."-_.!#$%&'*+^`|~"].flatMap((separator) => {
        const header = `Remote${separator}${what}`;
        return [header, header.toLowerCase(), header.toUpperCase(), `rEMOTE${separator}${what}`].map(
          (name) => `${name}: boss@mail.example`,
        );
      }),
    );
    for (const extra of [
      ...forged.map((line) => [line]),
      forged.filter((line) => /^remote[-_.]/i.test(line)),
      ...['Remote-Email', 'remote-email', 'REMOTE-USER', 'Remote-Email, Remote-User, Remote_Email', 'Upgrade, Remote-Email'].flatMap(
        (names) => [
          [`Connection: close, ${names}`, 'Remote_Email: boss@mail.example', 'Remote.User: boss@mail.example'],
          [`Connection: ${names}`, 'Connection: close', 'remote_email: boss@mail.example'],
          [`Proxy-Connection: ${names}`, `Keep-Alive: ${names}`, `TE: trailers, ${names}`, 'Remote_Email: boss@mail.example'],
        ],
      ),
    ]) {
      const { status, text } = await request(...extra);
      expect([extra, status, text]).toEqual([extra, 200, JSON.stringify({ HTTP_REMOTE_EMAIL: email, HTTP_REMOTE_USER: email })]);
    }
    const http2 = await sendHttp2(http2Port, {
      ':path': '/a',
      ':authority': `${hostname}:${http2Port}`,
      cookie: cookiesOf(visitor),
      'remote-email': 'boss@mail.example',
      remote_email: 'boss@mail.example',
      'remote.user': 'boss@mail.example',
    });
    expect(JSON.parse(http2.text)).toEqual({ HTTP_REMOTE_EMAIL: email, HTTP_REMOTE_USER: email });
  });

  test.skipIf(name === 'nginx' || !hasProxy(name))('opens a WebSocket for a visitor only, with the address', async () => {
    const email = freshAddress();
    const upgrade = ['Connection: Upgrade, Remote-Email', 'Upgrade: websocket', 'Remote_Email: boss@mail.example'];
    const opened = await sendLines(port, ['GET /ws', `Host: ${hostname}:${port}`, `Cookie: ${cookiesOf(await visit(email))}`, ...upgrade]);
    expect([opened.status, opened.headers['x-variables']]).toEqual([
      101,
      JSON.stringify({ HTTP_REMOTE_EMAIL: email, HTTP_REMOTE_USER: email }),
    ]);
    expect((await sendLines(port, ['GET /ws', `Host: ${hostname}:${port}`, ...upgrade])).status).toBe(401);
  });
});

const cookiesOf = ({ cookies }: Client) => [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');

/**
 * Starts an app that responds with the variables of its identity headers, as a program gets them by CGI (RFC 3875 §4.1.18): servers map
 * every other character to an underscore, and join equal names. A WebSocket has them in the header X-Variables.
 */
async function startApp(): Promise<{ port: number; requests: string[]; close(): void }> {
  const requests: string[] = [];
  const variablesOf = ({ method, url, rawHeaders }: IncomingMessage) => {
    requests.push(`${method} ${url}`);
    const variables: Record<string, string> = {};
    for (let n = 0; n < rawHeaders.length; n += 2) {
      const [name, value] = [`HTTP_${rawHeaders[n].toUpperCase().replace(/[^A-Z0-9]/g, '_')}`, rawHeaders[n + 1]];
      if (name.startsWith('HTTP_REMOTE')) variables[name] = name in variables ? `${variables[name]},${value}` : value;
    }
    return JSON.stringify(variables);
  };
  const server = createServer((request, response) => void response.end(variablesOf(request))).listen(0, '127.0.0.1');
  server.on('upgrade', (request, socket) => {
    const variables = variablesOf(request);
    socket.end(`HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nX-Variables: ${variables}\r\n\r\n`);
  });
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, requests, close: () => void server.close() };
}

type Response = { status: number; headers: IncomingHttpHeaders; text: string };

/** Sends a request over HTTP/1.1 with exactly these lines, apart from a last `Connection`. */
async function sendLines(port: number, [line, ...fields]: string[]): Promise<Response> {
  const [method, path] = line.split(' ');
  const headers = fields.flatMap((field) => [field.slice(0, field.indexOf(': ')), field.slice(field.indexOf(': ') + 2)]);
  const sent = request({ host: '127.0.0.1', port, method, path, headers, setHost: false, agent: false });
  sent.end();
  const [response] = await Promise.race([once(sent, 'response'), once(sent, 'upgrade')]);
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) text += chunk;
  return { status: response.statusCode, headers: response.headers, text };
}

/** Sends a request over HTTP/2 without TLS. */
async function sendHttp2(port: number, headers: Record<string, string>): Promise<Response> {
  const session = connect(`http://127.0.0.1:${port}`);
  try {
    const stream = session.request(headers);
    const [received] = await once(stream, 'response');
    let text = '';
    for await (const chunk of stream.setEncoding('utf8')) text += chunk;
    return { status: received[':status'], headers: received, text };
  } finally {
    session.close();
  }
}
