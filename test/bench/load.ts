/**
 * Program of the bench: the clients. They use raw keep-alive sockets and search responses instead of parsing them, so that
 * they take little of the CPU time of a small machine.
 */
import { hash, randomBytes } from 'node:crypto';
import net from 'node:net';

/** A message from the parent; the response is a LoadResult. */
export type LoadJob = { port: number; connections: number; seconds: number } & (
  | { do: 'sign-ins'; forwardUrl: string; linksPort: number }
  | { do: 'code-flows'; clientId: string; redirectUri: string; linksPort: number }
  | { do: 'verify'; tokens: { name: string; from: number; to: number }; domain: string }
);
/** Times in milliseconds. `used`: the number of the first unused token. */
export type LoadResult = {
  count: number;
  seconds: number;
  p50: number;
  p99: number;
  failures: number;
  firstFailure?: string;
  used: number;
};

const LANGUAGES = ['en', 'lt', 'lv', 'uk', 'ru'];
const PATIENCE_MS = 20_000;

type Line = { exchange(request: string, done: (response: string) => void): void; close(): void };

/** A keep-alive connection with one request at a time. */
function openLine(port: number): Promise<Line> {
  let received = '';
  let waiting: ((response: string) => void) | null = null;
  const take = (text: string) => {
    received = received === '' ? text : received + text;
    const head = received.indexOf('\r\n\r\n');
    if (head < 0) return;
    const length = Number(/content-length: (\d+)/i.exec(received)?.[1] ?? 0);
    if (received.length < head + 4 + length) return;
    const [response, done] = [received, waiting];
    received = '';
    waiting = null;
    done?.(response);
  };
  const buffer = Buffer.alloc(64 * 1024);
  return new Promise((resolve, reject) => {
    const onread = {
      buffer,
      callback: (bytes: number) => {
        take(buffer.toString('latin1', 0, bytes));
        return true;
      },
    };
    const socket = net.connect({ port, host: '127.0.0.1', noDelay: true, onread }, () =>
      resolve({
        exchange: (request, done) => {
          waiting = done;
          socket.write(request, 'latin1');
        },
        close: () => socket.destroy(),
      }),
    );
    socket.on('error', reject);
    socket.on('close', () => waiting?.('the connection was closed'));
  });
}

/** The links of received emails, by recipient. */
const links = { arrived: new Map<string, string>(), awaited: new Map<string, (link: string) => void>() };
let linksOpen = false;

function listenForLinks(port: number): Promise<void> {
  if (linksOpen) return Promise.resolve();
  linksOpen = true;
  let rest = '';
  return new Promise((resolve) => {
    const socket = net.connect({ port, host: '127.0.0.1' }, resolve);
    socket.setEncoding('latin1');
    socket.on('data', (text) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        const [recipient, link] = line.split(' ');
        const awaited = links.awaited.get(recipient);
        links.awaited.delete(recipient);
        if (awaited) awaited(link);
        else links.arrived.set(recipient, link);
      }
    });
  });
}

function linkFor(recipient: string): Promise<string> {
  const link = links.arrived.get(recipient);
  links.arrived.delete(recipient);
  return link ? Promise.resolve(link) : new Promise((resolve) => links.awaited.set(recipient, resolve));
}

let visitors = 0;

/** Signs a new visitor in from a new IP address. @throws Error that names the failed step */
async function signIn(line: Line, port: number, forwardUrl: string): Promise<void> {
  const n = visitors++;
  const email = `visitor-${process.pid}-${n}@mail.example`;
  const headers = headersOf(port, n);
  const ask = (request: string) => new Promise<string>((resolve) => line.exchange(request, resolve));

  const body = JSON.stringify({ email, forward_url: forwardUrl, language: LANGUAGES[n % LANGUAGES.length] });
  const type = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`;
  const asked = await ask(`POST /api/auth/domain-auth HTTP/1.1\r\n${headers}Origin: http://127.0.0.1:${port}\r\n${type}\r\n${body}`);
  if (!asked.includes(' 200 ')) throw new Error(`domain-auth: ${asked}`);
  const cookies = [...asked.matchAll(/set-cookie: ([^;]+)/gi)].map(([, cookie]) => cookie).join('; ');

  const opened = await ask(`GET ${await linkFor(email)} HTTP/1.1\r\n${headers}Cookie: ${cookies}\r\n\r\n`);
  const token = /location: \S+[?&]token=([\w-]+)/i.exec(opened)?.[1];
  if (!opened.includes(' 303 ') || !token) throw new Error(`link: ${opened}`);

  const verified = await ask(`GET /api/verify-token?token=${token}&domain=${new URL(forwardUrl).hostname} HTTP/1.1\r\n${headers}\r\n`);
  if (!verified.includes('"valid":true') || !verified.includes(email)) throw new Error(`verify-token: ${verified}`);
}

/**
 * Signs a new visitor in at a client by an authorization code with PKCE: authorize → link → token → userinfo. Redirects of the server
 * to itself are followed with its cookies, as a browser does. @throws Error that names the failed step
 */
