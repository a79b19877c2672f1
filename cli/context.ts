import type { Client } from '../contract/client.ts';
import type { Caller, Credentials } from './credentials.ts';
import { CommandError, EXIT } from './exit.ts';
import { openSettings, type Settings } from './settings.ts';
import { openTerminal, type Terminal, type TerminalFlags } from './terminal.ts';

/** Everything that a command works with: no command reads argv, the environment or the process directly. */
export type Context = {
  env: Record<string, string | undefined>;
  cwd: string;
  terminal: Terminal;
  settings: Settings;
  /** Aborts on Ctrl-C, SIGTERM and SIGHUP. */
  signal: AbortSignal;
  credentials(): Promise<Credentials>;
  /** Returns the origin of the service in use. */
  host(): Promise<string>;
  /** Returns the API without credentials. */
  anonymous(): Promise<Client>;
  /** Returns the API with the credentials in use. @throws CommandError sign_in_needed */
  signedIn(): Promise<{ client: Client; caller: Caller; host: string }>;
};

export type GlobalFlags = TerminalFlags & { host?: string; profile?: string };

/** Creates the context of a command. @param flags the global ones of the command line */
export function createContext(flags: GlobalFlags, env: Context['env'], cwd: string, signal: AbortSignal): Context {
  const terminal = openTerminal(flags, env);
  const settings = openSettings(flags, env);
  const host = async () => (await settings.host()).value;
  const credentials = async () => (await import('./credentials.ts')).openCredentials(settings.profile, env);
  const open = async (caller: Caller | null) => {
    const { openApi } = await import('./api.ts');
    return openApi({ host: await host(), caller, terminal, signal });
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
      const caller = (await credentials()).callerAt(await host());
      if (!caller) throw signInNeeded(await host());
      return { client: await open(caller), caller, host: await host() };
    },
  };
}

/** Returns the error for a command that needs a sign-in. */
export function signInNeeded(host: string, message = `You are not signed in at ${host}.`): CommandError {
  return new CommandError(EXIT.signInNeeded, 'sign_in_needed', message, 'Run `emailauth login`, or set EMAILAUTH_TOKEN to an API key.');
}
