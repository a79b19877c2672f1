import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, describe, expect, test } from 'vitest';
import { MAX_ICON_BYTES } from '../../contract/limits.ts';
import type { Client, HttpResponse } from '../support/client.ts';
import { useProduction, useService } from '../support/harness.ts';
import { jpeg, photoWithMetadata, plainPng, png, pngOfBytes } from '../support/images.ts';
import { signInDeveloper } from '../support/sign-ins.ts';

const { stage, service } = await useService();
const { service: second } = await useProduction();
const ann = await signInDeveloper(stage, service);
afterAll(async () => {
  expect((await service.client().get('/readyz')).status).toBe(200);
});

const begin = async (client: Client = ann.client): Promise<string> => (await client.post('/api/objects/upload')).json.uploadURL;
const idOf = (url: string) => new URL(url).pathname.split('/').at(-1) as string;
const put = (url: string, body: Buffer, type = 'image/png', headers: Record<string, string> = {}, client = service.client()) =>
  Object.assign(client, { retriesUnavailable: false }).send(url, { method: 'PUT', body, headers: { 'Content-Type': type, ...headers } });
const refused = (response: HttpResponse) => [response.status, response.json.code];
const fileOf = (id: string) => join(stage.dataDir, 'uploads', id);

/** Downloads a file as bytes, which `Client` does not provide. */
async function download(path: string) {
  const response = await fetch(`http://127.0.0.1:${service.port}${path}`, { headers: { Host: new URL(service.url).host } });
  return { status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) };
}

describe('an accepted icon', () => {
  test('is re-encoded, resized to 512 pixels and served only as an image', async () => {
    const url = await begin();
    expect(url).toMatch(new RegExp(`^${service.url}/objects/uploads/[0-9a-f-]{36}\\?expires=\\d+&signature=[\\w-]{43}$`));
    const left = Number(new URL(url).searchParams.get('expires')) - Date.now() / 1000;
    expect(left).toBeGreaterThan(300);
    expect(left).toBeLessThan(610);
    const sent = await png(2000, 1000);
    const stored = await put(url, sent);
    expect([stored.status, stored.json]).toEqual([200, { iconUrl: new URL(url).pathname }]);

    const { status, headers, bytes } = await download(stored.json.iconUrl);
    expect([status, headers.get('content-type')]).toEqual([200, 'image/png']);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('content-security-policy')).toBe("default-src 'none'; sandbox");
    expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(headers.get('cross-origin-resource-policy')).toBe('cross-origin');
    expect(bytes.equals(sent)).toBe(false);
    expect(await sharp(bytes).metadata()).toMatchObject({ format: 'png', width: 512, height: 256 });
    expect((await stat(fileOf(idOf(url)))).mode & 0o777).toBe(0o600);
    expect((await stat(join(stage.dataDir, 'uploads'))).mode & 0o777).toBe(0o700);
  });

  test('is rotated upright without metadata, with the type of its content, not of its header', async () => {
    const url = await begin();
    const photo = await photoWithMetadata();
    expect((await sharp(photo).metadata()).orientation).toBe(6);
    expect((await put(url, photo, 'image/png')).status).toBe(200);
    const { headers, bytes } = await download(new URL(url).pathname);
    expect(headers.get('content-type')).toBe('image/jpeg');
    const { width, height, exif, orientation } = await sharp(bytes).metadata();
    expect([width, height, exif, orientation]).toEqual([40, 60, undefined, undefined]);
    expect(bytes.includes('a secret of mine')).toBe(false);
  });

  test('may have exactly 5 MB, no Content-Length, and the type image/jpg', async () => {
    expect((await put(await begin(), pngOfBytes(MAX_ICON_BYTES))).status).toBe(200);
    expect((await put(await begin(), await jpeg(), 'image/jpg', { 'Transfer-Encoding': 'chunked' })).status).toBe(200);
    expect((await put(await begin(), plainPng(5000, 5000))).status).toBe(200);
  });
});