async function runCodeFlow(line: Line, port: number, clientId: string, redirectUri: string): Promise<void> {
  const n = visitors++;
  const email = `visitor-${process.pid}-${n}@mail.example`;
  const headers = headersOf(port, n);
  const cookies = new Map<string, string>();
  const ask = async (method: string, target: string, more = '', body = '') => {
    const cookie = cookies.size > 0 ? `Cookie: ${[...cookies].map(([name, value]) => `${name}=${value}`).join('; ')}\r\n` : '';
    const length = method === 'POST' ? `Content-Length: ${body.length}\r\n` : '';
    const response = await new Promise<string>((resolve) =>
      line.exchange(`${method} ${target} HTTP/1.1\r\n${headers}${cookie}${more}${length}\r\n${body}`, resolve),
    );
    for (const [, name, value] of response.matchAll(/^set-cookie: ([^=]+)=([^;\r]*)/gim)) {
      if (value === '') cookies.delete(name);
      else cookies.set(name, value);
    }
    return response;
  };
  const follow = async (target: string): Promise<string> => {
    for (;;) {
      const response = await ask('GET', target);
      const location = /^location: (\S+)/im.exec(response)?.[1];
      if (!location) throw new Error(`GET ${target}: ${response}`);
      if (location.startsWith(redirectUri) || /\/interaction\/[\w-]+$/.test(location)) return location;
      target = location.replace(`http://127.0.0.1:${port}`, '');
    }
  };

  const verifier = randomBytes(32).toString('base64url');
  const query = new URLSearchParams({
    client_id: clientId,
    redirect_uri: redirectUri,
    response_type: 'code',
    scope: 'openid email',
    state: String(n),
    code_challenge: hash('sha256', verifier, 'base64url'),
    code_challenge_method: 'S256',
  });
  const signInPage = await follow(`/oauth/authorize?${query}`);
  const interaction = /\/oauth\/interaction\/([\w-]+)$/.exec(signInPage)?.[1];
  const json = `Origin: http://127.0.0.1:${port}\r\nContent-Type: application/json\r\n`;
  let returned = '';
  if (interaction) {
    const asked = await ask('POST', '/api/auth/domain-auth', json, JSON.stringify({ email, interaction, language: LANGUAGES[n % 5] }));
    if (!asked.includes(' 200 ')) throw new Error(`domain-auth: ${asked}`);
    returned = await follow(await linkFor(email));
  } else {
    const asked = await ask('POST', `${signInPage}/login?email=${email}`);
    const next = /^location: (\S+)/im.exec(asked)?.[1]?.replace(`http://127.0.0.1:${port}`, '');
    returned = await follow(next ?? (await linkFor(email)));
  }
  const form = new URLSearchParams({
    grant_type: 'authorization_code',
    client_id: clientId,
    redirect_uri: redirectUri,
    code: new URL(returned).searchParams.get('code') ?? '',
    code_verifier: verifier,
  });
  cookies.clear();
  const granted = await ask('POST', '/oauth/token', 'Content-Type: application/x-www-form-urlencoded\r\n', form.toString());
  const token = /"access_token":"([^"]+)"/.exec(granted)?.[1];
  if (!token || !granted.includes('"id_token"')) throw new Error(`token: ${returned} ${granted}`);
  const person = await ask('GET', '/oauth/userinfo', `Authorization: Bearer ${token}\r\n`);
  if (!person.includes(`"email":"${email}"`)) throw new Error(`userinfo: ${person}`);
}

function headersOf(port: number, n: number): string {
  return `Host: 127.0.0.1:${port}\r\nX-Forwarded-For: 10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}\r\n`;
}

async function run(job: LoadJob): Promise<LoadResult> {
  if (job.do !== 'verify') await listenForLinks(job.linksPort);
  const lines = await Promise.all(Array.from({ length: job.connections }, () => openLine(job.port)));
  const times: number[] = [];
  const failures: string[] = [];
  const token = { next: job.do === 'verify' ? job.tokens.from : 0 };
  const began = performance.now();
  const end = began + job.seconds * 1000;

  const repeatOn = async (run: () => Promise<void>) => {
    while (performance.now() < end) {
      const start = performance.now();
      await run().then(
        () => times.push(performance.now() - start),
        (error) => failures.push(String(error)),
      );
      if (failures.length > 20) return;
    }
  };
  const verifyOn = (line: Line, { name, to }: { name: string; to: number }, domain: string) =>
    new Promise<void>((resolve) => {
      const headers = headersOf(job.port, 1);
      const next = () => {
        const start = performance.now();
        if (start > end || token.next >= to || failures.length > 20) return resolve();
        const text = tokenText(name, token.next++);
        line.exchange(`GET /api/verify-token?token=${text}&domain=${domain} HTTP/1.1\r\n${headers}\r\n`, (response) => {
          if (response.includes('"valid":true')) times.push(performance.now() - start);
          else failures.push(response);
          next();
        });
      };
      next();
    });

  const late = setTimeout(() => fail(new Error('The load was not over in time')), job.seconds * 1000 + PATIENCE_MS);
  const runOn = (line: Line) => {
    if (job.do === 'verify') return verifyOn(line, job.tokens, job.domain);
    if (job.do === 'sign-ins') return repeatOn(() => signIn(line, job.port, job.forwardUrl));
    return repeatOn(() => runCodeFlow(line, job.port, job.clientId, job.redirectUri));
  };
  await Promise.all(lines.map(runOn));
  clearTimeout(late);
  const seconds = (performance.now() - began) / 1000;
  for (const line of lines) line.close();
  times.sort((a, b) => a - b);
  const at = (part: number) => times[Math.min(times.length - 1, Math.floor(times.length * part))] ?? Number.NaN;
  return {
    count: times.length,
    seconds,
    p50: at(0.5),
    p99: at(0.99),
    failures: failures.length,
    firstFailure: failures[0],
    used: token.next,
  };
}

/** Returns the n-th token of a name: 43 characters like those of the service. addTokens computes the same text in SQL. */
function tokenText(name: string, n: number): string {
  return name + String(n).padStart(43 - name.length, '0');
}

function fail(error: unknown): never {
  console.error(error);
  process.exit(1);
}

process.on('message', (job: LoadJob) => {
  run(job).then((result) => process.send?.(result), fail);
});
process.on('disconnect', () => process.exit(0));
