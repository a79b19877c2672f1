import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { PassThrough, type Readable, type Writable } from 'node:stream';
import { Client as Modern, type Transport } from '@modelcontextprotocol/client';
import { StdioClientTransport as ModernTransport } from '@modelcontextprotocol/client/stdio';
import { Client as Older } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as OlderTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { run } from '../../../cli/command-line.ts';
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

/** The official clients of clients.ts on stdio; each starts its own server as a process, unless it gets another transport. */
export const stdioGenerations = {
  'client 2.x': (start: Start) => connectModern(new ModernTransport({ ...start, stderr: 'pipe' }), { pin: '2026-07-28' }),
  'client 2.x that asks': (start: Start) => connectModern(new ModernTransport({ ...start, stderr: 'pipe' }), 'auto'),
  'sdk 1.x': connectOlder,
};

/** Connects a client to the command, which runs within this process: for all that does not depend on the process. */
export const connectHere = (start: Start): Promise<McpClient> => connectModern(new TransportHere(start), { pin: '2026-07-28' });

async function connectModern(transport: Transport, mode: 'auto' | { pin: string }): Promise<McpClient> {
  const client = new Modern(self, { versionNegotiation: { mode } });
  await client.connect(transport);
  return client;
}

async function connectOlder(start: Start): Promise<McpClient> {
  const client = new Older(self);
  await client.connect(new OlderTransport({ ...start, stderr: 'pipe' }));
  return client as unknown as McpClient;
}

/** Runs the command within this process. @returns its streams, and `ended` with its exit code */
function runHere({ args: [, ...args], env }: Start) {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const ended = run(args, { env, cwd: env.HOME, stdin, stdout, stderr, signal: new AbortController().signal });
  return { stdin, stdout, stderr, ended };
}

/** The transport of a client whose server runs within this process. */
class TransportHere implements Transport {
  onmessage?: Transport['onmessage'];
  onclose?: () => void;
  readonly #start: Start;
  #server: ReturnType<typeof runHere> | undefined;

  constructor(start: Start) {
    this.#start = start;
  }

  async start() {
    this.#server = runHere(this.#start);
    this.#server.stderr.resume();
    createInterface({ input: this.#server.stdout }).on('line', (line) => this.onmessage?.(JSON.parse(line)));
  }

  async send(message: unknown) {
    this.#server?.stdin.write(`${JSON.stringify(message)}\n`);
  }

  async close() {
    this.#server?.stdin.end();
    await this.#server?.ended;
    this.onclose?.();
  }
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

type Streams = { stdin: Writable; stdout: Readable; stderr: Readable };

const running = new Set<ChildProcess>();

/** Starts a server as a process and initializes it as a client of the protocol of 2025-06-18. */
export async function openRaw({ command, args, env }: Start): Promise<Raw> {
  const child = spawn(command, args, { env, stdio: 'pipe' });
  running.add(child);
  child.stdin.on('error', () => {});
  const exited = once(child, 'close').then(([code, signal]): [number | null, NodeJS.Signals | null] => {
    running.delete(child);
    return [code, signal];
  });
  return rawOf(child, exited, (name) => void child.kill(name));
}

/** Does the same within this process, which gets no signals. */
export async function openRawHere(start: Start): Promise<Raw> {
  const { ended, ...streams } = runHere(start);
  return rawOf(
    streams,
    ended.then((code) => [code, null]),
    () => {},
  );
}

function rawOf({ stdin, stdout, stderr }: Streams, exited: Raw['exited'], signal: Raw['signal']): Raw {
  let [written, errors] = ['', ''];
  stdout.on('data', (data) => {
    written += data;
  });
  stderr.on('data', (data) => {
    errors += data;
  });
  const messages = () =>
    written
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  const raw: Raw = {
    send: (line) => void stdin.write(`${line}\n`),
    messages,
    async response(id) {
      await waitUntil(`a response to ${id}`, 30_000, () => messages().some((each) => each.id === id) || written + errors);
      return messages().find((each) => each.id === id);
    },
    stderr: () => errors,
    leave: () => void stdin.end(),
    signal,
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
