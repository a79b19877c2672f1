import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer as createHttps } from 'node:https';
import { type AddressInfo, createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RATE_LIMITS } from '../../contract/rate-limits.ts';
import { openAuthority } from '../support/certificates.ts';
import { type Service, useProduction, useService } from '../support/harness.ts';
import { addApplication, authorizationRequest, postForm, type Step, signInAt, visit } from '../support/oidc-driver.ts';
import { type Developer, signInDeveloper } from '../support/sign-ins.ts';

const REDIRECT = 'https://program.example/callback';

/** It connects only to public addresses. */
const { stage, service, names } = await useProduction();
/** It reads documents of this machine too. */
const { service: local } = await useService();
let developer: Developer;
/** Connections to a port of the loopback that no request of the production service may reach. */
let connections = 0;
let port: number;
const trap = createServer((socket) => {
  connections++;
  socket.destroy();
});
/** What the document server responds, by path. */
const responses = new Map<string | undefined, (request: IncomingMessage, response: ServerResponse) => void>();
let documents: string;
let closeDocuments: () => Promise<void>;

beforeAll(async () => {
  trap.listen(0, '127.0.0.1');
  await once(trap, 'listening');
  port = (trap.address() as AddressInfo).port;
  developer = await signInDeveloper(stage, service);
  await openDocuments();
});
afterAll(async () => {
  await closeDocuments?.();
  trap.close();
});

