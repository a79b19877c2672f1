import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { beforeAll, describe, expect, test } from 'vitest';
import { PATHS } from '../../server/oidc/endpoints.ts';
import { freshNetworkAddress, useProduction, useService } from '../support/harness.ts';
import { begin, postForm, REDIRECT } from '../support/oidc-client.ts';
import { bootOf } from '../support/oidc-driver.ts';
import { addWebsite, freshAddress, signInDeveloper } from '../support/sign-ins.ts';

const { stage, service } = await useService();
const { service: limited } = await useProduction();
/** Gets the requests about which nothing may be logged. */
const quiet = await stage.start({ PUBLIC_URL: service.url });
let clientId: string;
beforeAll(async () => {
  const { client } = await signInDeveloper(stage, service);
  clientId = (await client.post('/api/clients', { name: 'Notes', redirectUris: [REDIRECT] })).json.clientId;
});

const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' };
const uid = 'V1StGXR8_Z5jdHi6B-myT';

type Sent = { status: number; headers: NodeJS.Dict<string | string[]>; text: string };

/** Sends a request target as it is, on a connection of its own. */
async function sendRaw(
  target: string,
  method: string,
  { at = service, body = '', headers = {} as Record<string, string> } = {},
): Promise<Sent> {
  const sent = request({ host: '127.0.0.1', port: at.port, path: target, method, headers: { Host: `localhost:${at.port}`, ...headers } });
  sent.end(body);
  const [response] = await once(sent, 'response');
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  return { status: response.statusCode, headers: response.headers, text: Buffer.concat(chunks).toString() };
}

