import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { basename, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { ApiError, type Client } from '../contract/client.ts';
import { MAX_ICON_BYTES } from '../contract/limits.ts';
import { userAgent } from './api.ts';
import type { Context } from './command.ts';
import { describeConnection, type HttpProxy, openProxy, proxyFor, TIMEOUT_MS } from './connection.ts';
import { CommandError, EXIT, usageError } from './exit.ts';
import { foreign } from './terminal.ts';

/** Time limit without progress, and of the response. */
const IDLE_TIMEOUT_MS = TIMEOUT_MS;
const CHUNK_BYTES = 64 * 1024;
const MAX_RESPONSE_BYTES = 1024 * 1024;
const BAR_WIDTH = 20;

const HINT = 'Give a JPG or PNG of at most 5 MB. Nothing was changed.';

/** A file that was checked and can be uploaded. */
export type Icon = {
  /** Uploads it, with a progress bar on stderr. @returns its iconUrl. @throws ApiError; CommandError unreachable */
  upload(client: Client, host: string): Promise<string>;
};

/**
 * Reads an icon and checks its content, before anything is sent.
 * @throws CommandError usage for a file that is not a JPG or PNG of at most 5 MB
 */
export async function openIcon(context: Pick<Context, 'cwd' | 'env' | 'terminal' | 'signal'>, file: string): Promise<Icon> {
  const bytes = await read(resolve(context.cwd, file), file);
  const { formatOf } = await import('../server/uploads/icon.ts');
  const format = formatOf(bytes);
  if (!format) throw usageError(`${file} is not a JPG or PNG, despite its name.`, HINT);
  const type = `image/${format}`;
  return {
    async upload(client, host) {
      const { uploadURL } = await client.beginUpload({});
      // The upload stays at the service in use, even if the URL names another origin.
      const { pathname, search } = new URL(uploadURL, host);
      await send({ url: new URL(pathname + search, host), type, bytes, name: basename(file), ...context });
      return pathname;
    },
  };
}

async function read(path: string, file: string): Promise<Buffer> {
  // Opening a named pipe must not wait for its writer.
  const handle = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)).catch((error: NodeJS.ErrnoException) => {
    const problem = { ENOENT: 'does not exist', EACCES: 'may not be read' }[error.code ?? ''] ?? `cannot be read (${error.code})`;
    throw usageError(`${file} ${problem}.`, HINT);
  });
  try {
    const stats = await handle.stat();
    if (!stats.isFile()) throw usageError(`${file} is not a file.`, HINT);
    if (stats.size > MAX_ICON_BYTES)
      throw usageError(`${file} has ${(stats.size / 1024 / 1024).toFixed(1)} MB; an icon may have 5 MB.`, HINT);
    return await handle.readFile();
  } finally {
    await handle.close();
  }
}

type Upload = { url: URL; type: string; bytes: Buffer; name: string } & Pick<Context, 'env' | 'terminal' | 'signal'>;

type Sent = { status: number; text: string; retryAfter?: string };

async function send({ url, type, bytes, name, env, terminal, signal }: Upload): Promise<void> {
  const headers = { 'Content-Type': type, 'Content-Length': String(bytes.length), 'User-Agent': userAgent() };
  const showProgress = (sent: number) => {
    const percent = Math.floor((sent / bytes.length) * 100);
    const bar = '#'.repeat(Math.round((percent / 100) * BAR_WIDTH)).padEnd(BAR_WIDTH, '.');
    terminal.progress(`${foreign(name).slice(0, 40)}  ${bar}  ${percent} %`);
  };
  const proxy = proxyFor(url, env);
  // Without progress for too long, or with a response that does not end.
  const limit = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const extend = () => {
    clearTimeout(timer);
    timer = setTimeout(() => limit.abort(new Error('The service did not respond in time.')), IDLE_TIMEOUT_MS);
  };
  const body = Readable.from(
    chunksOf(bytes, (sent) => {
      extend();
      showProgress(sent);
    }),
  );
  try {
    extend();
    const options = { headers, body, signal: AbortSignal.any([signal, limit.signal]) };
    const { status, text, retryAfter } = await (proxy ? putThrough(proxy, url, options) : put(url, options));
    if (status !== 200) throw new ApiError(status, parseBody(text), { retryAfter: Number(retryAfter) || undefined });
  } catch (error) {
    if (error instanceof ApiError || signal.aborted) throw error;
    const message = `The icon did not reach ${url.origin}.`;
    const hint = proxy ? (await describeConnection(error, url.origin, proxy)).message : 'Try again in a moment.';
    throw new CommandError(EXIT.unreachable, 'unreachable', message, `Nothing was changed. ${hint}`, error);
  } finally {
    clearTimeout(timer);
    // After an early response, the rest is not sent.
    body.destroy();
    terminal.progress('');
  }
}

type Put = { headers: Record<string, string>; body: Readable; signal: AbortSignal };

/** Uses node:http, since fetch does not report the progress of a body. */
async function put(url: URL, { headers, body, signal }: Put): Promise<Sent> {
  const request = (url.protocol === 'https:' ? httpsRequest : httpRequest)(url, { method: 'PUT', headers, signal });
  try {
    return await new Promise<Sent>((done, fail) => {
      request.on('error', fail);
      request.on('response', (response) => {
        readResponse(response).then(
          (text) => done({ status: response.statusCode ?? 0, text, retryAfter: response.headers['retry-after'] }),
          fail,
        );
      });
      body.pipe(request);
    });
  } finally {
    request.destroy();
  }
}

async function putThrough(proxy: HttpProxy, url: URL, options: Put): Promise<Sent> {
  const { undici, dispatcher } = await openProxy(proxy);
  const { statusCode, headers, body } = await undici.request(url, { ...options, method: 'PUT', dispatcher });
  return { status: statusCode, text: await readResponse(body), retryAfter: String(headers['retry-after'] ?? '') };
}

async function readResponse(response: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > MAX_RESPONSE_BYTES) throw new Error('The response of the service is too long.');
  }
  return Buffer.concat(chunks).toString();
}

/** Yields the bytes in parts and reports how many were taken, at the pace of the connection. */
function* chunksOf(bytes: Buffer, onTaken: (sent: number) => void): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
    const end = Math.min(at + CHUNK_BYTES, bytes.length);
    yield bytes.subarray(at, end);
    onTaken(end);
  }
}

function parseBody(text: string): object {
  try {
    const body: unknown = JSON.parse(text);
    return typeof body === 'object' && body !== null ? body : {};
  } catch {
    return {};
  }
}
