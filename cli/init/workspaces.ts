import { existsSync, realpathSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { globSync } from 'tinyglobby';
import { detectFrameworks } from '../../templates/detect.ts';
import type { Framework } from '../../templates/framework.ts';
import { readDetectionFiles } from './detection.ts';
import { readManifest, readText } from './manifest.ts';

/** A project within a monorepo. */
export type Workspace = {
  /** Relative to the monorepo's directory, with `/`. */
  path: string;
  /** The frameworks it may use; one when it is clear. */
  frameworks: readonly Framework[];
};

/** Returns the patterns of the workspaces that a directory declares in package.json or pnpm-workspace.yaml; empty without any. */
export function workspacePatterns(directory: string): string[] {
  return [...(readManifest(directory)?.workspaces ?? []), ...pnpmPackages(readText(directory, 'pnpm-workspace.yaml') ?? '')];
}

/** Returns the workspaces of a monorepo in which a framework was detected, by path. */
export function listWorkspaces(directory: string): Workspace[] {
  const patterns = workspacePatterns(directory);
  const manifests = globSync(patterns.map(manifestPattern), { cwd: directory, ignore: ['**/node_modules/**'], expandDirectories: false });
  return manifests
    .map((manifest) => dirname(manifest.split(sep).join('/')))
    .filter((path) => path !== '.')
    .sort()
    .map((path) => ({ path, frameworks: detectFrameworks(readDetectionFiles(join(directory, path))) }))
    .filter(({ frameworks }) => frameworks.length > 0);
}

/** Returns the directory of the monorepo whose workspaces include this project; the project's own directory without one. */
export function monorepoOf(root: string): string {
  for (let directory = dirname(root); directory !== dirname(directory); directory = dirname(directory)) {
    const patterns = workspacePatterns(directory);
    if (patterns.length > 0 && includes(directory, patterns, root)) return directory;
    // A repository does not belong to the workspaces of the directory around it.
    if (existsSync(join(directory, '.git'))) break;
  }
  return root;
}

function includes(directory: string, patterns: readonly string[], root: string): boolean {
  const wanted = relative(directory, root).split(sep).join('/');
  const found = globSync(patterns.map(manifestPattern), { cwd: directory, ignore: ['**/node_modules/**'], expandDirectories: false });
  return found.some((manifest) => dirname(manifest) === wanted || realpathSync(join(directory, dirname(manifest))) === root);
}

/** Returns the pattern of the manifests of a pattern of directories; a leading `!` excludes them. */
const manifestPattern = (pattern: string) => `${pattern.replace(/^(!?)(?:\.\/)?/, '$1').replace(/(?<!\/)\/+$/, '')}/package.json`;

/** Returns the list `packages` of a pnpm-workspace.yaml, in either notation of YAML. */
function pnpmPackages(yaml: string): string[] {
  const lines = yaml.split(/\r?\n/);
  const start = lines.findIndex((line) => line.startsWith('packages:'));
  if (start < 0) return [];
  const [value, ...below] = [lines[start].slice('packages:'.length), ...lines.slice(start + 1)].map((line) => line.trim());
  const inline = /^\[([^\]]*)\]/.exec([value, ...below].join('\n'))?.[1];
  if (inline !== undefined) return inline.split(',').map(scalarIn).filter(Boolean);
  if (value !== '' && !value.startsWith('#')) return [];
  const end = below.findIndex((line) => line !== '' && !/^[-#]/.test(line));
  const items = below.slice(0, end < 0 ? below.length : end).filter((line) => line.startsWith('-'));
  return items.map((line) => scalarIn(line.slice(1))).filter(Boolean);
}

/** Returns the text of a YAML item without quotes and comment. */
function scalarIn(item: string): string {
  const parts = /^(?:"([^"]*)"|'([^']*)'|([^#]*))/.exec(item.trim())?.slice(1) ?? [];
  return parts.find(Boolean)?.trim() ?? '';
}
