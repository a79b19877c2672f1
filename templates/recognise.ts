import { frameworks } from './catalog.ts';
import type { Framework, Layout } from './framework.ts';

/** The files of a project that tell its framework, by their paths from its directory. */
export const tellingFiles: readonly string[] = [...new Set(frameworks.flatMap(({ recognised }) => recognised.map(({ file }) => file)))];

/**
 * The frameworks that a project may be of.
 * @param files the texts of those of `tellingFiles` that exist
 * @returns one when it is clear, several of the same rank when it is not, none when nothing tells
 */
export function recognise(files: Readonly<Record<string, string>>): Framework[] {
  const found = frameworks.filter(({ recognised }) =>
    recognised.some(({ file, contains }) => files[file] !== undefined && (!contains || names(file, files[file], contains))),
  );
  const highest = Math.max(...found.map(rankOf));
  return found.filter((framework) => rankOf(framework) === highest);
}

/** How a project of a framework is laid out; null: as usual. @param exists whether the project has a file or directory */
export function layoutOf({ layouts = [] }: Framework, exists: (path: string) => boolean): Layout | null {
  return layouts.find((layout) => layout.exists.some(exists) && !layout.without.some(exists)) ?? null;
}

const rankOf = ({ rank = 2 }: Framework) => rank;

/** Whether a list of dependencies names this one; any other file: whether it has the text. */
function names(file: string, text: string, name: string): boolean {
  const exact = name.replace(/[^\w]/g, '\\$&');
  switch (file) {
    case 'package.json':
      return inJson(text, ['dependencies', 'devDependencies', 'peerDependencies', 'optionalDependencies'], name);
    case 'composer.json':
      return inJson(text, ['require', 'require-dev'], name);
    case 'requirements.txt':
      return new RegExp(`^[ \\t]*${exact}(?![\\w.-])`, 'im').test(text);
    case 'pyproject.toml':
    case 'Pipfile':
      // A requirement in quotes (PEP 621), or a key (Poetry, Pipenv).
      return new RegExp(`["']${exact}(?![\\w.-])|^[ \\t]*["']?${exact}["']?[ \\t]*=`, 'im').test(text);
    case 'Gemfile':
      return new RegExp(`^[ \\t]*gem[ \\t(]+["']${exact}["']`, 'm').test(text);
    default:
      return text.includes(name);
  }
}

function inJson(text: string, sections: string[], name: string): boolean {
  try {
    const manifest = JSON.parse(text.replace(/^\uFEFF/, ''));
    return sections.some((section) => Object.hasOwn(manifest?.[section] ?? {}, name));
  } catch {
    // It is being edited, or no manifest at all.
    return false;
  }
}
