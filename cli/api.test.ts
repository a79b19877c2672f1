import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { openApi } from './api.ts';
import { describeFailure } from './exit.ts';
import { openTerminal } from './terminal.ts';

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

/** Returns the exit code and message of `sites list` for a server's response. */
async function failureAt(listener: RequestListener) {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ends.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const host = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { signal } = new AbortController();
  const client = openApi({ host, env: {}, caller: null, terminal: openTerminal({}, {}, signal, process), signal });
  const { exitCode, message } = describeFailure(
    await client.listWebsites({}).then(
      () => null,
      (error) => error,
    ),
  );
  return [exitCode, message.replace(host, 'HOST')];
}

const BAD_RESPONSE = [1, 'The service sent a response that this program does not understand.'];

test.each(['{}', 'null', '"x"', '[null]', '[{}]', '[{"domain":5}]'])(
  'a response %s that does not match the contract is refused',
  async (body) => {
    expect(await failureAt((_, response) => response.end(body))).toEqual(BAD_RESPONSE);
  },
);

test('an endless response does not fill the memory', async () => {
  const chunk = Buffer.alloc(1024 * 1024, ' ');
  const listener: RequestListener = (_, response) => {
    const send = () => {
      while (response.write(chunk));
      response.once('drain', send);
    };
    send();
  };
  expect(await failureAt(listener)).toEqual(BAD_RESPONSE);
});

test('a response that is cut off counts as unreachable', async () => {
  const listener: RequestListener = (_, response) => {
    response.writeHead(200, { 'Content-Length': '100' }).write('[');
    setImmediate(() => response.destroy());
  };
  expect(await failureAt(listener)).toEqual([8, 'The service at HOST cannot be reached.']);
});

test('a redirect is reported, and not followed', async () => {
  let requests = 0;
  const listener: RequestListener = (request, response) => {
    requests++;
    response.writeHead(302, { Location: `http://${request.headers.host}/elsewhere` }).end();
  };
  expect(await failureAt(listener)).toEqual([8, 'HOST redirects to another address.']);
  expect(requests).toBe(1);
});

test('cookies are sent again, also with a __Host- prefix, until they are deleted; a line without a name is ignored', async () => {
  const answers = [
    ['__Host-admin=ab-c_=; Max-Age=28800; Path=/; HttpOnly; Secure; SameSite=Strict', 'browser=x.y; Path=/', 'nonsense', '=b'],
    ['__Host-admin=new; Max-Age=28800'],
    ['__Host-admin=; Max-Age=0; Path=/'],
  ];
  const sent: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    sent.push(request.headers.cookie);
    response.writeHead(200, { 'Set-Cookie': answers[sent.length - 1] ?? [] }).end('[]');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ends.push(() => server.close());
  const host = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { signal } = new AbortController();
  const terminal = openTerminal({}, {}, signal, process);
  const client = openApi({ host, env: {}, caller: null, terminal, signal, cookies: new Map() });
  for (let i = 0; i < 4; i++) await client.listWebsites({});
  expect(sent).toEqual([undefined, '__Host-admin=ab-c_=; browser=x.y', '__Host-admin=new; browser=x.y', 'browser=x.y']);
});
