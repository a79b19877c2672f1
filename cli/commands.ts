import type { CommandRow } from './command-row.ts';
import { accountCommands } from './rows/account.ts';
import { integrationCommands } from './rows/integration.ts';
import { programCommands } from './rows/program.ts';
import { serviceCommands } from './rows/service.ts';

/** What commands of two words have in common. */
export const FAMILIES: Readonly<Record<string, string>> = {
  sites: 'your websites',
  mcp: 'the MCP server for AI assistants',
  config: 'the settings',
  db: 'the database',
  admin: 'the admin pages',
};

/** Taken by every command, before or after its name. */
export const GLOBAL_FLAGS: Readonly<Record<string, string>> = {
  '--json': 'answer with JSON on stdout, errors too',
  '--no-input': 'never ask; say which flag is missing (also with CI set)',
  '-y, --yes': 'confirm what would be asked',
  '-q, --quiet': 'no news on stderr',
  '--verbose': 'every call to the service, and the whole of a fault',
  '--no-color': 'no colours (NO_COLOR does the same)',
  '--host <url>': 'the service, instead of EMAILAUTH_HOST or the settings',
  '--profile <name>': 'other settings and credentials (EMAILAUTH_PROFILE)',
  '-h, --help': 'print the help of a command; with --json as data',
  '-V, --version': 'print the version',
};

/** The command line, as contract/routes.ts is the API: `--help`, completion and docs/cli.md derive from this table. */
export const commands: readonly CommandRow[] = [...accountCommands, ...integrationCommands, ...programCommands, ...serviceCommands];
