import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Authority, openAuthority } from '../support/certificates.ts';
import { waitUntil } from '../support/waiting.ts';
import { type Home, openHome } from './command.ts';
import { type ConnectProxy, openConnectProxy } from './connect-proxy.ts';
import { openFakeService } from './fake-service.ts';

const HOST = 'auth.example.com';
const PERSON = { id: '1', email: 'you@example.com', name: null };

let home: Home;
let authority: Authority;
let proxy: ConnectProxy;
const servers: Server[] = [];
/** Ports of this machine: services with a certificate for HOST, an expired one and one that no one trusts, and servers that speak no TLS. */
let ports: Record<'valid' | 'expired' | 'foreign' | 'http' | 'ssh', number>;

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  servers.push(server);
  return (server.address() as AddressInfo).port;
}

beforeAll(async () => {
  home = await openHome('https://auth.example.com');
  home.env.EMAILAUTH_TOKEN = 'ea_live_something';
  authority = await openAuthority();
  const other = await openAuthority();
  proxy = await openConnectProxy();
  const answer: RequestListener = (_, response) => response.end(JSON.stringify(PERSON));
  const [valid, expired, foreign] = [await authority.issue(HOST, 1), await authority.issue(HOST, -1), await other.issue(HOST, 1)];
  await other.close();
  ports = {
    valid: await listen(createHttpsServer(valid, answer)),
    expired: await listen(createHttpsServer(expired, answer)),
    foreign: await listen(createHttpsServer(foreign, answer)),
    http: await listen(createHttpServer(answer)),
    ssh: await listen(createServer((socket) => socket.on('error', () => {}).end('SSH-2.0-OpenSSH_9\r\n'))),
  };
});
afterAll(async () => {
  for (const server of servers) server.close();
  await proxy?.close();
  await authority?.close();
  await home?.close();
});

/** Runs `whoami` at a service. @returns the exit code, and the error or the result */
async function whoami(host: string, env: Record<string, string> = {}) {
  const ran = await home.run(['whoami', '--json'], { env: { EMAILAUTH_HOST: host, NODE_EXTRA_CA_CERTS: authority.file, ...env } });
  const { error, email } = ran.json();
  return { exitCode: ran.exitCode, email, message: String(error?.message), hint: String(error?.hint) };
}

describe.concurrent('one sentence and one hint for each cause', () => {
  const through = () => ({ HTTPS_PROXY: proxy.url });
  test.each<[cause: string, run: () => ReturnType<typeof whoami>, message: RegExp, hint: RegExp]>([
    [
      'nothing listens here',
      () => whoami('http://127.0.0.1:1'),
      /^The service at http:\/\/127\.0\.0\.1:1 cannot be reached\.$/,
      /emailauth start/,
    ],
    [
      'a certificate of another authority',
      () => whoami(`https://${HOST}:${ports.foreign}`, through()),
      /cannot be trusted/,
      /NODE_EXTRA_CA_CERTS/,
    ],
    ['an expired certificate', () => whoami(`https://${HOST}:${ports.expired}`, through()), /certificate has expired/, /renew/],
    ['a certificate for another name', () => whoami(`https://localhost:${ports.valid}`), /certificate is for other names/, /--host/],
    ['TLS to a server without TLS', () => whoami(`https://localhost:${ports.http}`), /does not speak TLS/, /--host http:\/\/localhost/],
    ['TLS to another protocol', () => whoami(`https://localhost:${ports.ssh}`), /does not speak TLS/, /port/],
    ['http to a server with TLS', () => whoami(`http://localhost:${ports.valid}`), /cannot be reached/, /--host https:\/\/localhost/],
    ['http to another protocol', () => whoami(`http://localhost:${ports.ssh}`), /does not speak HTTP/, /port/],
    ['an unknown host', () => whoami('https://nowhere.invalid'), /nowhere\.invalid (?:has no address|cannot be resolved)/, /spelling|DNS/],
    [
      'a proxy that does not run',
      () => whoami(`https://${HOST}`, { HTTPS_PROXY: 'http://127.0.0.1:1' }),
      /^The proxy 127\.0\.0\.1:1 of HTTPS_PROXY refuses/,
      /NO_PROXY/,
    ],
    [
      'a proxy that is unknown',
      () => whoami(`https://${HOST}`, { https_proxy: 'http://nowhere.invalid:3128' }),
      /^The proxy nowhere\.invalid:3128 of https_proxy/,
      /NO_PROXY/,
    ],
    [
      'a proxy variable without a proxy',
      () => whoami(`https://${HOST}`, { HTTPS_PROXY: 'socks5://127.0.0.1:1080' }),
      /HTTPS_PROXY is not the address/,
      /http:\/\/proxy/,
    ],
  ])('%s', async (_, run, message, hint) => {
    const failed = await run();
    expect([[3, 8].includes(failed.exitCode ?? 0), failed.message, failed.hint]).toEqual([
      true,
      expect.stringMatching(message),
      expect.stringMatching(hint),
    ]);
    if (!message.source.includes('127\\.0\\.0\\.1:1 cannot')) expect(failed.hint).not.toContain('emailauth start');
  });

  test.each([
    [407, /requires a user name and a password/, /user:password@/],
    [403, /does not connect to https:\/\/auth\.example\.com: it answered 403/, /NO_PROXY/],
  ])('a proxy that answers %i', async (status, message, hint) => {
    const refusing = await openConnectProxy(status);
    const failed = await whoami(`https://${HOST}`, { HTTPS_PROXY: refusing.url.replace('//', '//ann:secret@') });
    await refusing.close();
    expect(failed).toMatchObject({ exitCode: 8, message: expect.stringMatching(message), hint: expect.stringMatching(hint) });
    expect(failed.message + failed.hint).not.toContain('secret');
    expect(refusing.credentials).toContain(`Basic ${Buffer.from('ann:secret').toString('base64')}`);
  });
});

