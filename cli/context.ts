import type { Client } from '../contract/client.ts';
import type { Caller, Credentials } from './credentials.ts';
import { CommandError, EXIT } from './exit.ts';
import { openSettings, type Settings } from './settings.ts';
import { openTerminal, type Terminal, type TerminalFlags } from './terminal.ts';

/** All that a command may touch: no command reads argv, the environment or the process by itself. */
export type Context = {
  env: Record<string, string | undefined>;
  cwd: string;
  terminal: Terminal;
  settings: Settings;
  /** Ctrl-C, and the end of a command that leaves nothing running. */
  signal: AbortSignal;
  credentials(): Promise<Credentials>;
  /** Origin of the service in use. */
  host(): Promise<string>;
  /** The API without credentials. */
  anonymous(): Promise<Client>;
  /** The API as whoever is signed in. @throws CommandError sign-in needed */
  signedIn(): Promise<{ client: Client; caller: Caller; host: string }>;
};

export type GlobalFlags = TerminalFlags & { host?: string; profile?: string };

/** @param flags the global ones of the command line */
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

/** Nobody is signed in at a host. */
export function signInNeeded(host: string, message = `You are not signed in at ${host}.`): CommandError {
  return new CommandError(EXIT.signInNeeded, 'sign_in_needed', message, 'Run `emailauth login`, or set EMAILAUTH_TOKEN to an API key.');
}
