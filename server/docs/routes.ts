import { type RequestHandler, type Response, Router } from 'express';
import { plainPath } from '../pages/web-app.ts';
import type { Docs } from './docs.ts';

const MARKDOWN = 'text/markdown';

/**
 * The documentation as Markdown and text: llms.txt, the pages' twins, the skill. A page that is asked for as Markdown, as
 * assistants do, is answered with its twin (RFC 9110 §12.5.1).
 */
export function docsRouter({ docs, headers }: { docs: Docs; headers: RequestHandler }): Router {
  // At a page's own address the next one may ask for HTML: a cache that overlooks Vary must not keep the twin there.
  const send = (response: Response, type: string, text: string, { shared }: { shared: boolean }) =>
    response
      .set('Cache-Control', shared ? 'public, max-age=300' : 'no-store')
      .type(type)
      .send(text);

  const router = Router();
  router.get(/^\/(?!api\/)/, async (request, response, next) => {
    const path = plainPath(request.path);
    const twin = docs.twinOf(path);
    if (twin) response.vary('Accept');
    const wanted = twin && request.accepts(['text/html', MARKDOWN]) === MARKDOWN ? twin : path;
    const text = await docs.textAt(wanted);
    const isMarkdown = wanted.endsWith('.md');
    if (text === null && !isMarkdown) return next();
    headers(request, response, () => {});
    if (text !== null) send(response, isMarkdown || twin ? MARKDOWN : 'text/plain', text, { shared: wanted === path });
    else response.status(404).set('Cache-Control', 'no-store').type(MARKDOWN).send(docs.notFound);
  });
  return router;
}
