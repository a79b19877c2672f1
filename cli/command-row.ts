import type { Context } from './context.ts';

/** Every flag of a command's own that some command takes, by commander's name for it. */
export type Given = Partial<{
  all: boolean;
  browser: boolean;
  callback: string;
  days: string;
  domain: string;
  dryRun: boolean;
  email: string;
  force: boolean;
  framework: string;
  host: string;
  http: boolean;
  icon: string | false;
  language: string;
  list: boolean;
  name: string;
  plain: boolean;
  port: string;
  readOnly: boolean;
  revokeApiKeys: boolean;
  scope: string;
  url: string;
}>;

/** One command: what `--help`, the shells' completion and docs/cli.md say of it, and what runs. */
export type CommandRow = {
  /** As it is typed: `sites add <domain>`; arguments in <> are needed, those in [] may be left out. */
  usage: string;
  /** It asks the service, and ends with 8 without it; with 4 where nobody is signed in. */
  needs?: 'service' | 'sign-in';
  group: (typeof GROUPS)[number];
  summary: string;
  /** More, below the summary. */
  about?: string;
  /** `--flag <value>` and what it means; a value in [brackets] may be left out. */
  flags?: Readonly<Record<string, string>>;
  /** Without the program's name. */
  examples: readonly string[];
  /** The shape of the answer to `--json`; none: the command answers no data. */
  json?: string;
  /** Exit codes beyond those that every command has. */
  exits?: Readonly<Record<number, string>>;
  /** Values of an argument or a flag, by its name (`shell`, `--icon`): the only ones that there are, or what a shell offers. */
  choices?: Readonly<Record<string, readonly string[] | 'sites' | 'frameworks' | 'files'>>;
  /** A program reads its stdout: errors do not go there, with --json either. */
  ownsStdout?: true;
  /** It stops by SIGINT in its own way. */
  ownsSignals?: true;
  /** Once context.signal tells it to stop it has things to put back, and is waited for. */
  endsItself?: true;
  /** @throws CommandError, or any error that main.ts turns into words */
  run(context: Context, args: (string | undefined)[], given: Given): Promise<number>;
};

export const GROUPS = ['Sign-in', 'Websites', 'Integration', 'Figures', 'This program', 'The service'] as const;

/** The words of a usage: `sites add <domain>` is named `sites add` and takes `<domain>`. */
export function partsOf({ usage }: CommandRow): { name: string; args: string[] } {
  const words = usage.split(' ');
  return { name: words.filter((word) => /^\w/.test(word)).join(' '), args: words.filter((word) => !/^\w/.test(word)) };
}