/** Other texts that a lenient parser reads as the path. */
const spellingsOf = (path: string) => [
  `${path}/`,
  `${path}//`,
  path.toUpperCase(),
  `/${path}`,
  path.replace(/(.)\//, '$1//'),
  path.replace(/(.)\//, '$1%2f'),
  path.replace(/(.)\//, '$1%2F'),
  path.replace(/(.)\//, '$1\\'),
  path.replace(/(.)\//, '$1/./'),
  `/x/..${path}`,
  `${path};x=y`,
  `${path}#x`,
  `${path}%20`,
  path.replace('u', '%75').replace('w', '%77'),
  `${path.replace('/oauth', '/OAuth')}/?x`,
];

const READS = ['discovery', 'jwks', 'authorization', 'userinfo', 'end_session', 'code_verification'];
const endpoints: [string, string, string][] = [
  ...Object.entries(PATHS).map(([name, path]): [string, string, string] => [name, path, READS.includes(name) ? 'GET' : 'POST']),
  ...(['authorization', 'userinfo', 'end_session', 'code_verification'] as const).map((name): [string, string, string] => [
    name,
    PATHS[name],
    'POST',
  ]),
  ['resume', `${PATHS.authorization}/${uid}`, 'GET'],
  ['device_resume', `${PATHS.code_verification}/${uid}`, 'GET'],
  ['end_session_confirm', '/oauth/logout/confirm', 'POST'],
  ['end_session_success', '/oauth/logout/success', 'GET'],
  ['discovery', '/.well-known/openid-configuration', 'GET'],
  ['discovery', '/.well-known/oauth-authorization-server', 'GET'],
];

describe('an endpoint', () => {
  test.each(endpoints)('%s is at %s for %s, and not found at another spelling', async (_, path, method) => {
    const options = method === 'POST' ? { headers: { ...FORM, Accept: 'application/json' } } : {};
    const plain = await sendRaw(path, method, options);
    expect([plain.status, plain.text]).toEqual([expect.toSatisfy((status) => status !== 404 && status !== 405), plain.text]);
    const absolute = await sendRaw(`http://localhost:${service.port}${path}`, method, options);
    expect([absolute.status, absolute.headers['content-type']]).toEqual([plain.status, plain.headers['content-type']]);
    for (const spelling of spellingsOf(path)) {
      const { status, headers } = await sendRaw(spelling, method, options);
      expect([spelling, status, headers['set-cookie']]).toEqual([spelling, 404, undefined]);
    }
  });

  test.each(endpoints)('%s at %s refuses the methods that it does not have', async (_, path) => {
    for (const method of ['PUT', 'DELETE', 'PATCH']) {
      const { status, headers, text } = await sendRaw(path, method);
      expect([status, headers.allow, JSON.parse(text).code]).toEqual([405, expect.stringMatching(/GET|POST/), 'method_not_allowed']);
    }
  });
});

describe('the limits of a network', () => {
  test.each([
    ['introspections', '/oauth/introspect'],
    ['revocations', '/oauth/revoke'],
    ['token requests', '/oauth/token'],
    ['token requests in absolute form', `http://localhost/oauth/token`],
  ])('apply to rejected %s', async (_, target) => {
    const headers = { ...FORM, 'X-Forwarded-For': freshNetworkAddress() };
    const statuses: number[] = [];
    // Its window of a minute may end meanwhile.
    while (statuses.length < 200 && !statuses.includes(429))
      statuses.push(
        (await sendRaw(target, 'POST', { at: limited, headers, body: 'client_id=none&token=x&grant_type=refresh_token' })).status,
      );
    expect(statuses.at(-1)).toBe(429);
    const refused = await sendRaw(target, 'POST', { at: limited, headers, body: 'client_id=none' });
    expect([refused.status, JSON.parse(refused.text).error, Number(refused.headers['retry-after']) > 0]).toEqual([
      429,
      'temporarily_unavailable',
      true,
    ]);
    expectProtected(refused);
  });

  test('apply to authorization, device and sign-out requests by GET and POST together, and show a page that says when to try again', async () => {
    const headers = { ...FORM, 'X-Forwarded-For': freshNetworkAddress(), Accept: 'text/html' };
    const requests = [
      ['/oauth/authorize', 'GET'],
      ['/oauth/authorize', 'POST'],
      ['/oauth/device', 'GET'],
      ['/oauth/logout', 'GET'],
    ];
    const limitedRequests = new Set<string>();
    for (let sent = 0; sent < 2400 && limitedRequests.size < requests.length; sent++) {
      const [target, method] = requests[sent % requests.length];
      const { status } = await sendRaw(target, method, { at: limited, headers });
      if (status === 429) limitedRequests.add(`${method} ${target}`);
    }
    expect(limitedRequests.size).toBe(requests.length);
    const page = await sendRaw('/oauth/authorize?x=y', 'GET', { at: limited, headers });
    const { error } = bootOf(page as never);
    expect([page.status, error]).toEqual([429, { code: 'rate_limited', retryAfter: expect.any(Number) }]);
    expectProtected(page);
  });
});

/** Expects what every response of the service has. */
function expectProtected({ headers }: Pick<Sent, 'headers'>) {
  expect(headers).toMatchObject({
    'content-security-policy': expect.stringContaining("frame-ancestors 'none'"),
    'x-content-type-options': 'nosniff',
    'cache-control': expect.stringContaining('no-store'),
    'referrer-policy': expect.stringMatching(/no-referrer|same-origin/),
    'x-request-id': expect.stringMatching(/^[0-9a-f]{32}$/),
  });
}

describe('a form of the pages of the provider', () => {
  const HTML = { ...FORM, Accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
  const forms = [PATHS.code_verification, '/oauth/logout/confirm', PATHS.end_session, PATHS.authorization];

  test.each([
    [PATHS.code_verification, 'user_code=BCDF-GHJK&confirm=yes'],
    ['/oauth/logout/confirm', 'logout=yes'],
  ])('%s asks a browser without the session of its page to begin again', async (path, fields) => {
    const ended = 'x'.repeat(43);
    for (const cookie of ['', `oidc_session=${ended}`, 'oidc_session=%', 'oidc_session=; oidc_resume=x; oidc_interaction=x']) {
      for (const xsrf of ['', '&xsrf=', '&xsrf=x', '&xsrf=x&xsrf=y', '&xsrf[]=x']) {
        const page = await sendRaw(path, 'POST', { headers: { ...HTML, Cookie: cookie }, body: fields + xsrf });
        expect([cookie, xsrf, page.status, bootOf(page as never).authorization]).toEqual([cookie, xsrf, 400, { step: 'expired' }]);
        expectProtected(page);
      }
    }
  });

  test('with the session of another person asks to begin again', async () => {
    const [own, other] = [service.client(), service.client()];
    for (const [page, path, fields] of [
      ['/oauth/device', PATHS.code_verification, { user_code: 'BCDF-GHJK' }],
      ['/oauth/logout', '/oauth/logout/confirm', { logout: 'yes' }],
    ] as const) {
      const xsrf = /name="xsrf" value="([^"]+)"/.exec((await own.get(page, HTML)).text)?.[1] ?? '';
      await other.get(page, HTML);
      const refused = await postForm(other, path, { ...fields, xsrf }, HTML);
      expect([refused.status, bootOf(refused).authorization]).toEqual([400, { step: 'expired' }]);
    }
  });

  test.each(['code', 'resend', 'account', 'forget', 'consent', 'decision', ''])(
    'of an interaction without its session: %s',
    async (form) => {
      const begun = await begin(service.client(), { clientId });
      for (const id of [begun.uid, uid]) {
        const path = `/oauth/interaction/${id}${form && `/${form}`}`;
        const headers = { ...HTML, Origin: service.url, Cookie: 'oidc_session=x; oidc_interaction=y; attempt=z' };
        const page = await sendRaw(path, 'POST', { headers, body: 'decision=allow&code=123456&email=none' });
        expect([path, page.status]).toEqual([path, expect.toSatisfy((status) => status < 500)]);
        expectProtected(page);
      }
    },
  );

  const bodies: [string, Record<string, string>, string | Buffer][] = [
    ['without a type', { 'Content-Type': '' }, 'a=b'],
    ['of an unknown type', { 'Content-Type': 'image/png' }, 'a=b'],
    ['of a malformed type', { 'Content-Type': ';;;' }, 'a=b'],
    ['of JSON', { 'Content-Type': 'application/json' }, '{"a":'],
    ['in parts', { 'Content-Type': 'multipart/form-data; boundary=x' }, '--x'],
    ['in an unknown character set', { 'Content-Type': 'application/x-www-form-urlencoded; charset=x' }, 'a=b'],
    ['that is compressed', { 'Content-Encoding': 'gzip' }, 'a=b'],
    ['of broken escapes', {}, '%&=%%E0%A4%A&xsrf=%FF&user_code=%00&client_id=%00&state=%0d%0a'],
    ['of many fields', {}, 'a=b&'.repeat(4_000)],
    ['of nested fields', {}, 'xsrf[a][b]=c&__proto__=x&constructor=y&user_code[]=z'],
    ['of 60 KB', {}, `user_code=${'x'.repeat(60_000)}`],
    ['of nothing', {}, ''],
  ];
  const ACCEPTS = ['application/json', '*/*', 'image/png', ''];
  test.each(forms)('%s answers every body with an error of the client', async (path) => {
    for (const [at, [what, headers, body]] of bodies.entries()) {
      for (const accept of ['text/html', ACCEPTS[at % ACCEPTS.length]]) {
        const sent = { ...HTML, Accept: accept, 'Content-Length': String(Buffer.byteLength(body)), ...headers };
        const response = await sendRaw(path, 'POST', { at: quiet, headers: sent, body: String(body) });
        expect([what, accept, response.status]).toEqual([what, accept, expect.toSatisfy((status) => status >= 300 && status < 500)]);
        expectProtected(response);
      }
    }
  });

  test.each([...forms, PATHS.token, PATHS.registration, PATHS.pushed_authorization_request])(
    '%s survives a connection that ends in the middle of its body',
    async (path) => {
      for (const end of ['end', 'resetAndDestroy', 'destroy'] as const) {
        const socket = connect(quiet.port, '127.0.0.1');
        socket.on('error', () => {});
        socket.write(
          `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${path === PATHS.registration ? 'application/json' : FORM['Content-Type']}\r\nContent-Length: 999\r\n\r\na=`,
          () => socket[end](),
        );
        socket.resume();
        await once(socket, 'close');
      }
      expect((await quiet.client().get('/.well-known/openid-configuration')).status).toBe(200);
    },
  );

  test('none of them writes a line to the log', async () => {
    // Lines are written half a second later or when the service stops.
    expect(await quiet.stop()).toBe(0);
    expect(quiet.output().match(/^.*"(?:level":[4-6]0|err)".*$/gm)).toBeNull();
  });

  test('a decision that a consent page does not offer is refused as such', async () => {
    const client = service.client();
    const domain = await addWebsite(stage, service);
    const begun = await begin(client, {
      clientId: `https://${domain}`,
      redirectUri: `https://${domain}/callback`,
      scope: 'openid profile',
    });
    await client.post('/api/auth/domain-auth', { email: freshAddress(), interaction: begun.uid });
    for (const decision of ['maybe', '', 'ALLOW']) {
      const page = await client.form(`/oauth/interaction/${begun.uid}/consent`, { decision });
      expect([page.status, bootOf(page).error, bootOf(page).path]).toEqual([
        400,
        { code: 'bad_request' },
        `/oauth/interaction/${begun.uid}`,
      ]);
      expect(page.text).not.toContain('temporarily unavailable.</');
    }
  });
});
