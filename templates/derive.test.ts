import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import ts from 'typescript';
import { expect, test } from 'vitest';

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8');
/** Returns a program as the TypeScript compiler prints it, without types and comments. */
const compiled = (code: string) =>
  ts.transpileModule(code, {
    compilerOptions: { target: ts.ScriptTarget.ESNext, module: ts.ModuleKind.ESNext, jsx: ts.JsxEmit.Preserve, removeComments: true },
    fileName: 'template.tsx',
  }).outputText;

const nextjs = readdirSync(new URL('nextjs', import.meta.url)).filter((name) => /\.tsx?$/.test(name));
test.each([
  ['express/auth.ts', 'express/auth.js'],
  ['express/auth.ts', 'vite/auth.mjs'],
  ['fastify/auth.ts', 'fastify/auth.js'],
  ['hono/auth.ts', 'hono/auth.js'],
  ...nextjs.map((name) => [`nextjs/${name}`, `nextjs/${name.replace('.ts', '.js')}`]),
])('%s without types is %s, with its comments', (source, file) => {
  expect(compiled(read(file))).toBe(compiled(read(source)));
  expect(commentsOf(read(file))).toEqual(commentsOf(read(source).replace(/^declare module .*\n(?: .*\n)*\}\n/m, '')));
});

test.each(['express', 'fastify', 'hono'])('%s/auth.cjs is the module as CommonJS', (framework) => {
  const code = read(`${framework}/auth.cjs`);
  execFileSync(process.execPath, ['--check', new URL(`${framework}/auth.cjs`, import.meta.url).pathname]);
  const names = [...read(`${framework}/auth.ts`).matchAll(/^export (?:async )?(?:const|function) (\w+)/gm)].map(([, name]) => name);
  expect(code.replace(/\s+/g, ' ')).toContain(`module.exports = { ${names.join(', ')} };`);
  expect(code).not.toMatch(/^(?:import|export) /m);
});

test.each(['auth', 'login', 'callback', 'account.server'])('sveltekit/%s.js has the types of the TypeScript in comments', (name) => {
  const code = read(`sveltekit/${name}.js`).replace(/\/\*\* @type \{const\} \*\/ \((.*)\);/g, '$1;');
  expect(compiled(code)).toBe(compiled(read(`sveltekit/${name}.ts`).replace("/auth'", "/auth.js'")));
});

const commentsOf = (code: string) => [...code.matchAll(/^ *(?:\/\/ |\/\*\* | \* ).+$/gm)].map(([line]) => line.trim());
