import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { createContext } from '../command.ts';
import { createSignIns } from './logins.ts';

type Authorize = { redirect_uri: string; state: string };

/** A service whose link is opened while it checks a code, which it then rejects. */
async function openService(): Promise<string> {
  let sent: Authorize;
  let codeResponse: ServerResponse;
  const respond = (response: ServerResponse, status: number, body: object) =>
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
  const server = createServer(async (request, response) => {
    const body = await json(request);
    switch (request.url) {
      case '/api/auth/authorize':
        sent = body as Authorize;
        respond(response, 200, { sent: true, attempt: 'attempt', expiresIn: 600 });
        return;
      case '/api/auth/email-code':
        codeResponse = response;
        await fetch(`${sent.redirect_uri}?code=authorization&state=${encodeURIComponent(sent.state)}`);
        return;
      case '/api/auth/token':
        respond(codeResponse, 410, { error: 'The email was used already.', code: 'bad_grant' });
        await once(codeResponse, 'close');
        respond(response, 200, { access_token: 'token', token_type: 'Bearer', expires_in: 3600, email: 'ann@example.com' });
        return;
      default:
        respond(response, 404, {});
    }
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('a code that becomes invalid because the link is opened meanwhile completes the login', async () => {
  const host = await openService();
  const directory = mkdtempSync(join(tmpdir(), 'emailauth-sign-ins-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const context = createContext({ host }, { ...process, env: { XDG_CONFIG_HOME: directory }, cwd: directory, signal: stop.signal });
  const signIns = createSignIns(context, host, await context.anonymous());

  const { loginId } = await signIns.start('ann@example.com');
  expect(await signIns.complete(loginId, '123456')).toEqual({ email: 'ann@example.com' });
  expect((await context.credentials()).storedAt(host)).toMatchObject({ email: 'ann@example.com', token: 'token' });
});
