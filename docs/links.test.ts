import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { glob } from 'tinyglobby';
import { expect, test } from 'vitest';

/** A link text that is a path or the name of a file or folder. */
const PATH = /^[\w./-]+(?:\.\w+|\/)$/;

const root = join(import.meta.dirname, '..');
// The pages for users have links to the service.
const paths = await glob(['*.md', 'docs/{,decisions/}*.md', 'server/README.md', '.github/*.md'], { cwd: root });

/** Returns the relative links of a text, without those in code. */
function linksOf(text: string): { label: string; target: string }[] {
  const links = text.replace(/^```[\s\S]*?^```/gm, '').matchAll(/\[([^\]]+)\]\((?!\w+:|#)([^)#\s]+)/g);
  return [...links].map(([, label, target]) => ({ label: label.replaceAll('`', ''), target }));
}

/** Returns what is wrong with a link of a file, or null. */
function problemOf(path: string, { label, target }: { label: string; target: string }): string | null {
  const file = join('/', dirname(path), target);
  if (!existsSync(join(root, file))) return `${target} does not exist`;
  return !PATH.test(label) || join(file, '/').endsWith(join('/', label, '/')) ? null : `${label} is the text of a link to ${target}`;
}

test.each(paths)('the links of %s lead to the files that they name', async (path) => {
  const links = linksOf(await readFile(join(root, path), 'utf8'));
  expect(links.map((link) => problemOf(path, link)).filter(Boolean)).toEqual([]);
});

test.each([
  ['[`read.ts`](read.ts#L1)', null],
  ['[docs/read.ts](read.ts)', null],
  ['[decision 18](decisions/0018-two-packages.md)', null],
  ['[server/mcp/](../server/mcp/)', null],
  ['[docs/](.)', null],
  ['[search.ts](read.ts)', 'search.ts is the text of a link to read.ts'],
  ['[read](none.ts)', 'none.ts does not exist'],
])('checks the link %s', (text, problem) => {
  const [link] = linksOf(text);
  expect(problemOf('docs/page.md', link)).toBe(problem);
});
