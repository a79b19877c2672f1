import { type RequestHandler, type Response, Router } from 'express';
import { docPages, frameworkPages, markdownPath, promptPages, slugAt } from '../../docs/pages.ts';
import { llmsFullText, llmsText, readDoc, readSkill } from '../../docs/read.ts';
import { plainPath } from '../pages/web-app.ts';
import { type Endpoint, handle } from '../platform/http/endpoint.ts';

const MARKDOWN = 'text/markdown';

/**
 * Serves the documentation as Markdown and text: llms.txt, every page, the skill. A page requested with `Accept: text/markdown`,
 * as assistants do, is sent as Markdown from its HTML address too (RFC 9110 §12.5.1).
 */
export function docsRouter({ publicUrl, headers }: { publicUrl: string; headers: RequestHandler }): Router {
  const files = new DocFiles(publicUrl);
  const router = Router();
  router.get(/^\/(?!api\/)/, async (request, response, next) => {
    const path = plainPath(request.path);
    const alternate = markdownPathAt(path);
    if (alternate) response.vary('Accept');
    const served = alternate && request.accepts(['text/html', MARKDOWN]) === MARKDOWN ? alternate : path;
    const text = await files.textAt(served);
    const isMarkdown = served.endsWith('.md');
    if (text === null && !isMarkdown) return next();
    headers(request, response, () => {});
    if (text !== null) send(response, isMarkdown || alternate ? MARKDOWN : 'text/plain', text, { cacheable: served === path });
    else response.status(404).set('Cache-Control', 'no-store').type(MARKDOWN).send(notFoundText(publicUrl));
  });
  return router;
}

/** @param cacheable false at the address of an HTML page, because a cache that ignores Vary would keep the Markdown there */
function send(response: Response, type: string, text: string, { cacheable }: { cacheable: boolean }) {
  response
    .set('Cache-Control', cacheable ? 'public, max-age=300' : 'no-store')
    .type(type)
    .send(text);
}

/** Returns the path of the Markdown file with the contents of the page at a path, or null. */
function markdownPathAt(path: string): string | null {
  if (path === '/') return '/llms.txt';
  const slug = slugAt(path);
  return slug === null ? null : markdownPath(slug);
}

const notFoundText = (publicUrl: string) => `# Not found\n\nThis page does not exist. All pages are listed at ${publicUrl}/llms.txt.\n`;

/** The files of the documentation, filled in with the origin of the service. Each one is generated once, on its first request. */
class DocFiles {
  private readonly generators: ReadonlyMap<string, () => Promise<string | null>>;
  private readonly generated = new Map<string, Promise<string | null>>();

  constructor(origin: string) {
    const values = { origin };
    this.generators = new Map<string, () => Promise<string | null>>([
      ['/llms.txt', async () => llmsText(values)],
      ['/llms-full.txt', () => llmsFullText(values)],
      ['/skill.md', () => readSkill(values)],
      ...[...docPages, ...frameworkPages, ...promptPages].map(({ slug }) => [markdownPath(slug), () => readDoc(slug, values)] as const),
    ]);
  }

  /** Returns the text of the file at a path, or null. */
  async textAt(path: string): Promise<string | null> {
    const generate = this.generators.get(path);
    if (!generate) return null;
    const text = this.generated.get(path) ?? generate();
    this.generated.set(path, text);
    text.catch(() => this.generated.delete(path));
    return text;
  }
}

/** The search of the documentation for the pages; assistants search it by their own tool. @param origin of the service */
export function docsSearchEndpoints(origin: string): Endpoint[] {
  return [
    handle('searchDocs', async ({ q }) => {
      // Loaded by the first search.
      const { searchDocs } = await import('../../docs/search.ts');
      const hits = await searchDocs(q, { origin });
      return hits.map(({ title, heading, excerpt, url }) => ({ title, heading, excerpt, url }));
    }),
  ];
}
