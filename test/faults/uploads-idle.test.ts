// A stage of its own: it counts the open uploads of its service.
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { type ClientRequest, request } from 'node:http';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openStage, type Service, type Stage } from '../support/harness.ts';
import { png } from '../support/images.ts';
import { type Developer, signInDeveloper } from '../support/sign-ins.ts';

let stage: Stage;
let service: Service;
beforeAll(async () => {
  stage = await openStage({ seesOutages: true });
  service = await stage.start();
});
afterAll(() => stage.close());

const begin = async ({ client }: Developer): Promise<string> => (await client.post('/api/objects/upload')).json.uploadURL;

/** Starts an upload that sends its headers and the start of its body, and then nothing. */
type Idle = { url: string; sent: ClientRequest; outcome: Promise<{ status: number; code: string }> };

function openIdle(url: string, start: Buffer | null): Idle {
  const { port, pathname, search } = new URL(url);
  const headers = { 'Content-Type': 'image/png', 'Content-Length': '4000000' };
  const sent = request({ host: '127.0.0.1', port, path: pathname + search, method: 'PUT', agent: false, headers });
  sent.on('error', () => {});
  sent.flushHeaders();
  if (start) sent.write(start);
  const outcome = once(sent, 'response').then(async ([response]) => {
    let text = '';
    for await (const chunk of response) text += chunk;
    return { status: response.statusCode as number, code: JSON.parse(text).code as string };
  });
  outcome.catch(() => {});
  return { url, sent, outcome };
}

async function upload({ client }: Developer, url: string) {
  return client.send(url, { method: 'PUT', body: await png(), headers: { 'Content-Type': 'image/png' } });
}

/** Waits until an account has four uploads in progress, its maximum: then others are refused. */
async function waitForRefusals(idle: Idle[], count: number): Promise<void> {
  const refused: number[] = [];
  for (const { outcome } of idle) outcome.then(({ status }) => status === 503 && refused.push(status)).catch(() => {});
  await expect.poll(() => refused.length, { timeout: 60_000 }).toBe(count);
}

test('idle uploads of one account do not block uploads of another account, and end after 5 seconds without data', async () => {
  const [idler, other] = [await signInDeveloper(stage, service), await signInDeveloper(stage, service)];
  // All at once: the first ones end after 5 seconds, and others would be accepted then.
  const [image, urls] = [await png(), await Promise.all(Array.from({ length: 20 }, () => begin(idler)))];
  const idle = urls.map((url, index) => openIdle(url, index % 2 ? image : null));
  await waitForRefusals(idle, 16);
  expect((await upload(other, await begin(other))).status).toBe(200);

  const responses = await Promise.all(idle.map(({ outcome }) => outcome));
  const ended = idle.filter((_, at) => responses[at].status !== 503);
  expect(responses.filter(({ status }) => status !== 503)).toEqual(Array(4).fill({ status: 408, code: 'request_timeout' }));
  // The upload URL is still valid.
  expect((await upload(idler, ended[0].url)).status).toBe(200);
});

test('idle uploads of four accounts do not block an upload of a fifth', async () => {
  const accounts = await Promise.all(Array.from({ length: 5 }, () => signInDeveloper(stage, service)));
  const other = accounts.pop() as Developer;
  const urls = await Promise.all(accounts.flatMap((account) => Array.from({ length: 5 }, () => begin(account))));
  const idle = urls.map((url) => openIdle(url, null));
  await waitForRefusals(idle, 4);
  expect((await upload(other, await begin(other))).status).toBe(200);
  for (const { sent } of idle) sent.destroy();
});

test('a file in chunks of one byte uses memory for its bytes, not for its chunks', async () => {
  const developer = await signInDeveloper(stage, service);
  const { port, pathname, search } = new URL(await begin(developer));
  const before = await residentMegabytes();
  const sent = request({
    host: '127.0.0.1',
    port,
    path: pathname + search,
    method: 'PUT',
    agent: false,
    headers: { 'Content-Type': 'image/png', 'Transfer-Encoding': 'chunked' },
  });
  const responded = once(sent, 'response');
  const chunks = Buffer.from('1\r\nx\r\n'.repeat(10_000));
  const socket = await new Promise<Socket>((resolve) => sent.on('socket', resolve));
  sent.flushHeaders();
  await once(socket, 'connect');
  let maxMegabytes = 0;
  for (let count = 0; count < 100; count++) {
    if (!socket.write(chunks)) await once(socket, 'drain');
    maxMegabytes = Math.max(maxMegabytes, await residentMegabytes());
  }
  socket.write('0\r\n\r\n');
  const [response] = await responded;
  expect(response.statusCode).toBe(422);
  expect(maxMegabytes - before).toBeLessThan(80);
});

async function residentMegabytes(): Promise<number> {
  return Number(/VmRSS:\s+(\d+) kB/.exec(await readFile(`/proc/${service.pid}/status`, 'utf8'))?.[1]) / 1024;
}
