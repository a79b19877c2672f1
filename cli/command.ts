import type { Client } from '../contract/client.ts';
import { CommandError, EXIT } from './exit.ts';
import { type Caller, type Credentials, openCredentials, openSettings, type Settings } from './settings.ts';
import { openTerminal, type Streams, type Terminal, type TerminalFlags } from './terminal.ts';

/** Every flag that a command takes besides the global ones, by commander's name for it. */
export type Flags = Partial<{
  active: boolean;
  backups: string;
  all: boolean;
  allowDirty: boolean;
  auth: string;
  backchannelLogoutUri: string | false;
  pkce: boolean;
  browser: boolean;
  callback: string;
  code: string;
  command: string;
  days: string;
  deployment: boolean;
  domain: string;
  dryRun: boolean;
  endPasskeys: string[] | true;
  email: string;
  deleteWebsites: string;
  force: boolean;
  framework: string;
  fromName: string | false;
  grace: string;
  host: string;
  http: boolean;
  icon: string | false;
  install: boolean;
  jwks: string;
  jwksUri: string;
  keepKeys: string[] | true;
  language: string;
  limit: string;
  list: boolean;
  login: string;
  loginPath: string;
  logoUrl: string | false;
  logoutUri: string[] | false;
  name: string;
  organization: string;
  page: string;
  plain: boolean;
  port: string;
  readOnly: boolean;
  redirectUri: string[];
  role: string;
  revokeApiKeys: boolean;
  revoke: boolean;
  scope: string;
  scopes: string[];
  since: string;
  start: boolean;
  test: boolean;
  transferTo: string;
  url: string;
  verify: boolean;
}>;

/** One command: what `--help`, shell completion and docs/cli.md show about it, and what it runs. */
export type CommandSpec = {
  /** As it is typed: `sites add <domain>`; arguments in <> are required, those in [] are optional. */
  usage: string;
  /** What it needs: it exits with 8 without the service, and with 4 without a sign-in. */
  needs?: 'service' | 'sign-in';
  group: (typeof GROUPS)[number];
  summary: string;
  /** More text, below the summary. */
  about?: string;
  /** `--flag <value>` and its meaning; a value in [brackets] is optional. */
  flags?: Readonly<Record<string, string>>;
  /** Without the program's name. */
  examples: readonly string[];
  /** The shape of the result with `--json`; unset: the command returns no data. */
  json?: string;
  /** Exit codes beyond those that every command has. */
  exits?: Readonly<Record<number, string>>;
  /** Values of an argument or a flag, by its name (`shell`, `--icon`): the only ones that are accepted, or what a shell completes. */
  choices?: Readonly<Record<string, readonly string[] | 'sites' | 'frameworks' | 'files'>>;
  /** A program reads its stdout, so errors are never written there, not even with --json. */
  ownsStdout?: true;
  /** It handles errors of its stdout itself; otherwise the first one ends the process. */
  outlivesStdout?: true;
  /** It handles SIGINT itself. */
  ownsSignals?: true;
  /** After an interruption it has to clean up, for however long that takes. */
  waitsForCleanUp?: true;
  /** Runs the command; heavy modules are loaded here by import(). @returns the exit code. @throws CommandError, or any error that command-line.ts reports */
  run(context: Context, args: (string | undefined)[], flags: Flags): Promise<number>;
};

export const GROUPS = ['Sign-in', 'Websites', 'Account', 'Integration', 'This program', 'The service'] as const;

/** Splits a usage: `sites add <domain>` has the name `sites add` and takes `<domain>`. */
export function partsOf({ usage }: CommandSpec): { name: string; args: string[] } {
  const words = usage.split(' ');
  return { name: words.filter((word) => /^\w/.test(word)).join(' '), args: words.filter((word) => !/^\w/.test(word)) };
}

/** Where the program runs. */
type Surroundings = {
  env: Record<string, string | undefined>;
  cwd: string;
  /** Aborts on Ctrl-C, SIGTERM and SIGHUP. */
  signal: AbortSignal;
};

/** Everything that a command works with: no command reads argv, the environment or the process directly. */
export type Context = Surroundings & {
  terminal: Terminal;
  settings: Settings;
  credentials(): Promise<Credentials>;
  /** Returns the origin of the service in use. */
  host(): Promise<string>;
  /** Returns the API without credentials. */
  anonymous(): Promise<Client>;
  /** Returns the API with the credentials in use. @throws CommandError sign_in_needed */
  signedIn(): Promise<{ client: Client; caller: Caller; host: string }>;
};

/** What a run of the program gets from its process, or from a test. */
export type Invocation = Surroundings & Streams;

export type GlobalFlags = TerminalFlags & { host?: string; profile?: string };

/** Creates the context of a command. @param flags the global ones of the command line */
export function createContext(flags: GlobalFlags, { env, cwd, signal, ...streams }: Invocation): Context {
  const terminal = openTerminal(flags, env, signal, streams);
  const settings = openSettings(flags, env);
  const host = async () => (await settings.host()).value;
  const credentials = () => openCredentials(settings.profile, env);
  const open = async (caller: Caller | null) => {
    const { openApi } = await import('./api.ts');
    return openApi({ host: await host(), env, caller, terminal, signal });
  };
  return {
    env,
    cwd,
    terminal,
    settings,
    signal,
    credentials,
    host,
    anonymous: () => open(null),
    async signedIn() {
      const caller = (await credentials()).callerAt(await settings.host());
      if (!caller) throw signInNeeded(await host());
      return { client: await open(caller), caller, host: await host() };
    },
  };
}

/** Returns the error for a command that needs a sign-in. */
function signInNeeded(host: string, message = `You are not signed in at ${host}.`): CommandError {
  return new CommandError(EXIT.signInNeeded, 'sign_in_needed', message, 'Run `emailauth login`, or set EMAILAUTH_TOKEN to an API key.');
}
