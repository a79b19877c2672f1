import type { CommandSpec } from './command.ts';
import { accessCommands } from './commands/access.ts';
import { accountCommands } from './commands/account.ts';
import { appsCommands } from './commands/apps.ts';
import { dbCommands } from './commands/db.ts';
import { doctor } from './commands/doctor.ts';
import { loginCommands } from './commands/login.ts';
import { mcp } from './commands/mcp.ts';
import { mcpInstallCommands } from './commands/mcp-install.ts';
import { membersCommands } from './commands/members.ts';
import { programCommands } from './commands/program.ts';
import { projectCommands } from './commands/project.ts';
import { register } from './commands/register.ts';
import { serviceCommands } from './commands/service.ts';
import { sitesCommands } from './commands/sites.ts';
import { tail } from './commands/tail.ts';
import { verify } from './commands/verify.ts';

/** What the commands with two words have in common, by their first word. */
export const FAMILIES: Readonly<Record<string, string>> = {
  sites: 'your websites',
  members: 'the teams of your websites',
  invitations: 'invitations to manage websites of others',
  apps: 'your applications (OAuth clients)',
  keys: 'your API keys',
  devices: 'where you are signed in',
  connections: 'applications that you signed in to',
  branding: 'sender and logo of your sign-in emails',
  account: 'your profile and activity',
  mcp: 'the MCP server for AI assistants',
  config: 'the settings',
  db: 'the database',
  admin: 'the admin pages',
};

/** Every command accepts these, before or after its name. */
export const GLOBAL_FLAGS: Readonly<Record<string, string>> = {
  '--json': 'print results and errors as JSON on stdout',
  '--no-input': 'never prompt; report which flag is missing (also with CI set)',
  '-y, --yes': 'confirm without a prompt',
  '-q, --quiet': 'no progress messages on stderr',
  '--verbose': 'every call to the service, and the details of an error',
  '--no-color': 'no colors (NO_COLOR does the same)',
  '--host <url>': 'the service, instead of EMAILAUTH_HOST or the settings',
  '--profile <name>': 'other settings and credentials (EMAILAUTH_PROFILE)',
  '-h, --help': 'print the help of a command; with --json as data',
  '-V, --version': 'print the version',
};

/** Every command, in the order of the help. `--help`, completion and docs/cli.md are derived from this list. */
export const commands: readonly CommandSpec[] = [
  ...loginCommands,
  register,
  ...sitesCommands,
  ...membersCommands,
  ...appsCommands,
  ...accessCommands,
  ...accountCommands,
  verify,
  tail,
  ...projectCommands,
  doctor,
  mcp,
  ...mcpInstallCommands,
  ...programCommands,
  ...serviceCommands,
  ...dbCommands,
];