async function openDocuments() {
  const authority = await openAuthority();
  const server = createHttps(await authority.issue('localhost', 2), (request, response) => responses.get(request.url)?.(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  documents = `https://localhost:${(server.address() as AddressInfo).port}`;
  closeDocuments = async () => {
    server.closeAllConnections();
    server.close();
    await authority.close();
  };
}

const metadata = (clientId: string) => ({
  client_id: clientId,
  client_name: 'Program',
  redirect_uris: [REDIRECT],
  token_endpoint_auth_method: 'none',
  grant_types: ['authorization_code', 'refresh_token'],
});

/** Opens an authorization request of a client that describes itself at its client_id. */
async function authorizeBy(instance: Service, clientId: string): Promise<Step> {
  return visit(instance.client(), (await authorizationRequest({ clientId, redirectUri: REDIRECT })).url);
}

describe('a client ID that points into a network of the service', () => {
  test.each([
    'https://127.0.0.1:PORT/client.json',
    'https://localhost:PORT/client.json',
    'https://[::1]:PORT/client.json',
    'https://2130706433:PORT/client.json',
    'https://[::ffff:7f00:1]:PORT/client.json',
    'https://10.0.0.1/client.json',
    'https://169.254.169.254/latest/meta-data/',
    'https://inside.example:PORT/client.json',
    'https://both.example:PORT/client.json',
    'https://unknown.example/client.json',
    'http://program.example/client.json',
    'https://user:password@program.example/client.json',
    'https://program.example/client.json#fragment',
    'https://program.example/a/../client.json',
    'file:///etc/passwd',
    'https://program.example\\@127.0.0.1:PORT/client.json',
  ])('%s is an unknown client, and nothing is requested there', async (pattern) => {
    names.setAddresses('inside.example', ['127.0.0.1']);
    names.setAddresses('both.example', ['10.0.0.1', '127.0.0.1']);
    const clientId = pattern.replace('PORT', String(port));
    const { callback, response, authorization } = await authorizeBy(service, clientId);
    expect([callback, response.status, authorization?.step]).toEqual([null, 400, 'error']);
    expect(connections).toBe(0);
    // The response does not reveal what is there.
    expect(response.text).not.toMatch(/ECONN|ENOTFOUND|ENOTPUBLIC|EAI_AGAIN|certificate|(?<!set)timed? ?out/i);
    const exchanged = await postForm(
      service.client(),
      '/oauth/token',
      { clientId, redirectUri: REDIRECT },
      { grant_type: 'refresh_token', refresh_token: 'x' },
    );
    expect(exchanged.json.error).toMatch(/^(invalid_client|invalid_request|temporarily_unavailable)$/);
    expect(connections).toBe(0);
  });
});

describe('a client ID metadata document', () => {
  let n = 0;
  /** Returns the client ID of a new document that is served by `send`. */
  const published = (send: (clientId: string, response: ServerResponse, request: IncomingMessage) => void): string => {
    const clientId = `${documents}/${n++}/client.json`;
    responses.set(new URL(clientId).pathname, (request, response) => send(clientId, response, request));
    return clientId;
  };
  const asJson = (response: ServerResponse, body: unknown) =>
    response.setHeader('Content-Type', 'application/json').end(JSON.stringify(body));

  test('of a valid client begins a sign-in', async () => {
    const clientId = published((id, response) => asJson(response, metadata(id)));
    const { authorization, boot } = await authorizeBy(local, clientId);
    expect(authorization?.step).toBe('sign_in');
    expect(boot.target).toMatchObject({ kind: 'application', name: 'Program', host: 'program.example' });
  });

  test.each<[string, (id: string, response: ServerResponse) => unknown]>([
    ['that names another client', (id, response) => asJson(response, { ...metadata(id), client_id: `${id}x` })],
    ['without a client_id', (id, response) => asJson(response, { ...metadata(id), client_id: undefined })],
    ['with a secret', (id, response) => asJson(response, { ...metadata(id), client_secret: 'x'.repeat(40) })],
    [
      'with a method of shared secrets',
      (id, response) => asJson(response, { ...metadata(id), token_endpoint_auth_method: 'client_secret_basic' }),
    ],
    ['without the redirect URI', (id, response) => asJson(response, { ...metadata(id), redirect_uris: ['https://evil.example/'] })],
    [
      'with a script as redirect URI',
      (id, response) => asJson(response, { ...metadata(id), redirect_uris: [REDIRECT, 'javascript:alert(1)'] }),
    ],
    ['that is a list', (id, response) => asJson(response, [metadata(id)])],
    ['that is no JSON', (_, response) => response.end('<html>')],
    ['that redirects', (id, response) => response.writeHead(302, { Location: `${id}/elsewhere` }).end()],
    ['that redirects inside', (_, response) => response.writeHead(302, { Location: `http://127.0.0.1:${port}/` }).end()],
    ['that is not found', (_, response) => response.writeHead(404).end('{}')],
    ['of 10 MB', (id, response) => asJson(response, { ...metadata(id), padding: 'x'.repeat(10_000_000) })],
    [
      'of many redirect URIs',
      (id, response) => asJson(response, { ...metadata(id), redirect_uris: Array.from({ length: 5000 }, (_, i) => `${REDIRECT}/${i}`) }),
    ],
    [
      'with the prototype',
      (id, response) =>
        response.end(
          JSON.stringify(metadata(id))
            .replace('{', '{"__proto__":{"redirect_uris":["https://evil.example/"]},')
            .replace('"redirect_uris":["https://p', '"x":["https://p'),
        ),
    ],
  ])('%s is refused on a page', (_, send) => expectRefused(send));

  test('that never ends or never begins is refused on a page within bounded time', () =>
    Promise.all([expectRefused((_, response) => void response.write('{"client_id":"')), expectRefused(() => {})]));

  async function expectRefused(send: (id: string, response: ServerResponse) => unknown) {
    const clientId = published((id, response) => void send(id, response));
    const before = connections;
    const { callback, response, authorization } = await authorizeBy(local, clientId);
    expect([callback, response.status, authorization?.step]).toEqual([null, 400, 'error']);
    expect(connections).toBe(before);
  }

  test('is requested once for many concurrent requests, and not again while it may be cached', async () => {
    let requests = 0;
    const clientId = published((id, response) => {
      requests++;
      response.setHeader('Cache-Control', 'max-age=3600');
      setImmediate(() => asJson(response, metadata(id)));
    });
    const reached = await Promise.all(Array.from({ length: 20 }, () => authorizeBy(local, clientId)));
    expect(reached.map(({ authorization }) => authorization?.step)).toEqual(Array(20).fill('sign_in'));
    await authorizeBy(local, clientId);
    expect(requests).toBe(1);
  });

  test('is not requested above the limit of a network', async () => {
    let requests = 0;
    const clientId = published((id, response) => {
      requests++;
      asJson(response, metadata(id));
    });
    // Local mode has a hundred times the limit.
    const used = 100 * RATE_LIMITS.client_documents.points;
    const counter = "'client_documents 127.0.0.1'";
    await stage.query(
      `insert into rate_limits (key, hits, resets_at) values (${counter}, $1, now() + interval '1 hour')
       on conflict (key) do update set hits = excluded.hits, resets_at = excluded.resets_at`,
      [used],
    );
    const refused = await authorizeBy(local, clientId).finally(() => stage.query(`delete from rate_limits where key = ${counter}`));
    expect([refused.authorization?.step, requests]).toEqual(['error', 0]);
    expect(refused.response.text).toContain(RATE_LIMITS.client_documents.message);
    expect((await authorizeBy(local, clientId)).authorization?.step).toBe('sign_in');
  });

  test('with a hostile name and logo is shown as text, and the logo is not fetched by the service', async () => {
    const clientId = published((id, response, request) => {
      expect(request.url).toMatch(/client\.json$/);
      expect(request.headers.cookie ?? request.headers.authorization).toBeUndefined();
      asJson(response, { ...metadata(id), client_name: '<script>alert(1)</script>\n\u202eEmail Auth', logo_uri: `${documents}/logo.png` });
    });
    const { response, boot } = await authorizeBy(local, clientId);
    expect(response.text).not.toMatch(/<script>alert/);
    expect(JSON.stringify(boot.target)).not.toMatch(/\\n|\u202e|logo/);
  });
});

describe('other URLs of a client', () => {
  const inside = () => [
    `https://127.0.0.1:${port}/`,
    `https://[::ffff:7f00:1]:${port}/`,
    `https://inside.example:${port}/`,
    'https://169.254.169.254/',
  ];

  test('an application cannot make the service request an internal jwks_uri or backchannel_logout_uri', async () => {
    names.setAddresses('inside.example', ['127.0.0.1']);
    for (const url of inside()) {
      const created = await developer.client.post('/api/clients', {
        name: 'Inside',
        redirectUris: [REDIRECT],
        authentication: 'private_key_jwt',
        jwksUri: url,
        backchannelLogoutUri: url,
      });
      if (created.status === 200) {
        const header = Buffer.from(JSON.stringify({ alg: 'ES256', kid: 'x' })).toString('base64url');
        const claims = {
          iss: created.json.clientId,
          sub: created.json.clientId,
          aud: service.url,
          jti: url,
          exp: Math.floor(Date.now() / 1000) + 60,
        };
        const assertion = `${header}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.${'A'.repeat(86)}`;
        const response = await postForm(service.client(), '/oauth/token', null, {
          client_id: created.json.clientId,
          grant_type: 'refresh_token',
          refresh_token: 'x',
          client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
          client_assertion: assertion,
        });
        expect([url, response.status, response.json.error]).toEqual([url, 401, 'invalid_client']);
      } else expect([url, created.status]).toEqual([url, 400]);
      expect(connections).toBe(0);
    }
  });

  test('a sign-out notifies no internal address', async () => {
    names.setAddresses('inside.example', ['127.0.0.1']);
    const app = await addApplication(developer, { backchannelLogoutUri: `https://inside.example:${port}/` });
    const browser = service.client();
    const { tokens } = await signInAt(stage, service, app, { browser });
    const page = await visit(browser, `/oauth/logout?id_token_hint=${tokens.id_token}`);
    const { form } = page.authorization as Extract<Step['authorization'], { step: 'sign_out' }>;
    await postForm(browser, new URL(form.action, service.url).pathname, null, { ...form.fields, logout: 'yes' });
    expect(connections).toBe(0);
  });

  test('a program that registers itself cannot make the service request internal addresses', async () => {
    for (const url of inside()) {
      const response = await service.client().post('/oauth/register', {
        client_name: 'Inside',
        redirect_uris: [REDIRECT],
        token_endpoint_auth_method: 'none',
        ...{
          jwks_uri: url,
          logo_uri: url,
          sector_identifier_uri: url,
          backchannel_logout_uri: url,
          request_uris: [url],
          initiate_login_uri: url,
        },
      });
      expect([201, 400]).toContain(response.status);
      expect(connections).toBe(0);
    }
  });
});
