import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Client as Modern } from '@modelcontextprotocol/client';
import { StdioClientTransport as ModernTransport } from '@modelcontextprotocol/client/stdio';
import { Client as Older } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as OlderTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import type { Home } from '../../cli/command.ts';
import { entry } from '../../support/program.ts';
import { waitUntil } from '../../support/waiting.ts';
import type { McpClient } from './clients.ts';

/** The command with which a client starts a server. */
export type Start = { command: string; args: string[]; env: Record<string, string> };

/** Returns the command `emailauth mcp` in a home directory. */
export const startIn = (home: Home, args: string[] = [], env: Record<string, string> = {}): Start => ({
  command: process.execPath,
  args: [entry, 'mcp', ...args],
  env: { ...home.env, ...env },
});

const self = { name: 'emailauth-tests', version: '1.0.0' };

/** The official clients of clients.ts on stdio; each starts its own server. */
export const stdioGenerations = {
  'client 2.x': (start: Start) => connectModern(start, { pin: '2026-07-28' }),
  'client 2.x that asks': (start: Start) => connectModern(start, 'auto'),
  'sdk 1.x': connectOlder,
};

async function connectModern(start: Start, mode: 'auto' | { pin: string }): Promise<McpClient> {
  const client = new Modern(self, { versionNegotiation: { mode } });
  await client.connect(new ModernTransport({ ...start, stderr: 'pipe' }));
  return client;
}

async function connectOlder(start: Start): Promise<McpClient> {
  const client = new Older(self);
  await client.connect(new OlderTransport({ ...start, stderr: 'pipe' }));
  return client as unknown as McpClient;
}

/** A server that the test talks to in raw lines. */
export type Raw = {
  send(line: string): void;
  /** Every line of stdout as JSON. @throws when a line is not JSON */
  // biome-ignore lint/suspicious/noExplicitAny: the tests check results of any shape.
  messages(): any[];
  /** Returns the response to a request. */
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  response(id: number): Promise<any>;
  stderr(): string;
  /** Closes stdin. */
  leave(): void;
  signal(name: NodeJS.Signals): void;
  /** Resolves with the exit code and signal. */
  exited: Promise<[number | null, NodeJS.Signals | null]>;
};

const running = new Set<ChildProcess>();

/** Starts a server and initializes it as a client of the protocol of 2025-06-18. */
export async function openRaw({ command, args, env }: Start): Promise<Raw> {
  const child = spawn(command, args, { env, stdio: 'pipe' });
  running.add(child);
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (data) => {
    stdout += data;
  });
  child.stderr.on('data', (data) => {
    stderr += data;
  });
  child.stdin.on('error', () => {});
  const exited = once(child, 'close').then(([code, signal]): [number | null, NodeJS.Signals | null] => {
    running.delete(child);
    return [code, signal];
  });
  const messages = () =>
    stdout
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  const raw: Raw = {
    send: (line) => void child.stdin.write(`${line}\n`),
    messages,
    async response(id) {
      await waitUntil(`an response to ${id}`, 30_000, () => messages().some((each) => each.id === id) || stdout + stderr);
      return messages().find((each) => each.id === id);
    },
    stderr: () => stderr,
    leave: () => child.stdin.end(),
    signal: (name) => void child.kill(name),
    exited,
  };
  raw.send(request(0, 'initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: self }));
  return raw;
}

/** Stops all running servers. */
export async function closeRaw(): Promise<void> {
  const ends = [...running].map((child) => once(child, 'close'));
  for (const child of running) child.kill('SIGKILL');
  await Promise.all(ends);
}

/** Returns a JSON-RPC request as a line. */
export const request = (id: number, method: string, params: unknown = {}) => JSON.stringify({ jsonrpc: '2.0', id, method, params });
export const toolCall = (id: number, name: string, input: Record<string, unknown> = {}) =>
  request(id, 'tools/call', { name, arguments: input });
