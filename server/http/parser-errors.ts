import { type RequestListener, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { type ErrorBody, type ErrorCode, errors } from '../../contract/errors.ts';

/** The catalogue's code for each code of Node's HTTP parser; any other one is `bad_request`. */
const CODES: Record<string, ErrorCode> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
};

/**
 * Answers what Node's HTTP server would answer by itself, without the headers of the service: requests that it cannot parse or
 * that do not arrive in time, and the header Expect, which may be ignored (RFC 9110 §10.1.1).
 * @param headers of every answer
 */
export function answerParserErrors(server: Server, listener: RequestListener, headers: Record<string, string>): void {
  server.on('checkExpectation', listener);
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket & { _httpMessage?: ServerResponse | null }) => {
    // The error of a request may come while the answer to an earlier one is being sent; Node's own handler asks for the same.
    if (socket.writable && !socket._httpMessage?.headersSent) socket.write(answerText(CODES[error.code ?? ''] ?? 'bad_request', headers));
    socket.destroy(error);
  });
}

function answerText(code: ErrorCode, headers: Record<string, string>): string {
  const { status, message, hint } = errors[code];
  const body = JSON.stringify({ error: message, code, hint } satisfies ErrorBody);
  const lines = Object.entries({
    ...headers,
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(body)),
    Connection: 'close',
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`;
}
