import { globSync } from 'tinyglobby';
import { detectionFiles } from '../../templates/detect.ts';
import { readText } from './manifest.ts';

/** Directories with the code of others. */
export const FOREIGN = ['**/node_modules/**', '**/.git/**', '**/venv/**', '**/.venv/**', '**/vendor/**', '**/site-packages/**'];

/** Returns the contents of those `detectionFiles` that a project has, by name; those of all files that match a pattern as one text. */
export function readDetectionFiles(root: string): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const file of detectionFiles) {
    const found = pathsOf(root, file)
      .map((path) => readText(root, path))
      .filter((text) => text !== null);
    if (found.length > 0) texts[file] = found.join('\n');
  }
  return texts;
}

/** Returns the files of a project that match a path, which may have `*` in it, in alphabetical order. */
export function pathsOf(root: string, path: string): string[] {
  if (!path.includes('*')) return [path];
  return globSync(path, { cwd: root, ignore: FOREIGN, expandDirectories: false, dot: true }).sort();
}
