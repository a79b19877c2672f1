import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { expect, onTestFinished, test } from 'vitest';
import { waitUntil } from '../test/support/waiting.ts';
import { startApp } from './local-processes.ts';
import { freePort } from './ports.ts';

/** Listens only once a file exists, and names its address. */
const SLOW_APP = `import { existsSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
writeFileSync('started', '');
const timer = setInterval(() => {
  if (!existsSync('seen')) return;
  clearInterval(timer);
  const { PORT } = process.env;
  createServer((_, response) => response.end('app')).listen(PORT, () => console.log('http://localhost:' + PORT));
}, 20);`;

test('does not take another program for the app, which listens at a usual port before the app does', { timeout: 60_000 }, async () => {
  const root = mkdtempSync(join(tmpdir(), 'emailauth-app-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  writeFileSync(join(root, 'app.mjs'), SLOW_APP);
  const other = createServer((_, response) => {
    writeFileSync(join(root, 'seen'), '');
    response.end('other');
  });
  onTestFinished(() => void other.close());
  const starting = startApp({
    root,
    command: { run: [process.execPath, 'app.mjs'] },
    service: `http://localhost:${await freePort()}`,
    env: process.env,
    signal: new AbortController().signal,
  });
  await waitUntil('the app has started', 30_000, async () => existsSync(join(root, 'started')));
  await listenAtUsualPort(other);

  const app = await starting;
  try {
    expect(await (await fetch(app.url)).text()).toBe('app');
  } finally {
    await app.stop();
  }
});

test('does not start an app at the port of one that another process of `emailauth` starts', { timeout: 60_000 }, async () => {
  const root = mkdtempSync(join(tmpdir(), 'emailauth-app-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const claimed = await freePort();
  writeFileSync(join(root, '.env'), `SITE_URL=http://localhost:${claimed}\n`);
  writeFileSync(join(root, 'app.mjs'), SLOW_APP);
  writeFileSync(join(root, 'seen'), '');
  const claim = `import { claimPort } from './cli/ports.ts'; console.log(claimPort(${claimed})); process.stdin.resume();`;
  const other = execa(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', claim], { reject: false });
  onTestFinished(() => {
    other.kill('SIGKILL');
    for (const { pid } of [process, other]) rmSync(join(tmpdir(), `emailauth-port-${claimed}-${pid}`), { force: true });
  });
  const [written] = await once(other.stdout, 'data');
  expect(String(written)).toBe('true\n');
  const start = () =>
    startApp({
      root,
      command: { run: [process.execPath, 'app.mjs'] },
      service: 'http://localhost:1',
      env: { PATH: process.env.PATH },
      signal: new AbortController().signal,
    });

  const app = await start();
  await app.stop();
  expect(app.url).not.toBe(`http://localhost:${claimed}`);
  other.kill('SIGKILL');
  await other;
  const again = await start();
  await again.stop();
  expect(again.url).toBe(`http://localhost:${claimed}`);
});

test('rejects an app whose build fails, and does not start it', async () => {
  const root = mkdtempSync(join(tmpdir(), 'emailauth-app-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  writeFileSync(join(root, 'app.mjs'), SLOW_APP);
  const starting = startApp({
    root,
    command: { run: [process.execPath, 'app.mjs'], build: [process.execPath, '-e', 'console.error("no such module"); process.exit(1)'] },
    service: 'http://localhost:1',
    env: process.env,
    signal: new AbortController().signal,
  });
  await expect(starting).rejects.toMatchObject({ code: 'app_failed', message: 'The build failed. It wrote:\nno such module' });
  expect(existsSync(join(root, 'started'))).toBe(false);
});

async function listenAtUsualPort(server: ReturnType<typeof createServer>): Promise<void> {
  for (const port of [4567, 8787, 4321, 8000, 5000, 4000, 8080]) {
    const listens = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false));
      server.listen(port, () => resolve(true));
    });
    if (listens) return;
  }
  throw new Error('All usual ports are taken.');
}
