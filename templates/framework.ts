/** A framework with an integration: its files, install commands and next steps, and how a project of it is detected. */
export type Framework = {
  /** Also the name of the folder with its files. */
  id: string;
  name: string;
  language: 'JavaScript' | 'TypeScript' | 'Python' | 'Go' | 'PHP' | 'Ruby';
  files: readonly TemplateFile[];
  /** Packages of npm, PyPI, Packagist or RubyGems that the files import and a fresh project lacks. */
  packages?: readonly string[];
  /** The same for packages that only development needs, such as types. */
  devPackages?: readonly string[];
  /** Commands to run after the packages are installed, in the directory of the project. */
  commands: readonly string[];
  /** The steps that remain after the files are written; code is in backticks, placeholders are filled in. */
  next: readonly string[];
  /** Changes of existing files that connect the integration to the app. Where one is not possible, its `instead` is a next step. */
  wiring?: readonly Wiring[];
  /** The kind of project that the files are for, for people; absent without variants. */
  standard?: string;
  /** What differs in projects of another kind; the first variant that fits applies. */
  variants?: readonly Variant[];
  /** How a project of it is made in an empty directory. */
  newProject?: NewProject;
  /** Commands that start a new project; absent in an integration for an existing one, whose author knows them. */
  start?: readonly string[];
  /** The framework has its own sessions and needs no SESSION_SECRET. */
  ownSessions?: true;
  /** The integration does not read `.env`: its files contain the settings. */
  ownSettings?: true;
  /** How to load `.env`, as a sentence. Absent when the framework reads the file itself. */
  loadEnv?: string;
  /** The port of its development server. */
  port: number;
  /**
   * A project uses this framework when one of these files exists. With `contains`, a file that lists dependencies must also name
   * that dependency, and any other file must contain that text. In a path, `*` stands for a directory of any name.
   */
  detectedBy: readonly { file: string; contains?: string }[];
  /** The highest rank wins when several are detected: 3 a full-stack framework, 2 a library (the default), 1 a language, 0 plain files. */
  rank?: 0 | 1 | 2 | 3;
  /** Alternative directory layouts of such projects. */
  layouts?: readonly Layout[];
};

/** What a project is like, as far as the files of an integration depend on it. */
export type ProjectKind = {
  /** Whether the code is TypeScript. */
  typescript: boolean;
  /** How Node.js loads a `.js` file of the project. */
  module: 'esm' | 'commonjs';
  /** The router of a Next.js project; null in any other one. */
  router: 'app' | 'pages' | null;
};

/** An integration for projects of another kind. Fields that are absent are those of the framework. */
export type Variant = Partial<
  Pick<Framework, 'language' | 'files' | 'packages' | 'devPackages' | 'commands' | 'wiring' | 'next' | 'loadEnv' | 'layouts'>
> & {
  /** Unique within the framework, such as `commonjs`. */
  id: string;
  /** For people, such as "CommonJS". */
  name: string;
  /** Applies to a project with all of these properties. */
  fits: Partial<ProjectKind>;
};

/** A project that is made in an empty directory. */
export type NewProject = {
  /** Commands that make it and install its packages, before its files are written. */
  commands: readonly string[];
  /** All files: the integration, and the entry file that fits it. */
  files: readonly TemplateFile[];
  start: readonly string[];
};

/** Lines for an existing file. */
export type Insertion = {
  /** The line after which `insert` is placed. Its group `app`, if any, is the name that replaces `$APP` in `insert`. */
  after: RegExp;
  /** Whether `insert` replaces the text that `after` matches. */
  replaces?: true;
  /** The lines to insert; empty when only `import` is added. */
  insert: string;
  /** The line to add below the last import of the file, or at its start. */
  import?: string;
};

/** An insertion into an existing file, such as the entry file of an app. */
export type Wiring = Insertion & {
  /** The candidates; the first that exists and matches `after` is changed. `$ENTRY` stands for the entry files that the manifest names. */
  files: readonly string[];
  /** The file is connected already when it contains this text. */
  unless: string;
  /** Used in the first candidate that matches its `after`, when none matches the one above. */
  otherwise?: Insertion;
  /** The step for people when no candidate can be changed, as a sentence with code in backticks. */
  instead: string;
};

export type Layout = {
  /** What is different, as a sentence for readers whose project is unknown; code is in backticks. */
  hint: string;
  /** A project has this layout when one of these paths exists in it and none of `without` does. */
  exists: readonly string[];
  without: readonly string[];
  /** Paths that start with `from` start with `to` instead. */
  from: string;
  to: string;
};

export type TemplateFile = {
  /** The file name in the framework's folder. */
  source: string;
  /** The path in a project; placeholders are filled in. */
  path: string;
  role: string;
  /** An example only: a file at that path in the project is kept. */
  example?: true;
};

export type EnvironmentVariable = { name: string; value: string; purpose: string };

/** Returns the first variant that fits a kind of project; undefined when the framework's own fields apply. */
export const variantFor = ({ variants }: Framework, kind: ProjectKind): Variant | undefined =>
  variants?.find(({ fits }) => Object.entries(fits).every(([property, value]) => kind[property as keyof ProjectKind] === value));

/** Returns the framework with the integration of one of its variants, or as it is. */
export const withVariant = (framework: Framework, variant: Variant | undefined): Framework => ({
  ...framework,
  ...variant,
  id: framework.id,
  name: framework.name,
});

/** Returns the framework with the integration of a new project, or as it is when it has none. */
export const forNewProject = ({ newProject, ...framework }: Framework): Framework =>
  newProject ? { ...framework, ...newProject, packages: [], devPackages: [], wiring: [], layouts: [] } : framework;

/** Returns the framework with the integration for a kind of project. */
export const forProject = (framework: Framework, kind: ProjectKind): Framework => withVariant(framework, variantFor(framework, kind));
