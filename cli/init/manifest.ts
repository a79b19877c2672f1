import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** What a package.json says, as far as an integration depends on it. */
export type Manifest = {
  type: 'module' | 'commonjs' | undefined;
  main: string | undefined;
  scripts: Readonly<Record<string, string>>;
  /** The names of all packages it lists, those for development included. */
  packages: ReadonlySet<string>;
  /** The patterns of its workspaces, as npm, yarn and bun have them; empty when it has none. */
  workspaces: readonly string[];
};

/** Files above this size are neither manifests nor source files that someone wrote. */
const MAX_FILE_BYTES = 1024 * 1024;
const SECTIONS = ['dependencies', 'devDependencies', 'peerDependencies', 'optionalDependencies'];

/** Returns the text of a regular file, or null when it is missing, not readable or larger than 1 MB. */
export function readText(root: string, path: string): string | null {
  try {
    const stats = statSync(join(root, path));
    return stats.isFile() && stats.size <= MAX_FILE_BYTES ? readFileSync(join(root, path), 'utf8') : null;
  } catch {
    return null;
  }
}

/** Returns the package.json of a directory, or null when there is none or it is not valid JSON. */
export function readManifest(directory: string): Manifest | null {
  const text = readText(directory, 'package.json');
  if (text === null) return null;
  try {
    const manifest: unknown = JSON.parse(text.replace(/^\uFEFF/, ''));
    return isRecord(manifest) ? toManifest(manifest) : null;
  } catch {
    return null;
  }
}

function toManifest(manifest: Record<string, unknown>): Manifest {
  const { type, main, scripts, workspaces } = manifest;
  const patterns = isRecord(workspaces) ? workspaces.packages : workspaces;
  return {
    type: type === 'module' || type === 'commonjs' ? type : undefined,
    main: typeof main === 'string' ? main : undefined,
    scripts: isRecord(scripts)
      ? Object.fromEntries(Object.entries(scripts).filter((entry): entry is [string, string] => isText(entry[1])))
      : {},
    packages: new Set(SECTIONS.flatMap((section) => (isRecord(manifest[section]) ? Object.keys(manifest[section]) : []))),
    workspaces: Array.isArray(patterns) ? patterns.filter(isText) : [],
  };
}

const isText = (value: unknown): value is string => typeof value === 'string';
const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);
