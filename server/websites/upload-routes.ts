import { Router } from 'express';
import { Fault } from '../../contract/errors.ts';
import { UPLOADS_PATH } from '../../contract/urls.ts';
import { type Endpoint, handle } from '../platform/http/endpoint.ts';
import { dataHeaders, requireOwnOrigin } from '../platform/http/protection.ts';
import { receiveFile } from './storage.ts';
import type { Uploads } from './uploads.ts';

const PATH = `${UPLOADS_PATH}:id`;

/** Binds the call that begins an upload. */
export function uploadEndpoints(uploads: Uploads): Endpoint[] {
  return [handle('beginUpload', (_, { account }) => uploads.begin(account))];
}

/** The files: PUT to an address of beginUpload, and public GET. */
export function uploadsRouter(parts: { uploads: Uploads; secure: boolean; origins: ReadonlySet<string> }): Router {
  const { uploads, secure, origins } = parts;
  const headers = dataHeaders(secure);
  const router = Router();

  router.put(PATH, async (request, response) => {
    requireOwnOrigin(request, 'account', origins);
    const stored = await uploads.receive(request.params.id, request.query, (reserve) => receiveFile(request, reserve));
    response.set(headers).json(stored);
  });

  router.get(PATH, async (request, response) => {
    const icon = await uploads.find(request.params.id);
    if (!icon) throw new Fault('not_found');
    response.set({
      ...headers,
      'Content-Type': icon.type,
      'Content-Security-Policy': "default-src 'none'; sandbox",
      // Emails in webmail show it too.
      'Cross-Origin-Resource-Policy': 'cross-origin',
      // A changed picture has a new id.
      'Cache-Control': 'public, max-age=31536000, immutable',
    });
    response.send(icon.bytes);
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
