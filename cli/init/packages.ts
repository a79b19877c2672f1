import { existsSync } from 'node:fs';
import type { Framework } from '../../templates/framework.ts';
import { readText } from './manifest.ts';
import { bundlerIn, type CommandLine, composerIn, findPackageManager, findPythonManager, type PackageManager } from './package-manager.ts';
import type { Project } from './project.ts';

/** The packages of an integration in one project. */
export type Packages = {
  manager: PackageManager | null;
  /** Those that the project lacks. */
  missing: string[];
  /** The commands that add them; empty when none are missing. */
  add: CommandLine[];
  /** The command that installs the packages of the project itself, when they are not installed and its check needs them; else null. */
  prepare: CommandLine | null;
};

/** Returns which packages an integration needs in a project, and how they are added. */
export async function findPackages(
  { root, manifest }: Project,
  { language, packages = [], devPackages = [] }: Framework,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Packages> {
  const isNode = language === 'JavaScript' || language === 'TypeScript';
  const manager = isNode ? (manifest ? await findPackageManager(root) : null) : otherManager(root, language, env);
  const lists = ['requirements.txt', 'pyproject.toml', 'Pipfile', 'composer.json', 'Gemfile'].map((file) => readText(root, file) ?? '');
  const isListed = (name: string) => (isNode ? manifest?.packages.has(withoutVersion(name)) : lists.some((text) => names(text, name)));
  const lacking = (list: readonly string[]) => list.filter((name) => !isListed(name));
  const [needed, development] = [lacking(packages), lacking(devPackages)];
  const add = [
    ...(needed.length > 0 && manager ? [manager.add(needed, false)] : []),
    ...(development.length > 0 && manager ? [manager.add(development, true)] : []),
  ];
  const isInstalled = !manager || manager.directories.some((path) => existsSync(path));
  return {
    manager,
    missing: [...needed, ...development],
    add,
    prepare: isNode && !isInstalled && manifest && manifest.packages.size > 0 ? (manager?.install ?? null) : null,
  };
}

function otherManager(
  root: string,
  language: Framework['language'],
  env: Readonly<Record<string, string | undefined>>,
): PackageManager | null {
  if (language === 'Python') return findPythonManager(root, env);
  if (language === 'PHP') return composerIn(root);
  return language === 'Ruby' ? bundlerIn(root) : null;
}

/** Returns `@fastify/cookie` for `@fastify/cookie@^11`. */
const withoutVersion = (name: string) => name.split(/(?<!^)@/, 1)[0];

/** Whether a list of dependencies names a package, with or without a version behind it. */
function names(text: string, name: string): boolean {
  const words = text.toLowerCase().split(/["'\s]+/);
  return words.some((word) => word.startsWith(name.toLowerCase()) && !/^[\w.-]/.test(word.slice(name.length)));
}
