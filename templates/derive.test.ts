import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { transform } from 'sucrase';
import { expect, test } from 'vitest';

const nextjs = ['app-auth.ts', 'app-login.ts', 'app-callback.ts', 'app-account.tsx'];
const nextjsPages = ['pages-auth.ts', 'pages-login.tsx', 'pages-callback.tsx', 'pages-account.tsx', 'pages-logout.tsx'];

/** The source and what is made of it: an ES module, or a CommonJS module. */
const derived: [source: string, file: string, toModule: (code: string) => string][] = [
  ['express/auth.ts', 'express/auth.js', asModule],
  ['express/auth.ts', 'express/auth.cjs', asCommonJs],
  ['express/auth.ts', 'vite/auth.mjs', asModule],
  ['fastify/auth.ts', 'fastify/auth.js', asModule],
  ['fastify/auth.ts', 'fastify/auth.cjs', asCommonJs],
  ['hono/auth.ts', 'hono/auth.js', asModule],
  ['hono/auth.ts', 'hono/auth.cjs', asCommonJs],
  ...[...nextjs, ...nextjsPages].map(
    (name) => [`nextjs/${name}`, `nextjs/${name.replace('.ts', '.js')}`, asModule] as [string, string, typeof asModule],
  ),
];

test.each(derived)('%s without types is %s', async (source, file, toModule) => {
  const typed = await readFile(new URL(source, import.meta.url), 'utf8');
  await expect(format(toModule(withoutTypes(typed)))).toMatchFileSnapshot(file);
});

test.each(['auth', 'login', 'callback', 'account.server'])('sveltekit/%s.js has the types of the TypeScript in comments', async (name) => {
  const [typed, commented] = await Promise.all(
    ['ts', 'js'].map((end) => readFile(new URL(`sveltekit/${name}.${end}`, import.meta.url), 'utf8')),
  );
  expect(format(withoutComments(commented))).toBe(format(withoutTypes(typed).replace("/auth'", "/auth.js'")));
});

/** Returns JavaScript without the types in its comments. */
function withoutComments(code: string): string {
  return code
    .replace(/^\/\*\* @.* \*\/\n/gm, '')
    .replace(/\/\*\* @type \{const\} \*\/ \((.*)\);/g, '$1;')
    .replace(/ @(?:param|returns) \{[^}]*\}(?: \w+)?/g, '');
}

/** Returns JavaScript with the lines of TypeScript, without those that contain only types. */
function withoutTypes(typed: string): string {
  // The declaration of a module goes with its comments, which would stay.
  const code = typed.replace(/^declare module .*\n(?: .*\n)*\}\n\n/m, '');
  const plain = transform(code, { transforms: ['typescript', 'jsx'], jsxRuntime: 'preserve', disableESTransforms: true }).code;
  const lines = code.split('\n');
  return plain
    .split('\n')
    .filter((line, i) => line.trim() !== '' || lines[i]?.trim() === '')
    .join('\n');
}

function asModule(code: string): string {
  return code;
}

function asCommonJs(code: string): string {
  const names = [...code.matchAll(/^export (?:async )?(?:const|function) (\w+)/gm)].map(([, name]) => name);
  const required = code
    .replace(/^import (\w+), (\{[^}]*\}) from ('[^']+');/gm, 'const $1 = require($3);\nconst $2 = $1;')
    .replace(/^import (\w+|\{[^}]*\}) from ('[^']+');/gm, 'const $1 = require($2);')
    .replace(/^export /gm, '');
  return `${required.trimEnd()}\n\nmodule.exports = { ${names.join(', ')} };\n`;
}

const format = (code: string) =>
  execFileSync('node_modules/.bin/biome', ['format', '--stdin-file-path=derived.jsx'], {
    cwd: new URL('..', import.meta.url),
    input: code.replace(/\n{3,}/g, '\n\n'),
    encoding: 'utf8',
  });
