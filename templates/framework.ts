/** A framework with an integration: its files, install commands and next steps, and how a project of it is detected. */
export type Framework = {
  /** Also the name of the folder with its files. */
  id: string;
  name: string;
  language: 'JavaScript' | 'TypeScript' | 'Python' | 'Go' | 'PHP' | 'Ruby';
  files: readonly TemplateFile[];
  /** Install commands to run first, in the directory of the project. */
  commands: readonly string[];
  /** The steps that remain after the files are written; code is in backticks, placeholders are filled in. */
  next: readonly string[];
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
   * that dependency, and any other file must contain that text.
   */
  detectedBy: readonly { file: string; contains?: string }[];
  /** The highest rank wins when several are detected: 3 a full-stack framework, 2 a library (the default), 1 a language, 0 plain files. */
  rank?: 0 | 1 | 2 | 3;
  /** Alternative directory layouts of such projects. */
  layouts?: readonly Layout[];
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
