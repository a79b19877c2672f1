import { frameworks } from './catalog.ts';
import type { Framework, Layout } from './framework.ts';

/**
 * The files that identify a framework, as paths relative to the directory of a project. In a path, `*` stands for a directory of any
 * name.
 */
export const detectionFiles: readonly string[] = [
  ...new Set(['package.json', ...frameworks.flatMap(({ detectedBy }) => detectedBy.map(({ file }) => file))]),
];

/**
 * Returns the frameworks that a project may use: one when it is clear, several of the same rank when it is ambiguous, none when
 * nothing was detected.
 * @param files the contents of those `detectionFiles` that exist; of several files that match a path, all in one text
 */
export function detectFrameworks(files: Readonly<Record<string, string>>): Framework[] {
  const found = frameworks.filter(
    ({ id, detectedBy }) =>
      detectedBy.some(({ file, contains }) => files[file] !== undefined && (!contains || mentions(file, files[file], contains))) &&
      !(id === 'static' && isBundled(files)),
  );
  const highest = Math.max(...found.map(rankOf));
  return found.filter((framework) => rankOf(framework) === highest);
}

/** Returns the alternative layout of a project, or null for the default one. @param exists whether the project has a file or directory */
export function detectLayout({ layouts = [] }: Framework, exists: (path: string) => boolean): Layout | null {
  return layouts.find((layout) => layout.exists.some(exists) && !layout.without.some(exists)) ?? null;
}

/** The index.html of a bundler is not a page to serve as it is. */
const isBundled = (files: Readonly<Record<string, string>>) =>
  BUNDLERS.some((name) => files['package.json'] !== undefined && mentions('package.json', files['package.json'], name));

const BUNDLERS = ['webpack', 'parcel', 'react-scripts', '@rspack/core', '@rsbuild/core', '@vue/cli-service', '@angular/core'];

const rankOf = ({ rank = 2 }: Framework) => rank;

/** Whether a list of dependencies contains a name, or any other file contains the text. */
function mentions(file: string, text: string, name: string): boolean {
  const escaped = name.replace(/[^\w]/g, '\\$&');
  switch (file) {
    case 'package.json':
      return hasJsonKey(text, ['dependencies', 'devDependencies', 'peerDependencies', 'optionalDependencies'], name);
    case 'composer.json':
      return hasJsonKey(text, ['require', 'require-dev'], name);
    case 'requirements.txt':
      return new RegExp(`^[ \\t]*${escaped}(?![\\w.-])`, 'im').test(text);
    case 'pyproject.toml':
    case 'Pipfile':
      // A quoted requirement (PEP 621) or a key (Poetry, Pipenv).
      return new RegExp(`["']${escaped}(?![\\w.-])|^[ \\t]*["']?${escaped}["']?[ \\t]*=`, 'im').test(text);
    case 'Gemfile':
      return new RegExp(`^[ \\t]*gem[ \\t(]+["']${escaped}["']`, 'm').test(text);
    default:
      return text.includes(name);
  }
}

function hasJsonKey(text: string, sections: string[], name: string): boolean {
  try {
    const manifest = JSON.parse(text.replace(/^\uFEFF/, ''));
    return sections.some((section) => Object.hasOwn(manifest?.[section] ?? {}, name));
  } catch {
    // The file is not valid JSON, for example while it is being edited.
    return false;
  }
}
