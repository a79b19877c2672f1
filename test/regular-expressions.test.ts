// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the texts are source code.
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { type Expression, expressionsIn, type Proofs, readProofs, slownessOf } from './regular-expressions.ts';

const root = join(import.meta.dirname, '..');

const PROJECT = 'Reads source files of the project of the person who runs the command.';

/** Expressions that cannot be proven linear, and why they are accepted. */
const REVIEWED: Record<string, Record<string, string>> = {
  'cli/init/wiring.ts': {
    '/^import\\b(?!\\s*\\()|^(?:const|let|var)\\s(?!.*=>).*\\brequire\\s*\\(|^(?:const|let|var)\\s*\\{[^}=]*$|^require\\s*\\(/': PROJECT,
  },
  'cli/ports.ts': {
    '/\\bport\\b[\\w."\'\\])]{0,40}\\s{0,40}(?:=|:|\\|\\||\\?\\?)[^\\n\\d;]{0,60}\\b(\\d{4,5})\\b|\\bport["\']?, *["\']?(\\d{4,5})\\b|\\blisten\\(\\s*(\\d{4,5})\\b|\\b(?:ListenAndServe|Listen|Run|Start)\\("[^"\\n]{0,60}:(\\d{4,5})"|\\bAddr: *"[^"\\n]{0,60}:(\\d{4,5})"/gi':
      PROJECT,
    '/\\b(?:process\\.env|Bun\\.env|os\\.environ|getenv|ENV)\\b[^\\w\\n;]{0,3}(?:(?:get|fetch)\\(["\'])?PORT\\b|\\bPORT\\b[^\\n;]{0,20}\\} *= *process\\.env\\b/i':
      PROJECT,
  },
  'cli/terminal.ts': {
    "new RegExp(`(${OWN_STYLE})|(?![\\\\n\\\\t])${CONTROL}`, 'gu')": 'Made of two constants without a repetition.',
    "new RegExp(CONTROL, 'gu')": 'One character class.',
  },
  'server/pages/web-app.ts': { '/<script>([\\s\\S]*?)<\\/script>/g': 'Reads the pages that the build made, once, at the start.' },
  'server/mail/mail.ts': {
    'new RegExp(`${OPEN}(\\\\w+)${CLOSE}`)': 'Its constants are two private characters, so that no match can begin twice.',
  },
  'server/mail/templates/layout.tsx': { '/<!--(?!\\[if|<!)[^>]*-->/g': 'Reads the HTML that our own components rendered.' },
  'docs/search.ts': {
    '/<!--[\\s\\S]*?-->/g': 'Reads the documentation of this repository.',
    '/^\\s*(?:[-*>]|\\d+\\.) +/gm': 'Reads the documentation of this repository.',
    '/ *\\| */g': 'Reads the documentation of this repository.',
    '/!?\\[([^\\]]*)\\]\\([^)\\s]*\\)/g': 'Reads the documentation of this repository.',
  },
  'docs/read.ts': {
    '/^ *(`{3,})[^\\n]*\\n[\\s\\S]*?^ *\\1`*$|`[^`\\n]+`|\\[([^\\]]*)\\]\\(([^)\\s]+)\\)/gm': 'Reads the documentation of this repository.',
  },
  'templates/derive.mjs': Object.fromEntries(
    ["/^import (\\w+), (\\{[^}]*\\}) from ('[^']+');/gm", "/^import (\\w+|\\{[^}]*\\}) from ('[^']+');/gm"].map((text) => [
      text,
      'Reads the templates of this repository, at build.',
    ]),
  ),
  'templates/detect.ts': Object.fromEntries(
    [
      "new RegExp(`^[ \\\\t]*${escaped}(?![\\\\w.-])`, 'im')",
      "new RegExp(`[\"']${escaped}(?![\\\\w.-])|^[ \\\\t]*[\"']?${escaped}[\"']?[ \\\\t]*=`, 'im')",
      "new RegExp(`^[ \\\\t]*gem[ \\\\t(]+[\"']${escaped}[\"']`, 'm')",
    ].map((text) => [text, 'The name of a package of ours, escaped, at the beginning of a line or after a quote.']),
  ),
  'templates/catalog-others.ts': Object.fromEntries(
    [
      '/^[ \\t]*(?<app>\\w+)(?:: Flask)? = Flask\\((?:.*[^,\\s]$|(?:.*,)?\\n(?:.*[^)\\n]\\n)*?.*\\)$)/m',
      '/^[ \\t]*(?<app>\\w+)(?:: FastAPI)? = FastAPI\\((?:.*[^,\\s]$|(?:.*,)?\\n(?:.*[^)\\n]\\n)*?.*\\)$)/m',
      '/^\\thttp\\.HandleFunc\\((?:.*\\)$|.*\\{\\n(?:\\t\\t.*\\n|\\n)*\\t\\}\\))/m',
    ].map((text) => [text, PROJECT]),
  ),
};

const sources = execFileSync('git', ['ls-files', 'contract', 'diagnostics', 'server', 'mcp', 'cli', 'web', 'templates', 'docs'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => /\.(?:ts|tsx|js|mjs)$/.test(file) && !/\.test\.tsx?$/.test(file));

const isReviewed = ({ file, text }: Expression) => REVIEWED[file]?.[text] !== undefined;

/** Returns what is wrong with an expression, or null. */
function complaintOf({ file, line, text, pattern }: Expression, proofs?: Proofs): string | null {
  const reason = pattern ? slownessOf(pattern, proofs) : 'not a literal, so that it cannot be checked';
  return reason && `${file}:${line} ${text}: ${reason}`;
}

test('every regular expression takes linear time or is reviewed', async () => {
  const found = (await Promise.all(sources.map((file) => expressionsIn(join(root, file))))).flat();
  const named = found.map((expression) => ({ ...expression, file: relative(root, expression.file) }));
  expect(named.length).toBeGreaterThan(200);
  const unique = new Map(named.filter((expression) => !isReviewed(expression)).map((expression) => [expression.text, expression]));
  const proofs = await readProofs();
  const complaints = [...unique.values()].map((expression) => complaintOf(expression, proofs));
  await proofs.save();
  expect(complaints.filter(Boolean)).toEqual([]);
  // Reviewed expressions that no longer exist must be removed from the list.
  const known = new Set(named.map(({ file, text }) => `${file} ${text}`));
  const stale = Object.entries(REVIEWED).flatMap(([file, texts]) => Object.keys(texts).map((text) => `${file} ${text}`));
  expect(stale.filter((entry) => !known.has(entry))).toEqual([]);
}, 1_200_000);

test.each([
  String.raw`/^[\s"]+|[\s"]+$/g`,
  '/^(a+)+$/',
  String.raw`/(\w+\s?)*x/`,
  String.raw`new RegExp('^[ \\t]+|[ \\t]+$', 'g')`,
  'new RegExp(`${name}+`)',
])('finds and reports %s in a source file', async (planted) => {
  const folder = await mkdtemp(join(tmpdir(), 'emailauth-expressions-'));
  try {
    const file = join(folder, 'planted.ts');
    await writeFile(file, `export const text = (name: string) => name.replace(${planted}, '');\n`);
    const [expression] = await expressionsIn(file);
    expect(complaintOf(expression)).toMatch(/^.+planted\.ts:1 .+(?:polynomial|exponential|cannot be checked)/);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
