import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { z } from 'zod';
import { type CallSpec, calls } from '../../contract/calls.ts';
import { errors } from '../../contract/errors.ts';
import { WEB_CLIENT_ID } from '../../contract/pkce.ts';
import type { Client, HttpResponse } from '../support/client.ts';
import * as corpora from '../support/corpora.ts';
import { useService } from '../support/harness.ts';
import { pagePaths } from '../support/page-paths.ts';
import { addWebsite, authorize, freshAddress, freshDomain, openLink, requestEmail, signInDeveloper, tokenOf } from '../support/sign-ins.ts';
import * as urls from '../support/url-corpora.ts';

const { stage, service } = await useService();
let shop: string;
let client: Client;
beforeAll(async () => {
  shop = await addWebsite(stage, service);
  // Signed in, so that no call stops at the check of the session.
  client = (await signInDeveloper(stage, service)).client;
});
afterAll(async () => {
  expect((await service.client().get('/readyz')).status).toBe(200);
});

/** Expects a 4xx with a code of the error catalog and a message. */
function expectRefusal(what: unknown, response: HttpResponse) {
  expect([what, response.status >= 400 && response.status < 500 ? 'refused' : response.status]).toEqual([what, 'refused']);
  expect(response.headers['content-type']).toMatch(/^application\/json/);
  expect(Object.keys(errors)).toContain(response.json.code);
  const sentence = response.json.error_description ?? response.json.error;
  expect(sentence).toMatch(/^\S+( \S+)+/);
  expect(sentence.length).toBeLessThan(300);
  expect(response.json.hint).toBeTruthy();
}

const allRoutes = Object.entries(calls) as [string, CallSpec][];
const withBody = allRoutes.filter(([, route]) => route.method === 'POST' || route.method === 'PUT');
const withQuery = allRoutes.filter(([, route]) => route.method === 'GET' || route.method === 'DELETE');
const someId = '0198c0de-0000-7000-8000-000000000000';
const filled = (path: string, value = 'en') => path.replace('{id}', someId).replace(/\{\w+\}/, value);
const another = freshDomain();
/** Returns a number for a route, others for the next ones. */
const placeOf = (name: string) => allRoutes.findIndex(([each]) => each === name);
const fieldsOf = (route: CallSpec) => Object.keys((route.input as z.ZodObject).shape);

/** How many requests are sent at once. */
const BATCH = 20;

/** Calls a function for every item, for some at once. */
async function forEach<T>(items: readonly T[], run: (item: T, at: number) => Promise<void>) {
  for (let at = 0; at < items.length; at += BATCH) await Promise.all(items.slice(at, at + BATCH).map((item, n) => run(item, at + n)));
}

/**
 * Returns one in `parts` of the values, others for the next place. The same code reads all places, so that each gets a share of the
 * values, and all of them together get every value.
 */
const share = <T>(values: readonly T[], place: number, parts: number): T[] => values.filter((_, at) => (at + place) % parts === 0);

const outbox = async () => (await stage.query('select recipient from outbox')).map(({ recipient }) => recipient);

/** Runs requests that must send no email. An email is in the outbox before its request is answered, so that no other ones prove it. */
async function expectNoMail(run: () => Promise<void>) {
  const [earlier, before] = [await outbox(), stage.mailbox.mails.length];
  await run();
  const sent = stage.mailbox.mails.slice(before).flatMap(({ recipients }) => recipients);
  expect([...(await outbox()), ...sent].filter((recipient) => !earlier.includes(recipient))).toEqual([]);
}

test('rejects hostile email addresses and sends no email', () =>
  expectNoMail(() =>
    forEach(corpora.badAddresses, async (email) => {
      expectRefusal(email, await service.client().post('/api/auth/domain-auth', { email, forward_url: `https://${shop}/` }));
      expectRefusal(email, (await authorize(service.client(), email as string)).response);
      expectRefusal(email, await service.client().post('/api/websites/register', { domain: freshDomain(), email }));
    }),
  ));

