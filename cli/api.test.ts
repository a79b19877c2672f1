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

/** What `sites list` makes of a server's answer. */
async function failureAt(listener: RequestListener) {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ends.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const host = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = openApi({ host, caller: null, terminal: openTerminal({}, {}), signal: new AbortController().signal });
  const { exitCode, message } = describeFailure(
    await client.listWebsites({}).then(
      () => null,
      (error) => error,
    ),
  );
  return [exitCode, message.replace(host, 'HOST')];
}

const NOT_UNDERSTOOD = [1, 'The service answered something that this program does not understand.'];

test.each(['{}', 'null', '"x"', '[null]', '[{}]', '[{"domain":5}]'])(
  'an answer %s that the contract does not know is no answer',
  async (body) => {
    expect(await failureAt((_, response) => response.end(body))).toEqual(NOT_UNDERSTOOD);
  },
);

test('an answer without an end does not fill the memory', async () => {
  const chunk = Buffer.alloc(1024 * 1024, ' ');
  const listener: RequestListener = (_, response) => {
    const send = () => {
      while (response.write(chunk));
      response.once('drain', send);
    };
    send();
  };
  expect(await failureAt(listener)).toEqual(NOT_UNDERSTOOD);
});

test('an answer that breaks off was none', async () => {
  const listener: RequestListener = (_, response) => {
    response.writeHead(200, { 'Content-Length': '100' }).write('[');
    setImmediate(() => response.destroy());
  };
  expect(await failureAt(listener)).toEqual([8, 'The service at HOST cannot be reached.']);
});

test('a redirect is told, and not followed', async () => {
  let asked = 0;
  const listener: RequestListener = (request, response) => {
    asked++;
    response.writeHead(302, { Location: `http://${request.headers.host}/elsewhere` }).end();
  };
  expect(await failureAt(listener)).toEqual([8, 'HOST redirects to another address.']);
  expect(asked).toBe(1);
});
