import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import type { Query } from '../../server/platform/db/database.ts';
import { bucketStorage, diskStorage, type Storage } from '../../server/websites/storage.ts';
import { Uploads } from '../../server/websites/uploads.ts';
import { openPatientDatabase } from '../statements/database.ts';
import { openBucket } from '../support/bucket.ts';
import { type Service, useService } from '../support/harness.ts';
import { png } from '../support/images.ts';
import { freshDomain, signInDeveloper } from '../support/sign-ins.ts';
import { waitUntil } from '../support/waiting.ts';

const { stage, service: onDisk } = await useService();
const bucket = await openBucket();
const inBucket = await stage.start(bucket.settings);
const ann = await signInDeveloper(stage, onDisk);
const database = openPatientDatabase(stage.databaseUrl);
afterAll(async () => {
  await database.close();
  await bucket.close();
});
beforeEach(() => {
  bucket.mode = 'serving';
});

/** Returns a client for an instance that shares the cookies of `ann`, and returns a 503. */
function annAt(service: Service) {
  const client = Object.assign(service.client(), { retriesUnavailable: false });
  client.cookies = ann.client.cookies;
  return client;
}
const begin = async (service: Service): Promise<string> => (await annAt(service).post('/api/objects/upload')).json.uploadURL;
const put = async (service: Service, url: string) =>
  annAt(service).send(url, { method: 'PUT', body: await png(), headers: { 'Content-Type': 'image/png' } });
const idOf = (url: string) => new URL(url, 'http://x').pathname.split('/').at(-1) as string;
const agedDays = (id: string, days: number) =>
  stage.query(
    `update uploads set expires_at = expires_at - make_interval(days => $2), stored_at = stored_at - make_interval(days => $2) where id = $1`,
    [id, days],
  );
const query: Query = (text, values) => database.core.query(text, values);
const isKnown = async (id: string) => (await stage.query('select 1 from uploads where id = $1', [id])).length === 1;
const uploadsOn = (storage: Storage) =>
  new Uploads({
    database,
    limits: { hit: async () => {} },
    urls: { sign: () => '', isSigned: () => false },
    storage,
  });

describe('in a bucket', () => {
  test('icons are stored and served through the service with signed requests', async () => {
    const url = await begin(inBucket);
    const stored = await put(inBucket, url);
    expect([stored.status, stored.json]).toEqual([200, { iconUrl: new URL(url).pathname }]);
    const shown = await inBucket.client().get(stored.json.iconUrl);
    expect([shown.status, shown.headers['content-type']]).toEqual([200, 'image/png']);
    expect(bucket.requests).toEqual([`PUT uploads/${idOf(url)}`, `GET uploads/${idOf(url)}`]);
    expect(existsSync(join(stage.dataDir, 'uploads', idOf(url)))).toBe(false);
    // Unknown uploads are not requested from the bucket.
    expect((await inBucket.client().get(`/objects/uploads/${randomUUID()}`)).status).toBe(404);
    expect(bucket.requests).toHaveLength(2);
  });

  test.each(['failing', 'silent'] as const)(
    'that is %s, uploads return 503, and the same upload URL works once it is back',
    async (mode) => {
      const [stored, waiting] = [await begin(inBucket), await begin(inBucket)];
      await put(inBucket, stored);
      bucket.mode = mode;
      for (const response of [await put(inBucket, waiting), await annAt(inBucket).get(new URL(stored).pathname)]) {
        expect([response.status, response.json.code]).toEqual([503, 'unavailable']);
        expect(response.text).not.toContain('127.0.0.1');
      }
      expect((await inBucket.client().get('/readyz')).status).toBe(200);
      bucket.mode = 'serving';
      expect((await put(inBucket, waiting)).status).toBe(200);
      expect((await inBucket.client().get(new URL(stored).pathname)).status).toBe(200);
    },
  );

  test('that refuses the secret key, each call fails, with the reason for the log', async () => {
    const storage = bucketOf({ ...bucket.settings, S3_SECRET_ACCESS_KEY: 'another-secret' });
    const stored = storage.put(randomUUID(), Buffer.from('icon'));
    await expect(stored).rejects.toMatchObject({
      code: 'unavailable',
      cause: expect.objectContaining({ message: expect.stringContaining('SignatureDoesNotMatch') }),
    });
    await expect(stored).rejects.not.toThrow('Signature');
  });
});

/** Returns the storage of a bucket, as the settings describe it. */
function bucketOf({ S3_ENDPOINT, S3_BUCKET, S3_REGION, S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY }: typeof bucket.settings): Storage {
  return bucketStorage({
    endpoint: S3_ENDPOINT,
    name: S3_BUCKET,
    region: S3_REGION,
    accessKeyId: S3_ACCESS_KEY_ID,
    secretAccessKey: S3_SECRET_ACCESS_KEY,
  });
}

