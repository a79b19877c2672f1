import { join } from 'node:path';

/** The assistants that `mcp install` supports. */
export const CLIENT_IDS = ['claude-code', 'claude-desktop', 'cursor', 'vscode', 'codex', 'gemini-cli'] as const;
type ClientId = (typeof CLIENT_IDS)[number];

export const SCOPES = ['user', 'project'] as const;
export type Scope = (typeof SCOPES)[number];

/** The name of our server in every assistant. */
export const SERVER_NAME = 'emailauth';

/** The machine on which the assistant runs. */
export type Machine = { env: Record<string, string | undefined>; home: string; platform: NodeJS.Platform };

/** How this program is started as a server. */
export type LocalServer = { command: string; args: string[]; env?: Record<string, string> };
/** The address of the service. `tokenFrom`: the variable with an API key; null: the assistant signs in by itself. */
type RemoteServer = { url: string; tokenFrom: string | null };
export type Server = LocalServer | RemoteServer;

/** A server in an assistant's file. */
type Entry = Record<string, unknown>;
/** A program with its arguments. */
export type CommandLine = readonly [string, ...string[]];

/** One assistant: how it gets a server, and what its file of servers contains. */
export type AssistantClient = {
  id: ClientId;
  name: string;
  format: 'json' | 'toml';
  /** The property of the file that contains the servers. */
  key: string;
  /** The person's own file. */
  userPath(machine: Machine): string;
  /** The file of a project, relative to its directory; null when there is none. */
  projectPath: string | null;
  /** Its own command that adds the server, for the scopes that it has. */
  add?: (server: Server) => Partial<Record<Scope, CommandLine>>;
  /** Its own command that removes the server. */
  remove?: Partial<Record<Scope, CommandLine>>;
  /** An address that the assistant opens: it shows the server to the person and adds it. */
  link?: (server: Server) => string;
  local(server: LocalServer): Entry;
  /** Null when its file cannot contain the address of a server. */
  remote: ((server: RemoteServer) => Entry) | null;
  /** How the person starts the sign-in (OAuth) at an address, where the client does not start it by itself. */
  signIn?: string;
  /** What the person does next, as a sentence. */
  next(scope: Scope): string;
};

const isRemote = (server: Server): server is RemoteServer => 'url' in server;

/** Returns the entry of a server in a client's file. @throws TypeError for an address that the file cannot contain */
export const entryOf = (client: AssistantClient, server: Server): Entry =>
  isRemote(server) ? (client.remote as NonNullable<typeof client.remote>)(server) : client.local(server);

/** Returns where Electron programs store their settings. */
function applicationData({ env, home, platform }: Machine, name: string): string {
  if (platform === 'darwin') return join(home, 'Library/Application Support', name);
  if (platform === 'win32') return join(env.APPDATA || join(home, 'AppData/Roaming'), name);
  return join(env.XDG_CONFIG_HOME?.startsWith('/') ? env.XDG_CONFIG_HOME : join(home, '.config'), name);
}

/** Returns the header that refers to a key by the name of its variable. The assistant puts the value in. */
const bearer = (tokenFrom: string, prefix = '') => `Bearer \${${prefix}${tokenFrom}}`;
const headersOf = ({ tokenFrom }: RemoteServer, prefix?: string) =>
  tokenFrom ? { headers: { Authorization: bearer(tokenFrom, prefix) } } : {};

/** Returns a flag and its value for each variable of a server. */
const variables = (flag: string, { env = {} }: LocalServer) => Object.entries(env).flatMap(([name, value]) => [flag, `${name}=${value}`]);
const remoteWords = ({ url, tokenFrom }: RemoteServer) => [
  ...['--transport', 'http', SERVER_NAME, url],
  ...(tokenFrom ? ['--header', `Authorization: ${bearer(tokenFrom)}`] : []),
];

const inBothScopes = (command: (scope: Scope) => CommandLine) => ({ user: command('user'), project: command('project') });

