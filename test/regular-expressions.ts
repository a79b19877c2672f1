import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { checkSync } from 'recheck';
import ts from 'typescript';

const { version }: { version: string } = createRequire(import.meta.url)('recheck/package.json');

/** A regular expression in the sources. `pattern` is null for a `new RegExp` whose argument is not a literal. */
export type Expression = { file: string; line: number; text: string; pattern: { source: string; flags: string } | null };

/**
 * Without limits of time, so that a slow machine does not change the result: the checker counts characters instead, and
 * takes an attack that was stopped by its time limit for a successful one.
 */
const DETERMINISTIC = { timeout: null, attackTimeout: null, incubationTimeout: null, randomSeed: 0 };

/** Higher bounds of repetitions are lowered to this for the proof; they do not change how the time grows. */
const MAX_BOUND = 5;

/** Returns every regular expression of a TypeScript or JavaScript file. */
export async function expressionsIn(file: string): Promise<Expression[]> {
  const text = await readFile(file, 'utf8');
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const found: Expression[] = [];
  const visit = (node: ts.Node) => {
    const pattern = patternOf(node);
    if (pattern !== undefined) {
      found.push({ file, line: source.getLineAndCharacterOfPosition(node.getStart()).line + 1, text: node.getText(), pattern });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function patternOf(node: ts.Node): Expression['pattern'] | undefined {
  if (ts.isRegularExpressionLiteral(node)) {
    const end = node.text.lastIndexOf('/');
    return { source: node.text.slice(1, end), flags: node.text.slice(end + 1) };
  }
  if (!(ts.isNewExpression(node) || ts.isCallExpression(node)) || node.expression.getText() !== 'RegExp') return undefined;
  const [source, flags] = node.arguments ?? [];
  if (!source || !ts.isStringLiteralLike(source) || (flags && !ts.isStringLiteralLike(flags))) return null;
  return { source: source.text, flags: flags?.text ?? '' };
}

/** A cache of proven expressions below node_modules: the proofs take about 15 s of CPU time. */
export type Proofs = { holds(key: string): boolean; add(key: string): void; save(): Promise<void> };

export async function readProofs(): Promise<Proofs> {
  const folder = join(import.meta.dirname, '../node_modules/.cache/emailauth');
  const file = join(folder, 'linear-expressions.json');
  const known = new Set<string>(await readFile(file, 'utf8').then(JSON.parse, () => []));
  return {
    holds: (key) => known.has(key),
    add: (key) => void known.add(key),
    save: async () => {
      await mkdir(folder, { recursive: true });
      await writeFile(file, JSON.stringify([...known]));
    },
  };
}

/**
 * Returns null when a match takes linear time for every input, or else a text that makes it slow, or that this could not
 * be decided.
 */
export function slownessOf({ source, flags }: { source: string; flags: string }, proofs?: Proofs): string | null {
  // Without an unbounded repetition the time is bounded.
  if (!/[*+]|,\}/.test(source)) return null;
  const lowered = source.replace(/\{(\d+)(,?)(\d*)\}/g, (_, from: string, comma: string, to: string) => {
    return `{${Math.min(Number(from), MAX_BOUND)}${comma}${to && Math.min(Number(to), MAX_BOUND)}}`;
  });
  const key = `recheck ${version} /${lowered}/${flags}`;
  if (proofs?.holds(key)) return null;
  const result = checkSync(lowered, flags, DETERMINISTIC);
  if (result.status === 'vulnerable') return `${result.complexity.summary}, with ${result.attack.pattern}`;
  if (result.status === 'unknown') return `unknown: ${result.error.kind}`;
  proofs?.add(key);
  return null;
}
