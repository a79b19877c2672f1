import { once } from 'node:events';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { frameworkOf } from '../../templates/catalog.ts';
import type { Framework } from '../../templates/framework.ts';
import { findPortMove, portOf } from './port.ts';
import { readProject } from './project.ts';

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'emailauth-port-')));
});
afterEach(() => rmSync(root, { recursive: true }));

function put(files: Record<string, string>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
}
const json = (scripts: object, more: object = {}) => JSON.stringify({ type: 'module', scripts, ...more });

async function moveOf(id: string, files: Record<string, string>, service = 'http://localhost:3000') {
  put(files);
  const move = await findPortMove(readProject(root), frameworkOf(id) as Framework, service, {});
  // Another program may use the next port.
  return move && { ...move, remark: move.remark.replaceAll(String(move.to), 'NEXT') };
}

describe('an app with the port of the service', () => {
  test.each<[string, string, Record<string, string>, string[]]>([
    ['a constant', 'express', { 'app.js': 'const port = 3000\napp.listen(port)\n' }, ['app.js']],
    ['another address of this machine', 'go', { 'main.go': 'http.ListenAndServe(":3000", nil)\n' }, ['main.go']],
    [
      'a proxy of Vite',
      'express',
      {
        'package.json': json({ dev: 'vite', start: 'node server.js' }),
        'server.js': 'app.listen(3000)',
        'vite.config.js': "proxy: { '/api': 'http://localhost:3000' }",
      },
      ['server.js', 'vite.config.js'],
    ],
  ])('gets another one in its source: %s', async (_, id, files, changed) => {
    const move = await moveOf(id, files, id === 'go' ? 'http://127.0.0.1:3000' : undefined);
    expect(Object.keys(move?.replaced ?? {})).toEqual(changed);
    for (const path of changed) expect(move?.replaced[path](files[path])).toBe(files[path].replace('3000', String(move?.to)));
    expect(move?.remark).toBe(`\`${changed[0]}\` listens at port NEXT, since the service uses 3000.`);
  });

  test.each<[string, string, Record<string, string>]>([
    ['a default', 'express', { 'app.js': 'app.listen(process.env.PORT || 3000)' }],
    ['no default', 'hono', { 'package.json': json({}), 'index.ts': 'serve({ fetch: app.fetch, port: Number(process.env.PORT) })' }],
    [
      'bin/www of express-generator',
      'express',
      {
        'package.json': json({ start: 'node ./bin/www' }, { type: 'commonjs' }),
        'bin/www': "var app = require('../app');\nvar port = normalizePort(process.env.PORT || '3000');",
        'app.js': '',
      },
    ],
  ])('gets it from PORT in .env: %s', async (_, id, files) => {
    expect(await moveOf(id, files)).toMatchObject({
      byEnvFile: true,
      replaced: {},
      remark: 'PORT in `.env` is NEXT, since the service uses 3000.',
    });
  });

  test.each<[string, string, Record<string, string>, string]>([
    ['Next.js', 'nextjs', { 'package.json': json({ dev: 'next dev', start: 'next start' }) }, 'npm run dev -- --port NEXT'],
    ['a port in the script of Next.js', 'nextjs', { 'package.json': json({ dev: 'next dev -p 3000' }) }, 'npm run dev -- --port NEXT'],
    ['Nuxt with pnpm', 'nuxt', { 'package.json': json({ dev: 'nuxt dev' }), 'pnpm-lock.yaml': '' }, 'pnpm run dev --port NEXT'],
    [
      'fastify-cli',
      'fastify',
      { 'package.json': json({ start: 'fastify start -l info app.js' }), 'app.js': '' },
      'npm start -- --port NEXT',
    ],
    ['a start that sets no port', 'express', { 'package.json': json({ start: 'node web.js' }), 'web.js': '' }, 'PORT=NEXT npm start'],
    [
      'PORT above the imports of CommonJS',
      'express',
      {
        'package.json': json({}, { type: 'commonjs' }),
        'app.js': "const port = process.env.PORT || 3000\nconst express = require('express')",
      },
      'PORT=NEXT node app.js',
    ],
    ['Rails', 'rails', { 'bin/rails': '', 'config.ru': '' }, 'bin/rails server --port NEXT'],
    [
      'Python',
      'fastapi',
      { 'main.py': 'app = FastAPI()\nport = int(os.environ.get("PORT", 3000))' },
      'python3 -m uvicorn main:app --port NEXT',
    ],
  ])('is started at it: %s', async (_, id, files, command) => {
    const remark = `Start the app at port NEXT, since the service uses 3000: \`${command}\`.`;
    expect(await moveOf(id, files)).toMatchObject({ byEnvFile: false, replaced: {}, remark });
  });

  test.each<[string, Record<string, string>, string]>([
    ['a number with two meanings', { 'app.js': 'app.listen(3000)\nsetTimeout(stop, 3000)' }, '`app.js`'],
    ['two files', { 'app.js': 'app.listen(3000)', 'server.js': 'app.listen(3000)' }, '`app.js` or `server.js`'],
    ['the port of a container', { 'app.js': 'app.listen(3000)', Dockerfile: 'EXPOSE 3000\n' }, '`app.js`'],
    ['a variable in a script', { 'package.json': json({ start: 'PORT=3000 node app.js' }), 'app.js': '' }, '`package.json`'],
  ])('is left to the person: %s', async (_, files, place) => {
    const move = await moveOf('express', files);
    expect(move).toMatchObject({
      replaced: {},
      byEnvFile: false,
      remark: `Change port 3000 to NEXT in ${place}, since the service uses 3000.`,
    });
  });

  test('gets a port that is free and that its source does not mention', async () => {
    const server = createServer().listen(0);
    try {
      await once(server, 'listening');
      const from = (server.address() as AddressInfo).port - 1;
      const move = await moveOf('express', { 'app.js': `app.listen(${from})\nmetrics(${from + 2})` }, `http://localhost:${from}`);
      expect(move?.to).toBeGreaterThan(from + 2);
    } finally {
      server.close();
    }
  });

  test('keeps the port that SITE_URL has when a command starts it', async () => {
    const files = { 'package.json': json({ dev: 'next dev' }), '.env': 'SITE_URL=http://localhost:3456\n' };
    expect((await moveOf('nextjs', files))?.to).toBe(3456);
  });
});

test.each<[string, Record<string, string>, string]>([
  ['another port', { 'app.js': 'app.listen(3001)' }, 'http://localhost:3000'],
  ['a service elsewhere', { 'app.js': 'app.listen(3000)' }, 'https://auth.example'],
  ['PORT in .env', { 'app.js': 'app.listen(process.env.PORT ?? 3000)', '.env': 'PORT=3002\n' }, 'http://localhost:3000'],
])('nothing changes with %s', async (_, files, service) => expect(await moveOf('express', files, service)).toBeNull());

test('the port of an app is that of .env where it is read, else its own, else that of the framework', () => {
  const portIn = (files: Record<string, string>) => {
    put(files);
    return portOf(readProject(root), frameworkOf('express') as Framework);
  };
  expect(portIn({ 'app.js': '', '.env': 'PORT=3002\n' })).toBe(3000);
  expect(portIn({ 'app.js': 'app.listen(4000)' })).toBe(4000);
  expect(portIn({ 'app.js': 'app.listen(process.env.PORT || 4000)' })).toBe(3002);
});
