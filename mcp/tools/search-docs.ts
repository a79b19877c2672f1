import { z } from 'zod';
import { twinPath } from '../../templates/doc-pages.ts';
import { searchDocs as search } from '../../templates/docs.ts';
import { defineTool } from '../tool.ts';

export const searchDocs = defineTool({
  name: 'search_docs',
  title: 'Search the documentation',
  description:
    'Searches the documentation of Email Auth and returns the best passages, each with its page. Call it with a few words when something about the sign-in, its errors, limits or settings is unclear. The resource emailauth://docs/{slug} has a whole page.',
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  input: z.strictObject({
    query: z.string().trim().min(2).max(200).describe('A few words, such as: state cookie, other_domain, rate limit'),
    limit: z.number().int().min(1).max(10).default(5).describe('Maximum number of passages'),
  }),
  output: z.object({
    results: z.array(
      z.object({
        slug: z.string().describe('Of the page; percent-encode it in emailauth://docs/{slug}'),
        title: z.string(),
        heading: z.string(),
        excerpt: z.string(),
        url: z.string().describe('The passage, for people'),
      }),
    ),
  }),
  run: async ({ query, limit }, { host }) => ({ results: await search(query, { origin: host }, limit) }),
  text: ({ results }, { host }) =>
    results.length === 0
      ? 'Nothing was found. Try other or fewer words, or read one of the pages that the resources list.'
      : results
          .map(({ slug, title, heading, excerpt }) => `## ${title}: ${heading}\n${excerpt}\nThe whole page: ${host}${twinPath(slug)}`)
          .join('\n\n'),
});
