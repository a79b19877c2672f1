import type { CommandSpec } from './command.ts';
import {
  connectionsList,
  connectionsRevoke,
  devicesList,
  devicesRevoke,
  keysCreate,
  keysList,
  keysRevoke,
  keysRotate,
  keysUsage,
} from './commands/access.ts';
import { accountGet, accountLog, accountSet, brandingGet, brandingSet } from './commands/account.ts';
import { appsAdd, appsGet, appsList, appsLog, appsRefusals, appsRemove, appsRotateSecret, appsUpdate } from './commands/apps.ts';
import { adminUnlock, dbErase, dbForgetSecretKey, dbMigrate, dbPartitions, dbRotateSigningKeys } from './commands/db.ts';
import { doctor } from './commands/doctor.ts';
import { login, logout, token, whoami } from './commands/login.ts';
import { mcp } from './commands/mcp.ts';
import { mcpConfig, mcpInstall, mcpUninstall } from './commands/mcp-install.ts';
import {
  invitationsAccept,
  invitationsDecline,
  invitationsList,
  membersInvite,
  membersList,
  membersRemove,
  membersRole,
} from './commands/members.ts';
import { completion, configGet, configList, configSet, open } from './commands/program.ts';
import { init, tryCommand } from './commands/project.ts';
import { register } from './commands/register.ts';
import { backup, restore, start, stats } from './commands/service.ts';
import { sitesAdd, sitesGet, sitesGiveBack, sitesList, sitesRemove, sitesUpdate, sitesVerify } from './commands/sites.ts';
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
  login,
  logout,
  whoami,
  token,
  register,
  sitesList,
  sitesAdd,
  sitesGet,
  sitesUpdate,
  sitesGiveBack,
  sitesRemove,
  sitesVerify,
  membersList,
  membersInvite,
  membersRole,
  membersRemove,
  invitationsList,
  invitationsAccept,
  invitationsDecline,
  appsList,
  appsAdd,
  appsGet,
  appsUpdate,
  appsRemove,
  appsRotateSecret,
  appsLog,
  appsRefusals,
  keysList,
  keysCreate,
  keysRotate,
  keysRevoke,
  keysUsage,
  devicesList,
  devicesRevoke,
  connectionsList,
  connectionsRevoke,
  brandingGet,
  brandingSet,
  accountGet,
  accountSet,
  accountLog,
  verify,
  tail,
  init,
  tryCommand,
  doctor,
  mcp,
  mcpInstall,
  mcpUninstall,
  mcpConfig,
  open,
  stats,
  completion,
  configList,
  configGet,
  configSet,
  start,
  backup,
  restore,
  dbMigrate,
  dbPartitions,
  dbForgetSecretKey,
  dbRotateSigningKeys,
  dbErase,
  adminUnlock,
];
