/** A framework that an integration is written for: what its files are called in a project, what they need and how such a project is recognised. */
export type Framework = {
  /** Also the name of the folder. */
  id: string;
  name: string;
  language: 'JavaScript' | 'TypeScript' | 'Python' | 'Go' | 'PHP' | 'Ruby';
  files: readonly TemplateFile[];
  /** What to install before, in the project's directory. */
  commands: readonly string[];
  /** What is left to do once the files are there; code stands in backticks, placeholders are filled in. */
  next: readonly string[];
  /** It has sessions of its own, which need no SESSION_SECRET. */
  ownSessions?: true;
  /** It reads no `.env`: its files hold the values. */
  ownSettings?: true;
  /** How a program gets what stands in `.env`, as a sentence; none: it reads the file by itself. */
  loadEnv?: string;
  /** The port of its development server. */
  port: number;
  /**
   * A project is of this framework when one of these files exists and, where `contains` is given, names a dependency so, if it
   * is a list of dependencies, or has that text in it.
   */
  recognised: readonly { file: string; contains?: string }[];
  /** Which one is meant where several are recognised, the highest: 3 builds whole sites, 2 is a library (unless given), 1 a bare language, 0 mere files. */
  rank?: 0 | 1 | 2 | 3;
  /** Projects of this framework that keep their files elsewhere. */
  layouts?: readonly Layout[];
};

export type Layout = {
  /** What is different there, for those who cannot see the project; code stands in backticks. */
  hint: string;
  /** A project has this layout when one of these exists in it, and none of `without`. */
  exists: readonly string[];
  without: readonly string[];
  /** The paths that begin with `from` begin with `to` instead. */
  from: string;
  to: string;
};

export type TemplateFile = {
  /** Its name in the framework's folder. */
  source: string;
  /** Where it goes in a project; placeholders are filled in. */
  path: string;
  role: string;
  /** It only shows how: a file of that name that a project has stays as it is. */
  example?: true;
};

export type EnvironmentVariable = { name: string; value: string; purpose: string };
