import { spawnSync } from 'node:child_process';

/** How a site is made of nothing but a template and what its framework's own starter puts around it. */
export type Recipe = {
  /** The framework's, in templates/catalog.ts. */
  id: string;
  /** What it needs of Debian, which `npm run test:templates` installs as root. */
  debianPackages?: readonly string[];
  /** Its Debian packages are in the backports of a Debian that has older ones itself. */
  backports?: true;
  /** Whether this machine has the language; npm packages are fetched when they are missing. */
  available(): boolean;
  /** Files beside the template's, by their paths. */
  around: Record<string, string>;
  /** It needs the packages of `test/templates/packages/<id>`; without it, those of this repository do. */
  packages?: true;
  /** Run once in the site's directory, before it is started for the first time. */
  build?: string[];
  /** Starts the site. In it and in `env`, `{port}` stands for the port to listen on, which PORT holds as well. */
  command: string[];
  env?: Record<string, string>;
};

/** Whether a program is there and ends well with these arguments. */
export const runs = (program: string, ...args: string[]) => spawnSync(program, args, { stdio: 'ignore' }).status === 0;
