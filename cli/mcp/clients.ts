import { join } from 'node:path';

/** The assistants that `mcp install` supports. */
export const CLIENT_IDS = ['claude-code', 'claude-desktop', 'cursor', 'vscode', 'codex', 'gemini-cli'] as const;
export type ClientId = (typeof CLIENT_IDS)[number];

export const SCOPES = ['user', 'project'] as const;
export type Scope = (typeof SCOPES)[number];

/** The machine whose files are edited. */
export type Machine = { env: Record<string, string | undefined>; home: string; platform: NodeJS.Platform };

/** A server in a client's file. */
export type Entry = Record<string, unknown>;
export type StdioCommand = { command: string; args: string[]; env?: Record<string, string> };

/** One assistant: where it stores its MCP servers, and in which format. */
export type AssistantClient = {
  id: ClientId;
  name: string;
  /** Only `jsonc` allows comments. */
  format: 'json' | 'jsonc' | 'toml';
  /** The property of the file that contains the servers. */
  key: string;
  /** The person's own file. */
  userPath(machine: Machine): string;
  /** The file of a project, relative to its directory; null when there is none. */
  projectPath: string | null;
  /** It is installed if any of these paths exists, or its program is on PATH. */
  traces(machine: Machine): string[];
  program: string | null;
  stdio(command: StdioCommand): Entry;
  /** @param tokenFrom the variable with an API key; null: anonymous. Null when its file cannot contain the address of a server */
  http: ((url: string, tokenFrom: string | null) => Entry) | null;
  /** How the person starts the sign-in (OAuth) at an address, where the client does not start it by itself. */
  signIn?: string;
  /** Items that its file needs besides for the token of an address, identified by their id. */
  inputs?(url: string): { id: string }[];
  /** What the person does next, as a sentence. */
  next(scope: Scope): string;
};

/** A name for each service: VS Code stores the key under it, and would otherwise send the key of one service to another. */
const tokenInput = (url: string) => `emailauth-token-${new URL(url).host.replace(/[^\w.-]+/g, '-')}`;

/** Returns where Electron programs store their settings. */
function applicationData({ env, home, platform }: Machine, name: string): string {
  if (platform === 'darwin') return join(home, 'Library/Application Support', name);
  if (platform === 'win32') return join(env.APPDATA || join(home, 'AppData/Roaming'), name);
  return join(env.XDG_CONFIG_HOME?.startsWith('/') ? env.XDG_CONFIG_HOME : join(home, '.config'), name);
}

const codexHome = ({ env, home }: Machine) => env.CODEX_HOME || join(home, '.codex');
const geminiHome = ({ env, home }: Machine) => join(env.GEMINI_CLI_HOME || home, '.gemini');
const claudeDirectory = ({ env, home }: Machine) => env.CLAUDE_CONFIG_DIR || join(home, '.claude');
const claudeFile = ({ env, home }: Machine) => join(env.CLAUDE_CONFIG_DIR || home, '.claude.json');

const authorization = (reference: string | null) => (reference ? { headers: { Authorization: `Bearer ${reference}` } } : {});
const referenceTo = (name: string | null, shape: (name: string) => string) => name && shape(name);

export const clients: readonly AssistantClient[] = [
  {
    id: 'claude-code',
    name: 'Claude Code',
    format: 'json',
    key: 'mcpServers',
    userPath: claudeFile,
    projectPath: '.mcp.json',
    traces: (machine) => [claudeFile(machine), claudeDirectory(machine)],
    program: 'claude',
    stdio: (command) => ({ type: 'stdio', ...command }),
    http: (url, token) => ({ type: 'http', url, ...authorization(referenceTo(token, (name) => `\${${name}}`)) }),
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
    traces: (machine) => [applicationData(machine, 'Claude')],
    program: null,
    stdio: (command) => ({ ...command }),
    http: null,
    next: () => 'Quit Claude Desktop completely and open it again.',
  },
  {
    id: 'cursor',
    name: 'Cursor',
    format: 'jsonc',
    key: 'mcpServers',
    userPath: ({ home }) => join(home, '.cursor/mcp.json'),
    projectPath: '.cursor/mcp.json',
    traces: ({ home }) => [join(home, '.cursor')],
    program: 'cursor',
    stdio: (command) => ({ type: 'stdio', ...command }),
    http: (url, token) => ({ url, ...authorization(referenceTo(token, (name) => `\${env:${name}}`)) }),
    next: () => 'Open the MCP page of Cursor’s settings and check that emailauth is switched on.',
  },
  {
    id: 'vscode',
    name: 'VS Code',
    format: 'jsonc',
    key: 'servers',
    userPath: (machine) => join(applicationData(machine, 'Code'), 'User/mcp.json'),
    projectPath: '.vscode/mcp.json',
    traces: (machine) => [join(applicationData(machine, 'Code'), 'User')],
    program: 'code',
    stdio: (command) => ({ type: 'stdio', ...command }),
    // VS Code prompts for the key once and stores it; it does not always see the variables of a shell.
    http: (url, token) => ({ type: 'http', url, ...authorization(token && `\${input:${tokenInput(url)}}`) }),
    inputs: (url) => [
      { id: tokenInput(url), type: 'promptString', description: 'API key of Email Auth', password: true } as { id: string },
    ],
    next: () => 'Run “MCP: List Servers” from the Command Palette, start emailauth, and use Chat in agent mode.',
  },
  {
    id: 'codex',
    name: 'Codex',
    format: 'toml',
    key: 'mcp_servers',
    userPath: (machine) => join(codexHome(machine), 'config.toml'),
    projectPath: '.codex/config.toml',
    traces: (machine) => [codexHome(machine)],
    program: 'codex',
    stdio: (command) => ({ ...command }),
    http: (url, token) => ({ url, ...(token && { bearer_token_env_var: token }) }),
    signIn: '`codex mcp login emailauth` starts it',
    next: (scope) => `Restart \`codex\`${scope === 'project' ? ' in this directory, which it has to trust' : ''}; \`/mcp\` shows it.`,
  },
  {
    id: 'gemini-cli',
    name: 'Gemini CLI',
    format: 'jsonc',
    key: 'mcpServers',
    userPath: (machine) => join(geminiHome(machine), 'settings.json'),
    projectPath: '.gemini/settings.json',
    traces: (machine) => [geminiHome(machine)],
    program: 'gemini',
    stdio: (command) => ({ ...command }),
    http: (url, token) => ({ httpUrl: url, ...authorization(referenceTo(token, (name) => `\${${name}}`)) }),
    signIn: '`/mcp auth emailauth` starts it',
    next: () => 'Restart `gemini`; `/mcp` shows it.',
  },
];

/** Returns the client with an id, which commander has validated. */
export const requireClient = (id: string) => clients.find((client) => client.id === id) as AssistantClient;
