// A stage of its own: it restores databases.
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openBucket, type TestBucket } from '../support/bucket.ts';
import { openStage, type Stage } from '../support/harness.ts';
import { png } from '../support/images.ts';
import { freshDomain, signInDeveloper } from '../support/sign-ins.ts';
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

test('a backup has the icons of the disk or of the bucket, and a restore stores them in either; a failing bucket changes nothing', async () => {
  const first = await stage.start();
  const { client } = await signInDeveloper(stage, first);
  const { uploadURL } = (await client.post('/api/objects/upload')).json;
  const sending = { method: 'PUT', body: await png(), headers: { 'Content-Type': 'image/png' } };
  const { iconUrl } = (await client.send(uploadURL, sending)).json;
  await client.post('/api/websites', { domain: freshDomain(), iconUrl });
  const picture = (await client.get(iconUrl)).text;
  const [onDisk, inBucket] = [join(home.directory, 'disk.tar'), join(home.directory, 'bucket.tar')];
  expect((await home.run(['backup', onDisk, '--json'])).json().icons).toBe(1);
  await first.stop();

  const users = () => stage.query('select id from users');
  await stage.query("insert into users (id, email) values (gen_random_uuid(), 'later@mail.example')");
  bucket.mode = 'failing';
  for (const [args, action] of [
    [['restore', onDisk, '--yes'], 'restore'],
    [['backup', inBucket], 'write'],
  ] as const) {
    const failed = await home.run([...args], { env: bucket.settings });
    expect([failed.exitCode, failed.stderr]).toEqual([
      1,
      expect.stringContaining(`Cannot ${action} ${args[1]}: the storage of the icons does not respond or refuses.\nCheck the S3_ settings`),
    ]);
    expect(await users()).toHaveLength(2);
  }

  bucket.mode = 'serving';
  expect((await home.run(['restore', onDisk, '--yes'], { env: bucket.settings })).exitCode).toBe(0);
  expect(await users()).toHaveLength(1);
  const second = await stage.start(bucket.settings);
  expect((await second.client().get(iconUrl)).text).toBe(picture);

  expect((await home.run(['backup', inBucket, '--json'], { env: bucket.settings })).json().icons).toBe(1);
  await second.stop();
  const another = join(home.directory, 'another');
  expect((await home.run(['restore', inBucket, '--yes'], { env: { DATA_DIR: another } })).exitCode).toBe(0);
  expect(await readFile(join(another, 'uploads', basename(iconUrl)), 'utf8')).toBe(picture);
});