test.each(corpora.enteredAddresses)('sends one email to the address in %j', async (entered) => {
  const [visitor, email] = [service.client(), freshAddress()];
  await requestEmail(visitor, entered.replace('ADDRESS', email), `https://${shop}/`);
  expect((await stage.mailbox.waitFor(email)).recipients).toEqual([email]);
  const page = await visitor.get(`/auth?forward_url=${encodeURIComponent(`https://${shop}/`)}&step=code`);
  expect(page.text).toContain(`"email":"${email}","attempt"`);
});

test('rejects hostile forward_urls and sends no email', () =>
  expectNoMail(() =>
    forEach(urls.badForwardUrls, async (hostile) => {
      const forward_url = typeof hostile === 'string' ? hostile.replace('SHOP', shop) : hostile;
      expectRefusal(forward_url, await service.client().post('/api/auth/domain-auth', { email: freshAddress(), forward_url }));
      if (typeof forward_url !== 'string') return;
      const page = await service.client().get(`/auth?forward_url=${encodeURIComponent(Buffer.from(forward_url).toString())}`);
      expect([forward_url, page.status]).toEqual([forward_url, 200]);
    }),
  ));

test.each(urls.goodForwardUrls)('redirects to %s with its text unchanged, in ASCII, and one token', async (template) => {
  const url = template.replace('SHOP', shop);
  const [visitor, email] = [service.client(), freshAddress()];
  await requestEmail(visitor, email, url);
  const location = await openLink(visitor, await stage.mailbox.waitFor(email));
  const [, token] = /[?&]token=([\w-]{43})(?=#|$)/.exec(location) ?? [];
  expect(token).toBeTruthy();
  const [before, fragment] = [url.split('#')[0], url.includes('#') ? url.slice(url.indexOf('#')) : ''];
  const separator = !before.includes('?') ? '?' : /[?&]$/.test(before) ? '' : '&';
  const expected = `${before}${separator}token=${token}${fragment}`;
  expect(location).toBe(expected.replace(/[^\x21-\x7e]+/g, encodeURIComponent));
  expect(tokenOf(location)).toBe(token);
});

test('rejects hostile redirect_uris and sends no email', () =>
  expectNoMail(() =>
    forEach(urls.badRedirectUris, async (hostile) => {
      const redirect_uri = typeof hostile === 'string' ? hostile.replace('ORIGIN', service.url) : hostile;
      expectRefusal(redirect_uri, (await authorize(service.client(), freshAddress(), { redirect_uri })).response);
    }),
  ));

describe('hostile bodies', () => {
  const onEveryRoute = ['an array', 'an unclosed object'];

  test.each(withBody)('are rejected by %s', (name, route) => {
    const path = filled(route.path);
    const others = corpora.badBodies.filter(([what]) => !onEveryRoute.includes(what));
    const bodies = [...corpora.badBodies.filter(([what]) => onEveryRoute.includes(what)), ...share(others, placeOf(name), 4)];
    return forEach(bodies, async ([what, body]) => {
      const response = await client.send(path, { method: route.method, headers: { 'Content-Type': 'application/json' }, body });
      expectRefusal([path, what], response);
    });
  });

  test.each(withBody)('with hostile values in fields of %s get no 5xx', async (name, route) => {
    const path = filled(route.path);
    for (const [at, field] of fieldsOf(route).entries()) {
      // Any value that is not a language means English.
      const takesAnything = field === 'language';
      const place = placeOf(name) + at;
      await forEach(share(corpora.badValues, place, 3), async ([what, value]) => {
        if (['confirm', 'enable', 'verifiable'].includes(field) && value === true) return;
        if (field === 'max_age' && value === 12) return;
        // Ends none of them.
        if (['apiKeys', 'passkeys'].includes(field) && Array.isArray(value) && value.length === 0) return;
        // Removes the icon.
        if (field === 'iconUrl' && value === null) return;
        const response = await client.send(path, {
          method: route.method,
          headers: { 'Content-Type': 'application/json' },
          body: JSON.stringify({ ...validInput(), ...(route.path.includes('{id}') && field === 'id' ? {} : { [field]: value }) }),
        });
        if (takesAnything || field === 'id') expect([path, field, what, response.status < 500]).toEqual([path, field, what, true]);
        else expectRefusal([path, field, what], response);
      });
      const texts = ['\u0000', ...share(corpora.hostileTexts, place, 4).filter((text) => text !== '\u0000')];
      await forEach(texts, async (text) => {
        const response = await client.send(path, {
          method: route.method,
          headers: { 'Content-Type': 'application/json' },
          body: JSON.stringify({ ...validInput(), [field]: text }),
        });
        expect([path, field, text, response.status < 500]).toEqual([path, field, text, true]);
        if (text.includes('\u0000')) expectRefusal([path, field, text], response);
        if (response.status >= 400) expectRefusal([path, field, text], response);
      });
    }
  });

  test('that are too long get 413, and other requests are served', async () => {
    const response = await client.send('/api/auth/domain-auth', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'Transfer-Encoding': 'chunked' },
      body: Buffer.alloc(200_000, 'x'),
    });
    expect(response.status).toBe(413);
    expect((await client.get('/api/languages')).status).toBe(200);
  });

  function validInput(): Record<string, unknown> {
    return {
      email: freshAddress(),
      forward_url: `https://${shop}/`,
      client_id: WEB_CLIENT_ID,
      redirect_uri: `${service.url}/developer`,
      code_challenge: 'x'.repeat(43),
      code_challenge_method: 'S256',
      state: 'state',
      code: '123456',
      code_verifier: 'x'.repeat(43),
      t: 'x'.repeat(64),
      token: 'x'.repeat(43),
      key: 'x',
      domain: another,
    };
  }
});

