import { readFile, stat } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import type { Client } from '../contract/client.ts';
import { ICON_RULE, MAX_ICON_BYTES } from '../contract/limits.ts';
import { sendRequest } from './api.ts';
import type { Context } from './command.ts';
import { usageError } from './exit.ts';
import { foreign } from './terminal.ts';

/** Time limit of an upload: 5 MB at 200 kbit/s. */
const UPLOAD_MS = 200_000;
const CHUNK_BYTES = 64 * 1024;
const BAR_WIDTH = 20;

const HINT = `Give a ${ICON_RULE}. Nothing was changed.`;

/**
 * Reads an icon and checks its content, before anything is sent.
 * @throws CommandError usage for a file that breaks ICON_RULE
 */
export async function openIcon(context: Context, file: string) {
  const bytes = await read(resolve(context.cwd, file), file);
  const { formatOf } = await import('../server/websites/icon.ts');
  const format = formatOf(bytes);
  if (!format) throw usageError(`${file} is not a JPG or PNG, despite its name.`, HINT);
  return {
    /** Uploads it, with a progress bar on stderr. @returns its iconUrl. @throws ApiError; CommandError unreachable */
    async upload(client: Client, host: string): Promise<string> {
      const { uploadURL } = await client.beginUpload({});
      // The upload stays at the service in use, even if the URL names another origin.
      const { pathname, search } = new URL(uploadURL, host);
      const body = ReadableStream.from(
        partsOf(bytes, (sent) => context.terminal.progress(`${foreign(basename(file)).slice(0, 40)}  ${bar(sent)}`)),
      );
      const request: RequestInit = { method: 'PUT', headers: { 'Content-Type': `image/${format}` }, body, duplex: 'half' };
      await sendRequest(host, pathname + search, request, { ...context, timeoutMs: UPLOAD_MS }).finally(() =>
        context.terminal.progress(''),
      );
      return pathname;
    },
  };
}

/** Yields the bytes in parts, at the pace of the connection, and reports which part of the whole was taken. */
function* partsOf(bytes: Buffer, onTaken: (part: number) => void): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
    yield bytes.subarray(at, at + CHUNK_BYTES);
    onTaken(Math.min(1, (at + CHUNK_BYTES) / bytes.length));
  }
}

const bar = (part: number) => `${'#'.repeat(Math.round(part * BAR_WIDTH)).padEnd(BAR_WIDTH, '.')}  ${Math.floor(part * 100)} %`;

async function read(path: string, file: string): Promise<Buffer> {
  try {
    const stats = await stat(path);
    if (!stats.isFile()) throw usageError(`${file} is not a file.`, HINT);
    if (stats.size > MAX_ICON_BYTES)
      throw usageError(
        `${file} has ${(stats.size / 1024 / 1024).toFixed(1)} MB; an icon may have ${MAX_ICON_BYTES / 1024 / 1024} MB.`,
        HINT,
      );
    return await readFile(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'usage') throw error;
    const problem = { ENOENT: 'does not exist', EACCES: 'may not be read' }[code ?? ''] ?? `cannot be read (${code})`;
    throw usageError(`${file} ${problem}.`, HINT);
  }
}
