import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openBucket, type TestBucket } from '../bucket.ts';
import { openStage, type Stage } from '../harness.ts';
import { png } from '../images.ts';
import { freshDomain, signInDeveloper } from '../sign-ins.ts';
import { manifestOf, unpack } from './archives.ts';
import { type Home, openHome } from './command.ts';

let stage: Stage;
let bucket: TestBucket;
let home: Home;
beforeAll(async () => {
  stage = await openStage();
  bucket = await openBucket();
  home = await openHome('http://localhost:1');
  Object.assign(home.env, { DATA_DIR: stage.dataDir, DATABASE_URL: stage.databaseUrl });
});
afterAll(async () => {
  await stage.close();
  await bucket.close();
  await home.close();
});

test('restores icons from the disk into a bucket; a failing bucket changes nothing, and icons of a bucket stay in it', async () => {
  const first = await stage.start();
  const { client } = await signInDeveloper(stage, first);
  const { uploadURL } = (await client.post('/api/objects/upload')).json;
  const sending = { method: 'PUT', body: await png(), headers: { 'Content-Type': 'image/png' } };
  const { iconUrl } = (await client.send(uploadURL, sending)).json;
  await client.post('/api/websites', { domain: freshDomain(), iconUrl });
  const picture = (await client.get(iconUrl)).text;
  const [onDisk, inBucket] = [join(home.directory, 'disk.tar.gz'), join(home.directory, 'bucket.tar.gz')];
  expect((await home.run(['backup', onDisk, '--json'])).json().icons).toBe(1);
  await first.stop();

  const users = () => stage.query('select id from users');
  await stage.query("insert into users (id, email) values (gen_random_uuid(), 'later@mail.example')");
  bucket.mode = 'failing';
  const failed = await home.run(['restore', onDisk, '--yes'], { env: bucket.settings });
  expect([failed.exitCode, failed.stderr]).toEqual([
    1,
    expect.stringContaining('the bucket of the icons does not respond or refuses.\nCheck the S3_ settings.'),
  ]);
  expect(await users()).toHaveLength(2);

  bucket.mode = 'serving';
  expect((await home.run(['restore', onDisk, '--yes'], { env: bucket.settings })).exitCode).toBe(0);
  expect(await users()).toHaveLength(1);
  const second = await stage.start(bucket.settings);
  expect((await second.client().get(iconUrl)).text).toBe(picture);

  const kept = await home.run(['backup', inBucket], { env: bucket.settings });
  expect([kept.exitCode, kept.stderr]).toEqual([0, expect.stringContaining('The icons are in the bucket and not in the file.')]);
  expect(manifestOf(await unpack(inBucket)).icons).toEqual({ place: 'bucket', missing: 0, files: [] });
  await second.stop();
  const restored = await home.run(['restore', inBucket, '--yes']);
  expect([restored.exitCode, restored.stderr]).toEqual([0, expect.stringContaining('The icons are in a bucket: set the S3_ settings')]);
  const third = await stage.start(bucket.settings);
  expect((await third.client().get(iconUrl)).text).toBe(picture);
});