describe('hostile URLs', () => {
  test.each(withQuery)('with hostile queries of %s get no 5xx', (name, route) =>
    forEach(share(corpora.hostileQueries, placeOf(name), 3), async (query) => {
      const response = await client.send(filled(route.path) + query, { method: route.method });
      expect([route.path, query, response.status < 500]).toEqual([route.path, query, true]);
      if (response.status >= 400) expectRefusal([route.path, query], response);
    }),
  );

  test('with hostile path parameters are rejected', async () => {
    const values = [
      '%00',
      '%',
      '%ff',
      '%2e%2e%2f',
      '..%2f..%2fetc',
      '%F0%9F%92%A5',
      '__proto__',
      'a'.repeat(3000),
      "'",
      '%27%3B--',
      '%0d%0aX:%20y',
      '%5C',
    ];
    for (const [name, route] of allRoutes.filter(([, { path }]) => path.includes('{'))) {
      await forEach(share(values, placeOf(name), 3), async (value) => {
        const response = await client.send(route.path.replace(/\{\w+\}/, value), {
          method: route.method,
          ...(route.method === 'PUT' && { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ domain: another }) }),
        });
        expectRefusal([route.path, value], response);
      });
    }
  });

  test('of pages get no 5xx and are not reflected', async () => {
    for (const [place, path] of pagePaths.entries()) {
      const queries = corpora.hostileQueries.filter((query) => query.includes('script'));
      await forEach([...queries, ...share(corpora.hostileQueries, place, 4)], async (query) => {
        const response = await client.get(path + query);
        expect([path, query, response.status < 500]).toEqual([path, query, true]);
        expect(response.text).not.toContain('<script>alert(1)');
      });
    }
    for (const path of [
      '/%',
      '/%ff',
      '/%00',
      '//evil.example',
      '/..%2f..%2fetc/passwd',
      '/assets/..%2f..%2fpackage.json',
      '/assets/%00',
      '/\\evil.example',
      `/${'a'.repeat(9000)}`,
      '/api',
      '/api/',
      '/api/nothing',
      '/api/auth/%',
    ]) {
      const response = await service.client().get(path);
      expect([path, response.status >= 400 && response.status < 500]).toEqual([path, true]);
      expect(response.headers.location).toBeUndefined();
    }
  });

  test('with methods that a path does not support are rejected', async () => {
    for (const [place, path] of [...new Set(allRoutes.map(([, route]) => filled(route.path)))].entries()) {
      await forEach(['GET', 'POST', 'DELETE', ...share(['PUT', 'PATCH', 'TRACE', 'PROPFIND'], place, 4)], async (method) => {
        if (allRoutes.some(([, route]) => filled(route.path) === path && route.method === method)) return;
        const response = await client.send(path, { method, headers: { 'Content-Type': 'application/json' } });
        expectRefusal([path, method], response);
      });
    }
  });
});

test('hostile cookies and headers get no 5xx', async () => {
  const values = [
    '',
    '%00',
    '%',
    '"',
    '[]',
    '[null]',
    '[{"email":{}}]',
    '%5B%7B%22__proto__%22%3A1%7D%5D',
    '{}',
    'x'.repeat(5000),
    '💥',
    `[${'['.repeat(500)}`,
  ];
  const visitor = service.client();
  for (const name of ['sid', 'attempt', 'device', 'auth_email', 'auth_key', 'remembered_accounts', 'previous_auth', '__proto__']) {
    await forEach(values, async (value, place) => {
      const headers = { Cookie: Buffer.from(`${name}=${value}`).toString('latin1') };
      const requests = [
        () => visitor.get('/auth', headers),
        () => visitor.get('/auth/link?t=x', headers),
        () => visitor.get('/api/user/me', headers),
        () => visitor.post('/api/auth/logout', {}, headers),
      ];
      for (const send of share(requests, place, 2)) expect([name, value, (await send()).status < 500]).toEqual([name, value, true]);
    });
  }
  await forEach(values, async (value) => {
    const text = value.replace(/[^\x20-\x7e]/g, '');
    for (const response of [
      await visitor.get('/api/verify-token?token=x', { 'Idempotency-Key': text }),
      await visitor.get('/api/user/me', { Authorization: `Bearer ${text}` }),
    ])
      expect([value, response.status < 500]).toEqual([value, true]);
  });
});

test.each([
  'GET / HTTP/9.9\r\n\r\n',
  'NONSENSE\r\n\r\n',
  'POST /api/auth/logout HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  `GET / HTTP/1.1\r\nHost: x\r\nX: ${'y'.repeat(100_000)}\r\n\r\n`,
])('a malformed HTTP request gets 4xx or a closed connection: %j', async (text) => {
  const response = await new Promise<string>((resolve, reject) => {
    const socket = connect(service.port, '127.0.0.1', () => socket.write(text));
    let received = '';
    socket.on('data', (chunk) => {
      received += chunk;
      socket.end();
    });
    socket.on('close', () => resolve(received));
    socket.on('error', () => resolve(received));
    socket.setTimeout(45_000, () => reject(new Error('The connection hangs')));
  });
  expect(response).toMatch(/^(HTTP\/1\.1 4\d\d |$)/);
});
