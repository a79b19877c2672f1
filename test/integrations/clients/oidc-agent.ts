import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitUntil } from '../../support/waiting.ts';
import { runs } from '../templates/recipe.ts';
import { type RunningCommand, runCommand } from './running-command.ts';
import type { AppSettings } from './stock-app.ts';

/** A command for people on a machine without a browser: it shows a code, which they enter in a browser elsewhere. */
export const oidcAgent = {
  name: 'oidc-agent',
  debianPackages: ['oidc-agent-cli'] as readonly string[],
  available: () => runs('oidc-agent', '--version'),
};

/** A running oidc-agent with a directory of its own. */
export type Agent = {
  /** Begins a device flow. */
  begin(settings: Pick<AppSettings, 'issuer' | 'clientId' | 'clientSecret' | 'caFile'>): RunningCommand;
  /** Requests a new access token by the refresh token. */
  refresh(): RunningCommand;
  close(): Promise<void>;
};

export async function startOidcAgent(): Promise<Agent> {
  const directory = await mkdtemp(join(tmpdir(), 'emailauth-oidc-agent-'));
  const passwordFile = join(directory, 'password');
  await writeFile(passwordFile, 'only for this test\n');
  const base = { PATH: process.env.PATH, HOME: directory, OIDC_CONFIG_DIR: directory };
  const socket = join(directory, 'socket');
  const agent = runCommand(['oidc-agent', '--console', '--no-autoreauthenticate', `--socket-path=${socket}`], base);
  await waitUntil('oidc-agent listens', 30_000, () => existsSync(socket) || agent.output());
  const env = { ...base, OIDC_SOCK: socket };
  const commands: RunningCommand[] = [];
  const run = (command: string[]) => {
    const running = runCommand(command, env);
    commands.push(running);
    return running;
  };

  return {
    begin({ issuer, clientId, clientSecret, caFile }) {
      const credentials = [`--issuer=${issuer}`, `--client-id=${clientId}`, `--client-secret=${clientSecret}`];
      const client = ['--manual', '--flow=device', ...credentials, '--redirect-uri=http://localhost:4242'];
      const options = ['--scope=openid email offline_access', `--pw-file=${passwordFile}`, `--cert-path=${caFile}`, '--no-url-call'];
      // It buffers its output unless that is a terminal.
      return run(['stdbuf', '-oL', 'oidc-gen', ...client, ...options, 'emailauth']);
    },
    // More seconds than an access token is valid for, so that the one of the sign-in is not enough.
    refresh: () => run(['oidc-token', '--time=999999', 'emailauth']),
    async close() {
      // After a failure a command may still wait.
      await Promise.all([...commands, agent].map((each) => each.stop()));
      await rm(directory, { recursive: true });
    },
  };
}
