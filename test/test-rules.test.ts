import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { glob } from 'tinyglobby';
import ts from 'typescript';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');

const paths = await glob(['**/*.test.{ts,tsx}', 'test/**/*.ts'], {
  cwd: root,
  ignore: ['**/node_modules/**', 'dist/**', 'test/*.ts', 'test/{support,bench}/**', '**/*.measure.ts', 'test/integrations/clients/apps/**'],
});
const sources = await Promise.all(paths.map(async (path) => ({ path, text: await readFile(join(root, path), 'utf8') })));

/** Calls that wait for a time instead of a condition. */
const WAITS = new Set(['setTimeout', 'sleep', 'waitForTimeout']);

/** Whether a text may have one of them. */
const SUSPECT = /\b(?:setTimeout|sleep|waitForTimeout|retry)\b/;

/** Returns the waits for a time and the repeated tests of a source text, each with its line. Calls of a method such as socket.setTimeout wait for nothing. */
function breachesOf(path: string, text: string): string[] {
  // Parsing all files takes seconds of CPU time.
  if (!SUSPECT.test(text)) return [];
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    const name = ts.isCallExpression(node) ? calledName(node.expression) : undefined;
    if ((name && WAITS.has(name)) || isRetry(node)) {
      found.push(`${path}:${source.getLineAndCharacterOfPosition(node.getStart()).line + 1} ${node.getText().split('\n')[0]}`);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function calledName(called: ts.Expression): string | undefined {
  if (ts.isIdentifier(called)) return called.text;
  return ts.isPropertyAccessExpression(called) && called.name.text === 'waitForTimeout' ? called.name.text : undefined;
}

const isRetry = (node: ts.Node) => ts.isPropertyAssignment(node) && ts.isIdentifier(node.name) && node.name.text === 'retry';

/** Test files with a service of their own: what can use `useService()` does. */
const MAX_STAGES = 60;

test('tests wait for conditions, and none is repeated until it passes', async () => {
  expect(sources.length).toBeGreaterThan(200);
  expect(sources.flatMap(({ path, text }) => breachesOf(path, text))).toEqual([]);
});

test(`at most ${MAX_STAGES} files start a service of their own, each with its reason on its first line`, () => {
  const own = sources.filter(({ path, text }) => path.endsWith('.test.ts') && /\bopen(?:Stage|Scene)\(/.test(text));
  expect(own.filter(({ text }) => !text.startsWith('// A stage of its own: ')).map(({ path }) => path)).toEqual([]);
  expect(own.length).toBeLessThanOrEqual(MAX_STAGES);
});

test.each([
  ['await sleep(20);', true],
  ['await new Promise((resolve) => setTimeout(resolve, 5));', true],
  ['await page.waitForTimeout(400);', true],
  ["test('once', { retry: 2 }, () => {});", true],
  ['socket.setTimeout(20_000, fail);', false],
  ["await page.evaluate('setTimeout(() => history.back())');", false],
  ["await waitUntil('it is ready', 30_000, isReady);", false],
])('%s is refused: %s', (text, isRefused) => {
  expect(breachesOf('a.test.ts', text).length > 0).toBe(isRefused);
});