export const clients: readonly AssistantClient[] = [
  {
    id: 'claude-code',
    name: 'Claude Code',
    format: 'json',
    key: 'mcpServers',
    userPath: ({ env, home }) => join(env.CLAUDE_CONFIG_DIR || home, '.claude.json'),
    projectPath: '.mcp.json',
    add: (server) =>
      inBothScopes((scope) => [
        ...(['claude', 'mcp', 'add', '--scope', scope] as const),
        ...(isRemote(server) ? remoteWords(server) : [...variables('--env', server), '--', SERVER_NAME, server.command, ...server.args]),
      ]),
    remove: inBothScopes((scope) => ['claude', 'mcp', 'remove', '--scope', scope, SERVER_NAME]),
    local: (server) => ({ type: 'stdio', ...server }),
    remote: (server) => ({ type: 'http', url: server.url, ...headersOf(server) }),
    signIn: 'in `/mcp`, choose emailauth, then Authenticate',
    next: (scope) => `Restart \`claude\`${scope === 'project' ? ' in this directory and approve emailauth' : ''}; \`/mcp\` shows it.`,
  },
  {
    id: 'claude-desktop',
    name: 'Claude Desktop',
    format: 'json',
    key: 'mcpServers',
    userPath: (machine) => join(applicationData(machine, 'Claude'), 'claude_desktop_config.json'),
    projectPath: null,
    local: (server) => ({ ...server }),
    remote: null,
    next: () => 'Quit Claude Desktop completely and open it again.',
  },
  {
    id: 'cursor',
    name: 'Cursor',
    format: 'json',
    key: 'mcpServers',
    userPath: ({ home }) => join(home, '.cursor/mcp.json'),
    projectPath: '.cursor/mcp.json',
    link(server) {
      const config = Buffer.from(JSON.stringify(entryOf(this, server))).toString('base64');
      return `cursor://anysphere.cursor-deeplink/mcp/install?${new URLSearchParams({ name: SERVER_NAME, config })}`;
    },
    local: (server) => ({ type: 'stdio', ...server }),
    remote: (server) => ({ url: server.url, ...headersOf(server, 'env:') }),
    next: () => 'Open the MCP page of Cursor’s settings and check that emailauth is switched on.',
  },
  {
    id: 'vscode',
    name: 'VS Code',
    format: 'json',
    key: 'servers',
    userPath: (machine) => join(applicationData(machine, 'Code'), 'User/mcp.json'),
    projectPath: '.vscode/mcp.json',
    add(server) {
      return { user: ['code', '--add-mcp', JSON.stringify({ name: SERVER_NAME, ...entryOf(this, server) })] };
    },
    local: (server) => ({ type: 'stdio', ...server }),
    remote: (server) => ({ type: 'http', url: server.url, ...headersOf(server, 'env:') }),
    next: () => 'Run “MCP: List Servers” from the Command Palette, start emailauth, and use Chat in agent mode.',
  },
  {
    id: 'codex',
    name: 'Codex',
    format: 'toml',
    key: 'mcp_servers',
    userPath: ({ env, home }) => join(env.CODEX_HOME || join(home, '.codex'), 'config.toml'),
    projectPath: '.codex/config.toml',
    add: (server) => ({
      user: [
        ...(['codex', 'mcp', 'add'] as const),
        ...(isRemote(server)
          ? [SERVER_NAME, '--url', server.url, ...(server.tokenFrom ? ['--bearer-token-env-var', server.tokenFrom] : [])]
          : [...variables('--env', server), SERVER_NAME, '--', server.command, ...server.args]),
      ],
    }),
    remove: { user: ['codex', 'mcp', 'remove', SERVER_NAME] },
    local: (server) => ({ ...server }),
    remote: ({ url, tokenFrom }) => ({ url, ...(tokenFrom && { bearer_token_env_var: tokenFrom }) }),
    signIn: '`codex mcp login emailauth` starts it',
    next: (scope) => `Restart \`codex\`${scope === 'project' ? ' in this directory, which it has to trust' : ''}; \`/mcp\` shows it.`,
  },
  {
    id: 'gemini-cli',
    name: 'Gemini CLI',
    format: 'json',
    key: 'mcpServers',
    userPath: ({ env, home }) => join(env.GEMINI_CLI_HOME || home, '.gemini/settings.json'),
    projectPath: '.gemini/settings.json',
    add: (server) =>
      inBothScopes((scope) => [
        ...(['gemini', 'mcp', 'add', '--scope', scope] as const),
        ...(isRemote(server) ? remoteWords(server) : [...variables('--env', server), SERVER_NAME, server.command, ...server.args]),
      ]),
    remove: inBothScopes((scope) => ['gemini', 'mcp', 'remove', '--scope', scope, SERVER_NAME]),
    local: (server) => ({ ...server }),
    remote: (server) => ({ httpUrl: server.url, ...headersOf(server) }),
    signIn: '`/mcp auth emailauth` starts it',
    next: () => 'Restart `gemini`; `/mcp` shows it.',
  },
];

/** Returns the client with an id, which commander has validated. */
export const requireClient = (id: string) => clients.find((client) => client.id === id) as AssistantClient;
