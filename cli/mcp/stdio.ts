import { PassThrough, type Readable, type Writable } from 'node:stream';
import {
  isJSONRPCErrorResponse,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  type Transport,
} from '@modelcontextprotocol/server';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';

/** Longer lines are refused; the SDK would close the connection at 10 MB. */
const MAX_LINE_BYTES = 8 * 1024 * 1024;
/** Time limit for open requests after stdin has ended. */
const DRAIN_TIMEOUT_MS = 10_000;

type Stdio = {
  transport: Transport;
  /** Resolves when stdin has ended and all requests have a response. */
  ended: Promise<void>;
};

/**
 * Opens MCP's stdio transport, one JSON-RPC message a line. Unlike the SDK's, which ignores a malformed line and drops open requests
 * when stdin ends, this one answers such a line with an error (JSON-RPC 2.0 §5.1) and completes the requests.
 */
export function openStdio(stdin: Readable, stdout: Writable): Stdio {
  const validLines = new PassThrough();
  const transport = new StdioServerTransport(validLines, stdout);
  const open = new Set<unknown>();
  let onDrained = () => {};
  const markDone = (id: unknown) => {
    open.delete(id);
    if (open.size === 0) onDrained();
  };
  const send = transport.send.bind(transport);
  transport.send = async (message) => {
    await send(message);
    if (isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message)) markDone(message.id);
  };
  const refuse = (code: number, message: string, id: unknown = null) =>
    stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } })}\n`);

  const receive = (line: Buffer | null) => {
    if (!line) return refuse(-32700, `Parse error: the line is longer than ${MAX_LINE_BYTES} bytes.`);
    const text = line.toString();
    if (text.trim() === '') return;
    let message: unknown;
    try {
      message = JSON.parse(text);
    } catch {
      return refuse(-32700, 'Parse error: the line is not JSON.');
    }
    if (isJSONRPCRequest(message)) open.add(message.id);
    else if (isJSONRPCNotification(message)) {
      if (message.method === 'notifications/cancelled') markDone(message.params?.requestId);
    } else if (!isJSONRPCResultResponse(message) && !isJSONRPCErrorResponse(message)) {
      return refuse(-32600, 'Invalid request: the line is not a JSON-RPC message.', idOf(message));
    }
    validLines.write(`${text}\n`);
  };

  const ended = (async () => {
    // A broken pipe means that the client has left.
    await readLines(stdin, receive).catch(() => {});
    if (open.size === 0) return;
    await new Promise<void>((resolve) => {
      onDrained = resolve;
      setTimeout(resolve, DRAIN_TIMEOUT_MS).unref();
    });
  })();
  return { transport, ended };
}

/** Calls back with each line, without its end, or with null for one that is too long. */
async function readLines(stream: Readable, onLine: (line: Buffer | null) => void): Promise<void> {
  let chunks: Buffer[] = [];
  let length = 0;
  const add = (piece: Buffer) => {
    length += piece.length;
    if (length > MAX_LINE_BYTES) chunks = [];
    else chunks.push(piece);
  };
  const end = () => {
    onLine(length > MAX_LINE_BYTES ? null : Buffer.concat(chunks));
    chunks = [];
    length = 0;
  };
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    let from = 0;
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, from)) {
      add(chunk.subarray(from, at));
      end();
      from = at + 1;
    }
    add(chunk.subarray(from));
  }
  if (length > 0) end();
}

function idOf(message: unknown): unknown {
  const id = message !== null && typeof message === 'object' && 'id' in message ? message.id : null;
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}
