import type { IncomingMessage } from 'node:http';
import { Router } from 'express';
import { Fault } from '../../contract/errors.ts';
import { ICON_BYTES, ICON_TYPES } from '../../contract/rules.ts';
import { dataHeaders, requireOwnOrigin } from '../http/protection.ts';
import { type Served, serve } from '../http/serve.ts';
import type { Uploads } from './uploads.ts';

const PATH = '/objects/uploads/:id';
const TYPES: readonly string[] = [...ICON_TYPES, 'image/jpg'];
/** A file somewhat too large is read to its end and dropped, so that its sender hears why; a larger one is cut off. */
const MOST_READ = 2 * ICON_BYTES;

export function uploadRoutes(uploads: Uploads): Served[] {
  return [serve('beginUpload', (_, { account }) => uploads.begin(account))];
}

/** The files themselves: PUT to an address of beginUpload, and GET by anybody. */
export function uploadsRouter(parts: { uploads: Uploads; secure: boolean; origins: ReadonlySet<string> }): Router {
  const { uploads, secure, origins } = parts;
  const headers = dataHeaders(secure);
  const router = Router();

  router.put(PATH, async (request, response) => {
    requireOwnOrigin(request, 'account', origins);
    const stored = await uploads.receive(request.params.id, request.query, () => readFile(request));
    response.set(headers).json(stored);
  });

  router.get(PATH, async (request, response) => {
    const found = await uploads.find(request.params.id);
    if (!found) throw new Fault('not_found');
    response.set({
      ...headers,
      'Content-Type': found.type,
      'Content-Security-Policy': "default-src 'none'; sandbox",
      // Another picture is another upload.
      'Cache-Control': 'public, max-age=31536000, immutable',
    });
    response.send(found.bytes);
  });

  router.all(PATH, (_, response) => {
    response.set('Allow', 'GET, PUT');
    throw new Fault('method_not_allowed');
  });
  router.all(/^\/objects(?:\/|$)/, () => {
    throw new Fault('not_found');
  });
  return router;
}

/** @throws Fault bad_icon, icon_too_large, bad_request */
function readFile(request: IncomingMessage): Promise<Buffer> {
  const type = request.headers['content-type']?.split(';')[0].trim().toLowerCase();
  if (!type || !TYPES.includes(type)) throw new Fault('bad_icon', { message: 'Please select a file of type: image/jpeg, image/png' });
  if (Number(request.headers['content-length']) > MOST_READ) throw new Fault('icon_too_large');
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= ICON_BYTES) chunks.push(chunk);
      else chunks.length = 0;
      if (size <= MOST_READ) return;
      request.pause();
      reject(new Fault('icon_too_large'));
    });
    request.on('end', () => (size > ICON_BYTES ? reject(new Fault('icon_too_large')) : resolve(Buffer.concat(chunks))));
    const cutShort = (cause?: unknown) => reject(new Fault('bad_request', { message: 'The file ended early.', cause }));
    request.on('error', cutShort);
    request.on('close', cutShort);
  });
}