describe.each(['disk', 'bucket'] as const)('clean-up (%s)', (kind) => {
  const parts = () => {
    const storage = kind === 'disk' ? diskStorage(join(stage.dataDir, 'uploads')) : bucketOf(bucket.settings);
    return { storage, uploads: uploadsOn(storage), service: kind === 'disk' ? onDisk : inBucket };
  };

  test('removes uploads without a file or without a website after a day, with their files', async () => {
    const { storage, uploads, service } = parts();
    const [unsent, young, unused, shown, dropped] = await Promise.all(Array.from({ length: 5 }, () => begin(service)));
    for (const url of [young, unused, shown, dropped]) expect((await put(service, url)).status).toBe(200);
    const client = annAt(service);
    const site = async (icon: string) =>
      (await client.post('/api/websites', { domain: freshDomain(), iconUrl: new URL(icon).pathname })).json;
    const showing = await site(shown);
    const { id, domain } = await site(dropped);
    for (const url of [unsent, unused, shown, dropped]) await agedDays(idOf(url), 2);

    expect(await uploads.cleanUp(query)).toBeGreaterThanOrEqual(2);
    for (const url of [unsent, unused]) expect([await isKnown(idOf(url)), await storage.get(idOf(url))]).toEqual([false, null]);
    expect((await service.client().get(new URL(unused).pathname)).status).toBe(404);
    for (const url of [young, shown, dropped]) expect(await storage.get(idOf(url))).not.toBeNull();

    await client.put(`/api/websites/${id}`, { domain, iconUrl: null });
    expect(await uploads.cleanUp(query)).toBe(1);
    expect([await isKnown(idOf(dropped)), await storage.get(idOf(dropped))]).toEqual([false, null]);
    await stage.query('delete from websites where id = $1', [showing.id]);
    expect(await uploads.cleanUp(query)).toBe(1);
    expect(await storage.get(idOf(shown))).toBeNull();
    expect(await storage.get(idOf(young))).not.toBeNull();
  });
});

test('a disk that cannot be written makes uploads unavailable', async () => {
  const file = join(stage.dataDir, 'not a directory');
  await writeFile(file, '');
  await expect(diskStorage(file).put(randomUUID(), Buffer.from('icon'))).rejects.toMatchObject({ code: 'unavailable' });
});

test('the clean-up retries uploads that a failing bucket did not remove, and removes the others', async () => {
  const urls = await Promise.all(Array.from({ length: 3 }, () => begin(onDisk)));
  for (const url of urls) {
    await put(onDisk, url);
    await agedDays(idOf(url), 2);
  }
  const [stuck, ...others] = urls.map(idOf).sort();
  const disk = diskStorage(join(stage.dataDir, 'uploads'));
  const failing = uploadsOn({
    ...disk,
    remove: async (id) => {
      if (id === stuck) throw new Error('This one is stuck.');
      await disk.remove(id);
    },
  });
  await expect(failing.cleanUp(query)).rejects.toThrow('This one is stuck.');
  expect(await isKnown(stuck)).toBe(true);
  for (const id of others) expect(await isKnown(id)).toBe(false);
  // Removes files that a crash between writing and renaming left, too.
  await writeFile(join(stage.dataDir, 'uploads', `${stuck}.part`), 'half');
  expect(await uploadsOn(disk).cleanUp(query)).toBe(1);
  expect(await isKnown(stuck)).toBe(false);
  for (const name of [stuck, `${stuck}.part`]) expect(existsSync(join(stage.dataDir, 'uploads', name))).toBe(false);
});

test('an icon cannot be set while its file is being removed', async () => {
  const url = await begin(onDisk);
  await put(onDisk, url);
  await agedDays(idOf(url), 2);
  const disk = diskStorage(join(stage.dataDir, 'uploads'));
  const domain = freshDomain();
  let choosing: ReturnType<typeof ann.client.post> | undefined;
  await uploadsOn({
    ...disk,
    remove: async (id) => {
      choosing = annAt(onDisk).post('/api/websites', { domain, iconUrl: `/objects/uploads/${id}` });
      await waitUntil('the request waits for the row', 30_000, async () => {
        const sql = "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
        return (await stage.query(sql)).length > 0;
      });
      await disk.remove(id);
    },
  }).cleanUp(query);
  expect((await choosing)?.status).toBe(503);
  expect(await stage.query('select 1 from websites where domain = $1', [domain])).toEqual([]);
});
