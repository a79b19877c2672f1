import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Runs a program in a directory. @throws Error with its output unless it exits with 0 */
export type Run = (program: string, args: readonly string[], directory: string) => Promise<void>;

/** How a fresh project is made, built and started. */
export type ProjectRecipe = {
  /** Makes the project in an empty directory. `run` finds the generators by their names. */
  make(directory: string, run: Run): Promise<void>;
  /** Why this machine cannot run it, or null. */
  missing?(): string | null;
  /** A name for what `make` makes, where several projects are made the same; by default the id. */
  madeAs?: string;
  /** The directory of the app, relative to that of the project. */
  app?: string;
  /** The command that installs the packages; `npm install` by default. */
  install?: readonly string[];
  /** The project's own build, run in the directory of the app. */
  build?: readonly string[];
  /** The command that starts the built app. `{port}` is replaced by the port, which is also in PORT. */
  start: readonly string[];
  /** The files with a fixed port, 3000, in the code; a free one is put in its place. */
  fixedPort?: readonly string[];
  /** It needs a newer Node.js than this repository. */
  newestNode?: true;
  /** The directory of its language's programs, where PATH may lack it. */
  programs?: string;
  /** Variables for its programs. */
  env?: Readonly<Record<string, string>>;
  /** A visitor signs in with a browser as well: for one project of each framework. */
  browser?: true;
};

/** Returns a `make` that writes these files. */
export const files = (contents: Record<string, string>) => async (directory: string) => {
  for (const [path, text] of Object.entries(contents)) {
    await mkdir(join(directory, dirname(path)), { recursive: true });
    await writeFile(join(directory, path), text);
  }
};