describe('a rejected upload', () => {
  test('is not exactly one complete JPEG or PNG of an accepted size', async () => {
    const good = await png();
    for (const bytes of [Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), good.subarray(0, good.length / 2)]) {
      const url = await begin();
      expect(refused(await put(url, bytes))).toEqual([422, 'bad_icon']);
      expect((await service.client().get(new URL(url).pathname)).status).toBe(404);
      expect(existsSync(fileOf(idOf(url)))).toBe(false);
      // An upload URL accepts one file.
      expect(refused(await put(url, good))).toEqual([400, 'bad_upload']);
    }
  });

  test('is larger than 5 MB, with and without a Content-Length', async () => {
    const large = pngOfBytes(MAX_ICON_BYTES + 1);
    expect(refused(await put(await begin(), large))).toEqual([413, 'icon_too_large']);
    expect(refused(await put(await begin(), large, 'image/png', { 'Transfer-Encoding': 'chunked' }))).toEqual([413, 'icon_too_large']);
    expect((await put(await begin(), Buffer.alloc(1), 'image/png', { 'Content-Length': '50000000000' })).status).toBe(413);
  });

  test('is refused before its end once it has more than twice the limit', async () => {
    const { pathname, search } = new URL(await begin());
    const headers = { Host: new URL(service.url).host, 'Content-Type': 'image/png' };
    const sent = request({ host: '127.0.0.1', port: service.port, path: pathname + search, method: 'PUT', headers });
    const responded = once(sent, 'response');
    sent.write(Buffer.alloc(2 * MAX_ICON_BYTES + 1));
    const [{ statusCode }] = await responded;
    expect(statusCode).toBe(413);
    sent.on('error', () => {}).destroy();
  });

  test.each(['', 'text/html', 'image/svg+xml', 'application/json', 'image/*', 'multipart/form-data; boundary=x'])(
    'has the type %j',
    async (type) => {
      expect(refused(await put(await begin(), await png(), type))).toEqual([422, 'bad_icon']);
    },
  );

  test('is a second file, or has an upload URL that is unsigned, of another upload, changed or expired', async () => {
    const [url, other] = [await begin(), await begin()];
    const [path, query] = url.split('?');
    const good = await png();
    const late = new URL(url);
    late.searchParams.set('expires', String(Number(late.searchParams.get('expires')) + 60));
    for (const wrong of [
      path,
      `${path}?`,
      `${path}?expires=9999999999`,
      `${path}?${query.replace(/signature=.{4}/, 'signature=AAAA')}`,
      `${path}?${query}&${query}`,
      `${path}?${query.replace('expires=', 'expires=0')}`,
      `${path}?${other.split('?')[1]}`,
      `${other.split('?')[0]}?${query}`,
      `${path.toUpperCase().replace('/OBJECTS/UPLOADS/', '/objects/uploads/')}?${query}`,
      late.href,
      url.replace(idOf(url), '0198c0de-0000-7000-8000-000000000000'),
      url.replace(idOf(url), 'x'),
    ]) {
      expect([wrong, ...refused(await put(wrong, good))]).toEqual([wrong, 400, 'bad_upload']);
    }
    expect((await put(url, good)).status).toBe(200);
    expect(refused(await put(url, await png(64, 64, 'red')))).toEqual([400, 'bad_upload']);
    await stage.query("update uploads set expires_at = now() - interval '1 second' where id = $1", [idOf(other)]);
    expect(refused(await put(other, good))).toEqual([400, 'bad_upload']);
  });

  test('is from a page of another origin, with another method, or without a session', async () => {
    const url = await begin();
    for (const headers of [{ Origin: 'https://evil.example' }, { Origin: 'null' }, { 'Sec-Fetch-Site': 'cross-site' }] as Record<
      string,
      string
    >[])
      expect(refused(await put(url, await png(), 'image/png', headers))).toEqual([403, 'foreign_origin']);
    expect(refused(await service.client().send(url, { method: 'POST', body: await png() }))).toEqual([405, 'method_not_allowed']);
    expect(refused(await service.client().send(url, { method: 'DELETE' }))).toEqual([405, 'method_not_allowed']);
    expect(refused(await service.client().post('/api/objects/upload'))).toEqual([401, 'sign_in_needed']);
    expect((await put(url, await png(), 'image/png', { Origin: service.url })).status).toBe(200);
  });

  test.each([
    '../../secret-key',
    '..%2f..%2fsecret-key',
    '%2e%2e%2f%2e%2e%2fsecret-key',
    '..\\..\\secret-key',
    '%2e%2e',
    '%00',
    '%zz',
    'secret-key',
    'a/b',
    '',
    '0198c0de-0000-7000-8000-000000000000',
    '0198c0de-0000-7000-8000-000000000000%00.png',
    '0198c0de-0000-7000-8000-000000000000/../../../secret-key',
  ])('has the path %j', async (path) => {
    for (const method of ['GET', 'PUT']) {
      const response = await service
        .client()
        .send(`/objects/uploads/${path}`, { method, headers: { 'Content-Type': 'image/png' }, body: '' });
      expect([400, 404]).toContain(response.status);
      expect(response.json.code).toMatch(/^(bad_request|bad_upload|not_found)$/);
    }
  });

  test('is more than the 60th in an hour', async () => {
    const client = second.client();
    client.cookies = (await signInDeveloper(stage, service)).client.cookies;
    for (let count = 0; count < 60; count++) expect((await client.post('/api/objects/upload')).status).toBe(200);
    const response = await client.post('/api/objects/upload');
    expect(refused(response)).toEqual([429, 'rate_limited']);
    expect(Number(response.headers['retry-after'])).toBeGreaterThan(0);
  });
});

test('stores one of 40 files that are sent to one upload URL at two instances', async () => {
  const pictures = await Promise.all(Array.from({ length: 40 }, (_, at) => png(at + 1, 9)));
  for (let round = 0; round < 2; round++) {
    const url = await begin();
    const responses = await Promise.all(
      pictures.map((bytes, at) => put(url, bytes, 'image/png', {}, at % 2 ? service.client() : second.client())),
    );
    const winners = responses.flatMap(({ status }, at) => (status === 200 ? [at] : []));
    expect(winners).toHaveLength(1);
    for (const response of responses) if (response.status !== 200) expect(refused(response)).toEqual([400, 'bad_upload']);
    expect((await sharp((await download(new URL(url).pathname)).bytes).metadata()).width).toBe(winners[0] + 1);
  }
  expect((await readdir(join(stage.dataDir, 'uploads'))).filter((name) => name.endsWith('.part'))).toEqual([]);
});

test('stores concurrent files in turn, and returns 503 for files beyond the memory limit', async () => {
  const urls = await Promise.all(Array.from({ length: 12 }, () => begin()));
  const bytes = pngOfBytes(MAX_ICON_BYTES);
  const statuses = await Promise.all(urls.map(async (url) => (await put(url, bytes)).status));
  expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(4);
  for (const [at, status] of statuses.entries()) {
    if (status === 200) continue;
    expect(status).toBe(503);
    expect((await put(urls[at], bytes)).status).toBe(200);
  }
});
