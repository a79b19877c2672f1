import { spawnSync } from 'node:child_process';

/** How to create a site from a template and the files of its framework's starter. */
export type Recipe = {
  /** The id of the framework in templates/catalog.ts. */
  id: string;
  /** The variant of the framework; absent for its standard files. */
  variant?: string;
  /** Debian packages that it needs, which `npm run test:templates` installs as root. */
  debianPackages?: readonly string[];
  /** Whether its Debian packages come from the backports. */
  backports?: true;
  /** Whether this machine has the language; npm packages are fetched when they are missing. */
  available(): boolean;
  /** Additional files, by path. */
  around: Record<string, string>;
  /** Whether it needs the packages of `test/integrations/templates/packages/<id>` instead of those of this repository. */
  packages?: true;
  /** Command to run once in the directory of the site before its first start. */
  build?: string[];
  /** Command that starts the site. In it and in `env`, `{port}` is replaced by the port, which is also in PORT. */
  command: string[];
  env?: Record<string, string>;
};

/** Adds the titles of their tests to recipes. */
export const titled = (recipes: readonly Recipe[]) =>
  recipes.map((recipe) => ({ ...recipe, title: recipe.variant ? `${recipe.id}, ${recipe.variant}` : recipe.id }));

/** Whether a program exists and exits with 0 for these arguments. */
export const runs = (program: string, ...args: string[]) => spawnSync(program, args, { stdio: 'ignore' }).status === 0;
