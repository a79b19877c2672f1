import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createClient } from '../../../contract/client.ts';
import { isThisMachine } from '../../../contract/urls.ts';
import { openDns } from '../../../diagnostics/dns.ts';
import { createWebsiteChecks } from '../../../diagnostics/website-checks.ts';
import { isPublicAddress } from '../../../server/websites/guarded-fetch.ts';
import { useProduction } from '../../support/harness.ts';
import { integratedSite } from '../../support/integrated-site.ts';
import { addProvenWebsite, type Developer, freshDomain, signInDeveloper } from '../../support/sign-ins.ts';
import { callTool, generations, type McpClient } from './clients.ts';

const { stage, service, names } = await useProduction();
let owner: Developer;
let client: McpClient;
let shop: string;
beforeAll(async () => {
  owner = await signInDeveloper(stage, service);
  const { key } = (await owner.client.post('/api/api-keys', { name: 'Assistant', environment: 'live' })).json;
  client = await generations['client 2.x'](service.url, key);
  shop = await addProvenWebsite(names, owner);
});
afterAll(async () => {
  await client.close();
});
beforeEach(() => {
  names.setAddresses(shop, []);
  names.queries.length = 0;
});

type Check = { id: string; ok: boolean | null; detail: string; fix: string | null };
const check = async (domain: string, url?: string) => {
  const { failed, response } = await callTool(client, 'check_integration', { domain, ...(url && { url }) });
  const checks = (response.checks ?? []) as Check[];
  return { failed, checks, of: (id: string) => checks.find((each) => each.id === id) };
};

describe('over HTTP', () => {
  test('checks an own website by name and never connects to private addresses', async () => {
    let connections = 0;
    const inside = createTcpServer((socket) => {
      connections++;
      socket.destroy();
    });
    // Listens on the https port of this machine, which only root may; otherwise the assertion that nothing connects proves less.
    const listening = await listen(inside, '127.0.0.96', 443);
    names.setAddresses(shop, ['127.0.0.96', '10.0.0.1', '169.254.169.254', '192.168.1.1']);
    const { failed, checks, of } = await check(shop);
    expect(failed).toBeNull();
    expect(checks.map(({ id }) => id)).toEqual([
      ...['registered', 'proof', 'tls', 'callback', 'callback_refusal', 'login', 'login_cookie'],
      ...['state', 'other_website', 'replay', 'session'],
    ]);
    expect(of('registered')?.ok).toBe(true);
    for (const id of ['tls', 'callback'])
      expect(of(id)).toMatchObject({
        ok: false,
        detail: expect.stringContaining('no address on the public internet'),
        fix: expect.stringMatching(/A or AAAA/),
      });
    expect(of('callback_refusal')?.ok).toBeNull();
    expect(names.queries).toContain(shop);
    expect(connections).toBe(0);
    if (listening) inside.close();
  });

  test('reports a website without an IP address', async () => {
    const { of } = await check(shop);
    expect(of('callback')).toMatchObject({ ok: false, detail: expect.stringContaining('has no address in the DNS') });
  });

  test.each<[string, (shop: string) => string]>([
    ['another host', () => 'https://other.example/auth/callback'],
    ['another port', (domain) => `https://${domain}:8443/`],
    ['a decimal address', () => 'https://2130706433/'],
    ['localhost', () => 'https://localhost/'],
  ])('rejects %s as url without sending a request', async (_, url) => {
    const { failed } = await check(shop, url(shop));
    expect(failed).toMatch(/\w+ \w+.*\./);
    expect(names.queries).toEqual([]);
  });

  test.each(['localhost', '2130706433'])('rejects %s as domain', async (domain) => {
    expect((await check(domain, 'http://localhost:5173/auth/callback')).failed).toMatch(/\w+ \w+.*\./);
    expect(names.queries).toEqual([]);
  });

  test('rejects an own website with an unverified domain without a DNS query, and explains how to verify it', async () => {
    const domain = freshDomain();
    await owner.client.post('/api/websites', { domain });
    for (const url of [undefined, `https://app.${domain}/auth/callback`]) {
      expect((await check(domain, url)).failed).toMatch(
        new RegExp(`${domain} is not verified.*get_site shows.*emailauth sites verify ${domain}`.replaceAll('.example', '\\.example')),
      );
    }
    expect(names.queries).toEqual([]);
  });

  test('checks a host below an own website', async () => {
    const { failed } = await check(shop, `https://app.${shop}/welcome`);
    expect(failed).toBeNull();
    expect(names.queries).toContain(`app.${shop}`);
  });

  test('allows each account 30 checks per hour', async () => {
    expect((await check(shop)).failed).toBeNull();
    await stage.query('update rate_limits set hits = 29 where key = $1', [`site_checks ${owner.email}`]);
    expect((await check(shop)).failed).toBeNull();
    expect(await check(shop)).toEqual({ failed: expect.stringMatching(/Too many checks/), checks: [], of: expect.anything() });
    const another = await signInDeveloper(stage, service);
    const domain = await addProvenWebsite(names, another);
    const theirs = await generations['sdk 1.x'](service.url, another.client.cookies.get('sid'));
    expect((await callTool(theirs, 'check_integration', { domain })).failed).toBeNull();
    await theirs.close();
  });
});

