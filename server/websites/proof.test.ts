import { execFile } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type NameServer, openNameServer } from '../../test/support/dns.ts';
import { findProof, newChallenge, type ProofOptions, proofFor } from './proof.ts';

const DOMAIN = 'shop.example';
const value = newChallenge();
const { record, fileBody } = proofFor(DOMAIN, value);

let names: NameServer;
beforeAll(async () => {
  names = await openNameServer();
});
afterAll(() => names.close());
beforeEach(() => {
  names.setText(record, []);
  names.setAddresses(DOMAIN, []);
  names.queries.length = 0;
});

test('creates a random challenge of 128 bits, and returns where to publish it', () => {
  expect(value).toMatch(/^[0-9a-f]{32}$/);
  expect(newChallenge()).not.toBe(value);
  expect(proofFor(DOMAIN, value)).toEqual({
    record: '_emailauth.shop.example',
    value,
    fileUrl: 'https://shop.example/.well-known/emailauth.json',
    fileBody: `{"emailauth":"${value}"}`,
  });
});

describe('TXT record', () => {
  const find = () => findProof(DOMAIN, value, ['dns'], { dnsServers: [names.address] });

  test.each([
    ['alone', () => [value]],
    ['among others', () => ['v=spf1 -all', value, 'else']],
    ['in quotes', () => [`"${value}"`]],
  ])('is found %s', async (_, texts) => {
    names.setText(record, texts());
    expect(await find()).toBe('dns');
    expect(names.queries).toEqual([record]);
  });

  test.each([
    ['missing', () => []],
    ["another claimant's", () => [newChallenge()]],
    ['longer', () => [`${value}0`]],
    ['truncated', () => [value.slice(0, -1)]],
    ['empty', () => ['']],
  ])('does not count when it is %s', async (_, texts) => {
    names.setText(record, texts());
    expect(await find()).toBeNull();
  });
});

const openssl = await promisify(execFile)('openssl', ['version']).then(
  () => true,
  () => false,
);

describe.skipIf(!openssl)('file', () => {
  let site: Server;
  let options: ProofOptions;
  let answer: (request: IncomingMessage, response: ServerResponse) => void;
  let visits: string[];

  beforeAll(async () => {
    const { key, cert } = await selfSigned(DOMAIN);
    site = createServer({ key, cert }, (request, response) => {
      visits.push(`${request.headers.host} ${request.method} ${request.url}`);
      answer(request, response);
    }).listen(0, '127.0.0.1');
    await once(site, 'listening');
    const { port } = site.address() as AddressInfo;
    options = { dnsServers: [names.address], port, ca: cert, isAllowedAddress: () => true };
  });
  afterAll(() => {
    site.closeAllConnections();
    site.close();
  });
  beforeEach(() => {
    visits = [];
    names.setAddresses(DOMAIN, ['127.0.0.1']);
    answer = (_, response) => response.end(fileBody);
  });

  const find = (more: Partial<ProofOptions> = {}) => findProof(DOMAIN, value, ['dns', 'file'], { ...options, ...more });

  test('is found over https', async () => {
    expect(await find()).toBe('file');
    expect(visits).toEqual([`${DOMAIN}:${options.port} GET /.well-known/emailauth.json`]);
  });

  test('is not fetched when only the record counts', async () => {
    expect(await findProof(DOMAIN, value, ['dns'], options)).toBeNull();
    expect(visits).toEqual([]);
  });

  test('is never fetched from a private address', async () => {
    expect(await find({ isAllowedAddress: undefined })).toBeNull();
    expect(visits).toEqual([]);
    expect(names.queries).toContain(DOMAIN);
  });

  test('is fetched from an allowed address when the name has others too', async () => {
    names.setAddresses(DOMAIN, ['10.255.255.1', '127.0.0.1', '192.168.255.1']);
    expect(await find({ isAllowedAddress: (address) => address === '127.0.0.1' })).toBe('file');
  });

  test('does not count when the name does not exist', async () => {
    names.setAddresses(DOMAIN, []);
    expect(await find()).toBeNull();
  });

  test('does not count without a trusted certificate, or with one for another name', async () => {
    expect(await find({ ca: undefined })).toBeNull();
    names.setAddresses('other.example', ['127.0.0.1']);
    expect(await findProof('other.example', value, ['file'], options)).toBeNull();
    expect(visits).toEqual([]);
  });

  test.each<[string, (request: IncomingMessage, response: ServerResponse) => void]>([
    ['a redirect', (request, response) => response.writeHead(302, { Location: `https://${request.headers.host}/other` }).end(fileBody)],
    ['a 404 that has the text', (_, response) => response.writeHead(404).end(fileBody)],
    ['more than 4 KB', (_, response) => response.end(`${fileBody}${' '.repeat(4_096)}`)],
    ['an endless body', (_, response) => trickle(response, 1_000)],
    ['no JSON', (_, response) => response.end(value)],
    ['a string', (_, response) => response.end(JSON.stringify(value))],
    ['null', (_, response) => response.end('null')],
    ['a list', (_, response) => response.end(JSON.stringify({ emailauth: [value] }))],
    ["another claimant's", (_, response) => response.end(JSON.stringify({ emailauth: newChallenge() }))],
    ['a truncated body', (_, response) => response.writeHead(200, { 'Content-Length': 500 }).write(fileBody, () => response.destroy())],
  ])('does not count when the site responds with %s', async (_, wrong) => {
    answer = wrong;
    expect(await find()).toBeNull();
    expect(visits).toHaveLength(1);
  });

  test('does not count while a name server is silent, or a response does not end', async () => {
    const silent = createSocket('udp4').bind(0, '127.0.0.1');
    await once(silent, 'listening');
    const server = `127.0.0.1:${silent.address().port}`;
    answer = (_, response) => {
      if (visits.length === 1) trickle(response, 1);
    };
    expect(await Promise.all([find(), find(), find({ dnsServers: [server, server] })])).toEqual([null, null, null]);
    silent.close();
    expect(visits).toHaveLength(2);
  });
});

/** Sends the correct text, and then more without end. */
function trickle(response: ServerResponse, bytes: number) {
  response.write(fileBody);
  const timer = setInterval(() => response.write(' '.repeat(bytes)), 50);
  response.on('close', () => clearInterval(timer));
}

async function selfSigned(host: string): Promise<{ key: string; cert: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'emailauth-proof-'));
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const names = ['-subj', `/CN=${host}`, '-addext', `subjectAltName=DNS:${host}`];
  await promisify(execFile)('openssl', ['req', '-x509', ...curve, '-days', '2', ...names, '-keyout', key, '-out', cert]);
  const pair = { key: await readFile(key, 'utf8'), cert: await readFile(cert, 'utf8') };
  await rm(folder, { recursive: true });
  return pair;
}
