import { PassThrough, type Readable, type Writable } from 'node:stream';
import {
  isJSONRPCErrorResponse,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  type Transport,
} from '@modelcontextprotocol/server';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';

/** Longer lines are refused; the SDK would end the connection at 10 MB. */
const LINE_BYTES = 8 * 1024 * 1024;
/** How long what was asked is still answered once nobody can ask any more. */
const LAST_ANSWERS_MS = 10_000;

type Wire = {
  transport: Transport;
  /** Resolves once stdin has ended and what it asked is answered. */
  ended: Promise<void>;
};

/**
 * MCP's stdio transport, one JSON-RPC message a line. The SDK's own ignores a broken line and drops what is under way when
 * stdin ends; here the one is answered by an error (JSON-RPC 2.0 §5.1), and the other is finished.
 */
export function openWire(stdin: Readable, stdout: Writable): Wire {
  const sound = new PassThrough();
  const transport = new StdioServerTransport(sound, stdout);
  const open = new Set<unknown>();
  let whenAnswered = () => {};
  const settle = (id: unknown) => {
    open.delete(id);
    if (open.size === 0) whenAnswered();
  };
  const send = transport.send.bind(transport);
  transport.send = async (message) => {
    await send(message);
    if (isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message)) settle(message.id);
  };
  const refuse = (code: number, message: string, id: unknown = null) =>
    stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } })}\n`);

  const take = (line: Buffer | null) => {
    if (!line) return refuse(-32700, `Parse error: the line is longer than ${LINE_BYTES} bytes.`);
    const text = line.toString();
    if (text.trim() === '') return;
    let message: unknown;
    try {
      message = JSON.parse(text);
    } catch {
      return refuse(-32700, 'Parse error: the line is no JSON.');
    }
    if (isJSONRPCRequest(message)) open.add(message.id);
    else if (isJSONRPCNotification(message)) {
      if (message.method === 'notifications/cancelled') settle(message.params?.requestId);
    } else if (!isJSONRPCResultResponse(message) && !isJSONRPCErrorResponse(message)) {
      return refuse(-32600, 'Invalid request: the line is no JSON-RPC message.', idOf(message));
    }
    sound.write(`${text}\n`);
  };

  const ended = (async () => {
    // A client that breaks off has left, too.
    await readLines(stdin, take).catch(() => {});
    if (open.size === 0) return;
    await new Promise<void>((resolve) => {
      whenAnswered = resolve;
      setTimeout(resolve, LAST_ANSWERS_MS).unref();
    });
  })();
  return { transport, ended };
}

/** @param take called with each line, without its end; null for one that is too long */
async function readLines(stream: Readable, take: (line: Buffer | null) => void): Promise<void> {
  let chunks: Buffer[] = [];
  let length = 0;
  const add = (piece: Buffer) => {
    length += piece.length;
    if (length > LINE_BYTES) chunks = [];
    else chunks.push(piece);
  };
  const end = () => {
    take(length > LINE_BYTES ? null : Buffer.concat(chunks));
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