test.each(['HTTPS_PROXY', 'https_proxy'])('calls go through the proxy of %s, which needs no scheme', async (name) => {
  const called = await whoami(`https://${HOST}:${ports.valid}`, { [name]: `127.0.0.1:${proxy.port}` });
  expect(called).toMatchObject({ exitCode: 0, email: PERSON.email });
  expect(proxy.asked).toContain(`${HOST}:${ports.valid}`);
});

test('http to this machine does not go through a proxy', async () => {
  const env = { HTTPS_PROXY: 'http://127.0.0.1:1', HTTP_PROXY: 'http://127.0.0.1:1' };
  expect(await whoami(`http://localhost:${ports.http}`, env)).toMatchObject({ exitCode: 0, email: PERSON.email });
});

test('NO_PROXY excludes a host', async () => {
  const before = proxy.asked.length;
  const failed = await whoami(`https://localhost:${ports.valid}`, { HTTPS_PROXY: proxy.url, NO_PROXY: 'example.org, localhost' });
  expect([failed.message, proxy.asked.length]).toEqual([expect.stringContaining('is for other names'), before]);
});

test('undici is loaded for a proxy only', async () => {
  const file = join(home.directory, 'modules.txt');
  const preload = `--import=${join(import.meta.dirname, 'modules.mjs')}`;
  const { readFile, rm } = await import('node:fs/promises');
  const loads = async (env: Record<string, string>) => {
    await rm(file, { force: true });
    await whoami(`http://localhost:${ports.http}`, { MODULES_FILE: file, NODE_OPTIONS: preload, ...env });
    return /\/undici-/.test(await readFile(file, 'utf8'));
  };
  expect(await loads({})).toBe(false);
  expect(await loads({ EMAILAUTH_HOST: `https://${HOST}:${ports.valid}`, HTTPS_PROXY: proxy.url })).toBe(true);
});

test('tail pauses between calls to a service that always responds at once', async () => {
  let calls = 0;
  const event = { id: '1', at: new Date().toISOString(), domain: 'shop.example', name: 'shop.example', kind: 'requested', reason: null };
  const service = await openFakeService((_, response) => {
    calls++;
    response.end(
      JSON.stringify({
        events: [{ ...event, email: null, level: 'info', text: 'x', fix: null, signIn: null, state: null, count: 1 }],
        cursor: 'x',
        more: true,
      }),
    );
  });
  const start = performance.now();
  const tail = home.start(['tail', 'shop.example', '--json', '--host', service.url]);
  await waitUntil('it has called six times', 60_000, () => calls >= 6);
  tail.interrupt();
  await tail.ended;
  await service.close();
  // The second call follows the first at once; then come four pauses of a second, which no machine makes shorter.
  expect(performance.now() - start).toBeGreaterThan(3_900);
});

test.each([[['login', '--email', 'ann@example.com']], [['login', '--start', '--email', 'ann@example.com']]])(
  '%j requests no email where the sign-in cannot be stored',
  async (args) => {
    const service = await openFakeService((_, response) => response.end('{}'));
    for (const variable of ['XDG_CONFIG_HOME', ...(args.includes('--start') ? ['XDG_STATE_HOME'] : [])]) {
      const ran = await home.run([...args, '--json'], { env: { EMAILAUTH_HOST: service.url, [variable]: '/dev/null/x' } });
      expect([ran.exitCode, ran.json().error]).toEqual([
        3,
        { code: 'usage', message: expect.stringContaining('cannot be written'), hint: expect.stringContaining(variable) },
      ]);
    }
    expect(service.count()).toBe(0);
    await service.close();
  },
);
