import { Router } from 'express';
import { Fault } from '../../contract/errors.ts';
import { dataHeaders, requireOwnOrigin } from '../http/protection.ts';
import { type Served, serve } from '../http/serve.ts';
import { receiveFile } from './receive-file.ts';
import type { Uploads } from './uploads.ts';

const PATH = '/objects/uploads/:id';

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
    const stored = await uploads.receive(request.params.id, request.query, (hold) => receiveFile(request, hold));
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