describe('on the machine of a developer', () => {
  let site: Server;
  let url: string;
  let answer: RequestListener;
  beforeAll(async () => {
    site = createServer((request, response) => answer(request, response)).listen(0, '127.0.0.1');
    await once(site, 'listening');
    url = `http://localhost:${(site.address() as AddressInfo).port}/auth/callback`;
  });
  afterAll(() => {
    site.closeAllConnections();
    site.close();
  });

  const look = (given: { domain: string; url?: string }, signal = new AbortController().signal) =>
    createWebsiteChecks({
      client: createClient({ baseUrl: service.url, headers: { Authorization: `Bearer ${owner.client.cookies.get('sid')}` } }),
      service: service.url,
      dns: openDns({ servers: [names.address], isAllowedAddress: isPublicAddress, usesSystemLookup: isThisMachine }),
      from: 'developer-machine',
    })(given, signal);

  test('checks localhost on any port and aborts an endless response', async () => {
    answer = (_, response) => {
      response.writeHead(400);
      const timer = setInterval(() => response.write('x'.repeat(65_536)), 5);
      response.on('close', () => clearInterval(timer));
    };
    const checks = await look({ domain: 'localhost', url });
    expect(checks.slice(0, 6).map(({ id, ok }) => [id, ok])).toEqual([
      // This service does not run in local mode.
      ['registered', false],
      ['proof', null],
      ['tls', null],
      ['redirect', null],
      ['callback', true],
      // No sign-in starts at this website.
      ['callback_refusal', null],
    ]);
    for (const { ok, fix } of checks) if (ok === false) expect(fix).not.toBeNull();
  });

  test('fails a website that accepts any token, and names the tool that helps', async () => {
    answer = (request, response) =>
      request.url?.includes('token=')
        ? response.writeHead(303, { Location: '/', 'Set-Cookie': 'session=x' }).end()
        : response.writeHead(404).end();
    const checks = await look({ domain: 'localhost', url });
    expect(checks.find(({ id }) => id === 'callback')).toMatchObject({ ok: false, fix: expect.stringContaining('scaffold_integration') });
    expect(JSON.stringify(checks)).not.toContain('--url');
  });

  test('fails a website that checks the state and never verifies the token, and skips what is not visible', async () => {
    const { origin } = new URL(url);
    const resultOf = async (verifies: boolean) => {
      answer = integratedSite(service.url, () => origin, { verifies });
      const checks = await look({ domain: 'localhost', url });
      return Object.fromEntries(checks.map(({ id, ok }) => [id, ok]));
    };
    expect(await resultOf(false)).toMatchObject({ callback: true, callback_refusal: false });
    expect(await resultOf(true)).toMatchObject({ callback: true, callback_refusal: true, state: null, replay: null, session: null });
  });

  test('does not accept a page for every URL as a callback', async () => {
    answer = (_, response) => response.end('<!doctype html>');
    const checks = await look({ domain: 'localhost', url });
    expect(checks.filter(({ id }) => id.startsWith('callback')).map(({ ok }) => ok)).toEqual([null, null]);
  });

  test('requests only the path of the URL, without query and fragment', async () => {
    const requested: (string | undefined)[] = [];
    answer = (request, response) => {
      requested.push(request.url);
      response.writeHead(400).end();
    };
    await look({ domain: 'localhost', url: `${url}?delete=all#now` });
    expect(requested).toEqual(['/auth/callback', '/login', '/', expect.stringMatching(/^\/auth\/callback\?token=[\w-]{43}$/)]);
  });

  test('checks an own website with an unverified domain', async () => {
    const domain = freshDomain();
    await owner.client.post('/api/websites', { domain });
    expect((await look({ domain })).map(({ id }) => id)).toContain('callback');
  });

  test('checks an own website only at public addresses, and does not check others', async () => {
    names.setAddresses(shop, ['127.0.0.1']);
    const checks = await look({ domain: shop, url: url.replace('http://localhost', `https://${shop}`) });
    expect(checks.find(({ id }) => id === 'callback')).toMatchObject({
      ok: false,
      detail: expect.stringContaining('no address on the public internet'),
    });
    await expect(look({ domain: 'other.example' })).rejects.toMatchObject({ code: 'website_not_found' });
  });

  test('stops a check when the client disconnects', async () => {
    answer = () => {};
    const leaving = new AbortController();
    const looking = look({ domain: 'localhost', url }, leaving.signal);
    await once(site, 'request');
    leaving.abort();
    await expect(looking).rejects.toThrow();
  });
});

async function listen(server: ReturnType<typeof createTcpServer>, address: string, port: number): Promise<boolean> {
  try {
    await once(server.listen(port, address), 'listening');
    return true;
  } catch (error) {
    console.warn(`No process listens at ${address}:${port} in this test: ${error}`);
    return false;
  }
}
