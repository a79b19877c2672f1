import { searchDocs } from '../../docs/search.ts';
import { type Served, serve } from '../http/serve.ts';

/** The search of the documentation for the pages; assistants search it by their own tool. @param origin of the service */
export function docsSearchRoutes(origin: string): Served[] {
  return [
    serve('searchDocs', async ({ q }) => {
      const hits = await searchDocs(q, { origin });
      return hits.map(({ title, heading, excerpt, url }) => ({ title, heading, excerpt, url }));
    }),
  ];
}
